"""What a model really gets: its own chat template around our texts, and its own tokenizer to count them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from clinical_evals.errors import InputError, ResourceMissingError
from clinical_evals.tasks.models.model_files import check_tokenizer

_PROBE_SYSTEM, _PROBE_USER = "a system text", "a user text"
# Templates that write today's date would make another prompt of the same row every day: theirs stands still.
_DATE = "26 Jul 2024"
_FIXED_NOW = (
    '{%- macro strftime_now(form) -%}{{ "2024-07-26" if form == "%Y-%m-%d" else "' + _DATE + '" }}{%- endmacro -%}'
)


class ChatPrompt:
    """Renders and counts prompts for one model.

    Args:
        tokenizer: a transformers tokenizer.
        use_chat_template: False gives plain text (a base model), True the tokenizer's chat template.
        add_special_tokens: whether tokenising adds special tokens; None: only to plain text, since a chat template
            writes them itself (a second beginning-of-text token would be read by the model).
    """

    def __init__(self, tokenizer: Any, use_chat_template: bool, add_special_tokens: bool | None = None) -> None:
        self.tokenizer = tokenizer
        self.use_chat_template = use_chat_template
        self.add_special_tokens = not use_chat_template if add_special_tokens is None else add_special_tokens
        self.template = _with_fixed_date(tokenizer.get_chat_template()) if use_chat_template else None
        self.has_system_role = use_chat_template and self._probe_system_role()

    def render(self, system: str, user: str) -> str:
        """The final prompt as text. Without a system role the system text stands at the head of the user turn."""
        if not self.use_chat_template:
            return f"{system}\n\n{user}\n"
        return self.render_messages([{"role": "system", "content": system}, {"role": "user", "content": user}])

    def render_messages(self, messages: Sequence[Mapping[str, str]]) -> str:
        """The final prompt of a conversation as text, up to where the model's next turn begins.

        Without a system role the system text stands at the head of the first user turn. Without a template every
        message is a line "role: text", and the last line is the model's own role.

        Args:
            messages: each with `role` and `content`; a system text first or none, then user and assistant in turn.

        Raises:
            InputError: the model's template refuses the conversation.
        """
        if not self.use_chat_template:
            return "".join(f"{said['role']}: {said['content']}\n" for said in messages) + "assistant:"
        shown = [dict(said) for said in messages]
        if shown[0]["role"] == "system" and not self.has_system_role:
            system = shown.pop(0)["content"]
            shown[0]["content"] = f"{system}\n\n{shown[0]['content']}"
        try:
            return self._apply(shown)
        except Exception as error:  # jinja2.TemplateError and whatever else a model's own template raises
            raise self._refused(shown, f"{type(error).__name__}: {error}") from error

    def check_conversation(self) -> None:
        """Try the template on a short conversation.

        Raises:
            InputError: it refuses one, or leaves out what was said before.
        """
        probe = [("user", "the first"), ("assistant", "the reply to it"), ("user", "the second")]
        messages = [{"role": role, "content": f"{_PROBE_USER}, {text}"} for role, text in probe]
        shown = self.render_messages(messages)
        missing = [said for said in messages if said["content"] not in shown]
        if missing:
            raise self._refused(messages, f"it leaves out the turn of {missing[0]['role']}")

    def _refused(self, messages: Sequence[Mapping[str, str]], why: str) -> InputError:
        name = getattr(self.tokenizer, "name_or_path", "") or "the model"
        roles = ", ".join(said["role"] for said in messages[:4]) + (", …" if len(messages) > 4 else "")
        return InputError(
            f"the chat template of {name} cannot show a conversation of {len(messages)} messages ({roles}): {why}. "
            "Give a model whose template knows several turns, or override_chat_template=False in MODEL_ARGS for plain "
            "text."
        )

    def encode(self, prompt: str) -> list[int]:
        """The tokens of a final prompt, exactly as they are sent."""
        return list(self.tokenizer(prompt, add_special_tokens=self.add_special_tokens)["input_ids"])

    def count(self, prompt: str) -> int:
        """How many tokens a final prompt has."""
        return len(self.encode(prompt))

    def token_ends(self, text: str) -> list[int]:
        """For each token of a plain text the index of the character after it.

        A tokenizer that cannot tell (not a fast one) counts characters instead: the common ratio is then one of
        characters.
        """
        if not getattr(self.tokenizer, "is_fast", False):
            return list(range(1, len(text) + 1))
        encoded = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        return [end for _, end in encoded["offset_mapping"]]

    def _probe_system_role(self) -> bool:
        # Some templates refuse a system turn with an exception, others leave it out without a word.
        try:
            shown = self._apply(
                [{"role": "system", "content": _PROBE_SYSTEM}, {"role": "user", "content": _PROBE_USER}]
            )
        except Exception:  # jinja2.TemplateError and whatever else a model's own template raises
            return False
        return _PROBE_SYSTEM in shown

    def _apply(self, messages: list[dict[str, str]]) -> str:
        return str(
            self.tokenizer.apply_chat_template(
                messages,
                chat_template=self.template,
                tokenize=False,
                add_generation_prompt=True,
                date_string=_DATE,
            )
        )


def chat_prompt(tokenizer: Any, config: Any) -> ChatPrompt:
    """The prompts of a model as its configuration (of lighteval) wants them.

    Args:
        tokenizer: of the model.
        config: says whether there is a chat template (`override_chat_template`; None: if the tokenizer has one), and,
            if it was given, `add_special_tokens`.
    """
    from lighteval.models.utils import uses_chat_template

    given = config.add_special_tokens if "add_special_tokens" in config.model_fields_set else None
    use = uses_chat_template(tokenizer=tokenizer, override_chat_template=config.override_chat_template)
    return ChatPrompt(tokenizer, use, given)


def _with_fixed_date(template: str) -> str:
    return _FIXED_NOW + template if "strftime_now" in template else template


def tokenizer_chat(name: str) -> ChatPrompt:
    """The chat of a model by its tokenizer alone: a folder, or the id of a model on the Hub.

    Raises:
        InputError: there is no such folder, or the tokenizer cannot be loaded.
        ResourceMissingError: it is not on this machine, and the Hub cannot or may not be asked.
    """
    from transformers import AutoTokenizer

    place = check_tokenizer(name)
    try:
        tokenizer = AutoTokenizer.from_pretrained(place)
    except OSError as error:
        if Path(place).is_dir():
            raise InputError(f"no tokenizer {name!r} could be loaded: {type(error).__name__}: {error}") from error
        raise ResourceMissingError(
            f"the tokenizer {name!r} is not on this machine, and the Hub did not give it ({type(error).__name__}). "
            f"Get it where there is network: hf download {name}"
        ) from error
    except Exception as error:  # whatever the files of a tokenizer may cause in three libraries
        raise InputError(f"no tokenizer {name!r} could be loaded: {type(error).__name__}: {error}") from error
    return ChatPrompt(tokenizer, tokenizer.chat_template is not None)
