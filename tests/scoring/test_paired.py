"""Differences of two runs: oracle by plain resampling, symmetry, patients of one run only, edges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinical_evals.scoring.hierarchy import Counts, scores
from clinical_evals.scoring.intervals import wilson
from clinical_evals.scoring.paired import Difference, Run, paired_differences

LEVELS = ("block", "full")


def make_run(rng: np.random.Generator, groups: list[int]) -> Run:
    gold, predicted = rng.integers(1, 9, (len(groups), 2)), rng.integers(1, 9, (len(groups), 2))
    both = rng.integers(0, np.minimum(gold, predicted) + 1)
    return Run(Counts(np.stack([both, gold, predicted], axis=-1), LEVELS), groups)


def by_resampling(before: Run, after: Run, draws: int, seed: int) -> dict[str, tuple[float, float]]:
    """The same intervals the long way: whole rows are put together for each resample, and scored."""
    patients = sorted({*before.groups, *after.groups})
    rng = np.random.default_rng(seed)
    differences: dict[str, list[float]] = {}
    for _ in range(draws):
        drawn = [patients[place] for place in rng.integers(0, len(patients), len(patients))]
        now, then = (
            scores(run.counts.take([row for patient in drawn for row, of in enumerate(run.groups) if of == patient]))
            for run in (after, before)
        )
        for key in now:
            differences.setdefault(key, []).append(now[key] - then[key])
    return {key: tuple(np.percentile(values, (2.5, 97.5))) for key, values in differences.items()}


def test_it_is_what_plain_resampling_gives() -> None:
    rng = np.random.default_rng(0)
    before, after = make_run(rng, [3, 1, 2, 2, 5, 4, 1]), make_run(rng, [3, 1, 2, 2, 5, 6])  # 4 and 6 are in one only
    found = paired_differences(before, after, draws=200, seed=7)
    expected = by_resampling(before, after, draws=200, seed=7)
    assert found.keys() == expected.keys()
    for key, (low, high) in expected.items():
        assert (found[key].low, found[key].high) == (pytest.approx(low), pytest.approx(high)), key
        assert found[key].value == pytest.approx(scores(after.counts)[key] - scores(before.counts)[key])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.permutations(range(8)))
def test_the_order_of_rows_changes_nothing_and_swapped_runs_swap_signs(seed: int, order: list[int]) -> None:
    rng = np.random.default_rng(seed)
    groups = [10, 9, 100, 9, 10, 10, 8, 11]
    before, after = make_run(rng, groups), make_run(rng, groups)
    moved = Run(after.counts.take(order), [groups[row] for row in order])
    found = paired_differences(before, after, draws=100)
    again, swapped = paired_differences(before, moved, draws=100), paired_differences(after, before, draws=100)
    for key, (value, low, high) in found.items():
        assert again[key] == pytest.approx((value, low, high), abs=1e-12)
        assert swapped[key] == pytest.approx((-value, -high, -low), abs=1e-12)


def test_pairing_is_narrower_than_two_intervals() -> None:
    """100 patients, hard and easy ones; the second run is better by one code of ten in half of them.

    Recall differs by 0.05, and only what differs counts: the standard error is that of a share of one half, times a
    tenth: 0.1 * sqrt(0.25 / 100) = 0.005. The hard patients alone would give 0.03.
    """
    right = [9 if patient % 2 else 3 for patient in range(100)]
    better = [both + (patient // 2 % 2) for patient, both in enumerate(right)]
    before, after = (
        Run(Counts(np.array([[[both, 10, 10]] for both in of]), ("full",)), list(range(100))) for of in (right, better)
    )
    found = paired_differences(before, after, draws=2000)["recall_full"]
    assert found.value == pytest.approx(0.05)
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * 0.005, rel=0.1)


def test_nothing_differs_in_ten_patients_but_may_in_the_eleventh() -> None:
    run = make_run(np.random.default_rng(1), list(range(10)))
    reach = wilson(0, 10)[1]  # 0.2775
    assert set(paired_differences(run, run).values()) == {Difference(0.0, -reach, reach)}


def test_one_patient_says_nothing() -> None:
    run = make_run(np.random.default_rng(1), ["a", "a"])  # type: ignore[list-item]  # an id may be text
    assert paired_differences(run, run)["f1_full"] == Difference(0.0, -1.0, 1.0)


def test_other_levels_or_lengths_are_refused() -> None:
    run = make_run(np.random.default_rng(1), [1, 2])
    with pytest.raises(ValueError, match="levels"):
        paired_differences(run, Run(run.counts._replace(levels=("a", "b")), [1, 2]))
    with pytest.raises(ValueError, match="1 groups for 2 rows"):
        paired_differences(run, Run(run.counts, [1]))
