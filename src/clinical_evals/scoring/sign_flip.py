"""Whether two runs on the same patients differ by more than chance: a sign-flip (paired permutation) test.

If the runs were alike, it would be chance which of a patient's two results stands under which name. So the results of
each patient are swapped or not, every way being as likely, and the p-value is the share of the ways in which the score
differs at least as much as it does. A micro score is a ratio of sums: what is swapped is all counts of the patient.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinical_evals.scoring.hierarchy import scores
from clinical_evals.scoring.intervals import scores_of_sums
from clinical_evals.scoring.paired import Run, paired_sums

EXACT = 12
"""Up to so many patients in whom the runs differ, all 2 ** 12 ways are counted; with more they are drawn."""
_AT_A_TIME = 2_000_000
"""Swaps (ways x patients) that are held at once."""


class SignFlip(NamedTuple):
    """What the test gives."""

    p_values: dict[str, float]
    """Two-sided, for every key of `scores`; above 0, at most 1."""
    exact: bool
    """Whether all ways were counted; else they were drawn."""


def sign_flip(before: Run, after: Run, draws: int = 9999, seed: int = 0) -> SignFlip:
    """Test for every key of `scores` whether after and before differ in it by chance alone.

    Patients in whom both runs have the same counts say nothing, so only the others are swapped. Of at most `EXACT`
    such patients every way is counted. Of more `draws` ways are drawn, and p = (1 + those that differ as much) /
    (1 + draws): the data's own way is one of them. A patient with counted rows in one run only gives them to the other
    when swapped. Accuracy by case is tested alike, with one count a case: exact, it is McNemar's test.

    Args:
        before: the run that is compared with.
        after: the run that is compared.
        draws: how many ways are drawn where they are too many to count.
        seed: the same seed and counts give the same p-values, in any order of rows.

    Raises:
        ValueError: the runs have other levels, or not one group a row.
    """
    sums_before, sums_after = paired_sums(before, after)
    change = sums_after - sums_before
    change = change[np.any(change != 0, axis=1)]
    exact = len(change) <= EXACT
    theirs, ours = scores(before.counts), scores(after.counts)
    seen = {key: abs(ours[key] - theirs[key]) for key in ours}
    as_much = dict.fromkeys(seen, 0 if exact else 1)
    ways = 0 if exact else 1
    whole_before, whole_after = sums_before.sum(axis=0), sums_after.sum(axis=0)
    for swaps in _all_ways(len(change)) if exact else _drawn_ways(len(change), draws, seed):
        moved = swaps @ change
        now, then = (scores_of_sums(sums, before.counts) for sums in (whole_after - moved, whole_before + moved))
        ways += len(swaps)
        for key, value in seen.items():  # equal but for rounding is as much
            as_much[key] += int(np.count_nonzero(np.abs(now[key] - then[key]) >= value - 1e-12))
    return SignFlip({key: times / ways for key, times in as_much.items()}, exact)


def _all_ways(patients: int) -> Iterator[NDArray[np.float64]]:
    """(2 ** patients, patients): 1 where a patient's results are swapped."""
    yield ((np.arange(2**patients)[:, None] >> np.arange(patients)) & 1).astype(float)


def _drawn_ways(patients: int, draws: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """(draws, patients) in parts, so that the memory does not grow with draws x patients."""
    rng = np.random.default_rng(seed)
    at_a_time = max(1, _AT_A_TIME // patients)
    for start in range(0, draws, at_a_time):
        yield rng.integers(0, 2, (min(at_a_time, draws - start), patients), dtype=np.int8).astype(float)
