"""Accuracy by turn: hand-worked dialogues, the gain against a plain bootstrap, edges that must not be certain."""

import json
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinical_evals.errors import InputError
from clinical_evals.scoring.department import Outcome, accuracy_interval
from clinical_evals.scoring.intervals import drawn_bounds, wilson
from clinical_evals.scoring.turns import (
    FirstRight,
    best_turn,
    first_right,
    paired_gain,
    score_turns,
    turns_to_first_right,
)


def outcomes(marks: str, known: bool = True) -> list[Outcome]:
    """One outcome a mark: + right, - wrong, 0 no answer, ? wrong and ambiguous."""
    named = {"+": "外科", "-": "骨科", "?": "骨科", "0": None}
    return [Outcome("外科", named[mark], mark == "+", (mark == "?") if known else None) for mark in marks]


def test_turns_by_hand() -> None:
    # Four cases over three turns; a column is a case.
    scores = score_turns([outcomes("-0+?"), outcomes("++-0"), outcomes("++-+")])
    assert [score.turn for score in scores] == [0, 1, 2]
    assert [score.accuracy for score in scores] == [1 / 4, 2 / 4, 3 / 4]
    assert [score.no_answer_rate for score in scores] == [1 / 4, 1 / 4, 0]
    assert [score.ambiguous_rate for score in scores] == [1 / 4, 0, 0]
    assert scores[0].gain is None
    assert [score.gain.value for score in scores[1:] if score.gain] == [2 / 4 - 1 / 4, 3 / 4 - 2 / 4]
    assert (scores[1].low, scores[1].high) == accuracy_interval(outcomes("++-0"))
    assert score_turns([outcomes("+-", known=False)])[0].ambiguous_rate is None


def test_the_best_turn_is_the_earliest_of_equals() -> None:
    assert best_turn(score_turns([outcomes("+---"), outcomes("++--"), outcomes("--++"), outcomes("+---")])).turn == 1
    assert best_turn(score_turns([outcomes("00"), outcomes("--")])).turn == 0


def test_turns_to_the_first_correct_referral_count_from_one() -> None:
    turns = [outcomes("+---"), outcomes("--0-"), outcomes("-+-0")]
    assert [first_right(case) for case in zip(*turns, strict=True)] == [1, 3, None, None]
    # The first case has given its department up at turn 1: it was found all the same.
    assert turns_to_first_right(turns) == FirstRight(mean=(1 + 3) / 2, ever=2, never=2)
    assert turns_to_first_right([outcomes("--")]) == FirstRight(mean=None, ever=0, never=2)


def test_the_gain_is_paired() -> None:
    # 400 cases: 300 keep what they have, 60 become right, 40 wrong. The change of a case is 1, 0 or -1, its mean
    # 20 / 400, its variance (60 + 40) / 400 - 0.05^2: standard error sqrt(0.2475 / 400) = 0.0249, so 0.05 +- 0.0488.
    before = outcomes("+" * 150 + "-" * 150 + "-" * 60 + "+" * 40)
    after = outcomes("+" * 150 + "-" * 150 + "+" * 60 + "-" * 40)
    gain = paired_gain(before, after, draws=4000, seed=1)
    assert gain.value == pytest.approx(20 / 400)
    assert gain.low == pytest.approx(0.05 - 0.0488, abs=0.006)
    assert gain.high == pytest.approx(0.05 + 0.0488, abs=0.006)
    # Unpaired it would be about 1.96 x sqrt(2 x 0.25 / 400) = 0.069 to each side.
    assert gain.high - gain.low < 0.11
    assert (
        paired_gain(before, after, seed=1) == paired_gain(before, after, seed=1) != paired_gain(before, after, seed=2)
    )


def test_the_gain_is_that_of_a_plain_bootstrap() -> None:
    before, after = outcomes("+--+-+--0-"), outcomes("++-+-0+-+-")
    order = sorted(range(10), key=lambda case: after[case].right - before[case].right)  # as drawn: any order is one
    before, after = [before[case] for case in order], [after[case] for case in order]
    rng = np.random.default_rng(5)
    drawn = []
    for _ in range(200):
        picked = rng.integers(0, 10, 10)
        drawn.append(sum(after[case].right for case in picked) / 10 - sum(before[case].right for case in picked) / 10)
    gain = paired_gain(before, after, draws=200, seed=5)
    assert (gain.low, gain.high) == pytest.approx(drawn_bounds(drawn, 10))


def test_a_change_that_all_cases_share_is_not_certain() -> None:
    low, high = wilson(10, 10)
    assert paired_gain(outcomes("-" * 10), outcomes("+" * 10)) == (1, low, high)
    assert paired_gain(outcomes("+" * 10), outcomes("0" * 10)) == (-1, -high, -low)
    # None of 10 changes: up to 28 % of all cases may, to either side.
    at_most = wilson(0, 10)[1]
    assert paired_gain(outcomes("+-+-+-+-+-"), outcomes("+-+-+-+-+-")) == (0, -at_most, at_most)
    assert paired_gain(outcomes("-"), outcomes("+")) == (1, -1, 1)  # one case says nothing about others


@pytest.mark.parametrize(("before", "after"), [("+", "++"), ("", "")])
def test_cases_that_cannot_be_compared(before: str, after: str) -> None:
    with pytest.raises(InputError, match="over the same cases"):
        paired_gain(outcomes(before), outcomes(after))


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 12).flatmap(lambda cases: st.lists(st.text("+-0?", min_size=cases, max_size=cases), min_size=1)))
def test_gains_add_up_to_the_last_accuracy(turns: Sequence[str]) -> None:
    scores = score_turns([outcomes(marks) for marks in turns], draws=20)
    gains = [score.gain.value for score in scores if score.gain]
    assert scores[0].accuracy + sum(gains) == pytest.approx(scores[-1].accuracy)
    for score in scores:
        assert score.low <= score.accuracy + 1e-9
        assert score.accuracy <= score.high + 1e-9
        if score.gain:
            assert -1 <= score.gain.low <= score.gain.high <= 1
    json.dumps([score._asdict() for score in scores])  # plain numbers, not numpy's
