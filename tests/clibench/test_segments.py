"""What a row becomes before it is cut."""

import json
from typing import Any

import pytest

from clinical_evals.clibench.segments import (
    LONG,
    Segments,
    render_history,
    render_labs,
    render_segments,
)
from clinical_evals.ontology import get_system
from clinical_evals.tasks.prediction_log import hash_row

ROW: dict[str, Any] = {
    "hadm_id": 1,
    "subject_id": 2,
    "gender": "M",
    "race": None,
    "age": 0,
    "insurance": "Medicaid",
    "language": "Spanish",
    "marital_status": None,
    "record": "  CHIEF COMPLAINT: fever  \n",
    "lab_results": [],
    "radiology_reports": ["CHEST: clear. ", "  ", "ABDOMEN: normal."],
    "history_diagnoses": ["E11.9"],
    "codes": ["R50.9"],
    "titles": ["Fever, unspecified"],
}


def lab(**changes: Any) -> dict[str, Any]:
    return {
        "label": "Sodium", "fluid": "Blood", "value": "131", "valuenum": 131.0, "unit": "mEq/L", "ref_low": 133.0,
        "ref_high": 145.0, "flag": "abnormal", "charttime": "2150-01-01T06:00:00",
    } | changes  # fmt: skip


def test_the_segments_stand_in_the_order_of_the_protocol() -> None:
    assert Segments._fields == ("profile", "history", "record", "radiology", "labs")
    assert LONG.names == ("record", "radiology", "labs")


def test_a_row_is_rendered_without_what_is_missing() -> None:
    segments = render_segments(ROW, get_system("icd10cm"))
    assert (
        segments.profile == "Sex: male\nAge: 0 years\nInsurance: Medicaid\nLanguage: Spanish"
    )  # a newborn has an age
    assert segments.history == "E11.9 Type 2 diabetes mellitus without complications"
    assert segments.record == "CHIEF COMPLAINT: fever"
    assert segments.radiology == "CHEST: clear.\n\nABDOMEN: normal."
    assert segments.labs == ""


def test_history_keeps_a_code_that_the_release_does_not_have() -> None:
    assert render_history(["I10", "E11.99"], get_system("icd10cm")) == "I10 Essential (primary) hypertension\nE11.99"


def test_no_gold_code_title_or_identifier_reaches_the_segments() -> None:
    text = "\n".join(render_segments({**ROW, "hadm_id": 29_999_999, "subject_id": 19_999_999}, get_system("icd10cm")))
    assert not [hidden for hidden in ("R50.9", "Fever, unspecified", "29999999", "19999999") if hidden in text]


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({}, "Sodium (Blood): 131 mEq/L [133–145] abnormal"),
        ({"flag": None}, "Sodium (Blood): 131 mEq/L [133–145]"),
        ({"unit": None, "ref_low": None, "ref_high": None, "flag": None}, "Sodium (Blood): 131"),
        ({"ref_low": None}, "Sodium (Blood): 131 mEq/L [≤145] abnormal"),
        ({"ref_high": None}, "Sodium (Blood): 131 mEq/L [≥133] abnormal"),
        ({"ref_low": 0.0, "ref_high": 0.25}, "Sodium (Blood): 131 mEq/L [0–0.25] abnormal"),
        ({"value": "<0.01", "valuenum": None}, "Sodium (Blood): <0.01 mEq/L [133–145] abnormal"),
        ({"value": None}, "Sodium (Blood): 131 mEq/L [133–145] abnormal"),
        ({"value": None, "valuenum": None}, "Sodium (Blood): not reported mEq/L [133–145] abnormal"),
        ({"value": None, "valuenum": 0.0}, "Sodium (Blood): 0 mEq/L [133–145] abnormal"),
        ({"fluid": ""}, "Sodium: 131 mEq/L [133–145] abnormal"),
    ],
)
def test_a_lab_result_is_one_line(changes: dict[str, Any], line: str) -> None:
    assert render_labs([lab(**changes)]) == line


def test_labs_are_sorted_by_time_and_keep_their_order_within_one() -> None:
    late, first, second = "2150-01-02T00:00:00", "2150-01-01T00:00:00", "2150-01-01T00:00:00"
    labs = [lab(label=label, charttime=time) for label, time in (("C", late), ("A", first), ("B", second))]
    assert [line[0] for line in render_labs(labs).splitlines()] == ["A", "B", "C"]


def test_the_hash_of_a_row_is_that_of_its_data() -> None:
    reordered = dict(reversed(list(ROW.items())))
    assert hash_row(reordered) == hash_row(ROW) == hash_row({**ROW, "__index": 7})
    for column, value in ROW.items():
        changed = json.loads(json.dumps(value)) if value is None else None
        assert hash_row({**ROW, column: "changed" if value is None else changed}) != hash_row(ROW)
