"""Accuracy from turn to turn of a dialogue: intervals, gain, best turn, first correct referral (IOR-Bench).

Source: protocol.md 1.3. Everything is computed from the outcomes of the same cases at each turn.
"""

from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

import numpy as np

from clinical_evals.errors import InputError
from clinical_evals.scoring.department import Outcome, accuracy_interval, score_outcomes
from clinical_evals.scoring.intervals import drawn_bounds, wilson


class Gain(NamedTuple):
    """How much more is right at a turn than at the one before."""

    value: float
    """Difference of the accuracies, -1 to 1."""
    low: float
    high: float
    """Its 95 % interval."""


class TurnScore(NamedTuple):
    """The referrals of all cases after one turn of the patient; shares are 0-1."""

    turn: int
    """From 0, as the paper counts."""
    accuracy: float
    low: float
    high: float
    """The 95 % interval of `accuracy`: bootstrap over cases, Wilson's where all are right or all are wrong."""
    no_answer_rate: float
    ambiguous_rate: float | None
    """None where the protocol has no such thing (`official`)."""
    gain: Gain | None
    """Against the turn before; None at turn 0."""


class FirstRight(NamedTuple):
    """How soon cases are referred correctly."""

    mean: float | None
    """Turns up to and with the first correct referral, over the cases that have one: turn 0 counts as 1. None where
    there is no such case."""
    ever: int
    """Cases with a correct referral at any turn, also one that is given up later."""
    never: int


def score_turns(turns: Sequence[Sequence[Outcome]], draws: int = 1000, seed: int = 0) -> list[TurnScore]:
    """The scores of each turn.

    Args:
        turns: for each turn the outcomes of the same cases, in the same order.
        draws: how many resamples an interval is of.
        seed: the same seed and outcomes give the same intervals.

    Raises:
        InputError: there are no cases, or not the same number at each turn.
    """
    scores = []
    for turn, outcomes in enumerate(turns):
        found = score_outcomes(outcomes)
        low, high = accuracy_interval(outcomes, draws, seed)
        gain = paired_gain(turns[turn - 1], outcomes, draws, seed) if turn else None
        rates = found["no_answer_rate"], found.get("ambiguous_rate")
        scores.append(TurnScore(turn, found["accuracy"], low, high, *rates, gain))
    return scores


def paired_gain(before: Sequence[Outcome], after: Sequence[Outcome], draws: int = 1000, seed: int = 0) -> Gain:
    """The gain in accuracy, with its 95 % interval by bootstrap over cases, each case drawn with both its outcomes.

    Where every case changes in the same way, the bootstrap would claim certainty: there Wilson's interval for the
    share of cases that do otherwise stands instead (where none changes, to both sides).

    Args:
        before: the outcomes of the cases at one turn.
        after: of the same cases, in the same order, at a later one.
        draws: how many resamples.
        seed: the same seed and outcomes give the same interval.

    Raises:
        InputError: there are no cases, or not the same number in both.
    """
    if len(before) != len(after) or not after:
        raise InputError(f"a gain is over the same cases: found {len(before)} before and {len(after)} after.")
    cases = len(after)
    # Sorted: which cases are drawn then depends on what changed, not on their order.
    change = np.array(sorted(now.right - then.right for then, now in zip(before, after, strict=True)), dtype=float)
    value = float(change.mean())
    if cases < 2:
        return Gain(value, -1.0, 1.0)
    if np.all(change == change[0]):
        low, high = wilson(abs(change[0]) * cases, cases)
        bounds = {0: (-high, high), 1: (low, high), -1: (-high, -low)}[int(change[0])]
        return Gain(value, *bounds)
    rng = np.random.default_rng(seed)
    # One resample at a time: the memory does not grow with the draws.
    drawn = [change[rng.integers(0, cases, cases)].mean() for _ in range(draws)]
    low, high = drawn_bounds(drawn, cases)
    return Gain(value, low, high)


def best_turn(scores: Sequence[TurnScore]) -> TurnScore:
    """The turn of the highest accuracy; of equals the earliest."""
    return max(scores, key=lambda score: score.accuracy)  # of equals max gives the first


def first_right(outcomes: Sequence[Outcome]) -> int | None:
    """After how many turns one case is first referred correctly: 1 is turn 0; None: never.

    Args:
        outcomes: of the case, turn by turn.
    """
    return next((place for place, outcome in enumerate(outcomes, 1) if outcome.right), None)


def turns_to_first_right(turns: Sequence[Sequence[Outcome]]) -> FirstRight:
    """How soon the cases are referred correctly (the paper's Table 6).

    Args:
        turns: for each turn the outcomes of the same cases, in the same order.
    """
    cases = [first_right(outcomes) for outcomes in zip(*turns, strict=True)]
    found = [turn for turn in cases if turn is not None]
    return FirstRight(fmean(found) if found else None, len(found), len(cases) - len(found))
