"""What an OpenAI-compatible server sent: an answer, or the reason why it is none."""

import json
from typing import Any, NamedTuple

from clinical_evals.tasks.models.endpoint_budget import Usage

FINISHES = {"stop": "stop", "eos_token": "stop", "length": "length"}
"""Why an answer ended, and what that is called here. Others (content_filter, tool_calls, …) are no answers."""

MOST_WORDS = 300
"""Characters of a server's own words that are passed on."""


class Reply(NamedTuple):
    """An answer."""

    text: str
    finish: str
    """"stop" or "length"."""
    usage: Usage | None
    """As the server reports it, if it does."""
    model: str
    fingerprint: str
    estimated: bool = False
    """Whether `usage` is ours."""


class UnusableReplyError(Exception):
    """A reply without an answer; `usage` is what it took nevertheless, if the server says so."""

    def __init__(self, why: str, usage: Usage | None = None) -> None:
        super().__init__(why)
        self.usage = usage


def read_reply(body: bytes) -> Reply:
    """The answer in the body of a chat completion.

    An empty text that the model ended itself is an answer.

    Raises:
        UnusableReplyError: the body is cut, no JSON, or has no choices, no text or no proper end.
    """
    reply = _parse(body)
    if not isinstance(reply, dict):
        raise UnusableReplyError(f"the reply of {len(body)} bytes is no JSON object")
    usage = _usage(reply.get("usage"))
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise UnusableReplyError(f"the reply has no choices{_words(reply)}", usage)
    message, finish = choices[0].get("message"), choices[0].get("finish_reason")
    text = message.get("content") if isinstance(message, dict) else None
    if not isinstance(text, str):
        refusal = message.get("refusal") if isinstance(message, dict) else None
        said = f" (the model refused: {shorten(refusal)})" if isinstance(refusal, str) else ""
        raise UnusableReplyError(f"the reply has no text: content is {_kind(text)}{said}", usage)
    if not isinstance(finish, str) or finish not in FINISHES:
        raise UnusableReplyError(f"the answer ended with {shorten(repr(finish))}, not with stop or length", usage)
    return Reply(
        _well_formed(text),
        FINISHES[finish],
        usage,
        _text(reply.get("model")),
        _text(reply.get("system_fingerprint")),
    )


def read_complaint(body: bytes) -> tuple[str, str]:
    """The server's own words in the body of an error, shortened, and its code for it; empty where there are none."""
    reply = _parse(body)
    error = reply.get("error", reply) if isinstance(reply, dict) else None
    if isinstance(error, dict):
        words = error.get("message") or error.get("detail")
        return shorten(words) if isinstance(words, str) else "", _text(error.get("code"))
    return shorten(error) if isinstance(error, str) else "", ""


def shorten(text: str) -> str:
    """A server's words in one line, without what a terminal would obey."""
    words = "".join(char if char.isprintable() else " " for char in text[: 4 * MOST_WORDS])
    words = " ".join(words.split())
    return words if len(words) <= MOST_WORDS else f"{words[:MOST_WORDS]}…"


def _parse(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):  # UnicodeDecodeError is a ValueError
        return None


def _usage(value: object) -> Usage | None:
    if not isinstance(value, dict):
        return None
    prompt, answer = value.get("prompt_tokens"), value.get("completion_tokens")
    if type(prompt) is not int or type(answer) is not int or min(prompt, answer) < 0 or not prompt:
        return None  # some servers report zeros
    return Usage(prompt, answer)


def _words(reply: dict[str, Any]) -> str:
    error = reply.get("error")
    said = error.get("message") if isinstance(error, dict) else error
    return f": {shorten(said)}" if isinstance(said, str) else ""


def _kind(value: object) -> str:
    return "null" if value is None else type(value).__name__


def _text(value: object) -> str:
    return shorten(_well_formed(value)) if isinstance(value, str) else ""


def _well_formed(text: str) -> str:
    """Half a surrogate pair, which JSON allows, cannot be written as UTF-8."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
