"""The dialogue of the dynamic task as pure functions: whose turn it is, and what each role is shown (protocol.md 1.3).

The doctor greets. Then for turn t = 0 … T-1 the patient answers, the referrer names a department from what was said so
far (which the patient never sees), and, but for the last turn, the questioner asks. No model is in here: `next_step`
says who is asked, `messages_for` what they see, `take` what becomes of their answer.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from clinical_evals.ior_bench.dialogue_prompts import (
    ARRIVAL,
    GREETING,
    QUESTION_TASK,
    REFER_TASK,
    SILENCE,
    doctor_system,
    patient_system,
)

TURNS = 6
"""Turns of the patient in a dialogue, unless the user says otherwise (the paper prints turns 0-5)."""
LONGEST_TURN = 600
"""Characters of what is said in one turn; more is cut, at the end of a sentence where there is one."""

Step = Literal["patient", "refer", "question"]
Message = dict[str, str]
"""`role` ("system", "user" or "assistant") and `content`."""


class Spoken(NamedTuple):
    """What one side said in its turn."""

    role: Literal["doctor", "patient"]
    content: str


class Dialogue(NamedTuple):
    """A case and what was said so far; the greeting is the first of `spoken`."""

    case: Mapping[str, Any]
    spoken: tuple[Spoken, ...] = (Spoken("doctor", GREETING),)
    referrals: tuple[str, ...] = ()
    """The referrer's answers, one a turn of the patient; no one in the dialogue sees them."""


def next_step(dialogue: Dialogue, turns: int = TURNS) -> Step | None:
    """Who is asked next; None where the dialogue has ended.

    Args:
        dialogue: so far.
        turns: of the patient.

    >>> next_step(Dialogue({}))
    'patient'
    """
    answered = sum(said.role == "patient" for said in dialogue.spoken)
    if dialogue.spoken[-1].role == "doctor":
        return "patient"
    if len(dialogue.referrals) < answered:
        return "refer"
    return "question" if answered < turns else None


def messages_for(step: Step, dialogue: Dialogue) -> list[Message]:
    """What the model of a step is shown: its own words as `assistant`, the other side's as `user`."""
    if step == "patient":
        return [_message("system", patient_system(dialogue.case)), *_seen_by("patient", dialogue.spoken)]
    system = doctor_system(dialogue.case["candidates"])
    messages = [_message("system", system), _message("user", ARRIVAL), *_seen_by("doctor", dialogue.spoken)]
    task = QUESTION_TASK if step == "question" else REFER_TASK
    messages[-1] = _message("user", f"{messages[-1]['content']}\n\n{task}")
    return messages


def take(step: Step, dialogue: Dialogue, answer: str) -> Dialogue:
    """The dialogue with an answer.

    What is said is freed of reasoning, of a label before it and of what a model writes for the other side after it,
    and cut to `LONGEST_TURN`. A referral is kept as it is: it is read by `department.extract_department`.

    Raises:
        ValueError: it is another step's turn.
    """
    if step == "refer":
        if next_step(dialogue) != "refer":
            raise ValueError("a referral is asked for after each answer of the patient, once")
        return dialogue._replace(referrals=(*dialogue.referrals, answer))
    role: Literal["doctor", "patient"] = "patient" if step == "patient" else "doctor"
    if dialogue.spoken[-1].role == role:
        raise ValueError(f"the {role} has spoken already")
    return dialogue._replace(spoken=(*dialogue.spoken, Spoken(role, own_words(answer))))


_REASONING = re.compile(r"\A.*</think>", re.DOTALL)
_UNFINISHED = re.compile(r"\A\s*<think>")
_LABEL = r"(?:患者|病人|家长|家属|导诊(?:员|人员|助手)?|医生|patient|doctor|user|assistant)"
_OWN_LABEL = re.compile(rf"\A\s*+[【\[*]*+{_LABEL}[】\]*]*+\s*+[:：][*\s]*+", re.IGNORECASE)
_NEXT_SPEAKER = re.compile(rf"^[ \t\u3000]*+[【\[*]*+{_LABEL}[】\]*]*+[ \t]*+[:：]", re.IGNORECASE | re.MULTILINE)
_SENTENCE_END = re.compile(r"[。！？!?\n]")


def own_words(answer: str) -> str:
    """What a model says in its own turn.

    >>> own_words("患者：头疼三天了。\\n导诊：还有别的吗？")
    '头疼三天了。'
    >>> own_words("  ")
    '……'
    """
    text = _all_own_words(answer)
    if len(text) > LONGEST_TURN:
        ends = [match.end() for match in _SENTENCE_END.finditer(text, 0, LONGEST_TURN)]
        text = text[: ends[-1] if ends else LONGEST_TURN]
    return text or SILENCE


def is_cut(answer: str) -> bool:
    """Whether a model says more in its own turn than the `LONGEST_TURN` characters that are kept."""
    return len(_all_own_words(answer)) > LONGEST_TURN


def _all_own_words(answer: str) -> str:
    text = _REASONING.sub("", answer)
    if _UNFINISHED.match(text):
        return ""  # it never came to speak
    text = _OWN_LABEL.sub("", text, count=1)
    following = _NEXT_SPEAKER.search(text, 1)
    return " ".join((text[: following.start()] if following else text).split())


def _seen_by(role: Literal["doctor", "patient"], spoken: Sequence[Spoken]) -> list[Message]:
    return [_message("assistant" if said.role == role else "user", said.content) for said in spoken]


def _message(role: str, content: str) -> Message:
    return {"role": role, "content": content}
