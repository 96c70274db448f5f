"""From the rows of a prediction log to a `Result`, whatever the task asks for."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from clinical_evals.errors import InputError
from clinical_evals.tasks.names import Task
from clinical_evals.tasks.prediction_log import Line
from clinical_evals.tasks.scored.answered_rows import find_scorer
from clinical_evals.tasks.scored.code_results import score_codes
from clinical_evals.tasks.scored.department_results import score_departments
from clinical_evals.tasks.scored.results import MissingRow, Result, write_files

_Score = Callable[[Task, Path, int, Sequence[Line], str, Path | None], Result]


def score_run(
    task: Task,
    log: Path,
    resumed: int,
    lines: Sequence[Line],
    protocol: str = "standard",
    dictionary: Path | None = None,
    missing: Sequence[MissingRow] = (),
) -> Result:
    """Score the rows of a log, and write the two files beside it, which name the rows that are missing."""
    result = replace(score_lines(task, log, resumed, lines, protocol, dictionary), unanswered=tuple(missing))
    write_files(result)
    return result


def score_lines(
    task: Task, log: Path, resumed: int, lines: Sequence[Line], protocol: str, dictionary: Path | None = None
) -> Result:
    """Score the rows of a log by one protocol."""
    score: _Score = score_codes if task.system else score_departments
    return score(task, log, resumed, lines, protocol, dictionary)


def check_scoring(tasks: Sequence[Task], protocols: Sequence[str], dictionary: Path | None) -> None:
    """Look at what scoring will need, before any work is done.

    Raises:
        InputError: a dictionary that cannot be used, or that the tasks have no use for.
        ResourceMissingError: a code system's files are not on this machine.
        UnknownNameError: no such protocol.
    """
    systems = sorted({task.system for task in tasks if task.system})
    names = ", ".join(task.name for task in tasks)
    if dictionary is not None:
        _check_dictionary(dictionary, systems, names)
    for system in systems:
        for protocol in protocols:
            find_scorer(system, protocol, dictionary)


def _check_dictionary(dictionary: Path, systems: Sequence[str], names: str) -> None:
    if not systems:
        raise InputError(f"--dictionary {dictionary} gives titles of codes, and {names} asks for none. Leave it out.")
    if len(systems) > 1:
        raise InputError(
            f"--dictionary {dictionary} is of one code system, and {names} ask for {', '.join(systems)}. Run the "
            "tasks one by one."
        )
    if systems == ["loinc"]:
        raise InputError(
            f"--dictionary {dictionary}: with MIMIC's table of labs the official protocol compares itemids, and the "
            f"gold of {names} are LOINC numbers. Leave it out: the levels are then counted from the root, as released."
        )
