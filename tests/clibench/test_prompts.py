"""The wording of the prompts is part of a result: it changes only together with its version."""

import hashlib
import json
from pathlib import Path

import pytest

from clinical_evals.clibench.prompts import HEADINGS, NOTHING, PROMPT_VERSION, SYSTEM, TASK_PROMPTS, user_text
from clinical_evals.clibench.segments import Segments

SEGMENTS = Segments(
    "Sex: female", "I10 Essential (primary) hypertension", "chest pain", "CHEST: clear", "Sodium (Blood): 131"
)
KNOWN = json.loads((Path(__file__).parent / "prompt_hashes.json").read_text())


@pytest.mark.parametrize("task", TASK_PROMPTS)
def test_a_changed_prompt_has_a_raised_version(task: str) -> None:
    whole = "\0".join([SYSTEM, user_text(task, SEGMENTS), user_text(task, Segments(*[""] * 5))])
    found = hashlib.sha256(whole.encode()).hexdigest()
    assert KNOWN.get(PROMPT_VERSION, {}).get(task) == found, (
        f"the prompt of {task} changed: raise PROMPT_VERSION, and add the new version with its hash {found} to "
        "prompt_hashes.json (keep the old ones)"
    )


def test_tasks_of_the_first_day_show_what_is_known_then() -> None:
    """Profile and record (protocol.md 2.1); results, reports and history are of the diagnosis task alone."""
    for task in ("procedure", "lab_order", "prescription"):
        text = user_text(task, SEGMENTS)
        assert [part in text for part in SEGMENTS] == [True, False, True, False, False]
        assert text.startswith(TASK_PROMPTS[task].instruction)
        assert text.endswith(TASK_PROMPTS[task].question)
        assert "one a line" in TASK_PROMPTS[task].question
        assert "as many as you are confident of" in TASK_PROMPTS[task].instruction.replace("\n", " ")


def test_codes_are_asked_for_where_the_paper_does() -> None:
    """The code form for diagnoses and procedures, names for labs and drugs (protocol.md 2.4)."""
    assert "ICD-10-PCS code" in TASK_PROMPTS["procedure"].instruction
    for task in ("lab_order", "prescription"):
        assert "code" not in TASK_PROMPTS[task].instruction
        assert "name" in TASK_PROMPTS[task].instruction


def test_instruction_segments_and_question_in_this_order() -> None:
    text = user_text("diagnosis", SEGMENTS)
    parts = [TASK_PROMPTS["diagnosis"].instruction, *SEGMENTS, TASK_PROMPTS["diagnosis"].question]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert text.startswith(parts[0])
    assert text.endswith(parts[-1])


def test_the_instruction_asks_for_what_the_protocol_says() -> None:
    instruction = TASK_PROMPTS["diagnosis"].instruction
    for asked in ("one diagnosis a line", "ICD-10-CM code", "plain language", "as many as you are confident of"):
        assert asked in instruction


def test_what_an_admission_does_not_have_is_said() -> None:
    text = user_text("diagnosis", SEGMENTS._replace(history="", labs=""))
    assert text.count(NOTHING) == 2
    assert f"## {HEADINGS.history}\n{NOTHING}" in text
