"""From the rows of a prediction log to a `Result`, whatever the task asks for."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from clinical_evals.errors import InputError
from clinical_evals.tasks.answered_rows import find_scorer
from clinical_evals.tasks.code_results import score_codes
from clinical_evals.tasks.department_results import score_departments
from clinical_evals.tasks.names import Task
from clinical_evals.tasks.prediction_log import Line
from clinical_evals.tasks.results import MissingRow, Result, write_files

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
        InputError: a dictionary that cannot be used, or that no task has a use for.
        UnknownNameError: no such protocol.
    """
    systems = {task.system for task in tasks if task.system}
    if dictionary is not None and not systems:
        raise InputError(
            f"--dictionary {dictionary} gives titles of codes, and {', '.join(task.name for task in tasks)} asks for "
            "none. Leave it out."
        )
    if tuple(protocols) != ("standard",):  # which has nothing that could be wrong
        for system in systems:
            for protocol in protocols:
                find_scorer(system, protocol, dictionary)
