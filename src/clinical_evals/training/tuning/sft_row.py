"""One admission as a conversational prompt/completion row that fits into a number of tokens."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from clinical_evals.clibench.prompts import SYSTEM, only_shown, user_text
from clinical_evals.clibench.segments import LONG, Segments, render_segments
from clinical_evals.errors import InputError
from clinical_evals.ontology import get_system
from clinical_evals.training.tuning.chat_tokens import ChatTokens, Message, RowTokens
from clinical_evals.training.tuning.row_files import Columns
from clinical_evals.truncation import CUT_AWAY, Room, fit_prompt

COLUMNS: Columns = {"prompt": "messages", "completion": "messages", "hadm_id": "int"}


class SftRow(NamedTuple):
    """What a model learns from one admission."""

    hadm_id: int
    prompt: list[Message]
    completion: list[Message]
    tokens: RowTokens
    kept: float
    """Share of the tokens of the whole row that was kept; below 1 where the long segments were cut."""

    def as_record(self) -> dict[str, Any]:
        """As it is written."""
        return {"prompt": self.prompt, "completion": self.completion, "hadm_id": self.hadm_id}


def make_row(row: Mapping[str, Any], task: str, answer: str, chat: ChatTokens, max_length: int) -> SftRow:
    """The row of one admission. What is cut is the prompt, by the rule of protocol.md 2.4; never the completion.

    Args:
        row: of the `clibench` dataset.
        task: its config.
        answer: the completion as text.
        chat: of the model that is to be trained.
        max_length: the most tokens that prompt and completion may have together, special ones included.

    Raises:
        InputError: what is never cut does not fit; the admission is named.
    """
    completion: list[Message] = [{"role": "assistant", "content": answer}]
    segments = only_shown(task, render_segments(row, get_system("icd10cm")))
    counted = _WholeRow(chat, completion)
    try:
        fitted = fit_prompt(segments, LONG, lambda cut: user_text(task, cut), counted, Room(max_length, 0), "")
    except InputError as error:
        least = counted.count(user_text(task, _cut_away(segments)))
        raise InputError(
            f"hadm_id {row['hadm_id']} of {task}: {LONG.whole} and the completion are never cut and take {least} "
            f"tokens ({chat.count_text(answer)} of them the completion), more than --max-length {max_length}. "
            f"Give --max-length {least} or more, if the model reads as many, or a shorter --target (codes)."
        ) from error
    prompt = chat.messages(SYSTEM, fitted.text)
    return SftRow(int(row["hadm_id"]), prompt, completion, chat.measure(prompt, completion), fitted.kept_prompt)


class _WholeRow:
    """Counts prompt and completion together, so that what fits is the whole row."""

    def __init__(self, chat: ChatTokens, completion: list[Message]) -> None:
        self._chat, self._completion = chat, completion

    def count(self, prompt: str) -> int:
        return self._chat.count([*self._chat.messages(SYSTEM, prompt), *self._completion])

    def token_ends(self, text: str) -> list[int]:
        return self._chat.chat.token_ends(text)


def _cut_away(segments: Segments) -> Segments:
    return segments._replace(**{name: CUT_AWAY for name in LONG.names if getattr(segments, name)})
