"""The prompts of CliBench's tasks, in our own words (contents: protocol.md 2.4).

System role, task instruction, patient segments, closing question. A changed word here or in `segments` needs a raised
`PROMPT_VERSION`: results of different versions are not compared, and logged answers of another version are not reused.
"""

from collections.abc import Collection
from typing import NamedTuple

from clinical_evals.clibench.segments import Segments

PROMPT_VERSION = "1"
"""Raised with every change of a prompt's text; it is part of every log and of the key of every logged answer."""

SYSTEM = (
    "You are an experienced hospital physician. You read what is known about an inpatient and decide, from that "
    "evidence "
    "alone, as completely and precisely as it allows."
)

HEADINGS = Segments(
    profile="Patient profile",
    history="Diagnoses of the previous admission",
    record="Record at admission",
    radiology="Radiology reports",
    labs="Laboratory results",
)

NOTHING = "None available."
"""Stands for a segment that the admission does not have."""


RESERVED_OUTPUT = 650
"""Tokens kept free for the answer: at least 80 % of what a complete answer needs (appendix B.5; protocol.md 2.4)."""


class TaskPrompt(NamedTuple):
    """The fixed texts of one task, and which of the patient segments it shows."""

    instruction: str
    question: str
    shown: tuple[str, ...]


EARLY = ("profile", "record")
"""What is known when the first procedures, labs and drugs are ordered (protocol.md 2.1)."""

TASK_PROMPTS = {
    "diagnosis": TaskPrompt(
        instruction=(
            "Below is what was recorded about one patient in the course of one hospital admission. State the "
            "diagnoses of this admission: the main condition and every comorbidity and complication that was relevant "
            "to the stay.\n"
            "Write one diagnosis a line, as an ICD-10-CM code or in plain language, and nothing else. Give as many as "
            "you are confident of."
        ),
        question=("List all diagnoses of this admission, one a line, each as an ICD-10-CM code or in plain language."),
        shown=Segments._fields,
    ),
    "procedure": TaskPrompt(
        instruction=(
            "Below is what is known about one patient at the start of one hospital admission. State the procedures "
            "that should be performed first: operations, drainages, lines, tubes, transfusions, ventilation, "
            "procedures for imaging or treatment.\n"
            "Write one procedure a line, as an ICD-10-PCS code or in plain language, and nothing else. Give as many "
            "as you are confident of."
        ),
        question=(
            "List the first procedures of this admission, one a line, each as an ICD-10-PCS code or in plain language."
        ),
        shown=EARLY,
    ),
    "lab_order": TaskPrompt(
        instruction=(
            "Below is what is known about one patient at the start of one hospital admission. State the laboratory "
            "tests that should be ordered first, each single test of a panel by itself.\n"
            "Write the name of one laboratory test a line, with the specimen where it is not blood, and nothing else. "
            "Give as many as you are confident of."
        ),
        question="List the first laboratory tests to order for this admission, one a line, each by its name.",
        shown=EARLY,
    ),
    "prescription": TaskPrompt(
        instruction=(
            "Below is what is known about one patient at the start of one hospital admission. State the drugs that "
            "should be prescribed first, those that are taken at home and go on among them.\n"
            "Write the name of one drug a line, by its substance and without a dose, and nothing else. Give as many "
            "as you are confident of."
        ),
        question="List the first drugs to prescribe for this admission, one a line, each by its name.",
        shown=EARLY,
    ),
}
"""By config of the dataset."""


def shown_in(task: str, without: Collection[str] = ()) -> tuple[str, ...]:
    """The names of the segments that a prompt shows, in its order.

    Args:
        task: a key of `TASK_PROMPTS`.
        without: segments that an ablation leaves out (Table 5).
    """
    return tuple(name for name in TASK_PROMPTS[task].shown if name not in without)


def only_shown(task: str, segments: Segments, without: Collection[str] = ()) -> Segments:
    """The segments with those empty that the prompt does not show: what is not shown is not cut, and not counted."""
    shown = shown_in(task, without)
    return Segments(*(text if name in shown else "" for name, text in segments._asdict().items()))


def user_text(task: str, segments: Segments, without: Collection[str] = ()) -> str:
    """Everything but the system role, as one text: instruction, the segments under their headings, question.

    A segment that is left out has no heading either: "none available" would be a statement about the patient.

    Args:
        task: a key of `TASK_PROMPTS`.
        segments: the patient segments, whole or cut; those that the task does not show are left out.
        without: see `shown_in`.
    """
    prompt = TASK_PROMPTS[task]
    shown = shown_in(task, without)
    parts = [f"## {getattr(HEADINGS, name)}\n{getattr(segments, name) or NOTHING}" for name in shown]
    return "\n\n".join([prompt.instruction, *parts, prompt.question])
