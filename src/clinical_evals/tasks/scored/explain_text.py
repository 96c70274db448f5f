"""Prompts and answers of a log, as text to read."""

from clinical_evals.tasks.models.endpoint_chat import read_messages
from clinical_evals.tasks.prediction_log import Line

TAIL = 300
"""Characters of the prompt's end that are shown."""


def printable(text: str) -> str:
    """A text without what a terminal would obey: control characters are shown as their escapes."""
    return "".join(char if char.isprintable() or char in "\n\t" else repr(char)[1:-1] for char in text)


def format_prompt(line: Line) -> str:
    """The end of a prompt, its length, and how much of it was cut."""
    prompt = printable(_as_sent(line))
    cut = (
        f"cut from {line['whole_tokens']:,} tokens: kept {100 * line['kept_prompt']:.1f} % of it, "
        f"{100 * line['kept_long']:.1f} % of the long segments"
        if line["kept_prompt"] < 1
        else "whole, nothing was cut"
    )
    head = f"[prompt: {line['input_tokens']:,} tokens, {len(line['prompt']):,} characters; {cut}; its end:]"
    return f"{head}\n{'…' if len(prompt) > TAIL else ''}{prompt[-TAIL:].rstrip()}"


def _as_sent(line: Line) -> str:
    """The prompt of a line; of an endpoint's, whose prompts are messages in JSON, their texts."""
    if "served" not in line:
        return str(line["prompt"])
    return "\n\n".join(f"{said['role']}: {said['content']}" for said in read_messages(line["prompt"]))


def format_raw(number: int, line: Line, scored: bool) -> str:
    """One answer as the model gave it.

    Args:
        number: which of the answers to the prompt.
        line: of the log.
        scored: whether it decides anything.
    """
    how = "its own end" if line["finish"][number] == "stop" else "its token limit: it was cut"
    which = ""
    if len(line["answers"]) > 1:
        which = f" {number + 1} of {len(line['answers'])}, {'scored' if scored else 'not scored'}"
    return f"[answer{which}: {line['output_tokens'][number]:,} tokens, up to {how}]\n" + (
        printable(line["answers"][number]) or "(no text)"
    )
