"""How the simulated patient speaks: sentences, leaks, breaks, questions; by hand and on real simulated dialogues."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinical_evals.ior_bench.dialogue_prompts import GREETING, SILENCE
from clinical_evals.ior_bench.simulator import (
    PatientStatistics,
    PatientTurn,
    QuestionStatistics,
    count_characters,
    count_questions,
    patient_statistics,
    question_statistics,
    read_patient_turn,
    split_sentences,
)

HOSPITAL = ("呼吸内科", "消化内科", "骨科", "儿科", "小儿外科", "急诊科")
CASES: dict[str, list[str]] = json.loads(Path(__file__).with_name("patient_turns.json").read_text(encoding="utf-8"))


def read(said: str, answer: str | None = None) -> PatientTurn:
    return read_patient_turn(said, said if answer is None else answer, HOSPITAL)


# Sentences


@pytest.mark.parametrize(
    ("said", "lengths"),
    [
        ("我头疼。三天了！", (3, 3)),
        ("我头疼，三天了；还恶心", (3 + 3 + 3,)),  # a comma or semicolon ends no sentence and is no character
        ("真的？！……嗯", (2, 1)),
        ("我……我头疼", (4,)),  # a pause
        ("体温38.5℃。", (2 + 3 + 1,)),  # the point of a number is punctuation and no end
        ("It hurts. A lot.", (2 + 5, 1 + 3)),
        ("疼\n很疼", (1, 2)),
        (SILENCE, ()),
        ("", ()),
    ],
)
def test_sentences(said: str, lengths: tuple[int, ...]) -> None:
    assert read(said).sentence_lengths == lengths
    assert tuple(map(count_characters, split_sentences(said))) == lengths


@given(st.text("我疼。，？! .\n…"))
def test_no_character_is_lost_between_sentences(said: str) -> None:
    assert sum(read(said).sentence_lengths) == said.count("我") + said.count("疼")


# Leaks


@pytest.mark.parametrize(
    ("said", "departments"),
    [
        ("我想挂骨科。", ("骨科",)),
        ("上个月在消化内科看过，也去过急诊，消化内科说没事。", ("消化内科", "急诊科")),
        ("消化科看过。", ("消化内科",)),  # the one department that the short form fits
        ("去過兒科。", ("儿科",)),  # traditional characters
        ("孩子去过小儿外科。", ("小儿外科",)),  # no 儿科, no 外科: the longest name
        ("去过眼科。", ()),  # this hospital has none
        ("内科的毛病。", ()),
        ("我骨头疼，儿时就有，是急性的。", ()),
    ],
)
def test_leaks(said: str, departments: tuple[str, ...]) -> None:
    turn = read(said)
    assert turn.departments == departments
    assert turn.leaks == bool(departments)


# Breaks


@pytest.mark.parametrize(("kind", "said"), [(kind, said) for kind, turns in CASES.items() for said in turns])
def test_breaks(kind: str, said: str) -> None:
    turn = read(said)
    assert turn.speaks_as_doctor == (kind == "doctor's speech")
    if kind == "a question and no more":
        assert turn.asks
    assert turn.breaks == (kind != "an answer")


def test_the_greeting_said_by_the_patient_is_both_kinds_of_break() -> None:
    turn = read(GREETING)
    assert (turn.asks, turn.speaks_as_doctor) == (True, True)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("医生：疼多久了", True),
        ("患者：头疼。\n导诊员：还有别的吗？", True),  # it goes on for the other side, whom nobody hears
        ("【导诊】: 头疼", True),
        ("**Doctor:** 头疼", True),
        ("患者：头疼。", False),
        ("assistant: 头疼", False),
        ("我和医生说过：头疼。", False),  # no label: it stands inside a line
        ("<think>\n医生：问我哪里疼。\n</think>头疼。", False),  # only thought
        ("<think>\n医生：问我哪里疼。", False),
    ],
)
def test_a_doctors_label_is_read_from_the_raw_answer(answer: str, expected: bool) -> None:
    assert read("头疼。", answer).speaks_as_doctor == expected


# Statistics


def test_statistics_by_hand() -> None:
    turns = [read("我头疼。三天了。"), read("我想挂骨科。去过儿科。"), read("建议您挂骨科，好吗？"), read(SILENCE)]
    found = patient_statistics(turns, ["骨科", "骨科", "儿科", "儿科"])
    # Sentences: 我头疼, 三天了, 我想挂骨科, 去过儿科, 建议您挂骨科好吗.
    assert found == PatientStatistics(
        turns=4,
        silent=1,
        sentences=5,
        sentence_length=(3 + 3 + 5 + 4 + 8) / 5,
        leaks=2,
        gold_leaks=1,  # the third names 骨科, but 儿科 is its case's
        breaks=1,
        asks=1,
        doctor_speech=1,
    )
    assert (found.leak_rate, found.break_rate) == (2 / 4, 1 / 4)


def test_no_turns_have_no_rates() -> None:
    found = patient_statistics([], [])
    assert (found.leak_rate, found.break_rate, found.sentence_length) == (None, None, None)


@pytest.mark.parametrize(
    ("said", "questions"),
    [("疼多久了？", 1), ("疼吗？多久了?", 2), ("真的？？！？", 1), ("疼吗？ ？", 1), ("请说说看。", 0), ("", 0)],
)
def test_questions(said: str, questions: int) -> None:
    assert count_questions(said) == questions


def test_question_statistics_by_hand() -> None:
    asked = ["疼吗？", "疼吗？多久了？", "疼吗？多久了？吐吗？", "好的。"]
    assert question_statistics(asked) == QuestionStatistics(turns=4, questions=1 + 2 + 3, too_many=1, none=1)


# Real models: 506 consultations in which gpt-3.5-turbo plays the patient and gpt-4 the doctor


def test_the_patients_and_doctors_of_real_simulations_are_told_apart(questions: Path) -> None:
    file = questions.with_name("dialogues_iiyi.jsonl")
    if not file.is_file():
        pytest.skip(f"{file.name} is not there")
    lines = file.read_text(encoding="utf-8").splitlines()
    turns = [turn for line in lines for turn in json.loads(line)["dialog_history"]]
    to_doctor = "<对医生讲>"  # else the patient speaks to whoever makes the examinations
    patients = [read(t["content"]) for t in turns if t["role"] == "Patient" and t["content"].startswith(to_doctor)]
    doctors = [read(t["content"]) for t in turns if t["role"] == "Doctor"]
    assert (len(patients) > 2000, len(doctors) > 3000) == (True, True)
    # Patients ask sometimes (各项检查结果如何？) and never advise; doctors do one or the other in most turns.
    assert sum(turn.speaks_as_doctor for turn in patients) <= 0.002 * len(patients)
    assert sum(turn.breaks for turn in patients) < 0.05 * len(patients)
    assert sum(turn.speaks_as_doctor for turn in doctors) > 0.5 * len(doctors)
    assert sum(turn.breaks for turn in doctors) > 0.8 * len(doctors)


def test_any_text_is_read_and_a_megabyte_too() -> None:
    for text in ("\n" * 300_000, "您有没有" * 75_000, "他说" * 150_000, "\n 医生 " * 60_000, "a" + "\u0301" * 300_000):
        assert read(text).speaks_as_doctor is False  # ends: the time is linear
        assert count_questions(text) == 0


@given(st.text())
def test_no_text_is_refused(text: str) -> None:
    turn = read(text)
    assert turn.breaks == (turn.asks or turn.speaks_as_doctor)
    assert set(turn.departments) <= set(HOSPITAL)
