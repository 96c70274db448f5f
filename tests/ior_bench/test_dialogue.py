"""Whose turn it is, what each role is shown, and what becomes of an answer (protocol.md 1.3); no model in here."""

import hashlib
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinical_evals.assets import dataset_folder
from clinical_evals.ior_bench.dialogue import (
    LONGEST_TURN,
    TURNS,
    Dialogue,
    Spoken,
    messages_for,
    next_step,
    own_words,
    take,
)
from clinical_evals.ior_bench.dialogue_prompts import (
    ARRIVAL,
    DIALOGUE_PROMPT_VERSION,
    GREETING,
    QUESTION_TASK,
    REFER_TASK,
    SILENCE,
    doctor_system,
    patient_system,
)

ROWS: list[dict[str, Any]] = json.loads(
    (dataset_folder("ior-bench") / "data/dynamic_h2/test.json").read_text(encoding="utf-8")
)["rows"]
KNOWN = json.loads(Path(__file__).with_name("ior_prompt_hashes.json").read_text())
FIELDS = (
    "chief_complaint", "history_of_present_illness", "past_medical_history", "personal_history", "family_history",
)  # fmt: skip


def play(case: dict[str, Any], turns: int) -> tuple[list[tuple[str, list[dict[str, str]]]], Dialogue]:
    """A whole dialogue in which the patient says P0, P1, … , the questioner Q0, … and the referrer R0, … ."""
    dialogue, asked = Dialogue(case), []
    while (step := next_step(dialogue, turns)) is not None:
        asked.append((step, messages_for(step, dialogue)))
        number = sum(kind == step for kind, _ in asked) - 1
        dialogue = take(step, dialogue, f"{step[0].upper()}{number}")
    return asked, dialogue


def test_the_order_of_turns() -> None:
    asked, dialogue = play(ROWS[0], 3)
    # The patient answers, a department is named, a question is asked; no question follows the last referral.
    order = ["patient", "refer", "question", "patient", "refer", "question", "patient", "refer"]
    assert [step for step, _ in asked] == order
    assert dialogue.referrals == ("R0", "R1", "R2")
    assert [said.content for said in dialogue.spoken] == [GREETING, "P0", "Q0", "P1", "Q1", "P2"]


def test_six_turns_by_default() -> None:
    asked, _ = play(ROWS[0], TURNS)
    assert [sum(kind == step for kind, _ in asked) for step in ("patient", "refer", "question")] == [6, 6, 5]


def test_every_message_of_every_role() -> None:
    case = ROWS[0]
    asked, _ = play(case, 2)
    patient, doctor = patient_system(case), doctor_system(case["candidates"])
    # Each model sees its own words as assistant, the other's as user; the task ends the doctor's last message.
    expected = [
        [("system", patient), ("user", GREETING)],
        [("system", doctor), ("user", ARRIVAL), ("assistant", GREETING), ("user", f"P0\n\n{REFER_TASK}")],
        [("system", doctor), ("user", ARRIVAL), ("assistant", GREETING), ("user", f"P0\n\n{QUESTION_TASK}")],
        [("system", patient), ("user", GREETING), ("assistant", "P0"), ("user", "Q0")],
        [
            ("system", doctor), ("user", ARRIVAL), ("assistant", GREETING), ("user", "P0"), ("assistant", "Q0"),
            ("user", f"P1\n\n{REFER_TASK}"),
        ],
    ]  # fmt: skip
    shown = [[(message["role"], message["content"]) for message in messages] for _, messages in asked]
    assert shown == expected


