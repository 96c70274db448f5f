"""The metric as `evaluate` loads it: the same scores whichever way rows come, and no row cast in silence."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clinical_evals  # noqa: F401 - makes the bare name known
from clinical_evals.assets import metric_script
from clinical_evals.errors import InputError, UnknownNameError
from clinical_evals.matching.scorer import CodeScorer
from clinical_evals.scoring.intervals import bootstrap

evaluate = pytest.importorskip("evaluate")
LEVELS = ("chapter", "block", "category", "subcategory", "full", "average")
ANSWERS = ["1. Type 2 diabetes mellitus without complications\n2. I10", "- I50.9\n- E87.6", "", "N17.9, Z79.4"]
LISTS = [["E11.9", "I10"], ["I50.9", "E87.6"], [], ["N17.9", "Z79.4"]]
GOLD = [["E11.9", "I10"], ["I50.23", "E87.1"], ["J18.9"], ["N17.9"]]


@pytest.fixture
def metric(tmp_path: Path) -> Any:
    return evaluate.load("hier_icd_f1", cache_dir=str(tmp_path / "cache"))


def f1(result: dict[str, float]) -> list[float]:
    return [result[f"f1_{level}"] for level in LEVELS]


# Scores


@pytest.mark.parametrize("prediction", [["i10", "E119"], "1. Type 2 diabetes mellitus without complications\n2. I10"])
def test_the_same_codes_in_any_spelling_give_one_at_every_level(metric: Any, prediction: Any) -> None:
    result = metric.compute(predictions=[prediction], references=[["I10", "E11.9"]])
    assert f1(result) == [1.0] * 6
    assert [result[f"macro_f1_{level}"] for level in LEVELS] == [1.0] * 6


def test_a_row_worked_by_hand(metric: Any) -> None:
    result = metric.compute(predictions=[["E11.9", "I50.9"]], references=[["E11.65", "I10"]])
    # chapter: 4, 9 against 4, 9; block: E08-E13, I30-I5A against E08-E13, I10-I1A; category: E11, I50 and E11, I10;
    # subcategory: E11.9, I50.9 against E11.6, I10; full: nothing in common.
    assert f1(result)[:5] == [1.0, 1 / 2, 1 / 2, 0.0, 0.0]
    assert result["f1_average"] == (1.0 + 1 / 2 + 1 / 2) / 5


def test_the_scores_are_those_of_the_library(metric: Any) -> None:
    assert metric.compute(predictions=LISTS, references=GOLD) == CodeScorer().score(LISTS, GOLD).scores()


def test_text_and_lists_of_the_same_codes_score_alike(metric: Any) -> None:
    text = metric.compute(predictions=ANSWERS, references=GOLD)
    lists = metric.compute(predictions=LISTS, references=GOLD)
    assert {key: value for key, value in text.items() if not key.startswith("share_")} == {
        key: value for key, value in lists.items() if not key.startswith("share_")
    }
    assert text["share_title"] == 1 / 6  # one of six items is a title
    assert text["empty_answers"] == lists["empty_answers"] == 1


def test_everything_is_a_float(metric: Any) -> None:
    assert {type(value) for value in metric.compute(predictions=LISTS, references=GOLD, intervals=True).values()} == {
        float
    }


def test_intervals_by_patient(metric: Any) -> None:
    result = metric.compute(predictions=LISTS, references=GOLD, intervals=True, groups=[1, 1, 2, 3])
    expected = bootstrap(CodeScorer().score(LISTS, GOLD).counts, [1, 1, 2, 3])
    assert {name: (result[f"{name}_low"], result[f"{name}_high"]) for name in expected} == expected
    assert result["f1_full_low"] <= result["f1_full"] <= result["f1_full_high"]
    assert result != metric.compute(predictions=LISTS, references=GOLD, intervals=True)


def test_groups_that_cannot_be_used(metric: Any) -> None:
    with pytest.raises(InputError, match="2 groups but 4 rows"):
        metric.compute(predictions=LISTS, references=GOLD, intervals=True, groups=[1, 2])
    with pytest.raises(InputError, match="intervals=True"):
        metric.compute(predictions=LISTS, references=GOLD, groups=[1, 2, 3, 4])


def test_the_official_protocol_leaves_silent_rows_out(metric: Any) -> None:
    result = metric.compute(
        predictions=LISTS, references=GOLD, protocol="official", intervals=True, groups=[1, 2, 3, 4]
    )
    assert (result["rows"], result["rows_left_out"], result["own_titles"]) == (4, 1, 1)
    # Full codes of the three rows that answer: 3 of 6 predicted, 3 of 5 gold. The silent row's J18.9 is forgotten.
    assert (result["precision_full"], result["recall_full"]) == (3 / 6, 3 / 5)
    assert metric.compute(predictions=LISTS, references=GOLD)["recall_full"] == 3 / 6
    assert result["f1_full_low"] <= result["f1_full"] <= result["f1_full_high"]
    with pytest.raises(InputError, match="dictionary"):
        metric.compute(predictions=LISTS, references=GOLD, dictionary="d_icd_diagnoses.csv.gz")


# Scores of each row


def test_scores_of_each_row(metric: Any) -> None:
    result = metric.compute(predictions=LISTS, references=GOLD, per_row=True)
    rows = result.pop("per_row")
    assert result == metric.compute(predictions=LISTS, references=GOLD)  # nothing else changes
    assert [row["predicted"] for row in rows] == [sorted(codes) for codes in LISTS]
    assert [row["items"] for row in rows] == [2, 2, 0, 2]
    assert [row["scored"] for row in rows] == [True] * 4
    # I50.9, E87.6 against I50.23, E87.1: no code, both categories. N17.9, Z79.4 against N17.9.
    assert [(row["precision_full"], row["recall_full"]) for row in rows] == [(1, 1), (0, 0), (0, 0), (1 / 2, 1)]
    assert [row["f1_category"] for row in rows] == [1, 1, 0, 2 * 1 / (2 + 1)]
    assert result["macro_f1_full"] == pytest.approx(sum(row["f1_full"] for row in rows) / 4)
    assert rows[3]["f1_average"] == pytest.approx(sum(rows[3][f"f1_{level}"] for level in LEVELS[:5]) / 5)


def test_rows_of_text_name_their_invalid_codes(metric: Any) -> None:
    rows = metric.compute(predictions=["- I10\n- I10.55", "Gout"], references=[["I10"], ["M10.9"]], per_row=True)[
        "per_row"
    ]
    assert [(row["predicted"], row["invalid"]) for row in rows] == [(["I10", "I10.55"], ["I10.55"]), (["M10"], [])]


def test_rows_that_the_official_protocol_leaves_out_have_no_scores(metric: Any) -> None:
    result = metric.compute(predictions=LISTS, references=GOLD, protocol="official", per_row=True)
    assert [row["scored"] for row in result["per_row"]] == [True, True, False, True]
    silent = result["per_row"][2]
    assert {silent[f"{name}_{level}"] for name in ("precision", "recall", "f1") for level in LEVELS} == {None}
    assert silent.keys() == result["per_row"][0].keys()


def test_rows_in_pieces_and_combined(metric: Any) -> None:
    expected = metric.compute(predictions=ANSWERS, references=GOLD, per_row=True)["per_row"]
    for place in range(4):
        metric.add_batch(predictions=ANSWERS[place : place + 1], references=GOLD[place : place + 1])
    assert metric.compute(per_row=True)["per_row"] == expected
    pair = evaluate.combine({"one": metric, "two": evaluate.load("hier_icd_f1")})
    both = pair.compute(predictions=ANSWERS, references=GOLD, per_row=True)
    assert both["one_per_row"] == both["two_per_row"] == expected


def test_exact_titles_and_codes_need_no_model(metric: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from clinical_evals.matching import encoder

    def no_model() -> None:
        raise AssertionError("the encoder was asked for")

    monkeypatch.setattr(encoder, "default_encoder", no_model)
    assert metric.compute(predictions=ANSWERS[:1], references=GOLD[:1])["f1_full"] == 1.0


def test_an_unknown_system_is_answered_with_the_nearest(metric: Any) -> None:
    with pytest.raises(UnknownNameError, match=r"'icd10cn'.*Did you mean 'icd10cm'"):
        metric.compute(predictions=LISTS, references=GOLD, system="icd10cn")


# Ways in


def test_batches_and_single_rows_equal_one_compute(metric: Any) -> None:
    whole = metric.compute(predictions=ANSWERS, references=GOLD)
    for start, end in ((0, 1), (1, 1), (1, 4)):
        metric.add_batch(predictions=ANSWERS[start:end], references=GOLD[start:end])
    assert metric.compute() == whole
    for prediction, reference in zip(ANSWERS, GOLD, strict=True):
        metric.add(prediction=prediction, reference=reference)
    assert metric.compute() == whole
    metric.add_batch(predictions=ANSWERS[:2], references=GOLD[:2])
    assert metric.compute(predictions=ANSWERS[2:], references=GOLD[2:]) == whole


def test_an_empty_list_in_front_is_a_row_like_any_other(metric: Any) -> None:
    result = metric.compute(predictions=[[], ["I10"]], references=[["I10"], ["I10"]])
    assert (result["precision_full"], result["recall_full"]) == (1.0, 1 / 2)


def test_arrays_tuples_and_generators_are_rows_too(metric: Any) -> None:
    expected = metric.compute(predictions=LISTS, references=GOLD)
    assert (
        metric.compute(predictions=(tuple(row) for row in LISTS), references=[np.array(row) for row in GOLD])
        == expected
    )
    text = metric.compute(predictions=np.array(ANSWERS), references=GOLD)
    assert text == metric.compute(predictions=ANSWERS, references=GOLD)


def test_combined_with_itself(metric: Any) -> None:
    pair = evaluate.combine({"one": metric, "two": evaluate.load("hier_icd_f1")})
    pair.add_batch(predictions=LISTS, references=GOLD)
    result = pair.compute()
    assert (
        result["one_f1_full"] == result["two_f1_full"] == metric.compute(predictions=LISTS, references=GOLD)["f1_full"]
    )
    by_name = evaluate.combine(["hier_icd_f1"]).compute(predictions=LISTS, references=GOLD)
    assert by_name["f1_full"] == result["one_f1_full"]


def test_several_metrics_at_once_in_one_cache(tmp_path: Path) -> None:
    metrics = [evaluate.load("hier_icd_f1", cache_dir=str(tmp_path / "cache")) for _ in range(3)]
    for place, each in enumerate(metrics):
        each.add_batch(predictions=LISTS[place : place + 1], references=GOLD[place : place + 1])
    assert [each.compute()["rows"] for each in metrics] == [1.0, 1.0, 1.0]


def test_in_memory(tmp_path: Path) -> None:
    metric = evaluate.load("hier_icd_f1", keep_in_memory=True, cache_dir=str(tmp_path))
    assert f1(metric.compute(predictions=[["I10"]], references=[["I10"]])) == [1.0] * 6


# What cannot be used

BAD = {
    "predictions is None": (None, GOLD),
    "references is None": (LISTS, None),
    "predictions is str, expected one entry for each row": ("I10", [["I10"]]),
    "4 predictions but 3 references": (LISTS, GOLD[:3]),
    "no rows to score": ([], []),
    r"predictions\[2\] is None": (["I10", "I10", None], [["I10"]] * 3),
    r"predictions\[1\] is int 5": ([["I10"], 5], [["I10"]] * 2),
    r"predictions\[1\]\[0\] is None": ([["I10"], [None]], [["I10"]] * 2),
    r"predictions\[1\] is text, but the rows before are a list of codes": ([["I10"], "xyz"], [["I10"]] * 2),
    r"predictions\[1\] is a list of codes, but the rows before are text": (["t", ["E11.9"]], [["I10"]] * 2),
    r"predictions\[0\] is a mapping with the keys \['code'\]": ([{"code": "I10"}], [["I10"]]),
    r"references\[0\] is str 'I10'": ([["I10"]], ["I10"]),
    r"references\[1\] is None": ([["I10"]] * 2, [["I10"], None]),
    r"references\[1\]\[1\] is float": ([["I10"]] * 2, [["I10"], ["I10", 1.5]]),
    r"references\[1\]: 'I10.55' is not a code": ([["I10"]] * 2, [["I10"], ["I10.55"]]),
}


@pytest.mark.parametrize("message", BAD)
def test_rows_that_cannot_be_used_are_named(metric: Any, message: str) -> None:
    predictions, references = BAD[message]
    with pytest.raises(InputError, match=message):
        metric.compute(predictions=predictions, references=references)
    # Nothing of the failed run is left behind: the metric goes on as new, and at once.
    assert metric.compute(predictions=LISTS, references=GOLD)["rows"] == 4
    assert not list(Path(metric.data_dir).rglob("*.arrow"))


def test_rows_are_counted_over_batches(metric: Any) -> None:
    metric.add_batch(predictions=ANSWERS[:3], references=GOLD[:3])
    with pytest.raises(InputError, match=r"predictions\[3\] is a list of codes, but the rows before are text"):
        metric.add(prediction=["I10"], reference=["I10"])
    with pytest.raises(InputError, match=r"references\[4\] is None"):
        metric.add_batch(predictions=["a", "b"], references=[["I10"], None])
    assert metric.compute()["rows"] == 3  # what was good before is still there


def test_nothing_added_and_unknown_inputs(metric: Any) -> None:
    with pytest.raises(InputError, match="no rows to score"):
        metric.compute()
    with pytest.raises(InputError, match="unknown inputs: weights"):
        metric.add_batch(predictions=LISTS, references=GOLD, weights=[1])


@pytest.mark.parametrize("flag", ["intervals", "per_row"])
@pytest.mark.parametrize("value", ["no", "yes", 1, None])
def test_a_flag_is_true_or_false(metric: Any, flag: str, value: object) -> None:
    """bool("no") is True: a flag as text would do the opposite of what it says."""
    with pytest.raises(InputError, match=f"{flag}={value!r}: expected True or False"):
        metric.compute(predictions=LISTS, references=GOLD, **{flag: value})


# The documentation


def test_the_documentation_names_every_key(metric: Any) -> None:
    keys = metric.compute(predictions=LISTS, references=GOLD, protocol="official", per_row=True)
    keys |= keys["per_row"][0]
    generic = {key.rsplit("_", 1)[0] + "_LEVEL" if key.endswith(LEVELS) else key for key in keys}
    readme = (metric_script("hier_icd_f1").parent / "README.md").read_text(encoding="utf-8")
    assert [key for key in sorted(generic) if f"`{key}`" not in readme] == []
    assert [key for key in sorted(generic) if key not in metric.inputs_description] == []


# The other code systems

SYSTEMS = {
    "icd10pcs": (
        ["0016071"],
        ["0016070"],
        {"section": 1, "body_system": 1, "operation": 1, "full": 0, "average": 0.75},
    ),
    "loinc": (["718-7"], ["6690-2"], {"class": 1, "group": 1, "subgroup": 0, "full": 0, "average": 0.5}),
    "atc": (
        ["A10BA03"],
        ["A10BA02"],
        {"level1": 1, "level2": 1, "level3": 1, "level4": 1, "full": 0, "average": 1},
    ),
}


@pytest.mark.parametrize("system", SYSTEMS)
def test_each_system_has_its_levels(metric: Any, written_releases: Path, system: str) -> None:
    """One code for another that shares all but the last level or two; ATC's full code is outside the average."""
    predicted, gold, f1_by_level = SYSTEMS[system]
    result = metric.compute(predictions=[predicted], references=[gold], system=system)
    assert {key.removeprefix("f1_"): value for key, value in result.items() if key.startswith("f1_")} == f1_by_level
    empty = metric.compute(predictions=[""], references=[gold], system=system)
    assert (empty["f1_full"], empty["empty_answers"]) == (0, 1)


def test_a_system_is_read_once_though_its_files_change(metric: Any, written_releases: Path) -> None:
    """One release a process: what is scored later is comparable with what was scored before."""
    first = metric.compute(predictions=[["A10BA03"]], references=[["A10BA02"]], system="atc")
    for file in written_releases.iterdir():
        file.unlink()
    assert metric.compute(predictions=[["A10BA03"]], references=[["A10BA02"]], system="atc") == first
