"""Scores of groups of rows, each with its counts and intervals (CliBench, section 6 and Figures 2 and 3).

A group is compared with nothing here: whether two groups differ is not told by whether their intervals overlap.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from clinical_evals.scoring.hierarchy import GOLD, PREDICTED, scores
from clinical_evals.scoring.intervals import bootstrap
from clinical_evals.scoring.paired import Run
from clinical_evals.scoring.row_groups import Groups

FEWEST = 10
"""Of fewer rows a score says nothing: such a group is marked."""


class GroupScore(NamedTuple):
    """The scores of the rows of one group."""

    name: str | None
    """None: the rows without a value."""
    rows: int
    patients: int
    gold: float
    """Mean number of distinct gold codes a row, at the finest level."""
    predicted: float
    """The same of predicted codes: more or fewer than `gold` says whether a model names too much or too little."""
    scores: dict[str, float]
    """As `hierarchy.scores` has them, 0-1."""
    intervals: dict[str, tuple[float, float]]
    """Their 95 % intervals, over the patients of the group."""

    @property
    def few(self) -> bool:
        """Whether it has fewer than `FEWEST` rows."""
        return self.rows < FEWEST


def score_groups(
    run: Run, groups: Groups, by_patient: bool = True, draws: int = 1000, seed: int = 0
) -> list[GroupScore]:
    """The scores of each group, in the order given.

    Args:
        run: the counts of all rows, and their patients.
        groups: the places of the rows of each group; a row may be in several.
        by_patient: False takes each row for a patient of its own.
        draws: how many resamples an interval is of.
        seed: the same seed and counts give the same intervals, in any order of rows.
    """
    return [score_group(run, name, places, by_patient, draws, seed) for name, places in groups.items()]


def score_group(
    run: Run, name: str | None, places: Sequence[int], by_patient: bool = True, draws: int = 1000, seed: int = 0
) -> GroupScore:
    """The scores of the rows at these places; see `score_groups`.

    Raises:
        ValueError: there are no rows.
    """
    if not len(places):
        raise ValueError(f"group {name!r} has no rows")
    counts = run.counts.take(places)
    patients = [run.groups[place] for place in places]
    finest = np.mean(counts.values[:, -1], axis=0)
    intervals = bootstrap(counts, patients if by_patient else None, draws, seed)
    means = float(finest[GOLD]), float(finest[PREDICTED])
    return GroupScore(name, counts.rows, len(set(patients)), *means, scores(counts), intervals)
