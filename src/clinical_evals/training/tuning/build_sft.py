"""`clinical-evals build sft`: the train split of a CliBench task as rows for TRL's SFT (protocol.md 2.7)."""

import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from clinical_evals.clibench.prompts import PROMPT_VERSION, TASK_PROMPTS
from clinical_evals.datasets_hub.source import mark_in
from clinical_evals.errors import InputError, UnknownNameError
from clinical_evals.training.tuning.chat_tokens import ChatTokens
from clinical_evals.training.tuning.in_threads import map_in_threads
from clinical_evals.training.tuning.marked_template import TEMPLATE_FILE, mark_template
from clinical_evals.training.tuning.positions import most_positions
from clinical_evals.training.tuning.row_files import write_rows
from clinical_evals.training.tuning.row_folder import check_out
from clinical_evals.training.tuning.sft_row import COLUMNS, SftRow, make_row
from clinical_evals.training.tuning.targets import DEFAULT_TARGET, TARGETS, completion
from clinical_evals.version import __version__

LONGEST = 8192
"""Tokens of a row unless something else is said: what LLaMA-3-8B reads."""


class Request(NamedTuple):
    """What was asked; the command line's help says what each is."""

    task: str
    tokenizer: str
    out: Path
    data: Path | None = None
    target: str = DEFAULT_TARGET
    max_length: int | None = None
    limit: int | None = None


def build_sft(request: Request, show: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """Write the rows.

    Args:
        request: what was asked.
        show: is told of each finished step.

    Returns:
        What build.json says.

    Raises:
        ClinicalEvalsError: something given cannot be used, the folder holds something else, the train split is empty,
            or a row does not fit; nothing is then written.
    """
    _check(request)
    replaces = check_out(request.out, COLUMNS)
    chat = ChatTokens(request.tokenizer)
    max_length = _max_length(request, chat)
    rows = _train_split(request)
    source = mark_in(rows.info.description or "")
    counted = _Counted(request, max_length)
    records = (row.as_record() for row in counted.count(_make(request, rows, chat, max_length, counted)))
    template = {TEMPLATE_FILE: mark_template(chat.tokenizer.get_chat_template(), source)}
    about = write_rows(request.out, records, COLUMNS, _title(request.task), source, counted.about, template)
    if replaces:
        show(f"replaced: the earlier rows in {request.out}")
    show(format_rows(about, request.out))
    return about


def format_rows(about: dict[str, Any], out: Path) -> str:
    """What was written, in words."""
    lengths = about["tokens"]
    return (
        f"{about['rows']} rows of {about['task']} ({about['target']}) in {out}: prompt and completion of "
        f"{lengths['min']} to {lengths['max']} tokens (median {lengths['median']:g}, at most {about['max_length']}), "
        f"{about['completion_tokens']} of them to be learnt in all; {about['prompts_cut']} prompts were cut; "
        f"{about['rows_without_gold']} rows without gold left out"
    )


def _check(request: Request) -> None:
    if request.task not in TASK_PROMPTS:
        raise UnknownNameError("task", request.task, TASK_PROMPTS)
    if request.target not in TARGETS:
        raise UnknownNameError("target", request.target, TARGETS)
    for flag, value in (("--max-length", request.max_length), ("--limit", request.limit)):
        if value is not None and value < 1:
            raise InputError(f"{flag} {value}: expected a whole number of at least 1, or leave it out.")


def _max_length(request: Request, chat: ChatTokens) -> int:
    reads = most_positions(request.tokenizer)
    if request.max_length is None:
        return min(LONGEST, chat.longest or LONGEST, reads or LONGEST)
    if reads is not None and request.max_length > reads:
        raise InputError(
            f"--max-length {request.max_length}: the model reads at most {reads} tokens, as config.json in "
            f"{request.tokenizer} says. Give --max-length {reads} or less."
        )
    return request.max_length


def _train_split(request: Request) -> Any:
    from datasets import load_dataset

    data_dir = None if request.data is None else str(request.data)
    try:
        return load_dataset("clibench", request.task, data_dir=data_dir, split="train")
    except InputError:
        raise
    except ValueError as error:  # datasets has no other for a split that is not there, or has no rows
        where = request.data or "CLIBENCH_DIR or the embedded sample"
        raise InputError(
            f"{request.task} in {where} has no train split, or an empty one: there is nothing to train on. Rows of "
            "the test split are what is measured, and are never trained on. `clinical-evals build clibench` writes "
            "both splits; a smaller --quota leaves more for train."
        ) from error


def _make(
    request: Request, rows: Iterable[Mapping[str, Any]], chat: ChatTokens, max_length: int, counted: "_Counted"
) -> Iterator[SftRow]:
    with_gold = islice(counted.with_gold(rows), request.limit)

    def make(row: Mapping[str, Any]) -> SftRow:
        return make_row(row, request.task, completion(row, request.task, request.target), chat, max_length)

    return map_in_threads(make, with_gold)


class _Counted:
    """What becomes of the rows, counted as they pass."""

    def __init__(self, request: Request, max_length: int) -> None:
        self.request, self.max_length = request, max_length
        self.without_gold = self.cut = self.completion_tokens = 0
        self.lengths: list[int] = []

    def with_gold(self, rows: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        """Those of the rows of the dataset that have any."""
        for row in rows:
            if row["codes"]:
                yield row
            else:
                self.without_gold += 1

    def count(self, rows: Iterable[SftRow]) -> Iterator[SftRow]:
        """The same rows."""
        from tqdm import tqdm

        for row in tqdm(rows, "rows", leave=False, unit="row", delay=2):
            self.lengths.append(row.tokens.whole)
            self.cut += row.kept < 1
            self.completion_tokens += row.tokens.completion
            yield row

    def about(self) -> dict[str, Any]:
        """For build.json.

        Raises:
            InputError: there was no row.
        """
        request, lengths = self.request, self.lengths
        if not lengths:
            raise InputError(
                f"no row of the train split of {request.task} has gold ({self.without_gold} without): there is "
                "nothing to train on."
            )
        return {
            "task": request.task,
            "target": request.target,
            "rows": len(lengths),
            "rows_without_gold": self.without_gold,
            "prompts_cut": self.cut,
            "max_length": self.max_length,
            "tokens": {
                "min": min(lengths),
                "median": statistics.median(lengths),
                "max": max(lengths),
                "sum": sum(lengths),
            },
            "completion_tokens": self.completion_tokens,
            "tokenizer": Path(request.tokenizer).name if Path(request.tokenizer).is_dir() else request.tokenizer,
            "prompt_version": PROMPT_VERSION,
            "clinical_evals": __version__,
        }


def _title(task: str) -> str:
    return f"CliBench, {task.replace('_', ' ')}: rows for supervised fine-tuning"
