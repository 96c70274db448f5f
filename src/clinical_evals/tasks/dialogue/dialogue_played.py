"""Played dialogues, as they come from a run or from its log: what results and reports start from."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.ior_bench.dialogue import Step
from clinical_evals.tasks.dialogue.dialogue_lines import check_line
from clinical_evals.tasks.dialogue.dialogue_log import read_transcripts
from clinical_evals.tasks.prediction_log import Line
from clinical_evals.tasks.scored.results import MissingRow


class Played(NamedTuple):
    """One dialogue from the greeting to the last referral, or to where it broke off."""

    row: int
    case: Mapping[str, Any]
    """From a run the row of the dataset; from a log what its lines say of it: `id`, `department`, `candidates`."""
    lines: list[Line]
    """In the order of the steps."""
    missing: MissingRow | None = None
    """Why it broke off: an endpoint gave no answer."""


def steps_of(turns: int) -> list[tuple[int, Step]]:
    """Turn and step of every line of a dialogue, in order.

    >>> steps_of(2)
    [(0, 'patient'), (0, 'refer'), (0, 'question'), (1, 'patient'), (1, 'refer')]
    """
    order: tuple[Step, ...] = ("patient", "refer", "question")
    return [(turn, step) for turn in range(turns) for step in order][:-1]


class PlayedLog(NamedTuple):
    """The dialogues of a log, by row."""

    header: Line
    played: list[Played]
    """Those that are whole, or broke off since a call failed."""
    unfinished: list[Played]
    """Those that are neither, as far as they went: a run that was killed, or whose budget was spent, has such."""


def read_played(log: Path) -> PlayedLog:
    """The dialogues of a log.

    Raises:
        InputError: the file is no transcript log, or a line lacks something; names file and line.
        RunError: it is damaged.
    """
    header, lines = read_transcripts(log)
    run = header.get("run")
    turns = run.get("turns") if isinstance(run, dict) else None
    if type(turns) is not int or turns < 1:
        raise InputError(
            f"{log}: its header names no number of turns, so it is not of a run of `clinical-evals eval`."
        )
    for number, line in enumerate(lines, 2):
        check_line(line, turns, f"{log}, line {number}")
    found = [_played(row, of_row, turns) for row, of_row in sorted(_newest(lines).items())]
    whole = [each.missing is not None or len(each.lines) == len(steps_of(turns)) for each in found]
    played = [each for each, ended in zip(found, whole, strict=True) if ended]
    unfinished = [each for each, ended in zip(found, whole, strict=True) if not ended]
    return PlayedLog(header, played, unfinished)


def _newest(lines: Sequence[Line]) -> dict[int, dict[tuple[int, str], Line]]:
    """For each row the newest line of each step, of the data that the row had last."""
    data = {line["row"]: line["data_sha256"] for line in lines}
    rows: dict[int, dict[tuple[int, str], Line]] = {row: {} for row in data}
    for line in lines:
        if line["data_sha256"] == data[line["row"]]:
            rows[line["row"]][line["turn"], line["step"]] = line
    return rows


def _played(row: int, lines: Mapping[tuple[int, str], Line], turns: int) -> Played:
    """The dialogue of these lines."""
    in_order = [lines[place] for place in steps_of(turns) if place in lines]
    last = in_order[-1]
    case = {"id": last["case_id"], "department": last["gold"], "candidates": last["candidates"]}
    answers = [line for line in in_order if "missing" not in line]
    missing = MissingRow(row, last["missing"], last["turn"]) if "missing" in last else None
    return Played(row, case, answers, missing)
