"""95 % intervals of scores: bootstrap over patients from counts, and Wilson's where the bootstrap cannot speak.

Percentile intervals of few patients are too narrow: of 20 they hold the truth in about 91 % of samples. So the
percentiles are those that give Student's interval where values are normal (the expanded percentile interval of
Hesterberg 2015, "What teachers should know about the bootstrap"): of 20 patients 1.6 % and 98.4 %, of 1,000 2.49 % and
97.51 %. `tests/scoring/test_coverage.py` counts how often the truth is held.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import erfc, sqrt

import numpy as np
from numpy.typing import NDArray

from clinical_evals.scoring.hierarchy import Counts, measure, named, row_f1, scores

Z95 = 1.959963984540054


def bootstrap(
    counts: Counts, groups: Sequence[Hashable] | None = None, draws: int = 1000, seed: int = 0
) -> dict[str, tuple[float, float]]:
    """The 95 % interval of every key of `scores`, patients drawn with replacement.

    Rows of one patient are drawn together, since they are not independent. Where every draw gives 0, or every
    draw 1, the bootstrap would claim certainty: there Wilson's interval for that share of the patients stands instead.
    One patient alone says nothing about others: the interval is then 0 to 1.

    Args:
        counts: the counts of the run.
        groups: the patient (`subject_id`) of every row; None takes each row for a patient of its own.
        draws: how many resamples.
        seed: the same seed and counts give the same intervals, in any order of rows.

    Raises:
        ValueError: `groups` has another length than the counts.
    """
    point = scores(counts)
    group = _row_numbers(counts) if groups is None else numbers_of(groups, numbered(groups), counts)
    patients = int(group.max()) + 1 if len(group) else 0
    if patients < 2:
        return dict.fromkeys(point, (0.0, 1.0))
    sums = sums_by_group(counts, group, patients)
    rng = np.random.default_rng(seed)
    totals = np.stack([draw_groups(rng, patients) @ sums for _ in range(draws)])
    drawn = scores_of_sums(totals, counts)
    return {key: _interval(drawn[key], value, patients) for key, value in point.items()}


def drawn_bounds(drawn: Sequence[float] | NDArray[np.float64], patients: int) -> tuple[float, float]:
    """The 95 % interval that resamples of so many patients (or cases), at least two, give; its ends were drawn."""
    degrees = patients - 1
    tail = erfc(sqrt(patients / degrees) * _student95(degrees) / sqrt(2)) / 2
    low = np.quantile(drawn, tail, method="lower")
    return float(low), float(np.quantile(drawn, 1 - tail, method="higher"))


def _student95(degrees: int) -> float:
    """The 97.5 % point of Student's distribution (Abramowitz and Stegun 26.7.5; 0.8 % too low at 3 degrees)."""
    z = Z95
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + sum(term / float(degrees) ** power for power, term in enumerate(terms, start=1))


def wilson(successes: float, trials: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share; it does not collapse at 0 or 1. (0, 1) without trials."""
    if trials <= 0:
        return 0.0, 1.0
    share, z2 = successes / trials, Z95 * Z95
    centre = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    half = Z95 / (1 + z2 / trials) * sqrt(share * (1 - share) / trials + z2 / (4 * trials * trials))
    # At 0 and 1 centre and half are equal but for rounding: the bound is the share itself.
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == trials else min(1.0, centre + half)
    return low, high


def numbered(groups: Iterable[Hashable]) -> dict[Hashable, int]:
    """By group its place among the sorted distinct groups: who is drawn must not depend on the order of rows."""
    ordered = sorted(set(groups), key=lambda group: (str(type(group)), str(group)))
    return {group: place for place, group in enumerate(ordered)}


def numbers_of(groups: Sequence[Hashable], number: Mapping[Hashable, int], counts: Counts) -> NDArray[np.int64]:
    """The number of each row's group.

    Raises:
        ValueError: there is not one group a row.
    """
    if len(groups) != counts.rows:
        raise ValueError(f"{len(groups)} groups for {counts.rows} rows")
    return np.array([number[group] for group in groups], dtype=np.int64)


def _row_numbers(counts: Counts) -> NDArray[np.int64]:
    """A number for each row where no groups are known: its place among the rows sorted by their counts."""
    number = np.empty(counts.rows, dtype=np.int64)
    number[np.lexsort(counts.values.reshape(counts.rows, 3 * len(counts.levels)).T)] = np.arange(counts.rows)
    return number


def sums_by_group(counts: Counts, group: NDArray[np.int64], patients: int) -> NDArray[np.float64]:
    """(patients, 4 x levels + 1): counts, F1 and number of the rows of each patient."""
    of_rows = counts.values.reshape(counts.rows, 3 * len(counts.levels))
    flat = np.hstack([of_rows, row_f1(counts), np.ones((counts.rows, 1))])
    sums = np.zeros((patients, flat.shape[1]))
    order = np.lexsort((*flat.T, group))  # rounding would tell the order in which the F1 of a patient are added
    np.add.at(sums, group[order], flat[order])
    return sums


def scores_of_sums(totals: NDArray[np.float64], counts: Counts) -> dict[str, NDArray[np.float64]]:
    """Every score of (n, 4 x levels + 1) sums over patients; 0 where there is no row.

    Args:
        totals: as `sums_by_group` has them for a patient.
        counts: of the run; its levels are used.
    """
    levels = len(counts.levels)
    macro = totals[:, 3 * levels : 4 * levels] / np.maximum(totals[:, -1:], 1)
    return named(measure(totals[:, : 3 * levels].reshape(len(totals), levels, 3), macro), counts)


def draw_groups(rng: np.random.Generator, patients: int) -> NDArray[np.float64]:
    """How often each patient is in one resample."""
    return np.bincount(rng.integers(0, patients, patients), minlength=patients).astype(float)


def _interval(drawn: NDArray[np.float64], point: float, patients: int) -> tuple[float, float]:
    low, high = drawn_bounds(drawn, patients)
    if low == high and point in (0.0, 1.0):
        return wilson(point * patients, patients)
    return low, high
