"""Why the candidates counted here are others than CliBench's Table 7 prints. Source: protocol.md 2.1 and 3."""

from collections.abc import Sequence
from typing import NamedTuple

from clinical_evals.report.candidate_counts import Counted

_DICTIONARY = (
    "the paper counts the codes of MIMIC's d_icd_diagnoses, not the whole release (give it with --dictionary)"
)
_OTHER_RELEASE = "the authors used another release: codes that were retired since are not in this one"
_PROCEDURES = (
    "the paper counts all rows of MIMIC's d_icd_procedures, ICD-9 rows too, in another year's release; here the codes "
    "of this release"
)
_FROM_ROOT = (
    "the paper counts from the hierarchy's root, where nearly all labs are in one node; here from below Laboratory"
)
_WRONG_ITEMS = "the released code looks MIMIC's itemid up as if it were a LOINC number, and so counts other tests"
_PARENTS = f"the paper counts the immediate parents, here the LOINC numbers; and {_WRONG_ITEMS}"
_PREFIXES = (
    "the paper counts prefixes of 2, 3 and 4 characters (A1, A10, A10B) of the drugs in its map; here WHO's levels "
    "(A10, A10B, A10BA) of the whole release"
)
_OTHER_MAP = "the authors' map of drugs was not released; here another one"
_NOT_SCORED = "the paper has no such level; WHO's level 5 is reported beside the average"

_REASONS: dict[tuple[str, str], tuple[str, str, str, str, str]] = {
    ("diagnosis", "release"): (
        f"{_DICTIONARY}, which has none of chapter 22",
        f"{_DICTIONARY}; and here 39 names stand twice and blocks of blocks are counted",
        f"{_DICTIONARY}; and here 39 names stand twice",
        _DICTIONARY,
        _DICTIONARY,
    ),
    ("diagnosis", "dictionary"): (_OTHER_RELEASE,) * 5,
    ("procedure", "release"): (_PROCEDURES,) * 5,
    ("lab_order", "release"): (_FROM_ROOT, _FROM_ROOT, f"{_FROM_ROOT}; and {_WRONG_ITEMS}", _PARENTS, _PARENTS),
    ("prescription", "release"): (_PREFIXES,) * 4 + (_NOT_SCORED,),
    ("prescription", "prefixes"): (_OTHER_MAP,) * 5,
}


class Difference(NamedTuple):
    """A cell of the table that is not as published."""

    level: int
    """From 1."""
    here: int
    published: int | None
    """None where the paper has no such level."""
    why: str


def differences(counted: Counted, published: Sequence[int | None]) -> list[Difference]:
    """The cells that are not as published, and why.

    Args:
        counted: the candidates of one task.
        published: the same row of Table 7.
    """
    reasons = _REASONS[counted.task, counted.kind]
    return [
        Difference(level, here, printed, why)
        for level, (here, printed, why) in enumerate(zip(counted.counts, published, reasons, strict=False), start=1)
        if here != printed
    ]
