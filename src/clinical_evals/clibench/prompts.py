"""The prompts of CliBench's tasks, in our own words (contents: protocol.md 2.4).

System role, task instruction, patient segments, closing question. A changed word here or in `segments` needs a raised
`PROMPT_VERSION`: results of different versions are not compared, and logged answers of another version are not reused.
"""

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
    """The two fixed texts around the patient segments of one task."""

    instruction: str
    question: str


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
    )
}
"""By config of the dataset."""


def user_text(task: str, segments: Segments) -> str:
    """Everything but the system role, as one text: instruction, the segments under their headings, question.

    Args:
        task: a key of `TASK_PROMPTS`.
        segments: the patient segments, whole or cut.
    """
    prompt = TASK_PROMPTS[task]
    parts = [f"## {heading}\n{text or NOTHING}" for heading, text in zip(HEADINGS, segments, strict=True)]
    return "\n\n".join([prompt.instruction, *parts, prompt.question])
