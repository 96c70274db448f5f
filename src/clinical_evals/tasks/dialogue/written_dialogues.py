"""A doctor and a patient whose words are written: what a good dialogue looks like, for the demonstration."""

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from clinical_evals.errors import InputError
from clinical_evals.ior_bench.dialogue_prompts import QUESTION_TASK, REFER_TASK
from clinical_evals.tasks.dialogue.scripted_generator import Messages

_FILE = "written_dialogues.json"


class WrittenDialogues:
    """Both sides of some dialogues, each told by what it is shown which line of which dialogue is its next.

    Args:
        cases: those that are played, rows of `dynamic_h2`.

    Raises:
        InputError: a case has no written dialogue.
    """

    def __init__(self, cases: Sequence[Mapping[str, Any]]) -> None:
        content = json.loads(files(__package__).joinpath(_FILE).read_text(encoding="utf-8"))
        self.turns: int = content["turns"]
        """Of each dialogue."""
        written = {each["case_id"]: each for each in content["dialogues"]}
        unwritten = [case["id"] for case in cases if case["id"] not in written]
        if unwritten:
            raise InputError(
                f"no dialogue is written for {', '.join(unwritten)}, only for {', '.join(written)}: give those cases."
            )
        self._by_complaint = {f"主诉：{case['chief_complaint']}": written[case["id"]] for case in cases}

    def patient(self, messages: Messages) -> str:
        """What the patient says next, who knows the record."""
        told = messages[0]["content"].splitlines()
        dialogue = next(each for complaint, each in self._by_complaint.items() if complaint in told)
        return str(dialogue["patient"][sum(said["role"] == "assistant" for said in messages)])

    def doctor(self, messages: Messages) -> str:
        """What the doctor asks, or where it refers to, who knows what was said."""
        task = messages[-1]["content"]
        heard = [said["content"].partition("\n\n")[0] for said in messages if said["role"] == "user"][1:]
        dialogue = next(each for each in self._by_complaint.values() if each["patient"][0] == heard[0])
        step = {QUESTION_TASK: "question", REFER_TASK: "refer"}[task.rpartition("\n\n")[2]]
        return str(dialogue[step][len(heard) - 1])
