"""Named departments become scores, by the scorer of the benchmark: training and evaluation cannot disagree."""

from collections.abc import Sequence
from typing import NamedTuple

from clinical_evals.ior_bench.scorer import Scored, score_answers
from clinical_evals.scoring.department import ACCURACY, Outcome, accuracy_interval, outcome_counts, score_outcomes
from clinical_evals.scoring.paired import Difference, Run, paired_differences
from clinical_evals.scoring.sign_flip import sign_flip


class Score(NamedTuple):
    """What one classifier scores on the test part; 0-1."""

    accuracy: float
    low: float
    high: float
    """The 95 % interval of the accuracy, over cases."""
    macro_f1: float


class Comparison(NamedTuple):
    """How much more accurate one classifier is than another, on the same rows."""

    classifier: str
    baseline: str
    difference: Difference
    p: float
    """Two-sided, of a sign-flip test."""


def score_names(predicted: Sequence[str], gold: Sequence[str], departments: Sequence[str]) -> Scored:
    """Score departments that were named, as answers are scored."""
    return score_answers(predicted, gold, list(departments))


def score_of(outcomes: Sequence[Outcome]) -> Score:
    """Accuracy with its interval, and macro F1."""
    scores = score_outcomes(outcomes)
    return Score(scores["accuracy"], *accuracy_interval(outcomes), scores["macro_f1"])


def compare(
    classifier: tuple[str, Sequence[Outcome]], baseline: tuple[str, Sequence[Outcome]], ids: Sequence[str]
) -> Comparison:
    """The paired difference in accuracy.

    Args:
        classifier: its name, and its outcomes.
        baseline: the same of what it is compared with, on the same rows.
        ids: of the rows.
    """
    before, after = (Run(outcome_counts(outcomes), ids) for _, outcomes in (baseline, classifier))
    difference = paired_differences(before, after)[ACCURACY]
    return Comparison(classifier[0], baseline[0], difference, sign_flip(before, after).p_values[ACCURACY])
