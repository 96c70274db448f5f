"""The metric as `evaluate` loads it: the same scores whichever way rows come, and no row cast in silence."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clinical_evals  # noqa: F401 - makes the bare name known
from clinical_evals.errors import InputError, UnknownNameError
from clinical_evals.ior_bench.scorer import score_answers
from clinical_evals.scoring.department import accuracy_interval

evaluate = pytest.importorskip("evaluate")
DEPARTMENTS = ["外科", "小儿外科", "消化内科", "儿科"]
ANSWERS = ["建议您挂小儿外科。", "消化内科", "请您先休息几天。", "儿科", "小儿外科"]
GOLD = ["小儿外科", "外科", "消化内科", "儿科", "小儿外科"]


@pytest.fixture
def metric(tmp_path: Path) -> Any:
    return evaluate.load("department_accuracy", cache_dir=str(tmp_path / "cache"))


def scores_of(metric: Any, **kwargs: Any) -> dict[str, Any]:
    return metric.compute(predictions=ANSWERS, references=GOLD, **({"departments": DEPARTMENTS} | kwargs))


# Scores


def test_everything_by_hand(metric: Any) -> None:
    result = scores_of(metric, per_row=True)
    assert result.pop("accuracy_low") < 3 / 5 < result.pop("accuracy_high")
    assert result == {
        "accuracy": 3 / 5,
        "no_answer_rate": 1 / 5,
        "ambiguous_rate": 0.0,
        "macro_f1": (1 + 1 + 0 + 0) / 4,  # 小儿外科, 儿科, 外科, 消化内科
        "rows": 5.0,
        "by_department": {
            "小儿外科": {"accuracy": 1.0, "f1": 1.0, "right": 2, "rows": 2, "no_answer": 0, "predicted": 2},
            "儿科": {"accuracy": 1.0, "f1": 1.0, "right": 1, "rows": 1, "no_answer": 0, "predicted": 1},
            "外科": {"accuracy": 0.0, "f1": 0.0, "right": 0, "rows": 1, "no_answer": 0, "predicted": 0},
            "消化内科": {"accuracy": 0.0, "f1": 0.0, "right": 0, "rows": 1, "no_answer": 1, "predicted": 1},
        },
        "confusion": [["外科", "消化内科", 1], ["消化内科", None, 1]],
        "per_row": [
            {"predicted": "小儿外科", "right": True, "ambiguous": False, "mentions": ["小儿外科"]},
            {"predicted": "消化内科", "right": False, "ambiguous": False, "mentions": ["消化内科"]},
            {"predicted": None, "right": False, "ambiguous": False, "mentions": []},
            {"predicted": "儿科", "right": True, "ambiguous": False, "mentions": ["儿科"]},
            {"predicted": "小儿外科", "right": True, "ambiguous": False, "mentions": ["小儿外科"]},
        ],
    }


def test_the_scores_and_the_interval_are_those_of_the_library(metric: Any) -> None:
    scored = score_answers(ANSWERS, GOLD, DEPARTMENTS)
    result = scores_of(metric)
    assert {key: result[key] for key in scored.scores()} == scored.scores()
    assert (result["accuracy_low"], result["accuracy_high"]) == accuracy_interval(scored.outcomes)
    assert scores_of(metric, per_row=True).keys() - result.keys() == {"per_row"}


@pytest.mark.parametrize("protocol", ["standard", "official"])
def test_json_takes_the_result_as_it_is(metric: Any, protocol: str) -> None:
    result = scores_of(metric, protocol=protocol, per_row=True)
    assert json.loads(json.dumps(result, allow_nan=False)) == result


def test_the_official_protocol(metric: Any) -> None:
    result = scores_of(metric, protocol="official", per_row=True)
    # 外科 is the first of the list that occurs in 小儿外科, and does not contain that label: only 儿科 is right.
    assert (result["accuracy"], result["no_answer_rate"], result["not_offered"]) == (1 / 5, 1 / 5, 0)
    assert result["confusion"][0] == ["小儿外科", "外科", 2]
    assert "ambiguous_rate" not in result  # the rule knows no such thing: 0 would be a claim
    assert {row["ambiguous"] for row in result["per_row"]} == {None}
    assert metric.compute(
        predictions=["消化内科"], references=["内科"], departments=["消化内科"], protocol="official"
    ) == metric.compute(
        predictions=["消化内科"], references=["内科"], departments=["消化内科", "内科"], protocol="official"
    ) | {"not_offered": 1}


def test_a_department_that_is_only_predicted_has_no_accuracy(metric: Any) -> None:
    result = metric.compute(predictions=["儿科"], references=["外科"], departments=DEPARTMENTS)
    assert result["by_department"]["儿科"]["accuracy"] is None
    assert result["macro_f1"] == (0 + 0) / 2


def test_one_list_a_row(metric: Any) -> None:
    assert scores_of(metric, departments=[DEPARTMENTS] * 5) == scores_of(metric)
    two = metric.compute(predictions=["外科", "外科"], references=["外科", "儿科"], departments=[["外科"], ["儿科"]])
    assert two["confusion"] == [["儿科", None, 1]]  # the second hospital has no 外科


def test_an_unknown_protocol_is_answered_with_the_nearest(metric: Any) -> None:
    with pytest.raises(UnknownNameError, match=r"'offical'.*Did you mean 'official'"):
        scores_of(metric, protocol="offical")


# Ways in


def test_batches_and_single_rows_equal_one_compute(metric: Any) -> None:
    whole = scores_of(metric, per_row=True)
    for start, end in ((0, 1), (1, 1), (1, 5)):
        metric.add_batch(predictions=ANSWERS[start:end], references=GOLD[start:end])
    assert metric.compute(departments=DEPARTMENTS, per_row=True) == whole
    for prediction, reference in zip(ANSWERS, GOLD, strict=True):
        metric.add(prediction=prediction, reference=reference)
    assert metric.compute(departments=[DEPARTMENTS] * 5, per_row=True) == whole
    metric.add_batch(predictions=ANSWERS[:2], references=GOLD[:2])
    rest = metric.compute(predictions=ANSWERS[2:], references=GOLD[2:], departments=DEPARTMENTS, per_row=True)
    assert rest == whole


def test_arrays_and_generators_are_rows_too(metric: Any) -> None:
    expected = scores_of(metric)
    arrays = {"predictions": np.array(ANSWERS), "references": np.array(GOLD), "departments": np.array(DEPARTMENTS)}
    assert metric.compute(**arrays) == expected
    generators = {"predictions": iter(ANSWERS), "references": iter(GOLD), "departments": iter(DEPARTMENTS)}
    assert metric.compute(**generators) == expected


def test_columns_of_a_dataset(metric: Any) -> None:
    datasets = pytest.importorskip("datasets")
    rows = datasets.Dataset.from_dict({"answer": ANSWERS, "department": GOLD, "candidates": [DEPARTMENTS] * 5})
    columns = {"predictions": rows["answer"], "references": rows["department"], "departments": rows["candidates"]}
    assert metric.compute(**columns) == scores_of(metric)


def test_combined_with_itself(metric: Any) -> None:
    pair = evaluate.combine({"one": metric, "two": evaluate.load("department_accuracy")})
    pair.add_batch(predictions=ANSWERS, references=GOLD)
    result = pair.compute(departments=DEPARTMENTS)
    expected = scores_of(metric)
    assert result == {f"{name}_{key}": value for name in ("one", "two") for key, value in expected.items()}
    by_name = evaluate.combine(["department_accuracy"])
    assert by_name.compute(predictions=ANSWERS, references=GOLD, departments=DEPARTMENTS) == expected


def test_several_metrics_at_once_in_one_cache(tmp_path: Path) -> None:
    metrics = [evaluate.load("department_accuracy", cache_dir=str(tmp_path / "cache")) for _ in range(3)]
    for place, each in enumerate(metrics):
        each.add_batch(predictions=ANSWERS[place : place + 1], references=GOLD[place : place + 1])
    assert [each.compute(departments=DEPARTMENTS)["accuracy"] for each in metrics] == [1.0, 0.0, 0.0]


def test_in_memory_with_long_and_odd_answers(tmp_path: Path, metric: Any) -> None:
    in_memory = evaluate.load("department_accuracy", keep_in_memory=True, cache_dir=str(tmp_path / "other"))
    rows = {"predictions": ["好" * 300_000, "\0\n\u2028", "儿科\0"], "references": ["儿科"] * 3}
    result = in_memory.compute(**rows, departments=DEPARTMENTS)
    assert result == metric.compute(**rows, departments=DEPARTMENTS)
    assert result["no_answer_rate"] == 2 / 3


# What cannot be used: message -> predictions, references, departments

BAD: dict[str, tuple[Any, Any, Any]] = {
    "predictions is None": (None, GOLD, DEPARTMENTS),
    "references is None": (ANSWERS, None, DEPARTMENTS),
    "predictions is str, expected one entry for each row": ("外科", ["外科"], DEPARTMENTS),
    "5 predictions but 3 references": (ANSWERS, GOLD[:3], DEPARTMENTS),
    "no rows to score": ([], [], DEPARTMENTS),
    r"predictions\[2\] is None, expected an answer as text": (["外科", "外科", None], ["外科"] * 3, DEPARTMENTS),
    r"predictions\[1\] is list \['外科'\]": (["外科", ["外科"]], ["外科"] * 2, DEPARTMENTS),
    r"predictions\[1\] is int 5": (["外科", 5], ["外科"] * 2, DEPARTMENTS),
    r"predictions\[0\] holds half a character": (["外科\ud83d"], ["外科"], DEPARTMENTS),
    r"references\[1\] is None": (ANSWERS[:2], ["外科", None], DEPARTMENTS),
    r"references\[0\] is list": (["外科"], [["外科"]], DEPARTMENTS),
    r"references\[0\] is str ''": (["外科"], [""], DEPARTMENTS),
    r"references\[1\] is '眼科', which is none of the 4 departments": (ANSWERS[:2], ["外科", "眼科"], DEPARTMENTS),
    "departments is missing": (ANSWERS, GOLD, None),
    "departments is str '外科,儿科', not a list": (ANSWERS, GOLD, "外科,儿科"),
    "3 lists of departments but 5 rows": (ANSWERS, GOLD, [DEPARTMENTS] * 3),
    r"departments\[2\] is None": (ANSWERS, GOLD, [DEPARTMENTS, DEPARTMENTS, None, DEPARTMENTS, DEPARTMENTS]),
    "departments": (ANSWERS, GOLD, []),
    r"departments.*外科": (ANSWERS, GOLD, [*DEPARTMENTS, "外科"]),
    r"departments\[1\]": (ANSWERS, GOLD, [DEPARTMENTS, [], DEPARTMENTS, DEPARTMENTS, DEPARTMENTS]),
}


@pytest.mark.parametrize("message", BAD)
def test_rows_that_cannot_be_used_are_named(metric: Any, message: str) -> None:
    predictions, references, departments = BAD[message]
    with pytest.raises(InputError, match=message):
        metric.compute(predictions=predictions, references=references, departments=departments)
    # Nothing of the failed run is left behind: the metric goes on as new, and at once.
    assert scores_of(metric)["rows"] == 5
    assert not list(Path(metric.data_dir).rglob("*.arrow"))


def test_rows_are_counted_over_batches(metric: Any) -> None:
    metric.add_batch(predictions=ANSWERS[:3], references=GOLD[:3])
    with pytest.raises(InputError, match=r"predictions\[3\] is None"):
        metric.add(prediction=None, reference="外科")
    with pytest.raises(InputError, match=r"references\[4\] is None"):
        metric.add_batch(predictions=["外科", "儿科"], references=["外科", None])
    assert metric.compute(departments=DEPARTMENTS)["rows"] == 3  # what was good before is still there


def test_nothing_added_and_unknown_inputs(metric: Any) -> None:
    with pytest.raises(InputError, match="no rows to score"):
        metric.compute(departments=DEPARTMENTS)
    with pytest.raises(InputError, match="unknown inputs: departments"):
        metric.add_batch(predictions=ANSWERS, references=GOLD, departments=DEPARTMENTS)


# The documentation


def test_the_documentation_names_every_key(metric: Any, repository: Path) -> None:
    keys = scores_of(metric, per_row=True).keys() | scores_of(metric, protocol="official", per_row=True).keys()
    result = scores_of(metric, per_row=True)
    keys |= result["per_row"][0].keys() | result["by_department"]["外科"].keys()
    readme = (repository / "metrics" / "department_accuracy" / "README.md").read_text(encoding="utf-8")
    assert [key for key in sorted(keys) if f"`{key}`" not in readme] == []
    assert [key for key in sorted(keys) if key not in metric.inputs_description] == []
