"""A generator whose answers a function writes: what stands in for a model where it must be known what is said.

The dialogue's demonstration has its written doctor and patient behind it, and the tests their doctors and patients of
known behaviour. A prompt is the messages as JSON, so that a script reads what a model would be shown.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clinical_evals.errors import RunError
from clinical_evals.tasks.models.generation import Missing, Output

if TYPE_CHECKING:
    from lighteval.tasks.requests import Doc

Messages = list[dict[str, str]]
Script = Callable[[Messages], str | Missing]
"""What is said after these messages; `Missing` where a call fails."""


class JsonChat:
    """Prompts that are the messages as JSON; a character is a token."""

    tokenizer = None
    use_chat_template = True
    add_special_tokens = False

    def render(self, system: str, user: str) -> str:
        """The prompt of one question."""
        return self.render_messages([{"role": "system", "content": system}, {"role": "user", "content": user}])

    def render_messages(self, messages: Sequence[Mapping[str, str]]) -> str:
        """The prompt of a conversation."""
        return json.dumps([dict(said) for said in messages], ensure_ascii=False)

    def check_conversation(self) -> None:
        """Any conversation can be written as JSON."""

    def encode(self, prompt: str) -> list[int]:
        """The characters."""
        return [ord(character) for character in prompt]

    def count(self, prompt: str) -> int:
        """How many characters."""
        return len(prompt)

    def token_ends(self, text: str) -> list[int]:
        """After each character."""
        return list(range(1, len(text) + 1))


class ScriptedGenerator:
    """Answers each prompt by a function of its messages.

    Args:
        script: writes the answers.
        rows_at_once: prompts in a batch.
        max_length: characters of prompt and answer together.
        name: under which lighteval's configuration has it.
    """

    is_main = True

    def __init__(
        self, script: Script, rows_at_once: int = 4, max_length: int = 100_000, name: str = "scripted"
    ) -> None:
        from lighteval.models.abstract_model import ModelConfig

        self.script, self.rows_at_once, self.max_length = script, rows_at_once, max_length
        self.config = ModelConfig(model_name=name)
        self.chat = JsonChat()
        self.settings: dict[str, Any] = {}
        self.versions: dict[str, str] = {}

    def wait_for_everyone(self) -> None:
        """There is one process."""

    def cleanup(self) -> None:
        """There is nothing to free."""

    def generate(
        self, docs: "Sequence[Doc]", progress: Any, temperature: float | None = None
    ) -> list[list[Output] | Missing]:
        """See `generation.Generator`; the script is asked in the order of the documents.

        Raises:
            RunError: more prompts than make a batch.
        """
        if len(docs) > self.rows_at_once:
            raise RunError(f"{len(docs)} prompts at once, expected at most {self.rows_at_once}")
        answers = [self.script(json.loads(doc.query)) for doc in docs]
        return [one if isinstance(one, Missing) else [Output(one, list(map(ord, one)), "stop")] for one in answers]
