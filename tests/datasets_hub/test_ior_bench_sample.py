"""The embedded sample itself: enough cases, one right department each, and nothing that gives it away too early."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from clinical_evals.assets import dataset_folder

DATA = dataset_folder("ior-bench") / "data"
FILES: dict[str, dict[str, Any]] = {
    config: json.loads((DATA / config / "test.json").read_text(encoding="utf-8"))
    for config in ("static", "dynamic_h1", "dynamic_h2")
}
ROWS: dict[str, list[dict[str, Any]]] = {config: file["rows"] for config, file in FILES.items()}
STATIC = ROWS["static"]
RECORDS = ROWS["dynamic_h1"]
FIELDS = (
    "chief_complaint",
    "history_of_present_illness",
    "past_medical_history",
    "personal_history",
    "family_history",
)
ALL_NAMES = {name for rows in ROWS.values() for name in rows[0]["candidates"]}
DAY = 1 / 365.25  # in years
every_config = pytest.mark.parametrize("config", ROWS)
every_dialogue = pytest.mark.parametrize("row", STATIC, ids=[row["id"] for row in STATIC])


def last_doctor_turn(row: dict[str, Any]) -> int:
    return max(place for place, turn in enumerate(row["dialogue"]) if turn["role"] == "doctor")


def nested(names: set[str]) -> set[tuple[str, str]]:
    """Pairs of a name and a longer one that it is part of."""
    return {(short, long) for short in names for long in names if short != long and short in long}


def texts_of(row: dict[str, Any]) -> Iterator[str]:
    if "dialogue" in row:
        yield from (turn["content"] for turn in row["dialogue"])
    else:
        yield from (row[field] for field in FIELDS)


# How many, and from which lists


def test_the_configs_hold_72_dialogues_and_80_records() -> None:
    assert {config: len(rows) for config, rows in ROWS.items()} == {"static": 72, "dynamic_h1": 80, "dynamic_h2": 80}
    assert len(STATIC) >= 60
    assert len(RECORDS) >= 60


def test_both_hospitals_have_the_same_records() -> None:
    def of_the_patient(row: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in row.items() if name not in ("department", "candidates")}

    assert [of_the_patient(row) for row in RECORDS] == [of_the_patient(row) for row in ROWS["dynamic_h2"]]


def test_the_hospitals_have_45_and_25_departments_and_the_dialogues_those_that_occur() -> None:
    lists = {config: rows[0]["candidates"] for config, rows in ROWS.items()}
    assert {config: len(names) for config, names in lists.items()} == {
        "static": 31,
        "dynamic_h1": 45,
        "dynamic_h2": 25,
    }
    assert lists["static"] == list(dict.fromkeys(row["department"] for row in STATIC)), "in order of appearance"


@every_config
def test_all_rows_of_a_hospital_choose_from_one_list_without_doubles(config: str) -> None:
    names = ROWS[config][0]["candidates"]
    assert all(row["candidates"] == names for row in ROWS[config])
    assert len(set(names)) == len(names)
    assert all(name == name.strip() and name for name in names)


@every_config
def test_every_label_is_in_the_list(config: str) -> None:
    assert [row["id"] for row in ROWS[config] if row["department"] not in row["candidates"]] == []


def test_every_department_is_somewhere_the_right_one_but_for_general_practice() -> None:
    unused = {
        config: set(rows[0]["candidates"]) - {row["department"] for row in rows} for config, rows in ROWS.items()
    }
    # As the card says: with 44 specialities beside it, no gold for general practice could be defended.
    assert unused == {"static": set(), "dynamic_h1": {"全科医学科"}, "dynamic_h2": set()}


@every_config
def test_no_department_is_right_too_often(config: str) -> None:
    counts = Counter(row["department"] for row in ROWS[config])
    assert max(counts.values()) <= len(ROWS[config]) / 7, "who always answers the same should score little"


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("static", {("妇科", "妇科内分泌科"), ("儿科", "新生儿科")}),
        ("dynamic_h1", {("妇科", "妇科内分泌科"), ("内分泌科", "妇科内分泌科"), ("儿科", "新生儿科")}),
        ("dynamic_h2", {("外科", "小儿外科"), ("内科", "神经内科"), ("外科", "泌尿外科")}),
    ],
)
def test_names_within_names_are_candidates_and_gold(config: str, expected: set[tuple[str, str]]) -> None:
    assert expected <= nested(set(ROWS[config][0]["candidates"]))
    assert expected <= nested({row["department"] for row in ROWS[config]}), "both are somewhere the right one"


# Who the patients are


@every_config
def test_ids_are_unique_and_of_one_form(config: str) -> None:
    ids = [row["id"] for row in ROWS[config]]
    kind = "static" if config == "static" else "emr"
    assert ids == [f"{kind}-{number:03d}" for number in range(1, len(ids) + 1)]


@every_config
def test_patients_are_newborn_to_old_and_some_ages_and_sexes_are_unknown(config: str) -> None:
    ages = [row["age"] for row in ROWS[config] if row["age"] is not None]
    assert all(0 < age <= 100 for age in ages)
    assert min(ages) <= 28 * DAY
    assert max(ages) >= 90
    # Nearly all decades of a life, and some children of less than a year.
    assert len({min(int(age // 10), 9) for age in ages}) >= 9
    assert sum(age < 1 for age in ages) >= 3
    assert None in [row["age"] for row in ROWS[config]]
    sexes = Counter(row["sex"] for row in ROWS[config])
    assert set(sexes) == {"female", "male", None}
    assert min(sexes["female"], sexes["male"]) >= len(ROWS[config]) / 4


@every_config
def test_ages_and_sexes_fit_the_department(config: str) -> None:
    for row in ROWS[config]:
        age, sex, department = row["age"], row["sex"], row["department"]
        if department == "新生儿科" and age is not None:
            assert age <= 28.5 * DAY, row["id"]
        if department in ("儿科", "小儿外科", "小儿神经科") and age is not None:
            assert age < 18, row["id"]
        if department in ("产科", "妇科", "妇科内分泌科"):
            assert sex != "male", row["id"]
        if department == "老年医学科" and age is not None:
            assert age >= 60, row["id"]


# What is said


@every_dialogue
def test_the_last_doctor_turn_names_the_department_and_no_earlier_one_does(row: dict[str, Any]) -> None:
    last = last_doctor_turn(row)
    assert row["department"] in row["dialogue"][last]["content"]
    earlier = [turn["content"] for turn in row["dialogue"][:last] if turn["role"] == "doctor"]
    assert [text for text in earlier if row["department"] in text] == []


@every_dialogue
def test_a_longer_name_than_the_gold_is_never_what_the_last_turn_means(row: dict[str, Any]) -> None:
    said = row["dialogue"][last_doctor_turn(row)]["content"]
    for short, long in nested(set(row["candidates"])):
        if short == row["department"]:
            assert short in said.replace(long, ""), "the gold stands there by itself"


@every_dialogue
def test_turns_have_text_a_speaker_and_a_patient_before_the_answer(row: dict[str, Any]) -> None:
    assert {turn["role"] for turn in row["dialogue"]} == {"patient", "doctor"}
    assert all(turn["content"] == turn["content"].strip() != "" for turn in row["dialogue"])
    before = row["dialogue"][: last_doctor_turn(row)]
    assert sum(turn["role"] == "patient" for turn in before) >= 2
    assert len(row["dialogue"]) >= 4


def test_most_dialogues_alternate_and_some_do_not() -> None:
    alternating = [
        all(one["role"] != other["role"] for one, other in zip(row["dialogue"], row["dialogue"][1:], strict=False))
        for row in STATIC
    ]
    # Six patients send two messages in a row, as people do; prompts must not count on alternation.
    assert Counter(alternating) == {True: 66, False: 6}
    assert Counter(row["dialogue"][0]["role"] for row in STATIC) == {"patient": 47, "doctor": 25}
    # Twelve go on after the answer (thanks, a question): what is after the last doctor turn is cut as well.
    assert Counter(row["dialogue"][-1]["role"] for row in STATIC) == {"doctor": 60, "patient": 12}


def test_other_departments_are_mentioned_on_the_way_in_a_third_of_the_dialogues() -> None:
    mentions = {}
    for row in STATIC:
        earlier = "\n".join(turn["content"] for turn in row["dialogue"][: last_doctor_turn(row)])
        mentions[row["id"]] = {name for name in row["candidates"] if name in earlier}
    others = {row["id"] for row in STATIC if mentions[row["id"]] - {row["department"]}}
    assert len(others) == 25
    # In three of them the patient asks about the right one, which no doctor has named yet.
    named = [row["id"] for row in STATIC if row["department"] in mentions[row["id"]]]
    assert named == ["static-016", "static-048", "static-065"]


def test_the_last_turn_names_a_second_department_in_some_dialogues() -> None:
    second = set()
    for row in STATIC:
        said = row["dialogue"][last_doctor_turn(row)]["content"]
        others = {name for name in row["candidates"] if name in said and name not in row["department"]}
        second |= {row["id"]} if others - {row["department"]} else set()
    assert second == {"static-020", "static-035", "static-050", "static-054", "static-061", "static-066"}


@pytest.mark.parametrize("row", RECORDS, ids=[row["id"] for row in RECORDS])
def test_a_record_names_no_department_and_tells_a_story(row: dict[str, Any]) -> None:
    text = "\n".join(texts_of(row))
    assert [name for name in ALL_NAMES if name in text] == []
    assert 2 <= len(row["chief_complaint"]) <= 40
    assert len(row["history_of_present_illness"]) >= 60
    assert all(row[field] == row[field].strip() for field in FIELDS)


def test_some_records_have_nothing_in_a_history() -> None:
    empty = {field: sum(not row[field] for row in RECORDS) for field in FIELDS}
    assert empty["chief_complaint"] == empty["history_of_present_illness"] == 0
    assert min(empty[field] for field in FIELDS[2:]) >= 3


@every_config
def test_no_text_is_there_twice(config: str) -> None:
    # Short formulas of a record ("无特殊。": nothing particular) may come again, what a patient says may not.
    counts = Counter(text for row in ROWS[config] for text in texts_of(row) if len(text) > 12)
    assert [text for text, count in counts.items() if count > 1] == []


@every_config
def test_the_texts_are_chinese_and_whole(config: str) -> None:
    text = "\n".join(text for row in ROWS[config] for text in texts_of(row))
    letters = re.findall(r"[A-Za-z\u4e00-\u9fff]", text)
    assert sum(letter >= "\u4e00" for letter in letters) / len(letters) > 0.95  # the rest: mmHg, CT, kg
    assert re.search(r"[\x00-\x08\ufffd\ud800-\udfff]|___|TODO|\{|\}", text) is None


# What the files say of themselves


@every_config
def test_each_file_says_what_it_is_in_its_first_lines(config: str) -> None:
    lines = (DATA / config / "test.json").read_text(encoding="utf-8").splitlines()
    assert re.search(r"canary [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", lines[0])
    assert "SYNTHETIC" in lines[1]
    assert FILES[config]["source"] == "clinical-evals:synthetic"
    assert list(FILES[config]) == ["canary", "notice", "source", "rows"]
    # Four lines of head, one line a row, one line of end: a changed row is a changed line.
    assert len(lines) == 4 + len(ROWS[config]) + 1


def test_the_canary_is_that_of_the_whole_sample() -> None:
    canaries = {config: re.findall(r"canary (\S+):", file["canary"]) for config, file in FILES.items()}
    other = json.loads((dataset_folder("clibench") / "data" / "diagnosis" / "test.json").read_text(encoding="utf-8"))
    assert {tuple(found) for found in canaries.values()} == {tuple(re.findall(r"canary (\S+):", other["canary"]))}
