"""Bootstrap and Wilson intervals: known closed forms, seeds, groups, edges."""

import numpy as np
import pytest
from scipy.stats import norm, t

from clinical_evals.scoring.hierarchy import Counts, scores
from clinical_evals.scoring.intervals import bootstrap, drawn_bounds, wilson


def _counts(values: list[list[int]]) -> Counts:
    return Counts(np.array(values, dtype=np.int64)[:, None, :], ("full",))


def test_wilson_against_published_values() -> None:
    # Wilson 1927 with z = 1.96: 0 of 10 -> upper 3.8416/13.8416 = 0.2775; 5 of 10 -> 0.2366 to 0.7634.
    assert wilson(0, 10) == (0.0, pytest.approx(0.2775, abs=1e-4))
    assert wilson(10, 10) == (pytest.approx(0.7225, abs=1e-4), 1.0)
    assert wilson(5, 10) == (pytest.approx(0.2366, abs=1e-4), pytest.approx(0.7634, abs=1e-4))
    assert wilson(0, 0) == (0.0, 1.0)


def test_interval_of_a_mean_has_the_normal_width() -> None:
    # 400 rows with one gold and one predicted code, right in half of them: precision is a share of 0.5 of 400,
    # standard error sqrt(0.25/400) = 0.025, so the interval is 0.5 +- 0.049.
    low, high = bootstrap(_counts([[i % 2, 1, 1] for i in range(400)]), draws=4000, seed=1)["precision_full"]
    assert low == pytest.approx(0.451, abs=0.006)
    assert high == pytest.approx(0.549, abs=0.006)


def test_rows_of_one_patient_are_drawn_together() -> None:
    values = [[i // 4 % 2, 1, 1] for i in range(400)]  # 100 patients with four equal rows each
    alone = bootstrap(_counts(values), draws=2000)["f1_full"]
    together = bootstrap(_counts(values), [i // 4 for i in range(400)], draws=2000)["f1_full"]
    # Four equal rows say no more than one: the width is that of 100 rows, twice that of 400.
    assert (together[1] - together[0]) / (alone[1] - alone[0]) == pytest.approx(2, rel=0.12)


def test_every_score_has_an_interval_around_it() -> None:
    rng = np.random.default_rng(0)
    gold, predicted = rng.integers(1, 9, (60, 2)), rng.integers(1, 9, (60, 2))
    both = rng.integers(0, np.minimum(gold, predicted) + 1)
    counts = Counts(np.stack([both, gold, predicted], axis=-1), ("block", "full"))
    intervals = bootstrap(counts)
    assert intervals.keys() == scores(counts).keys()
    for key, value in scores(counts).items():
        assert 0 <= intervals[key][0] < value < intervals[key][1] <= 1, key


def test_all_wrong_and_all_right_are_not_certain() -> None:
    assert bootstrap(_counts([[0, 1, 1]] * 10))["f1_full"] == wilson(0, 10)
    assert bootstrap(_counts([[1, 1, 1]] * 10))["f1_full"] == wilson(10, 10)


def test_one_patient_says_nothing_about_others() -> None:
    assert bootstrap(_counts([[1, 2, 2], [2, 2, 2]]), ["a", "a"])["f1_full"] == (0.0, 1.0)


@pytest.mark.parametrize("patients", [3, 4, 10, 20, 50, 1000])
def test_percentiles_are_those_of_students_interval(patients: int) -> None:
    """Of a mean of n normal values the resamples have the standard error s sqrt(n - 1) / n, and Student's interval is
    t s / sqrt(n): so many standard errors of the resamples on each side are sqrt(n / (n - 1)) t.
    """
    errors = np.sqrt(patients / (patients - 1)) * t.ppf(0.975, patients - 1)
    low, high = drawn_bounds(np.linspace(0, 1, 100_001), patients)
    assert low == pytest.approx(norm.cdf(-errors), rel=0.03, abs=1e-4)  # t is a series: 0.7 % too low at n = 4
    assert high == pytest.approx(1 - low)


def test_of_many_patients_they_are_the_usual_ones_and_of_two_the_extremes() -> None:
    drawn = np.linspace(0, 1, 100_001)
    assert drawn_bounds(drawn, 10**6) == pytest.approx((0.025, 0.975), abs=1e-4)
    assert drawn_bounds(drawn, 2) == pytest.approx((0, 1))


def test_it_is_what_plain_resampling_gives() -> None:
    """The same intervals the long way: the rows of the patients drawn are put together and scored."""
    counts, groups = _drawn_counts(9), [3, 1, 2, 2, 5, 4, 1, 1, 7]
    patients, rng = sorted(set(groups)), np.random.default_rng(11)
    drawn: dict[str, list[float]] = {}
    for _ in range(200):
        picked = [patients[place] for place in rng.integers(0, len(patients), len(patients))]
        rows = [row for patient in picked for row, of in enumerate(groups) if of == patient]
        for key, value in scores(counts.take(rows)).items():
            drawn.setdefault(key, []).append(value)
    found = bootstrap(counts, groups, draws=200, seed=11)
    for key, values in drawn.items():
        assert found[key] == pytest.approx(drawn_bounds(values, len(patients))), key


def test_seed_decides() -> None:
    counts = _counts([[i % 3, 3 + i % 5, 4 + i % 7] for i in range(50)])
    assert bootstrap(counts, seed=3) == bootstrap(counts, seed=3)
    assert bootstrap(counts, seed=3) != bootstrap(counts, seed=4)


def test_groups_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match="3 groups for 2 rows"):
        bootstrap(_counts([[0, 1, 1]] * 2), [1, 2, 3])


def _drawn_counts(rows: int) -> Counts:
    rng = np.random.default_rng(7)
    gold, predicted = rng.integers(1, 9, (rows, 2)), rng.integers(1, 9, (rows, 2))
    return Counts(np.stack([np.minimum(gold, predicted) // 2, gold, predicted], axis=-1), ("block", "full"))


@pytest.mark.parametrize(
    "patients", [None, [10, 9, 100, 9, 10, 10, 8, 11], ["p2", "p10", "p2", 3, "3", "", "p1", "p2"]]
)
def test_the_order_of_rows_changes_nothing(patients: list[object] | None) -> None:
    """Neither which patients are drawn nor the last digit: the very same numbers."""
    counts = _drawn_counts(8)
    expected = bootstrap(counts, patients, draws=200)
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(8).tolist()
        moved = None if patients is None else [patients[row] for row in order]
        assert bootstrap(counts.take(order), moved, draws=200) == expected


def test_many_rows_of_few_patients_in_any_order() -> None:
    """The F1 of a patient's 50 rows are added in one order, whatever the order in which they come."""
    counts, patients = _drawn_counts(300), [row % 6 for row in range(300)]
    order = np.random.default_rng(1).permutation(300).tolist()
    moved = bootstrap(counts.take(order), [patients[row] for row in order], draws=50)
    assert moved == bootstrap(counts, patients, draws=50)