@given(st.sampled_from(ROWS), st.integers(1, 8))
def test_roles_alternate_and_no_one_sees_a_referral(case: dict[str, Any], turns: int) -> None:
    asked, _ = play(case, turns)
    for _, messages in asked:
        roles = [message["role"] for message in messages]
        assert roles[0] == "system"
        assert roles[1:] == ["user", "assistant"] * ((len(roles) - 2) // 2) + ["user"]
        assert not any(message["content"].startswith("R") for message in messages)


@given(st.sampled_from(ROWS), st.integers(2, 6))
def test_referrer_and_questioner_share_all_but_the_task(case: dict[str, Any], turns: int) -> None:
    # So that a backend which keeps what it has read reads a history once.
    asked, _ = play(case, turns)
    for (step, refer), (following, question) in pairwise(asked):
        if (step, following) == ("refer", "question"):
            assert refer[:-1] == question[:-1]
            assert refer[-1]["content"].removesuffix(REFER_TASK) == question[-1]["content"].removesuffix(QUESTION_TASK)


def test_the_doctor_knows_the_departments_and_nothing_of_the_record() -> None:
    for case in ROWS:
        (_, patient), (_, refer), *_ = play(case, 1)[0]
        told = " ".join(message["content"] for message in refer)
        assert "、".join(case["candidates"]) in told
        for field in FIELDS:
            if len(case[field]) > 5:
                assert case[field] not in told
                assert case[field].strip() in patient[0]["content"]


def test_the_patient_is_not_told_the_departments() -> None:
    for case in ROWS:
        system = patient_system(case)
        assert "、".join(case["candidates"][:3]) not in system


@pytest.mark.parametrize(
    ("age", "said", "parent"),
    [
        (0.0219, "年龄：8天", True),
        (0.5, "年龄：6个月", True),
        (11.9, "年龄：11.9岁", True),
        (12.0, "年龄：12岁", False),
        (67.0, "年龄：67岁", False),
        (None, "", False),  # a patient of unknown age speaks for themselves
    ],
)
def test_a_parent_speaks_for_a_child_under_twelve(age: float | None, said: str, parent: bool) -> None:
    system = patient_system({**ROWS[0], "age": age})
    assert said in system
    assert ("家长" in system) is parent
    assert ("年龄：" in system) is (age is not None)


def test_the_rules_of_the_protocol_are_in_the_prompts() -> None:
    doctor, patient = doctor_system(["骨科", "眼科"]), patient_system(ROWS[0])
    assert "一到两个" in doctor  # one or two questions
    assert "换一个方面" in doctor  # changing topic when a symptom is exhausted
    assert "只写这个科室的名称" in doctor
    assert "一到三条信息" in patient  # one to three pieces of information
    assert "不编造" in patient
    assert "口语" in patient


# What becomes of an answer


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("头疼三天了。", "头疼三天了。"),
        ("患者：头疼三天了。", "头疼三天了。"),
        ("**患者**：头疼三天了。", "头疼三天了。"),
        ("头疼三天了。\n导诊：发烧吗？\n患者：不烧", "头疼三天了。"),  # it goes on for both sides
        ("Patient: my head hurts\nDoctor: since when?", "my head hurts"),
        ("<think>病历说头疼</think>\n头疼三天了。", "头疼三天了。"),
        ("<think>病历说头疼", SILENCE),  # cut before it came to speak
        ("头疼。\n\n还有点恶心。", "头疼。 还有点恶心。"),
        ("", SILENCE),
        (" \n\t ", SILENCE),
        ("患者：", SILENCE),
    ],
)
def test_a_turn_is_what_one_side_says(answer: str, said: str) -> None:
    assert own_words(answer) == said


def test_an_endless_turn_is_cut_at_the_end_of_a_sentence() -> None:
    said = own_words("头疼，" * 100 + "很久了。" + "还发烧，" * 300_000)
    assert said == "头疼，" * 100 + "很久了。"
    assert len(own_words("啊" * 1_000_000)) == LONGEST_TURN


@pytest.mark.parametrize("unit", ["\n", " \n", "*", "患者", "\n患者", "<think>", "【", "\n\t："])
def test_a_megabyte_of_anything_ends(unit: str) -> None:
    # Quadratic time on any of these would be minutes.
    assert 0 < len(own_words(unit * (1_000_000 // len(unit)))) <= LONGEST_TURN


@given(st.text(max_size=2000))
def test_what_is_said_is_never_empty_never_long_and_one_line(answer: str) -> None:
    said = own_words(answer)
    assert 0 < len(said) <= LONGEST_TURN
    assert said == " ".join(said.split())


def test_nobody_speaks_out_of_turn() -> None:
    start = Dialogue(ROWS[0])
    with pytest.raises(ValueError, match="doctor has spoken"):
        take("question", start, "再说一遍？")
    with pytest.raises(ValueError, match="once"):
        take("refer", start, "骨科")
    answered = take("patient", start, "膝盖疼")
    with pytest.raises(ValueError, match="patient has spoken"):
        take("patient", answered, "还有")
    with pytest.raises(ValueError, match="once"):
        take("refer", take("refer", answered, "骨科"), "外科")


def test_a_referral_is_kept_as_it_was_given() -> None:
    answered = Dialogue(ROWS[0], (Spoken("doctor", GREETING), Spoken("patient", "膝盖疼")))
    assert take("refer", answered, " 结论：骨科\n患者：谢谢").referrals == (" 结论：骨科\n患者：谢谢",)


def test_a_changed_prompt_has_a_raised_version() -> None:
    cases = [{**ROWS[0], "age": age, "sex": sex} for age in (None, 0.1, 1.5, 5.5, 30.0) for sex in (None, "female")]
    texts = [GREETING, ARRIVAL, SILENCE, QUESTION_TASK, REFER_TASK, doctor_system(["骨科", "眼科"])]
    texts += [patient_system(case) for case in cases]
    found = hashlib.sha256("\0".join(texts).encode()).hexdigest()
    assert KNOWN.get(f"dialogue {DIALOGUE_PROMPT_VERSION}") == found, (
        f"a prompt changed: raise DIALOGUE_PROMPT_VERSION, and add the new version with {found} to "
        "ior_prompt_hashes.json (keep the old ones)"
    )
