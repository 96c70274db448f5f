"""What a built split holds (CliBench, Table 2), and how much of its prompts a context kept (Table 8).

Table 2 counts *source codes*: the distinct codes of a visit as MIMIC has them (diagnosis, procedure, itemid, NDC; of
the first batch where the task has one), before any map turns them into gold (protocol.md 2.3). The mean over visits is
the mean of those counts. Nothing is rounded here; `statistics_tables` sets both beside the published figures.
"""

import math
import statistics
from collections.abc import Collection, Iterable
from typing import NamedTuple

from clinical_evals.errors import InputError


class Visit(NamedTuple):
    """An admission, as far as Table 2 counts it."""

    hadm_id: int
    subject_id: int
    source_codes: Collection[str]
    """As text; a code that is there twice counts once."""


class SplitStatistics(NamedTuple):
    """The rows of Table 2 for one task and split."""

    visits: int
    """Unique visits."""
    patients: int
    """Unique patients."""
    codes: int
    """Unique codes over all visits."""
    max_codes: int
    """Most codes in one visit; 0 where there are no visits."""
    mean_codes: float | None
    """Codes per visit; None where there are no visits."""


def count_split(visits: Iterable[Visit]) -> SplitStatistics:
    """Count a split, in one pass; what is kept are its ids and distinct codes.

    Args:
        visits: the admissions, in any order.

    Raises:
        InputError: an admission is there twice, has no code (it would not be in the split then), or one text for its
            codes.
    """
    ids: set[int] = set()
    patients: set[int] = set()
    codes: set[str] = set()
    most = total = 0
    for visit in visits:
        if isinstance(visit.source_codes, str):
            raise InputError(f"hadm_id {visit.hadm_id}: source codes are one text; expected a list or set of them")
        own = set(visit.source_codes)
        if visit.hadm_id in ids:
            raise InputError(f"hadm_id {visit.hadm_id} is there twice; expected one row an admission")
        if not own:
            raise InputError(f"hadm_id {visit.hadm_id} has no source code; an admission without gold is in no split")
        ids.add(visit.hadm_id)
        patients.add(visit.subject_id)
        codes |= own
        most, total = max(most, len(own)), total + len(own)
    mean = total / len(ids) if ids else None
    return SplitStatistics(len(ids), len(patients), len(codes), most, mean)


class KeptStatistics(NamedTuple):
    """A row of Table 8: the shares of prompts that a context kept, 0 to 1 (the table prints percent)."""

    prompts: int
    mean: float
    median: float
    minimum: float


def summarise_kept(ratios: Iterable[float]) -> KeptStatistics:
    """Mean, median and minimum of kept ratios; the order of the rows does not change a bit of them.

    Args:
        ratios: one a prompt, `FittedPrompt.kept_prompt` of `clinical_evals.truncation` (appendix B.5), 0 to 1.

    Raises:
        InputError: there are none, or one is not from 0 to 1.
    """
    shares = sorted(ratios)
    if not shares:
        raise InputError("no kept ratios: there is no prompt to take a mean of")
    for share in shares:
        if not 0 <= share <= 1:
            raise InputError(f"a kept ratio is {share}; expected a share from 0 to 1, not percent")
    return KeptStatistics(len(shares), math.fsum(shares) / len(shares), statistics.median(shares), shares[0])
