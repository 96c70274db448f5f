"""The prompts of the static task: what they say, what they must not show, and that a change raises the version."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from clinical_evals.assets import dataset_folder
from clinical_evals.errors import InputError
from clinical_evals.ior_bench.examples import written_examples
from clinical_evals.ior_bench.prompts import (
    CONCLUSION,
    PROMPT_VERSION,
    SHOTS,
    STRATEGIES,
    SYSTEM,
    make_parts,
    render_dialogue,
    user_text,
)
from clinical_evals.ior_bench.shots import Shots, describe_shots
from clinical_evals.ior_bench.static import seen_turns

KNOWN = json.loads(Path(__file__).with_name("ior_prompt_hashes.json").read_text())
ROWS: list[dict[str, Any]] = json.loads(
    (dataset_folder("ior-bench") / "data/static/test.json").read_text(encoding="utf-8")
)["rows"]
ALL_NAMES = [
    "消化内科", "骨科", "皮肤科", "呼吸内科", "眼科", "心血管内科", "内分泌科", "神经内科", "耳鼻咽喉科", "泌尿外科",
    "妇科", "儿科", "风湿免疫科", "肾内科",
]  # fmt: skip


def prompt(strategy: str, row: dict[str, Any], shots: int = SHOTS) -> str:
    examples = written_examples(row["candidates"])[:shots] if STRATEGIES[strategy].examples else ()
    return user_text(strategy, make_parts(seen_turns(row["dialogue"]), row["candidates"], examples))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_prompt_shows_dialogue_and_departments_and_nothing_after(strategy: str) -> None:
    for row in ROWS:
        text = prompt(strategy, row)
        last_doctor = max(place for place, turn in enumerate(row["dialogue"]) if turn["role"] == "doctor")
        for place, turn in enumerate(row["dialogue"]):
            said = turn["content"].strip()
            if place < last_doctor:
                assert said in text
            elif len(said) > 8:  # "谢谢" may be said before, too
                assert said not in text, (row["id"], place)
        assert "、".join(row["candidates"]) in text


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_gold_stands_only_among_the_departments_examples_and_patients_words(strategy: str) -> None:
    # A prompt that gave the answer away would score any model.
    for row in ROWS:
        text = prompt(strategy, row)
        spoken = [turn["content"] for turn in seen_turns(row["dialogue"]) if turn["role"] == "patient"]
        examples = [example.department for example in written_examples(row["candidates"])[:SHOTS]]
        gold = row["department"]
        elsewhere = sum(name.count(gold) for name in row["candidates"]) + sum(said.count(gold) for said in spoken)
        elsewhere += sum(name.count(gold) for name in examples) if STRATEGIES[strategy].examples else 0
        assert text.count(gold) == elsewhere, row["id"]


def test_the_strategies_differ_as_the_protocol_says() -> None:
    zero, few, cot, vote = (
        prompt(strategy, ROWS[0]) for strategy in ("zero_shot", "few_shot", "cot", "majority_vote")
    )
    assert zero == vote  # it differs by sampling five answers
    assert STRATEGIES["majority_vote"].votes == 5
    assert [few.count(f"例{number}\n") for number in (1, 2, 3, 4)] == [1, 1, 1, 0]
    assert few.count("科室：") == 3
    # Reasons first, then a marked conclusion section.
    assert CONCLUSION in cot
    assert "分析" in cot
    assert CONCLUSION not in zero
    assert "不要解释" in zero


def test_the_speakers_are_named() -> None:
    assert render_dialogue([{"role": "doctor", "content": " 哪里疼？ "}, {"role": "patient", "content": "膝盖"}]) == (
        "导诊：哪里疼？\n患者：膝盖"
    )


def test_a_changed_prompt_has_a_raised_version() -> None:
    texts = [SYSTEM, *(prompt(strategy, ROWS[0], len(ALL_NAMES)) for strategy in STRATEGIES)]
    texts.append(user_text("few_shot", make_parts([], ALL_NAMES, written_examples(ALL_NAMES))))
    found = hashlib.sha256("\0".join(texts).encode()).hexdigest()
    assert KNOWN.get(PROMPT_VERSION) == found, (
        f"a prompt changed: raise PROMPT_VERSION, and add the new version with {found} to ior_prompt_hashes.json "
        "(keep the old ones)"
    )


# Examples


def test_all_written_examples_have_a_department_and_none_is_in_the_sample() -> None:
    examples = written_examples(ALL_NAMES)
    assert [example.department for example in examples] == ALL_NAMES
    sample = {turn["content"] for row in ROWS for turn in row["dialogue"]}
    for example in examples:
        spoken = [turn["content"] for turn in example.dialogue if turn["role"] == "patient"]
        assert spoken
        assert not sample & set(spoken)
        assert not any(name in said for said in spoken for name in ALL_NAMES)


def test_an_example_bears_the_hospitals_own_name_of_the_department() -> None:
    found = written_examples(["心内科", "消化科", "五官科", "外科"])
    assert [example.department for example in found] == ["消化科", "外科", "心内科", "五官科", "外科"]
    assert written_examples(["放射科"]) == []


def hospital(departments: list[str], rows: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"q{number}",
            "dialogue": [{"role": "patient", "content": f"问题{number}"}],
            "department": departments[number % len(departments)],
            "candidates": departments,
        }
        for number in range(rows)
    ]


def test_three_written_examples_and_all_rows_are_scored() -> None:
    shots = Shots(3, hospital(["骨科", "眼科", "皮肤科"], 10))
    assert [example.department for example in shots.examples] == ["骨科", "皮肤科", "眼科"]
    assert shots.scored == set(range(10))
    assert shots.about == {"number": 3, "source": "written"}
    assert describe_shots(shots.about) == "3 written examples in each prompt; all rows are scored"


def test_more_examples_are_rows_that_are_never_scored() -> None:
    rows = hospital(["骨科", "眼科", "皮肤科"], 100)
    few, many = Shots(4, rows), Shots(80, rows)
    for shots in (few, many):
        shown = {example.dialogue[0]["content"] for example in shots.examples}
        assert len(shown) == shots.number
        assert not {f"问题{row}" for row in shots.scored} & shown
        assert len(shots.scored) == 20
        assert shots.about == {"number": shots.number, "source": "rows", "rows": 80, "held_out": 20}
    assert many.scored == few.scored  # the same part, whatever k: results can be compared
    assert many.examples[:4] == few.examples  # nested
    assert "80 rows (seeded) that are never scored; scored on the 20 held out" in describe_shots(many.about)


def test_a_hospital_without_written_examples_takes_them_from_its_rows() -> None:
    shots = Shots(3, hospital(["放射科", "骨科"], 10))
    assert shots.about["source"] == "rows"
    assert len(shots.examples) == 3


@pytest.mark.parametrize(("number", "rows"), [(81, 100), (400, 72), (4, 2)])
def test_too_many_examples_are_an_error_that_says_how_many_there_are(number: int, rows: int) -> None:
    with pytest.raises(InputError, match=rf"--shots {number}: of {rows} rows \d+ are held out.*Give at most"):
        Shots(number, hospital(["骨科", "眼科"], rows))
