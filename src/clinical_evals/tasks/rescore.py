"""`clinical-evals score`: a prediction log scored again, by either protocol, without the model that wrote it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.tasks.answered_rows import find_scorer, protocols_of
from clinical_evals.tasks.names import Task, find_task
from clinical_evals.tasks.prediction_log import Line, read_log
from clinical_evals.tasks.results import (
    Result,
    file_names,
    is_same_scoring,
    score_lines,
    summarise,
    write_files,
    write_json,
)

_TYPES: dict[str, type | tuple[type, ...]] = {
    "row": int,
    "subject_id": (int, str),
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


class LoggedRows(NamedTuple):
    """The rows of a log."""

    task: Task
    header: Line
    lines: list[Line]
    """One for each row of the split that was asked, by row."""
    older: int
    """How many lines were left out, since their row was asked again later, with other data or another prompt."""


def read_rows(log: Path) -> LoggedRows:
    """The rows of a whole log, checked.

    Raises:
        InputError: the file is no prediction log, is torn, has no row, or a row lacks something; names file and row.
        RunError: it is damaged.
        UnknownNameError: it is of a task that this version does not have.
    """
    header, lines = read_log(log, whole=True)
    run = header.get("run")
    if not isinstance(run, dict) or not isinstance(run.get("task"), str):
        raise InputError(f"{log}: its header names no task, so it is not of a run of `clinical-evals eval`.")
    task = find_task(run["task"])
    if not lines:
        raise InputError(f"{log} has no rows: the run was stopped before its first batch. Run it again.")
    for number, line in enumerate(lines, 2):
        _check(line, f"{log}, line {number}")
    newest = {int(line["row"]): line for line in lines}
    return LoggedRows(task, header, [newest[row] for row in sorted(newest)], len(lines) - len(newest))


def rescore(
    log: Path, protocol: str = "standard", dictionary: Path | None = None, output: Path | None = None
) -> tuple[list[Result], str]:
    """Score a log by one protocol or both, and write what came out.

    Args:
        log: the predictions.jsonl of a run.
        protocol: "standard", "official" or "both".
        dictionary: for "official": MIMIC's d_icd_diagnoses.
        output: a file for the summaries, one JSON object by protocol; then nothing is written beside the log.

    Returns:
        One result a protocol, and what is to be said of the files.

    Raises:
        ClinicalEvalsError: log, dictionary or output file cannot be used; said before anything is scored.
    """
    protocols = protocols_of(protocol, dictionary)
    rows = read_rows(log)
    if output is not None:
        _check_output(output, log)
    for each in protocols:
        find_scorer(rows.task.system, each, dictionary)
    results = [score_lines(rows.task, log, 0, rows.lines, each, dictionary) for each in protocols]
    said = [f"{rows.older} older answers to rows that were asked again are left out"] if rows.older else []
    return results, "; ".join([*said, _write(results, output)])


def _write(results: Sequence[Result], output: Path | None) -> str:
    try:
        if output is not None:
            write_json(output, [{result.protocol: summarise(result) for result in results}], indent=2)
            return f"summary: {output}"
        return "; ".join(map(_write_beside, results))
    except OSError as error:
        place = output or results[0].log.parent
        raise InputError(
            f"{place} cannot be written to ({error.strerror or error}). Let --output FILE name another place."
        ) from error


def _write_beside(result: Result) -> str:
    scored, summary = file_names(result.protocol)
    place = result.log.with_name(summary)
    if place.exists() and not is_same_scoring(result, _read_json(place)):
        return (
            f"{summary} beside it is of other rows, titles or versions and stays as it is; --output FILE keeps this "
            "scoring"
        )
    write_files(result)
    return f"beside it {scored} and {summary}"


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return None


def _check_output(output: Path, log: Path) -> None:
    if output.is_dir() or not output.parent.is_dir():
        found = "is a folder" if output.is_dir() else "lies in a folder that does not exist"
        raise InputError(f"--output {output} {found}: expected the name of a file.")
    own = (log.name, *file_names("standard"), *file_names("official"))
    if output.resolve() in {log.with_name(name).resolve() for name in own}:
        raise InputError(f"--output {output} is a file of the run itself. Give another name.")


def _check(line: Line, where: str) -> None:
    for name, kind in _TYPES.items():
        if not isinstance(line.get(name), kind):
            found = type(line[name]).__name__ if name in line else "missing"
            raise InputError(f"{where}: {name} is {found}: no row of this version's logs. Run the task again.")
    texts = (*line["answers"], *line["finish"], *line["gold"])
    if not line["answers"] or not all(isinstance(text, str) for text in texts):
        raise InputError(f"{where}: expected texts in answers, finish and gold, and at least one answer.")
