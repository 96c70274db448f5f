"""Two runs on the same patients: the difference of every score, with its 95 % interval by paired bootstrap.

In each resample the same patients are drawn for both runs, so that what makes a patient hard for both cancels out.
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinical_evals.scoring.hierarchy import Counts, measure, named, scores
from clinical_evals.scoring.intervals import draw_groups, sums_by_group, wilson


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


def paired_differences(before: Run, after: Run, draws: int = 1000, seed: int = 0) -> dict[str, Difference]:
    """For every key of `scores`: after - before, and the percentile interval (2.5 %, 97.5 %) over patients.

    A patient may have counted rows in one run only (`official` leaves out rows that predict nothing): such a patient
    is drawn, and adds nothing to the other. Where all resamples give the same, the bootstrap would claim certainty:
    there the bounds are Wilson's for a patient who would change it. One patient says nothing: -1 to 1.

    Args:
        before: the run that is compared with.
        after: the run that is compared.
        draws: how many resamples.
        seed: the same seed and counts give the same intervals, in any order of rows.

    Raises:
        ValueError: the runs have other levels, or not one group a row.
    """
    if before.counts.levels != after.counts.levels:
        raise ValueError(f"levels {before.counts.levels} and {after.counts.levels}")
    patients = sorted({*before.groups, *after.groups}, key=lambda patient: (str(type(patient)), str(patient)))
    ours, theirs = scores(after.counts), scores(before.counts)
    values = {key: ours[key] - theirs[key] for key in ours}
    if len(patients) < 2:
        return {key: Difference(value, -1.0, 1.0) for key, value in values.items()}
    number = {patient: place for place, patient in enumerate(patients)}
    sums = np.hstack([_sums(run, number) for run in (before, after)])
    rng = np.random.default_rng(seed)
    # One resample at a time: the memory does not grow with draws x patients.
    totals = np.stack([draw_groups(rng, len(patients)) @ sums for _ in range(draws)])
    then, now = (_drawn(half, before.counts) for half in np.hsplit(totals, 2))
    return {key: _interval(now[key] - then[key], value, len(patients)) for key, value in values.items()}


def _sums(run: Run, number: dict[Hashable, int]) -> NDArray[np.float64]:
    if len(run.groups) != run.counts.rows:
        raise ValueError(f"{len(run.groups)} groups for {run.counts.rows} rows")
    group = np.array([number[patient] for patient in run.groups], dtype=np.int64)
    return sums_by_group(run.counts, group, len(number))


def _drawn(totals: NDArray[np.float64], counts: Counts) -> dict[str, NDArray[np.float64]]:
    """Every score of each resample; 0 where none of its patients has a counted row."""
    levels = len(counts.levels)
    macro = totals[:, 3 * levels : 4 * levels] / np.maximum(totals[:, -1:], 1)
    return named(measure(totals[:, : 3 * levels].reshape(len(totals), levels, 3), macro), counts)


def _interval(drawn: NDArray[np.float64], value: float, patients: int) -> Difference:
    low, high = (float(bound) for bound in np.percentile(drawn, (2.5, 97.5)))
    if high - low < 1e-12:  # equal but for rounding
        reach = wilson(0, patients)[1]
        low, high = max(-1.0, value - reach), min(1.0, value + reach)
    return Difference(value, low, high)
