"""Two runs on the same patients: the difference of every score, its 95 % interval, and what could have been found.

In each resample the same patients are drawn for both runs, so that what makes a patient hard for both cancels out.
Whether a difference may be chance alone is tested in `sign_flip`.
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinical_evals.scoring.hierarchy import Counts, scores
from clinical_evals.scoring.intervals import (
    Z95,
    draw_groups,
    drawn_bounds,
    numbered,
    numbers_of,
    scores_of_sums,
    sums_by_group,
    wilson,
)

Z80 = 0.8416212335729143
"""The 80 % point of the normal distribution."""
FEWEST_PATIENTS = 6
"""Of fewer no sign-flip test reaches 5 %: its least p is 2 / 2^patients."""


class Difference(NamedTuple):
    """How much higher a score is in one run than in another; -1 to 1."""

    value: float
    low: float
    high: float
    """Its 95 % interval."""


class Run(NamedTuple):
    """The counts of one run, and whose they are."""

    counts: Counts
    groups: Sequence[Hashable]
    """The patient of every counted row."""


class Resamples(NamedTuple):
    """How two runs differ, in the data and in resamples of its patients."""

    values: dict[str, float]
    """Of every key of `scores`: after - before."""
    drawn: dict[str, NDArray[np.float64]]
    """The same in each resample; empty where there are fewer than two patients."""
    patients: int
    """Those of either run."""


def paired_differences(before: Run, after: Run, draws: int = 1000, seed: int = 0) -> dict[str, Difference]:
    """For every key of `scores`: after - before, and the 95 % interval over patients; see `resample` and `intervals`.

    Args:
        before: the run that is compared with.
        after: the run that is compared.
        draws: how many resamples.
        seed: the same seed and counts give the same intervals, in any order of rows.

    Raises:
        ValueError: the runs have other levels, or not one group a row.
    """
    return intervals(resample(before, after, draws, seed))


def resample(before: Run, after: Run, draws: int = 1000, seed: int = 0) -> Resamples:
    """Draw the patients with replacement, the same ones for both runs.

    A patient may have counted rows in one run only (`official` leaves out rows that predict nothing): such a patient
    is drawn, and adds nothing to the other.

    Args:
        before: the run that is compared with.
        after: the run that is compared.
        draws: how many resamples.
        seed: the same seed and counts give the same resamples, in any order of rows.

    Raises:
        ValueError: the runs have other levels, or not one group a row.
    """
    sums_before, sums_after = paired_sums(before, after)
    theirs, ours = scores(before.counts), scores(after.counts)
    values = {key: ours[key] - theirs[key] for key in ours}
    patients = len(sums_before)
    if patients < 2:
        return Resamples(values, {}, patients)
    sums = np.hstack([sums_before, sums_after])
    rng = np.random.default_rng(seed)
    # One resample at a time: the memory does not grow with draws x patients.
    totals = np.stack([draw_groups(rng, patients) @ sums for _ in range(draws)])
    then, now = (scores_of_sums(half, before.counts) for half in np.hsplit(totals, 2))
    return Resamples(values, {key: now[key] - then[key] for key in values}, patients)


def intervals(resamples: Resamples) -> dict[str, Difference]:
    """The difference of every score with its 95 % interval.

    Where all resamples give the same, the bootstrap would claim certainty: there the bounds are Wilson's for a patient
    who would change it. One patient says nothing: -1 to 1.
    """
    found = {}
    for key, value in resamples.values.items():
        low, high = -1.0, 1.0
        if resamples.drawn:
            low, high = drawn_bounds(resamples.drawn[key], resamples.patients)
            if high - low < 1e-12:  # equal but for rounding
                reach = wilson(0, resamples.patients)[1]
                low, high = max(-1.0, value - reach), min(1.0, value + reach)
        found[key] = Difference(value, low, high)
    return found


def detectable_differences(resamples: Resamples) -> dict[str, float] | None:
    """The minimum detectable difference of every score, 0-1; None of fewer than `FEWEST_PATIENTS`.

    A true difference of this size would be found (two-sided, 5 %) in 80 % of such comparisons on as many patients:
    (1.96 + 0.84) x the standard error of the difference, which is the spread of the resamples. It is an approximation:
    the difference is taken as normal, and its standard error as the same whatever the true difference is. Where all
    resamples give the same, the standard error is that of Wilson's bound in `intervals`.
    """
    if resamples.patients < FEWEST_PATIENTS:
        return None
    least = wilson(0, resamples.patients)[1] / Z95
    errors = {key: float(drawn.std()) for key, drawn in resamples.drawn.items()}
    return {key: (Z95 + Z80) * (error if error > 1e-12 else least) for key, error in errors.items()}


def paired_sums(before: Run, after: Run) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The sums of every patient of either run, in one order for both: `intervals.sums_by_group` twice.

    Raises:
        ValueError: the runs have other levels, or not one group a row.
    """
    if before.counts.levels != after.counts.levels:
        raise ValueError(f"levels {before.counts.levels} and {after.counts.levels}")
    number = numbered([*before.groups, *after.groups])
    return _sums(before, number), _sums(after, number)


def _sums(run: Run, number: dict[Hashable, int]) -> NDArray[np.float64]:
    return sums_by_group(run.counts, numbers_of(run.groups, number, run.counts), len(number))
