"""From the rows of a prediction log to a `Result`, whatever the task asks for."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.matching.matchers import PROTOCOL
from clinical_evals.tasks.dialogue.dialogue_log import TRANSCRIPTS
from clinical_evals.tasks.dialogue.dialogue_played import read_played
from clinical_evals.tasks.logged_rows import read_rows, task_of
from clinical_evals.tasks.names import Task
from clinical_evals.tasks.prediction_log import Line, is_kind
from clinical_evals.tasks.scored.answered_rows import AS_PROTOCOLS_SAY, Matching, find_scorer
from clinical_evals.tasks.scored.code_results import score_codes
from clinical_evals.tasks.scored.department_results import score_departments
from clinical_evals.tasks.scored.dialogue_results import score_dialogues
from clinical_evals.tasks.scored.dialogue_tables import name_rows
from clinical_evals.tasks.scored.results import MissingRow, Result, write_files

_Score = Callable[[Task, Path, int, Sequence[Line], str, Matching], Result]


def score_run(
    task: Task,
    log: Path,
    resumed: int,
    lines: Sequence[Line],
    protocol: str = "standard",
    matching: Matching = AS_PROTOCOLS_SAY,
    missing: Sequence[MissingRow] = (),
) -> Result:
    """Score the rows of a log, and write the two files beside it, which name the rows that are missing."""
    result = replace(score_lines(task, log, resumed, lines, protocol, matching), unanswered=tuple(missing))
    write_files(result)
    return result


def score_lines(
    task: Task, log: Path, resumed: int, lines: Sequence[Line], protocol: str, matching: Matching = AS_PROTOCOLS_SAY
) -> Result:
    """Score the rows of a log by one protocol."""
    score: _Score = score_codes if task.system else score_departments
    return score(task, log, resumed, lines, protocol, matching)


class ScoredLog(NamedTuple):
    """A log scored as it is."""

    header: Line
    results: list[Result]
    """One a protocol."""
    left_out: str
    """What of the log is in no result, in words; often nothing."""


def score_log(log: Path, protocols: Sequence[str], matching: Matching = AS_PROTOCOLS_SAY) -> ScoredLog:
    """Score the log of any task, and write nothing.

    Raises:
        ClinicalEvalsError: log or dictionary cannot be used; said before anything is scored.
    """
    if is_kind(log, TRANSCRIPTS):
        header, played, unfinished = read_played(log)
        task = task_of(header, log)
        check_scoring([task], protocols, matching)
        results: list[Result] = [score_dialogues(task, log, 0, played, each, unfinished) for each in protocols]
        rows = name_rows([each.row for each in unfinished])
        left_out = f"{len(unfinished)} dialogues that have not ended are left out ({rows})" if unfinished else ""
        return ScoredLog(header, results, left_out)
    found = read_rows(log)
    check_scoring([found.task], protocols, matching)
    results = [score_lines(found.task, log, 0, found.lines, each, matching) for each in protocols]
    left_out = f"{found.older} older answers to rows that were asked again are left out" if found.older else ""
    return ScoredLog(found.header, results, left_out)


def check_scoring(tasks: Sequence[Task], protocols: Sequence[str], matching: Matching) -> None:
    """Look at what scoring will need, before any work is done.

    Raises:
        InputError: a dictionary that cannot be used, or that the tasks have no use for.
        ResourceMissingError: a code system's files are not on this machine.
        UnknownNameError: no such protocol.
    """
    systems = sorted({task.system for task in tasks if task.system})
    names = ", ".join(task.name for task in tasks)
    if matching.dictionary is not None:
        _check_dictionary(matching.dictionary, systems, names)
    if matching.matcher != PROTOCOL and not systems:
        raise InputError(f"--matcher {matching.matcher} finds codes, and {names} asks for none. Leave it out.")
    for system in systems:
        for protocol in protocols:
            find_scorer(system, protocol, matching)


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
