"""From answers to outcomes: both protocols, one list or one a row, and every input that cannot be used."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from clinical_evals.errors import InputError, UnknownNameError
from clinical_evals.ior_bench.scorer import score_answers
from clinical_evals.scoring.department import Outcome

DEPARTMENTS = ["外科", "小儿外科", "妇科", "妇科内分泌科", "消化内科"]
ANSWERS = ["建议您挂小儿外科。", "消化内科", "请您先休息几天。", "妇科内分泌科"]
GOLD = ["小儿外科", "外科", "消化内科", "妇科内分泌科"]


def test_standard_by_hand() -> None:
    scored = score_answers(ANSWERS, GOLD, DEPARTMENTS)
    assert scored.outcomes == [
        Outcome("小儿外科", "小儿外科", True, False),
        Outcome("外科", "消化内科", False, False),
        Outcome("消化内科", None, False, False),
        Outcome("妇科内分泌科", "妇科内分泌科", True, False),
    ]
    assert [found.mentions for found in scored.extractions] == [("小儿外科",), ("消化内科",), (), ("妇科内分泌科",)]
    # F1: 小儿外科 and 妇科内分泌科 1, 外科 and 消化内科 0.
    assert scored.scores() == {
        "accuracy": 2 / 4,
        "no_answer_rate": 1 / 4,
        "ambiguous_rate": 0,
        "macro_f1": 2 / 4,
        "rows": 4,
    }


def test_official_by_hand() -> None:
    scored = score_answers(ANSWERS, GOLD, DEPARTMENTS, "official")
    # The first of the list that occurs in the answer: 外科 within 小儿外科, 妇科 within 妇科内分泌科.
    # Neither holds its label, so neither is right.
    assert scored.outcomes == [
        Outcome("小儿外科", "外科", False, None),
        Outcome("外科", "消化内科", False, None),
        Outcome("消化内科", None, False, None),
        Outcome("妇科内分泌科", "妇科", False, None),
    ]
    # No key for ambiguity, which the rule does not know; gold departments occur 4 times, 妇科 is only predicted.
    assert scored.scores() == {"accuracy": 0, "no_answer_rate": 1 / 4, "macro_f1": 0, "rows": 4, "not_offered": 0}


def test_the_order_of_the_list_decides_under_official_only() -> None:
    turned = DEPARTMENTS[::-1]
    assert [outcome.right for outcome in score_answers(ANSWERS, GOLD, turned, "official").outcomes] == [
        True,
        False,
        False,
        True,
    ]
    assert score_answers(ANSWERS, GOLD, turned) == score_answers(ANSWERS, GOLD, DEPARTMENTS)


def test_official_takes_a_name_that_contains_the_label() -> None:
    scored = score_answers(["小儿外科"], ["外科"], ["小儿外科", "外科"], "official")
    assert scored.outcomes == [Outcome("外科", "小儿外科", True, None)]
    assert not score_answers(["小儿外科"], ["外科"], ["小儿外科", "外科"]).outcomes[0].right


def test_several_departments_are_ambiguous_and_the_first_counts() -> None:
    scored = score_answers(["建议挂消化内科或者外科。"], ["消化内科"], DEPARTMENTS)
    assert scored.outcomes == [Outcome("消化内科", "消化内科", True, True)]
    assert scored.extractions[0].mentions == ("消化内科", "外科")
    assert scored.scores()["ambiguous_rate"] == 1


@pytest.mark.parametrize("protocol", ["standard", "official"])
def test_one_list_a_row(protocol: str) -> None:
    hospitals = [["心血管内科", "外科"], ["内科", "眼科"], ["内科", "外科"]]
    scored = score_answers(["心血管内科", "内科", "眼科"], ["心血管内科", "内科", "外科"], hospitals, protocol)
    # 眼科 is a department of the second hospital only.
    assert [outcome.predicted for outcome in scored.outcomes] == ["心血管内科", "内科", None]
    same = score_answers(ANSWERS, GOLD, [DEPARTMENTS] * 4, protocol)
    assert same == score_answers(ANSWERS, GOLD, DEPARTMENTS, protocol)


def test_tuples_arrays_and_generators_are_lists_too() -> None:
    expected = score_answers(ANSWERS, GOLD, DEPARTMENTS)
    assert score_answers(np.array(ANSWERS), tuple(GOLD), np.array(DEPARTMENTS)) == expected
    assert score_answers(iter(ANSWERS), iter(GOLD), (tuple(DEPARTMENTS) for _ in ANSWERS)) == expected
    outcome = score_answers(np.array(ANSWERS), np.array(GOLD), np.array(DEPARTMENTS)).outcomes[0]
    assert type(outcome.gold) is type(outcome.predicted) is str


def test_official_scores_labels_that_are_not_offered_and_counts_them() -> None:
    # Such rows exist in the released static task: departments with fewer than three rows are no candidates.
    scored = score_answers(["消化内科", "疼痛科"], ["内科", "疼痛科"], ["消化内科"], "official")
    assert scored.outcomes == [Outcome("内科", "消化内科", True, None), Outcome("疼痛科", None, False, None)]
    assert scored.scores()["not_offered"] == 2
    with pytest.raises(InputError, match=r"references\[0\] is '内科', which is none of the 1 departments"):
        score_answers(["消化内科", "疼痛科"], ["内科", "疼痛科"], ["消化内科"])


# What cannot be used: message -> predictions, references, departments

ROWS: tuple[Any, Any] = (["外科", "妇科"], ["外科", "妇科"])
BAD: dict[str, tuple[Any, Any, Any]] = {
    "predictions is None": (None, GOLD, DEPARTMENTS),
    "references is str": (["外科"], "外科", DEPARTMENTS),
    "predictions is a whole table": ({"predictions": ["外科"]}, ["外科"], DEPARTMENTS),
    "4 predictions but 3 references": (ANSWERS, GOLD[:3], DEPARTMENTS),
    "no rows to score": ([], [], DEPARTMENTS),
    r"predictions\[1\] is None, expected an answer as text": (["外科", None], GOLD[:2], DEPARTMENTS),
    r"predictions\[0\] is list \['外科'\]": ([["外科"]], ["外科"], DEPARTMENTS),
    r"predictions\[0\] is float nan": ([float("nan")], ["外科"], DEPARTMENTS),
    r"predictions\[1\] is bytes": (["外科", "外科".encode()], GOLD[:2], DEPARTMENTS),
    r"predictions\[0\] holds half a character \('\\ud83d'\) at place 2": (["外科\ud83d"], ["外科"], DEPARTMENTS),
    r"references\[1\] is None": (ANSWERS[:2], ["外科", None], DEPARTMENTS),
    r"references\[0\] is list \['外科'\]": (["外科"], [["外科"]], DEPARTMENTS),
    r"references\[1\] is str '  '": (ANSWERS[:2], ["外科", "  "], DEPARTMENTS),
    r"references\[1\] is '消化科', which is none of the 5 departments of that row\. Did you mean '消化内科'": (
        ANSWERS[:2],
        ["外科", "消化科"],
        DEPARTMENTS,
    ),
    r"references\[1\] is '外科', which is none of the 1 dep": (
        ["外科", "外科"],
        ["外科", "外科"],
        [["外科"], ["妇科"]],
    ),
    r"departments is missing: give departments=\[\.\.\.\]": (*ROWS, None),
    "departments is str '外科、妇科', not a list": (*ROWS, "外科、妇科"),
    "departments is set": (*ROWS, {"外科"}),
    "departments is dict": (*ROWS, {"外科": 1}),
    "departments is int 45, not a list": (*ROWS, 45),
    r"departments\[1\] is int 5, expected the name": (*ROWS, ["外科", 5]),
    r"departments\[1\] is list \['妇科'\], expected the name": (*ROWS, ["外科", ["妇科"]]),
    r"departments\[1\] is str '妇科', not a list: expected the list of departments of that row": (
        *ROWS,
        [["外科"], "妇科"],
    ),
    r"departments\[1\] is None, not a list": (*ROWS, [["外科", "妇科"], None]),
    r"departments\[1\]\[0\] is None": (*ROWS, [["外科", "妇科"], [None]]),
    r"departments\[0\]\[1\] is list": (*ROWS, [["外科", ["妇科"]], ["外科"]]),
    "1 lists of departments but 2 rows": (*ROWS, [["外科", "妇科"]]),
    "3 lists of departments but 2 rows": (*ROWS, [["外科", "妇科"]] * 3),
    "departments": (*ROWS, []),
    r"departments\[1\]": (*ROWS, [["外科"], []]),
}


# `official` lets labels in that are not offered, and refuses everything else too.
CASES = [(protocol, message) for protocol in ("standard", "official") for message in BAD]
CASES = [case for case in CASES if case[0] == "standard" or "which is none of" not in case[1]]


@pytest.mark.parametrize(("protocol", "message"), CASES)
def test_what_cannot_be_used_is_named(protocol: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        score_answers(*BAD[message], protocol)


@pytest.mark.parametrize("names", [["外科", "外科"], ["外科", " "], ["外科", ""]])
@pytest.mark.parametrize("by_row", [False, True])
def test_a_list_that_check_candidates_refuses(names: list[str], by_row: bool) -> None:
    with pytest.raises(InputError, match=r"departments\[1\]" if by_row else "departments"):
        score_answers(["外科"] * 2, ["外科"] * 2, [["外科"], names] if by_row else names)


def test_an_unknown_protocol_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"'oficial'.*Did you mean 'official'"):
        score_answers(ANSWERS, GOLD, DEPARTMENTS, "oficial")


def test_a_shared_list_is_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from clinical_evals.ior_bench import scorer

    seen = []
    monkeypatch.setattr(scorer, "check_candidates", lambda names, where: seen.append((tuple(names), where)))
    hospitals = [["外科", "妇科"], ["外科"], ["外科", "妇科"]]
    score_answers(["外科"] * 3, ["外科"] * 3, hospitals)
    assert seen == [(("外科", "妇科"), "departments[0]"), (("外科",), "departments[1]")]


def test_scoring_loads_no_deep_learning_and_no_hub_library() -> None:
    code = """
import sys
from clinical_evals.ior_bench.scorer import score_answers
assert score_answers(["建议挂外科"], ["外科"], ["外科", "儿科"]).scores()["accuracy"] == 1.0
print(sorted(set(sys.modules) & {"torch", "transformers", "sentence_transformers", "datasets", "evaluate"}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr
