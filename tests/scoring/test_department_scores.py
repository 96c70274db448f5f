"""Scores of referrals: hand-worked cases, a brute-force oracle, the paper's robustness figures, edges."""

import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinical_evals.errors import InputError
from clinical_evals.scoring.department import (
    DepartmentCounts,
    Outcome,
    accuracy_by_department,
    accuracy_interval,
    agreement,
    as_printed,
    confusion_pairs,
    mean_and_sd,
    score_outcomes,
)
from clinical_evals.scoring.intervals import wilson


def case(gold: str, predicted: str | None, ambiguous: bool = False) -> Outcome:
    return Outcome(gold, predicted, gold == predicted, ambiguous)


# Gold 外科 three times, 儿科 twice, 眼科 once; 骨科 is only predicted.
CASES = [
    case("外科", "外科"),
    case("外科", "外科", ambiguous=True),
    case("外科", "骨科"),
    case("儿科", "外科"),
    case("儿科", None),
    case("眼科", "骨科"),
]
outcomes = st.lists(
    st.builds(case, st.sampled_from("abcd"), st.sampled_from([*"abcde", None]), st.booleans()), min_size=1, max_size=40
)


def test_scores_by_hand() -> None:
    # F1 = 2 x right / (gold + predicted): 外科 2 x 2 / (3 + 3), 儿科 0 / (2 + 0), 眼科 0 / (1 + 0), 骨科 0 / (0 + 2).
    assert score_outcomes(CASES) == {
        "accuracy": 2 / 6,
        "no_answer_rate": 1 / 6,
        "ambiguous_rate": 1 / 6,
        "macro_f1": (2 * 2 / (3 + 3) + 0 + 0 + 0) / 4,
        "rows": 6,
    }


def test_departments_by_hand() -> None:
    found = accuracy_by_department(CASES)
    assert found == {
        "外科": DepartmentCounts(right=2, rows=3, no_answer=0, predicted=3),
        "儿科": DepartmentCounts(right=0, rows=2, no_answer=1, predicted=0),
        "眼科": DepartmentCounts(right=0, rows=1, no_answer=0, predicted=0),
        "骨科": DepartmentCounts(right=0, rows=0, no_answer=0, predicted=2),
    }
    assert list(found) == ["外科", "儿科", "眼科", "骨科"]  # the most cases first
    assert (found["外科"].accuracy, found["儿科"].accuracy, found["骨科"].accuracy) == (2 / 3, 0, None)


def test_confusions_by_hand() -> None:
    pairs = [*CASES, case("眼科", "骨科"), case("儿科", "内科")]
    assert confusion_pairs(pairs) == [
        ("眼科", "骨科", 2),
        # Once each: by gold name (儿 U+513F, 外 U+5916), then no answer, then by predicted name (内 U+5185).
        ("儿科", None, 1),
        ("儿科", "内科", 1),
        ("儿科", "外科", 1),
        ("外科", "骨科", 1),
    ]
    assert confusion_pairs(pairs, limit=1) == [("眼科", "骨科", 2)]
    assert confusion_pairs([case("外科", "外科")]) == []


def brute_force_macro_f1(cases: Sequence[Outcome]) -> float:
    """Precision and recall of each label one case at a time, labels as gold or as predicted."""
    labels = {case.gold for case in cases} | {case.predicted for case in cases if case.predicted is not None}
    scores = []
    for label in labels:
        both = gold = predicted = 0
        for each in cases:
            both += each.gold == label and each.predicted == label
            gold += each.gold == label
            predicted += each.predicted == label
        precision, recall = (both / predicted if predicted else 0), (both / gold if gold else 0)
        scores.append(2 * precision * recall / (precision + recall) if both else 0.0)
    return sum(scores) / len(scores)


@settings(deadline=None)
@given(outcomes)
def test_macro_f1_is_that_of_the_brute_force_and_of_scikit_learn(cases: list[Outcome]) -> None:
    macro_f1 = score_outcomes(cases)["macro_f1"]
    assert macro_f1 == pytest.approx(brute_force_macro_f1(cases))
    metrics = pytest.importorskip("sklearn.metrics")
    gold, predicted = [case.gold for case in cases], [case.predicted or "-" for case in cases]
    labels = sorted({*gold, *predicted} - {"-"})  # no answer is no label of its own
    theirs = metrics.f1_score(gold, predicted, labels=labels, average="macro", zero_division=0)
    assert macro_f1 == pytest.approx(theirs)


