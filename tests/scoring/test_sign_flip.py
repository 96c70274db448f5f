"""The sign-flip test against rows that are really swapped, McNemar's test, and what must not change it."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from clinical_evals.scoring.department import ACCURACY, Outcome, outcome_counts
from clinical_evals.scoring.hierarchy import Counts, scores
from clinical_evals.scoring.paired import Run
from clinical_evals.scoring.sign_flip import EXACT, sign_flip

LEVELS = ("block", "full")


def make_run(rng: np.random.Generator, groups: list[int]) -> Run:
    gold, predicted = rng.integers(1, 9, (len(groups), 2)), rng.integers(1, 9, (len(groups), 2))
    both = rng.integers(0, np.minimum(gold, predicted) + 1)
    return Run(Counts(np.stack([both, gold, predicted], axis=-1), LEVELS), groups)


def take(run: Run, patients: set[int]) -> np.ndarray:
    return run.counts.values[[row for row, patient in enumerate(run.groups) if patient in patients]]


def by_swapping(before: Run, after: Run) -> dict[str, float]:
    """The same p-values the long way: for every way the rows of each swapped patient change sides, and are scored."""
    patients = sorted({*before.groups, *after.groups})
    seen, as_much = difference(before.counts, after.counts), {}
    ways = list(product([False, True], repeat=len(patients)))
    for way in ways:
        stay = {patient for patient, swapped in zip(patients, way, strict=True) if not swapped}
        go = set(patients) - stay
        then = before.counts._replace(values=np.concatenate([take(before, stay), take(after, go)]))
        now = before.counts._replace(values=np.concatenate([take(after, stay), take(before, go)]))
        for key, value in difference(then, now).items():
            as_much[key] = as_much.get(key, 0) + (abs(value) >= abs(seen[key]) - 1e-12)
    return {key: times / len(ways) for key, times in as_much.items()}


def difference(before: Counts, after: Counts) -> dict[str, float]:
    then, now = scores(before), scores(after)
    return {key: now[key] - then[key] for key in now}


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_it_is_what_swapping_rows_gives(seed: int) -> None:
    """Patient 2 has two rows; 4 and 6 have counted rows in one run only."""
    rng = np.random.default_rng(seed)
    before, after = make_run(rng, [3, 1, 2, 2, 5, 4, 1]), make_run(rng, [3, 1, 2, 2, 5, 6])
    found = sign_flip(before, after)
    assert found.exact
    assert found.p_values == pytest.approx(by_swapping(before, after))


def test_patients_in_whom_nothing_differs_change_nothing() -> None:
    rng = np.random.default_rng(0)
    before, after = make_run(rng, [1, 2, 3, 4]), make_run(rng, [1, 2, 3, 4])
    # Recall does not weigh a patient by the other run, so more gold codes that both find leave its order of ways.
    more = np.array([[[3, 5, 4]] * 2] * 100)
    both = [
        Run(run.counts._replace(values=np.concatenate([run.counts.values, more])), [*run.groups, *range(100, 200)])
        for run in (before, after)
    ]
    found = sign_flip(*both)
    assert found.exact  # 104 patients, of whom four say something
    assert found.p_values["macro_f1_full"] == sign_flip(before, after).p_values["macro_f1_full"]


def test_ways_are_drawn_where_they_are_many() -> None:
    """14 patients have 16,384 ways: p of 9,999 of them is near p of all, with an error of sqrt(p (1 - p) / 9,999)."""
    patients = list(range(EXACT + 2))
    rng = np.random.default_rng(3)
    before, after = make_run(rng, patients), make_run(rng, patients)
    found, exact = sign_flip(before, after), by_swapping(before, after)
    assert not found.exact
    for key, p in exact.items():
        assert found.p_values[key] == pytest.approx(p, abs=4 * (p * (1 - p) / 9999) ** 0.5 + 1e-4), key


def test_a_drawn_p_value_is_never_zero() -> None:
    """One model finds every code of 40 patients and the other none: no way drawn differs as much, but the data's own.

    p = (1 + 0) / (1 + 99).
    """
    none, all_found = (Run(Counts(np.array([[[both, 5, 5]]] * 40), ("full",)), list(range(40))) for both in (0, 5))
    assert sign_flip(none, all_found, draws=99).p_values["f1_full"] == 0.01


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.permutations(range(16)), st.sampled_from([3, 16]))
def test_the_order_of_rows_and_of_runs_changes_nothing(seed: int, order: list[int], patients: int) -> None:
    rng = np.random.default_rng(seed)
    groups = [row % patients for row in range(16)]
    before, after = make_run(rng, groups), make_run(rng, groups)
    moved = Run(after.counts.take(order), [groups[row] for row in order])
    found = sign_flip(before, after, draws=99)
    assert sign_flip(before, moved, draws=99) == found
    assert sign_flip(after, before, draws=99) == found


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 50))
def test_of_accuracy_it_is_mcnemars_exact_test(lost: int, won: int, same: int) -> None:
    """`won` cases turn right and `lost` turn wrong; by chance each is as likely."""
    if lost + won > EXACT or not lost + won + same:
        return
    change = [*[(True, False)] * lost, *[(False, True)] * won, *[(True, True)] * same]
    before, after = (
        Run(outcome_counts([Outcome("内科", "内科", pair[side], False) for pair in change]), range(len(change)))
        for side in (0, 1)
    )
    found = sign_flip(before, after)
    assert found.exact
    expected = binomtest(won, lost + won).pvalue if lost + won else 1.0
    assert found.p_values[ACCURACY] == pytest.approx(expected)


def test_nothing_to_tell_apart() -> None:
    run = make_run(np.random.default_rng(1), list(range(30)))
    assert set(sign_flip(run, run).p_values.values()) == {1.0}
    one, other = (make_run(np.random.default_rng(seed), [7, 7]) for seed in (1, 2))
    assert set(sign_flip(one, other).p_values.values()) == {1.0}  # one patient: swapped or not, as far apart
    none = Run(run.counts.take([]), [])
    assert set(sign_flip(none, none).p_values.values()) == {1.0}


def test_seed_decides_where_ways_are_drawn() -> None:
    rng = np.random.default_rng(5)
    before, after = make_run(rng, list(range(30))), make_run(rng, list(range(30)))
    assert sign_flip(before, after, draws=199, seed=3) == sign_flip(before, after, draws=199, seed=3)
    assert sign_flip(before, after, draws=199, seed=3) != sign_flip(before, after, draws=199, seed=4)


def test_draws_that_do_not_fit_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """7 ways at a time of 30 patients, 199 in all: the last part has 3."""
    from clinical_evals.scoring import sign_flip as module

    rng = np.random.default_rng(5)
    before, after = make_run(rng, list(range(30))), make_run(rng, list(range(30)))
    whole = sign_flip(before, after, draws=19_999).p_values
    monkeypatch.setattr(module, "_AT_A_TIME", 7 * 30 + 5)
    parts = sign_flip(before, after, draws=19_999).p_values
    for key, p in whole.items():
        assert parts[key] == pytest.approx(p, abs=0.02)
    p_values = sign_flip(before, after, draws=199).p_values.values()
    assert all(round(200 * p, 9) == round(200 * p) for p in p_values)  # all 199 were drawn


def test_other_levels_or_lengths_are_refused() -> None:
    run = make_run(np.random.default_rng(1), [1, 2])
    with pytest.raises(ValueError, match="levels"):
        sign_flip(run, Run(run.counts._replace(levels=("a", "b")), [1, 2]))
    with pytest.raises(ValueError, match="1 groups for 2 rows"):
        sign_flip(run, Run(run.counts, [1]))
