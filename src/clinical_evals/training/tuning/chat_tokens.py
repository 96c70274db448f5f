"""How many tokens a training row has, counted as TRL will make them: by the tokenizer's own chat template."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.tasks.models.chat import ChatPrompt

Message = Mapping[str, str]


class RowTokens(NamedTuple):
    """The tokens of one row."""

    prompt: int
    """Those that prompt, and prompt with completion, have in common at their start: TRL computes no loss on them."""
    whole: int

    @property
    def completion(self) -> int:
        """Those that are learnt, the end of the turn among them."""
        return self.whole - self.prompt

    def learnt_within(self, max_length: int | None) -> int:
        """How many of them are left when TRL keeps the first `max_length` tokens; None: it cuts nothing."""
        return max((self.whole if max_length is None else min(self.whole, max_length)) - self.prompt, 0)


class ChatTokens:
    """The chat of a model that is to be trained.

    Args:
        name: a folder with a tokenizer, or the id of a model on the Hub.
        template: stands in for the tokenizer's own chat template.

    Raises:
        InputError: there is no such folder, the tokenizer cannot be loaded, or it has no chat template.
        ResourceMissingError: it is not on this machine; the message has the command that brings it.
    """

    def __init__(self, name: str, template: str | None = None) -> None:
        from clinical_evals.tasks.models.chat import tokenizer_chat

        self.name = name
        self.tokenizer: Any = tokenizer_chat(name).tokenizer
        self.own_template: str | None = self.tokenizer.chat_template and self.tokenizer.get_chat_template()
        """The tokenizer's, before another one stands in for it."""
        if template is not None:
            self.tokenizer.chat_template = template
        if self.tokenizer.chat_template is None:
            raise InputError(
                f"the tokenizer {name!r} has no chat template, and rows for training are conversations: TRL could not "
                "show them to the model. Give the tokenizer of the instruction-tuned model (…-Instruct), or set "
                "tokenizer.chat_template and save it with tokenizer.save_pretrained(FOLDER)."
            )
        self.chat = ChatPrompt(self.tokenizer, use_chat_template=True)

    @property
    def longest(self) -> int | None:
        """The most tokens that the tokenizer says its model reads; None where it does not say."""
        found = int(self.tokenizer.model_max_length)
        return found if found < 10**9 else None

    def messages(self, system: str, user: str) -> list[Message]:
        """The prompt as `clinical-evals eval` shows it to this model: the same roles, the same texts."""
        if self.chat.has_system_role:
            return [{"role": "system", "content": system}, {"role": "user", "content": user}]
        return [{"role": "user", "content": f"{system}\n\n{user}"}]

    def measure(self, prompt: Sequence[Message], completion: Sequence[Message]) -> RowTokens:
        """The tokens of a row. Cf. `SFTTrainer._prepare_dataset` of TRL 1.16: where the completion starts."""
        before = self._encode(prompt, add_generation_prompt=True)
        whole = self._encode([*prompt, *completion])
        pairs = zip(before, whole, strict=False)
        common = next(
            (place for place, (one, other) in enumerate(pairs) if one != other), min(len(before), len(whole))
        )
        return RowTokens(common, len(whole))

    def count(self, messages: Sequence[Message]) -> int:
        """How many tokens a conversation has."""
        return len(self._encode(messages))

    def count_text(self, text: str) -> int:
        """How many tokens a plain text has."""
        return len(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def _encode(self, messages: Sequence[Message], add_generation_prompt: bool = False) -> list[int]:
        shown = [dict(said) for said in messages]
        try:
            found = self.tokenizer.apply_chat_template(
                shown, tokenize=True, return_dict=True, add_generation_prompt=add_generation_prompt
            )
        except Exception as error:  # jinja2.TemplateError and whatever else a model's own template raises
            roles = ", ".join(said["role"] for said in messages)
            raise InputError(
                f"the chat template of {self.name} refuses a conversation of {roles}: {type(error).__name__}: {error}"
            ) from error
        return list(found["input_ids"])