@settings(deadline=None)
@given(outcomes, st.randoms(use_true_random=False))
def test_parts_add_up_and_the_order_of_cases_does_not_matter(cases: list[Outcome], chance: random.Random) -> None:
    scores, departments, pairs = score_outcomes(cases), accuracy_by_department(cases), confusion_pairs(cases)
    counts = departments.values()
    right = sum(case.right for case in cases)
    assert scores["accuracy"] * len(cases) == pytest.approx(right)
    assert sum(each.right for each in counts) == right
    assert sum(each.rows for each in counts) == right + sum(pair.rows for pair in pairs) == len(cases)
    assert sum(each.no_answer for each in counts) == sum(pair.rows for pair in pairs if pair.predicted is None)
    assert sum(each.predicted for each in counts) + sum(each.no_answer for each in counts) == len(cases)
    shuffled = chance.sample(cases, len(cases))
    assert score_outcomes(shuffled) == scores
    assert list(accuracy_by_department(shuffled).items()) == list(departments.items())
    assert confusion_pairs(shuffled) == pairs


def test_right_by_the_official_rule_counts_for_the_gold_department() -> None:
    # The rule takes 小儿外科 for 外科, since it contains the label. Ambiguity is nothing it knows.
    official = [Outcome("外科", "小儿外科", True, None), Outcome("儿科", None, False, None)]
    assert score_outcomes(official) == {"accuracy": 1 / 2, "no_answer_rate": 1 / 2, "macro_f1": (1 + 0) / 2, "rows": 2}
    assert accuracy_by_department(official)["外科"] == (1, 1, 0, 1)
    assert "小儿外科" not in accuracy_by_department(official)
    assert confusion_pairs(official) == [("儿科", None, 1)]


def test_no_cases_have_no_accuracy() -> None:
    with pytest.raises(InputError, match="no rows to score"):
        score_outcomes([])
    assert accuracy_by_department([]) == {}


# Intervals


def test_interval_has_the_normal_width() -> None:
    # 400 cases, half of them right: standard error sqrt(0.25 / 400) = 0.025, so 0.5 +- 1.96 x 0.025 = 0.5 +- 0.049.
    cases = [case("外科", "外科" if number % 2 else None) for number in range(400)]
    low, high = accuracy_interval(cases, draws=4000, seed=1)
    assert low == pytest.approx(0.451, abs=0.006)
    assert high == pytest.approx(0.549, abs=0.006)
    assert accuracy_interval(cases, seed=1) == accuracy_interval(cases, seed=1) != accuracy_interval(cases, seed=2)


def test_all_right_and_all_wrong_are_not_certain() -> None:
    assert accuracy_interval([case("外科", "外科")] * 10) == wilson(10, 10)
    assert accuracy_interval([case("外科", None)] * 10) == wilson(0, 10)
    assert accuracy_interval([case("外科", "外科")]) == accuracy_interval([]) == (0, 1)


def test_right_by_the_protocol_is_what_the_interval_is_of() -> None:
    assert accuracy_interval([Outcome("外科", "小儿外科", True, None)] * 10) == wilson(10, 10)


# The robustness row


@pytest.mark.parametrize(
    ("accuracies", "printed"),
    [  # Table 2: zero-shot, few-shot, majority vote, chain of thought
        ([73.44, 75.16, 75.29, 72.29], ("74.05", "1.25")),  # GPT-4o; the sample deviation would be 1.44
        ([17.81, 8.17, 16.34, 4.74], ("11.77", "5.47")),  # BianQue-2; the sample deviation would be 6.32
    ],
)
def test_robustness_as_the_paper_prints_it(accuracies: list[float], printed: tuple[str, str]) -> None:
    mean, sd = mean_and_sd(accuracies)
    assert (as_printed(mean), as_printed(sd)) == printed
    assert sd == pytest.approx(np.std(accuracies, ddof=0))
    assert mean_and_sd(np.array(accuracies) / 100) == pytest.approx((mean / 100, sd / 100))


def test_one_strategy_has_no_spread_and_none_has_no_mean() -> None:
    assert mean_and_sd([0.5]) == (0.5, 0.0)
    with pytest.raises(InputError, match="at least one strategy"):
        mean_and_sd([])


def test_ties_are_printed_upwards_in_decimal() -> None:
    assert (as_printed(68.955), f"{68.955:.2f}") == ("68.96", "68.95")
    assert (as_printed(0.125), as_printed(100), as_printed(1e-9), as_printed(2.5, decimals=0)) == (
        "0.13",
        "100.00",
        "0.00",
        "3",
    )


def test_strategies_agree_where_all_name_one_department() -> None:
    zero_shot = ["外科", "外科", "外科", None, None, ""]
    few_shot = ["外科", "儿科", "外科", None, "外科", ""]
    chain = ["外科", "外科", None, None, "外科", ""]
    assert agreement([zero_shot, few_shot, chain]) == 1  # the first case only: no answer agrees with nothing
    assert agreement([zero_shot, chain]) == 2  # and the second
    assert agreement([["外科"], ["外科"]]) == 1
    assert agreement([[], []]) == 0


def test_strategies_that_cannot_be_compared() -> None:
    with pytest.raises(InputError, match="give at least two, found 1"):
        agreement([["外科"]])
    with pytest.raises(InputError, match=r"predictions_by_strategy\[1\] has 1 cases, but \[0\] has 2"):
        agreement([["外科", "儿科"], ["外科"]])
