"""Scores of referrals to one department each: accuracy, macro F1, confusions and their spread (IOR-Bench).

Source: protocol.md 1.2, paper section 3.1. Which department an answer names is decided in `ior_bench.scorer`: here a
case is an `Outcome`, and every number is computed from outcomes, never from text again. No result depends on the order
of the cases but the interval, which is drawn over them.
"""

from collections import Counter
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from statistics import fmean, pstdev
from typing import NamedTuple

import numpy as np

from clinical_evals.errors import InputError
from clinical_evals.scoring.hierarchy import Counts
from clinical_evals.scoring.intervals import bootstrap

ACCURACY = "precision_case"
"""The key of the accuracy among the scores of `outcome_counts`."""


class Outcome(NamedTuple):
    """What became of one case."""

    gold: str
    predicted: str | None
    """The department that the answer names; None: it names none, which is wrong and never left out."""
    right: bool
    """As the protocol judges it: `official` also takes a department whose name contains the gold one's."""
    ambiguous: bool | None
    """Whether the answer recommends several departments; None where the protocol has no such thing (`official`)."""


class DepartmentCounts(NamedTuple):
    """How many cases of one department were right, and what else was said of it."""

    right: int
    rows: int
    """Cases whose gold department it is."""
    no_answer: int
    """Of these, those whose answer names no department."""
    predicted: int
    """Cases that were referred to it. A right case was referred to its gold department, whatever it was called."""

    @property
    def accuracy(self) -> float | None:
        """Share of its cases that are right, 0-1; None where it has no cases (it was only predicted)."""
        return self.right / self.rows if self.rows else None

    @property
    def f1(self) -> float:
        """2 x right / (rows + predicted), 0-1."""
        return 2 * self.right / (self.rows + self.predicted)


class Confusion(NamedTuple):
    """Wrong cases of one kind."""

    gold: str
    predicted: str | None
    rows: int
    """How many there are."""


def score_outcomes(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """The scores of a run.

    Returns:
        `accuracy`, `no_answer_rate` and `ambiguous_rate` (shares of all cases), `macro_f1` (mean F1 of the departments
        that occur, as gold or as predicted; 0-1 all four), and `rows`, how many cases there are. `ambiguous_rate` is
        left out where the protocol does not know ambiguity: 0 would say that no answer named two departments.

    Raises:
        InputError: there are no cases.
    """
    rows = len(outcomes)
    if not rows:
        raise InputError("no rows to score: there is no outcome, so there is no accuracy.")
    result = {
        "accuracy": sum(outcome.right for outcome in outcomes) / rows,
        "no_answer_rate": sum(outcome.predicted is None for outcome in outcomes) / rows,
    }
    if all(outcome.ambiguous is not None for outcome in outcomes):
        result["ambiguous_rate"] = sum(bool(outcome.ambiguous) for outcome in outcomes) / rows
    result["macro_f1"] = fmean(counts.f1 for counts in accuracy_by_department(outcomes).values())
    return result | {"rows": float(rows)}


def accuracy_by_department(outcomes: Sequence[Outcome]) -> dict[str, DepartmentCounts]:
    """The counts of every department that occurs as gold or as predicted; those with the most cases first."""
    right = Counter(outcome.gold for outcome in outcomes if outcome.right)
    rows = Counter(outcome.gold for outcome in outcomes)
    no_answer = Counter(outcome.gold for outcome in outcomes if outcome.predicted is None)
    predicted = right + Counter(
        outcome.predicted for outcome in outcomes if outcome.predicted is not None and not outcome.right
    )
    names = sorted({*rows, *predicted}, key=lambda name: (-rows[name], name))
    return {name: DepartmentCounts(right[name], rows[name], no_answer[name], predicted[name]) for name in names}


def confusion_pairs(outcomes: Sequence[Outcome], limit: int | None = None) -> list[Confusion]:
    """Which department was named for which: the wrong cases only, counted by pair.

    Args:
        outcomes: the cases.
        limit: how many pairs to give at most; None gives all.

    Returns:
        Pairs, the most frequent first; equally frequent ones by the name of the gold department, then of the predicted
        one, None (no answer) before any.
    """
    pairs = Counter((outcome.gold, outcome.predicted) for outcome in outcomes if not outcome.right)
    found = [Confusion(gold, predicted, rows) for (gold, predicted), rows in pairs.items()]
    found.sort(key=lambda pair: (-pair.rows, pair.gold, pair.predicted is not None, pair.predicted or ""))
    return found[:limit]


def accuracy_interval(outcomes: Sequence[Outcome], draws: int = 1000, seed: int = 0) -> tuple[float, float]:
    """The 95 % interval of the accuracy: bootstrap over cases, Wilson's where all are right or all are wrong.

    Args:
        outcomes: the cases; one alone says nothing about others, the interval is then 0 to 1.
        draws: how many resamples.
        seed: the same seed and outcomes give the same interval.
    """
    return bootstrap(outcome_counts(outcomes), draws=draws, seed=seed)[ACCURACY]


def outcome_counts(outcomes: Sequence[Outcome]) -> Counts:
    """A case as a row with one gold and one predicted label: precision over such rows (`ACCURACY`) is the accuracy."""
    values = np.array([[[outcome.right, 1, 1]] for outcome in outcomes], dtype=np.int64).reshape(-1, 1, 3)
    return Counts(values, ("case",))


# The robustness row: one model under several strategies (protocol.md 1.2, paper section 3.1.2 and Table 2)


def mean_and_sd(values: Sequence[float]) -> tuple[float, float]:
    """Mean and *population* standard deviation (ddof 0), each exact but for one last rounding.

    Args:
        values: the accuracies of the strategies, in any unit (0-1, or percent as the paper prints them).

    Raises:
        InputError: there are none.
    """
    if not len(values):
        raise InputError("mean and standard deviation of no values: give the accuracy of at least one strategy.")
    plain = [float(value) for value in values]
    return fmean(plain), float(pstdev(plain))


def as_printed(value: float, decimals: int = 2) -> str:
    """A number as the paper's tables print it: ties rounded up, decided on the shortest decimal form of the number.

    Format specifications decide on the binary value instead: `f"{68.955:.2f}"` is 68.95, the paper's mean is 68.96.
    """
    return str(Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP))


def agreement(predictions_by_strategy: Sequence[Sequence[str | None]]) -> int:
    """On how many cases all strategies name the same department, right or wrong.

    An answer without a department (None, or the empty text of the `official` rule) names none, so it agrees with
    nothing: a case that every strategy leaves unanswered is not one on which they agree.

    Args:
        predictions_by_strategy: for each strategy the departments of the same cases, in the same order.

    Raises:
        InputError: fewer than two strategies, or not the same number of cases in each.
    """
    if len(predictions_by_strategy) < 2:
        raise InputError(f"agreement is between strategies: give at least two, found {len(predictions_by_strategy)}.")
    cases = len(predictions_by_strategy[0])
    for place, predictions in enumerate(predictions_by_strategy):
        if len(predictions) != cases:
            raise InputError(
                f"predictions_by_strategy[{place}] has {len(predictions)} cases, but [0] has {cases}: "
                "compare runs over the same rows."
            )
    return sum(bool(named[0]) and len(set(named)) == 1 for named in zip(*predictions_by_strategy, strict=True))
