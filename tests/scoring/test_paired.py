"""Differences of two runs: oracle by plain resampling, symmetry, patients of one run only, edges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinical_evals.scoring.hierarchy import Counts, scores
from clinical_evals.scoring.intervals import drawn_bounds, wilson
from clinical_evals.scoring.paired import Difference, Run, detectable_differences, paired_differences, resample
from clinical_evals.scoring.sign_flip import sign_flip

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
    return {key: drawn_bounds(values, len(patients)) for key, values in differences.items()}


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


def test_a_run_without_any_counted_row() -> None:
    """`official` may leave out every row of a run: its scores are 0, and so are those of every resample."""
    run = make_run(np.random.default_rng(1), [1, 2, 3])
    none = Run(run.counts.take([]), [])
    own = scores(run.counts)
    for key, (value, low, high) in paired_differences(run, none).items():
        assert value == -own[key]
        assert low <= value <= high <= 0, key
    assert set(paired_differences(none, none).values()) == {Difference(0.0, -1.0, 1.0)}  # there is no patient


# The minimum detectable difference


def test_detectable_is_a_multiple_of_the_standard_error() -> None:
    """400 patients with one code each, which a second run has right in 50 more and wrong in 30 more.

    Changes of +1, -1 and 0 have the mean 20/400 and the mean square 80/400, so the variance 0.2 - 0.0025 = 0.1975 and
    the mean has a standard error of sqrt(0.1975 / 400) = 0.02222. (1.95996 + 0.84162) times it is 0.06226.
    """
    first = [1] * 100 + [0] * 300
    second = [0] * 30 + [1] * 70 + [1] * 50 + [0] * 250
    runs = [Run(Counts(np.array([[[both, 1, 1]] for both in of]), ("full",)), range(400)) for of in (first, second)]
    found = detectable_differences(resample(*runs, draws=20_000))
    assert found is not None
    assert found["precision_full"] == pytest.approx(0.06226, rel=0.02)


def test_detectable_where_nothing_changes() -> None:
    """Of ten patients Wilson's bound is 0.2775, taken as 1.96 standard errors: 0.2775 / 1.96 x 2.8016 = 0.3967."""
    run = make_run(np.random.default_rng(1), list(range(10)))
    found = detectable_differences(resample(run, run))
    assert found is not None
    assert list(found.values()) == pytest.approx([0.3967] * len(found), abs=1e-4)
    alone = make_run(np.random.default_rng(1), [3, 3])
    assert detectable_differences(resample(alone, alone)) is None  # one patient says nothing


@pytest.mark.parametrize(("patients", "least"), [(5, 1 / 16), (6, 1 / 32)])
def test_where_no_test_reaches_5_percent_nothing_is_detectable(patients: int, least: float) -> None:
    """All patients better: both ways in which all signs agree, of 2^patients, are as extreme as the data."""
    groups = list(range(patients))
    worse, better = (Run(Counts(np.array([[[both, 1, 1]]] * patients), ("full",)), groups) for both in (0, 1))
    assert sign_flip(worse, better).p_values["recall_full"] == least
    assert (detectable_differences(resample(worse, better)) is None) == (least > 0.05)


def test_other_levels_or_lengths_are_refused() -> None:
    run = make_run(np.random.default_rng(1), [1, 2])
    with pytest.raises(ValueError, match="levels"):
        paired_differences(run, Run(run.counts._replace(levels=("a", "b")), [1, 2]))
    with pytest.raises(ValueError, match="1 groups for 2 rows"):
        paired_differences(run, Run(run.counts, [1]))
