"""One task asked in several ways on the same rows: ablations (CliBench, Table 5) and the context study (Table 8).

`--without record,labs` asks with the whole prompt, then without the record, then without the labs; `record+labs`
leaves both out at once. `--context 4096,8192` asks within each of these contexts.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.tasks.names import Task

SEGMENTS = ("profile", "history", "record", "radiology", "labs")
"""What an ablation can leave out, in the order of the prompt."""


class Variant(NamedTuple):
    """One way of asking."""

    without: tuple[str, ...] = ()
    """Segments that the prompt leaves out, in the order of `SEGMENTS`."""
    context: int | None = None
    """Tokens of prompt and answer; None: what the model reads."""

    @property
    def name(self) -> str:
        """As a table of an ablation says it."""
        return f"without {' and '.join(self.without)}" if self.without else "whole prompt"

    @property
    def said(self) -> str:
        """As a line of progress says it."""
        return self.name + (f", context of {self.context:,} tokens" if self.context else "")


def parse_without(text: str | None) -> tuple[tuple[str, ...], ...]:
    """What `--without` asks for: for each run the segments that it leaves out.

    >>> parse_without("record,labs+profile")
    (('record',), ('profile', 'labs'))

    Raises:
        InputError: something else than segments, or one thing twice.
    """
    if text is None:
        return ()
    found: list[tuple[str, ...]] = []
    for part in text.split(","):
        names = [name.strip().lower() for name in part.split("+")]
        if unknown := [name for name in names if name not in SEGMENTS]:
            raise InputError(
                f"--without {text}: {unknown[0]!r} is no part of a prompt; expected {', '.join(SEGMENTS)}, each run "
                "after a comma, several that one run leaves out joined by +."
            )
        run = tuple(name for name in SEGMENTS if name in names)
        if len(run) < len(names) or run in found:
            raise InputError(f"--without {text}: {part.strip()} is there twice. Leave one out.")
        found.append(run)
    return tuple(found)


def parse_contexts(text: str | None) -> tuple[int, ...]:
    """What `--context` asks for: one number of tokens, or several, shortest first.

    >>> parse_contexts("8192,4096")
    (4096, 8192)

    Raises:
        InputError: something else than whole numbers of at least 1, or one of them twice.
    """
    if text is None:
        return ()
    try:
        contexts = [int(part) for part in text.split(",")]
    except ValueError as error:
        raise InputError(
            f"--context {text}: expected a whole number of tokens, or several with commas (4096,8192)."
        ) from error
    if min(contexts) < 1:
        raise InputError(f"--context {text}: expected a whole number of at least 1, or leave it out.")
    if len(set(contexts)) < len(contexts):
        raise InputError(f"--context {text}: a number is there twice. Leave one out.")
    return tuple(sorted(contexts))


def variants_of(without: Sequence[tuple[str, ...]], contexts: Sequence[int], tasks: Sequence[Task]) -> list[Variant]:
    """All ways of asking that are wanted, the one that the others are compared with first.

    Of an ablation it is the whole prompt, of several contexts the longest.

    Raises:
        InputError: both at once, or tasks that are no prompts about an admission.
    """
    if len(contexts) > 1 and without:
        raise InputError("--without and several numbers in --context are two studies. Run one after the other.")
    other = [task.name for task in tasks if task.benchmark != "clibench"]
    for flag, given in (("--without", bool(without)), ("--context with several numbers", len(contexts) > 1)):
        if given and other:
            raise InputError(f"{flag} is for the tasks of clibench; {', '.join(other)} cannot use it.")
    if len(contexts) > 1:
        return [Variant(context=context) for context in reversed(contexts)]
    context = contexts[0] if contexts else None
    return [Variant((), context), *(Variant(each, context) for each in without)]


def tasks_of(variant: Variant, tasks: Sequence[Task]) -> list[Task]:
    """The tasks whose prompts have what a variant leaves out.

    Raises:
        InputError: none of them has it.
    """
    from clinical_evals.clibench.prompts import shown_in

    if not variant.without:
        return list(tasks)
    found = [task for task in tasks if set(variant.without) <= set(shown_in(task.config))]
    if not found:
        parts = "; ".join(f"{task.name}: {', '.join(shown_in(task.config))}" for task in tasks)
        raise InputError(f"--without {'+'.join(variant.without)}: no prompt here has that ({parts}).")
    return found


def variant_of(run: Any) -> Variant:
    """The variant that a log's header says its answers are of; `run` is the header's."""
    try:
        context = int(run["settings"]["context"])
    except (KeyError, TypeError, ValueError):
        return Variant()
    return Variant(tuple(run.get("without", ())), context)
