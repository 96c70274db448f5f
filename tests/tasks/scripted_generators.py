"""A doctor and a patient whose answers are known, behind the generators' interface.

The patient tells the facts of its record, one an answer. The doctor asks fixed questions and refers to the department
that it knows a told fact for; as long as none was told, to the last one of the list.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from clinical_evals.ior_bench.dialogue_prompts import QUESTION_TASK, REFER_TASK
from clinical_evals.tasks.dialogue import scripted_generator
from clinical_evals.tasks.dialogue.scripted_generator import Messages
from clinical_evals.tasks.models.generation import Missing

FIELDS = {
    "chief_complaint": "主诉",
    "history_of_present_illness": "现病史",
    "past_medical_history": "既往史",
    "personal_history": "个人史",
    "family_history": "家族史",
}
WORDS = (
    "pain", "fever", "cough", "rash", "itch", "knee", "eye", "ear", "skin", "back", "since", "days", "night", "left",
)  # fmt: skip
"""What records and models of tests are made of: each is one token of SmolLM2."""
NOTHING_MORE = "没有别的了。"
_FACT = re.compile(rf"^(?:{'|'.join(FIELDS.values())})：(.+)$", re.MULTILINE)


def make_case(number: int, department: str, candidates: Sequence[str], facts: Sequence[str]) -> dict[str, Any]:
    """A case of an adult with up to five facts, in the order in which the patient tells them."""
    record = dict.fromkeys(FIELDS, "") | dict(zip(FIELDS, facts, strict=False))
    return {
        "id": f"case-{number}", "age": 40.0, "sex": "female", **record, "department": department,
        "candidates": list(candidates),
    }  # fmt: skip


class ScriptedGenerator(scripted_generator.ScriptedGenerator):
    """One that remembers what it was asked.

    Attributes:
        batches: for each call the row and the messages of each prompt.
    """

    def __init__(
        self, script: Callable[[Messages], str | Missing], rows_at_once: int = 4, max_length: int = 100_000
    ) -> None:
        super().__init__(script, rows_at_once, max_length)
        self.batches: list[list[tuple[int, Messages]]] = []

    @property
    def asked(self) -> list[tuple[int, Messages]]:
        """The prompts of all batches."""
        return [one for batch in self.batches for one in batch]

    def generate(self, docs: Any, progress: Any, temperature: float | None = None) -> list[Any]:
        self.batches.append([(int(doc.id), json.loads(doc.query)) for doc in docs])
        return super().generate(docs, progress, temperature)


def patient(messages: Messages) -> str:
    """The next fact of the record."""
    facts = _FACT.findall(messages[0]["content"])
    told = sum(said["role"] == "assistant" for said in messages)
    return facts[told] if told < len(facts) else NOTHING_MORE


def question(number: int) -> str:
    """What the doctor asks after that many questions."""
    return f"问题{number}：还有哪里不舒服吗？"


def doctor_who_knows(departments: Mapping[str, str], last: str) -> Callable[[Messages], str]:
    """A doctor that refers by the facts that it knows a department for, else to `last`."""

    def doctor(messages: Messages) -> str:
        *before, task = messages
        if task["content"].endswith(QUESTION_TASK):
            return question(sum(said["role"] == "assistant" for said in before) - 1)  # without the greeting
        assert task["content"].endswith(REFER_TASK)
        told = "\n".join(said["content"] for said in messages if said["role"] == "user")
        known = (department for fact, department in departments.items() if fact in told)
        return f"建议挂{next(known, last)}。"

    return doctor


def both(doctor: Callable[[Messages], str], of_patient: Callable[[Messages], str] = patient) -> Any:
    """One model in both roles: told apart by whether the prompt ends with a task."""

    def either(messages: Messages) -> str:
        return (doctor if messages[-1]["content"].endswith((QUESTION_TASK, REFER_TASK)) else of_patient)(messages)

    return either
