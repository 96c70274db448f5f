"""The rows of a prediction log, checked: what scoring again and explaining start from."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.ontology import get_system
from clinical_evals.tasks.names import Task, find_task
from clinical_evals.tasks.prediction_log import Line, read_log

_TYPES: dict[str, type | tuple[type, ...]] = {
    "row": int,
    "prompt": str,
    "answers": list,
    "finish": list,
    "gold": list,
    "input_tokens": int,
    "whole_tokens": int,
    "output_tokens": list,
    "kept_prompt": (int, float),
    "kept_long": (int, float),
}
_CODE_TYPES: dict[str, type | tuple[type, ...]] = {"subject_id": (int, str)}
_DEPARTMENT_TYPES: dict[str, type | tuple[type, ...]] = {
    "case_id": str,
    "candidates": list,
    "data_sha256": str,
    "turn": int,
    "turns": int,
}


class LoggedRows(NamedTuple):
    """The rows of a log."""

    task: Task
    header: Line
    lines: list[Line]
    """One for each row of the split that was asked, by row; where turns were probed one for each of them, by turn."""
    older: int
    """How many lines were left out, since their row was asked again later, with other data or another prompt."""


def task_of(header: Line, log: Path) -> Task:
    """The task that the header of a log names.

    Raises:
        InputError: it names none.
        UnknownNameError: this version does not have it.
    """
    run = header.get("run")
    if not isinstance(run, dict) or not isinstance(run.get("task"), str):
        raise InputError(f"{log}: its header names no task, so it is not of a run of `clinical-evals eval`.")
    return find_task(run["task"])


def read_rows(log: Path) -> LoggedRows:
    """The rows of a whole log, checked.

    Raises:
        InputError: the file is no prediction log, is torn, has no row, or a row lacks something; names file and row.
        RunError: it is damaged.
        UnknownNameError: it is of a task that this version does not have.
    """
    header, lines = read_log(log, whole=True)
    task = task_of(header, log)
    if not lines:
        raise InputError(f"{log} has no rows: the run was stopped before its first batch. Run it again.")
    for number, line in enumerate(lines, 2):
        _check(line, task, f"{log}, line {number}")
    newest = _newest(lines) if task.system else _newest_turns(lines)
    return LoggedRows(task, header, newest, len(lines) - len(newest))


def _newest(lines: Iterable[Line]) -> list[Line]:
    by_row = {int(line["row"]): line for line in lines}
    return [by_row[row] for row in sorted(by_row)]


def _newest_turns(lines: list[Line]) -> list[Line]:
    """The newest line of each turn, of the data that the row had last."""
    data = {line["row"]: line["data_sha256"] for line in lines}
    by_turn = {(line["row"], line["turn"]): line for line in lines if line["data_sha256"] == data[line["row"]]}
    return [by_turn[place] for place in sorted(by_turn)]


def _check(line: Line, task: Task, where: str) -> None:
    for name, kind in (_TYPES | (_CODE_TYPES if task.system else _DEPARTMENT_TYPES)).items():
        if not isinstance(line.get(name), kind):
            found = type(line[name]).__name__ if name in line else "missing"
            raise InputError(f"{where}: {name} is {found}: no row of this version's logs. Run the task again.")
    texts = (*line["answers"], *line["finish"], *line["gold"])
    if not line["answers"] or not all(isinstance(text, str) for text in texts):
        raise InputError(f"{where}: expected texts in answers, finish and gold, and at least one answer.")
    if not len(line["answers"]) == len(line["finish"]) == len(line["output_tokens"]):
        raise InputError(f"{where}: expected one of answers, finish and output_tokens for each answer.")
    counts = (line["row"], line["input_tokens"], line["whole_tokens"], *line["output_tokens"])
    if not all(type(count) is int and count >= 0 for count in counts):
        raise InputError(f"{where}: expected whole numbers of 0 or more in row and in the numbers of tokens.")
    if not all(0 <= line[share] <= 1 for share in ("kept_prompt", "kept_long")):
        raise InputError(f"{where}: expected shares between 0 and 1 in kept_prompt and kept_long.")
    if task.system:
        get_system(task.system).require(line["gold"], f"{where}, gold")
    elif line["gold"] != [name for name in line["candidates"] if name in line["gold"]] or len(line["gold"]) != 1:
        raise InputError(f"{where}: expected one department in gold, which is among the candidates.")
