"""Hierarchical precision, recall and F1 of sets of codes (CliBench, section 3.3; protocol.md 2.6).

At each level a code stands for its ancestor there, and gold and prediction become sets. `count` turns codes into
`Counts`; every score, interval and breakdown is computed from these counts, never from codes again.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

BOTH, GOLD, PREDICTED = 0, 1, 2
AVERAGE = "average"
MEASURES = ("precision", "recall", "f1", "macro_f1")


class Hierarchy(Protocol):
    """What `count` needs of a code system."""

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels, from the coarsest to the full code."""

    @property
    def outside_average(self) -> tuple[str, ...]:
        """Those of the levels that the average leaves out."""

    def path_ids(self, codes: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The place of each code (n,), and by place the ancestors (places, levels), non-decreasing down a column."""


class Counts(NamedTuple):
    """How many distinct codes each row has at each level: in both sets, in the gold, in the prediction."""

    values: NDArray[np.int64]
    """(rows, levels, 3): both, gold, predicted."""
    levels: tuple[str, ...]
    outside_average: tuple[str, ...] = ()
    """Those of the levels that the average leaves out: of ATC the full code (protocol.md 2.1)."""

    @property
    def rows(self) -> int:
        """How many rows were counted."""
        return len(self.values)

    def take(self, rows: Sequence[int] | NDArray[np.int64]) -> "Counts":
        """The counts of some of the rows, in the order given."""
        return self._replace(values=self.values[np.asarray(rows, dtype=np.int64)])


def count(references: Sequence[Sequence[str]], predictions: Sequence[Sequence[str]], system: Hierarchy) -> Counts:
    """Count gold and predicted codes per row and level.

    Args:
        references: the gold codes of each row, canonical.
        predictions: the predicted codes of each row: canonical where valid; an invalid one stands for itself at every
            level, where nothing equals it.
        system: the code system.

    Returns:
        Counts over len(references) rows.

    Raises:
        ValueError: the two have different lengths.
    """
    if len(references) != len(predictions):
        raise ValueError(f"{len(references)} rows of references, {len(predictions)} of predictions")
    rows, levels = len(references), len(system.levels)
    values = np.zeros((rows, levels, 3), dtype=np.int64)
    both_sides = (*references, *predictions)
    places, ancestors = system.path_ids(list(chain.from_iterable(both_sides)))
    if not len(places):
        return Counts(values, system.levels, system.outside_average)
    lengths = np.fromiter(map(len, both_sides), dtype=np.int64, count=2 * rows)
    row_and_side = np.repeat(np.concatenate([np.arange(rows) * 2, np.arange(rows) * 2 + 1]), lengths)
    # Sorted once by row, then by place in the hierarchy: equal ancestors are then neighbours at every level.
    key = ((row_and_side >> 1) * len(ancestors) + places) * 2 + (row_and_side & 1)
    key.sort()
    seen = (key & 1).astype(np.int8) + 1  # bit 1: in the gold, bit 2: predicted
    row, place = np.divmod(key >> 1, len(ancestors))
    # From the full code upwards: one member at a level is one at every coarser level, so the arrays shrink.
    for level in reversed(range(levels)):
        ancestor = ancestors[:, level][place]
        start = np.ones(len(row), dtype=bool)
        start[1:] = (row[1:] != row[:-1]) | (ancestor[1:] != ancestor[:-1])
        first = np.flatnonzero(start)
        seen, row, place = np.bitwise_or.reduceat(seen, first), row[first], place[first]
        members = np.bincount(row * 4 + seen, minlength=4 * rows).reshape(rows, 4)
        values[:, level, BOTH] = members[:, 3]
        values[:, level, GOLD] = members[:, 3] + members[:, 1]
        values[:, level, PREDICTED] = members[:, 3] + members[:, 2]
    return Counts(values, system.levels, system.outside_average)


def count_sets(
    references: Sequence[Sequence[AbstractSet[str]]],
    predictions: Sequence[Sequence[AbstractSet[str]]],
    levels: tuple[str, ...],
) -> Counts:
    """Count the members of sets that are given for each level, whether or not a level follows from a finer one.

    Args:
        references: for each row the gold set at each of `levels`.
        predictions: the predicted ones.
        levels: their names.

    Raises:
        ValueError: rows or levels are not one for one.
    """
    values = np.zeros((len(references), len(levels), 3), dtype=np.int64)
    for row, (gold, predicted) in enumerate(zip(references, predictions, strict=True)):
        for level, (wanted, found) in enumerate(zip(gold, predicted, strict=True)):
            values[row, level] = len(wanted & found), len(wanted), len(found)
    return Counts(values, levels)


def scores(counts: Counts) -> dict[str, float]:
    """Micro precision, recall and F1 and macro F1 at each level, and their means over the levels.

    A level in `counts.outside_average` has its scores, but is not in the means.

    Returns:
        `precision_`, `recall_`, `f1_` and `macro_f1_` + each level and `average`; floats in 0-1, 0 where undefined.
        The average of the F1s is the mean of the level F1s, not the F1 of the mean precision and recall.
    """
    # Summed in one order, whatever the order of the rows: the last digit would depend on it.
    rows = np.sort(row_f1(counts), axis=0)
    measures = measure(counts.values.sum(axis=0), rows.mean(axis=0) if counts.rows else 0.0)
    return {key: float(value) for key, value in named(measures, counts).items()}


def measure(
    totals: NDArray[np.float64] | NDArray[np.int64], macro_f1: NDArray[np.float64] | float
) -> NDArray[np.float64]:
    """The four measures of summed counts.

    Args:
        totals: (..., levels, 3) sums of counts.
        macro_f1: (..., levels) mean of the rows' F1.

    Returns:
        (..., levels, 4): precision, recall, F1, macro F1.
    """
    both, gold, predicted = (totals[..., i].astype(float) for i in (BOTH, GOLD, PREDICTED))
    columns = (_ratio(both, predicted), _ratio(both, gold), _ratio(2 * both, gold + predicted))
    return np.stack([*columns, np.broadcast_to(np.asarray(macro_f1, dtype=float), both.shape)], axis=-1)


def named(measures: NDArray[np.float64], counts: Counts) -> dict[str, NDArray[np.float64]]:
    """Measures (..., levels, 4) of counts by their keys, with the average over the levels added."""
    averaged = [level not in counts.outside_average for level in counts.levels]
    result = {}
    for column, name in enumerate(MEASURES):
        for i, level in enumerate(counts.levels):
            result[f"{name}_{level}"] = measures[..., i, column]
        result[f"{name}_{AVERAGE}"] = measures[..., averaged, column].mean(axis=-1)
    return result


def row_f1(counts: Counts) -> NDArray[np.float64]:
    """F1 of every row at every level, (rows, levels); 0 where both sets are empty."""
    both, gold, predicted = (counts.values[..., i].astype(float) for i in (BOTH, GOLD, PREDICTED))
    return _ratio(2 * both, gold + predicted)


def _ratio(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0)
