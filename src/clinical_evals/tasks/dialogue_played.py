"""Played dialogues, as they come from a run or from its log: what results and reports start from."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

from clinical_evals.errors import InputError
from clinical_evals.ior_bench.dialogue import Step
from clinical_evals.tasks.dialogue_log import read_transcripts
from clinical_evals.tasks.prediction_log import Line

_STEPS: tuple[str, ...] = get_args(Step)
_TYPES: dict[str, type | tuple[type, ...]] = {
    "row": int,
    "case_id": str,
    "data_sha256": str,
    "turn": int,
    "step": str,
    "who": str,
    "text": str,
    "said": (str, type(None)),
    "prediction": (str, type(None)),
    "finish": str,
    "input_tokens": int,
    "output_tokens": int,
    "seconds": (int, float),
    "gold": str,
    "candidates": list,
}


class Played(NamedTuple):
    """One dialogue from the greeting to the last referral."""

    row: int
    case: Mapping[str, Any]
    """From a run the row of the dataset; from a log what its lines say of it: `id`, `department`, `candidates`."""
    lines: list[Line]
    """In the order of the steps."""


def steps_of(turns: int) -> list[tuple[int, Step]]:
    """Turn and step of every line of a dialogue, in order.

    >>> steps_of(2)
    [(0, 'patient'), (0, 'refer'), (0, 'question'), (1, 'patient'), (1, 'refer')]
    """
    order: tuple[Step, ...] = ("patient", "refer", "question")
    return [(turn, step) for turn in range(turns) for step in order][:-1]


def read_played(log: Path) -> tuple[Line, list[Played], int]:
    """The dialogues of a log.

    Returns:
        The header, the dialogues that are whole, by row, and how many are not: a run that was killed has such.

    Raises:
        InputError: the file is no transcript log, or a line lacks something; names file and line.
        RunError: it is damaged.
    """
    header, lines = read_transcripts(log)
    run = header.get("run")
    turns = run.get("turns") if isinstance(run, dict) else None
    if not isinstance(turns, int) or turns < 1:
        raise InputError(
            f"{log}: its header names no number of turns, so it is not of a run of `clinical-evals eval`."
        )
    for number, line in enumerate(lines, 2):
        _check(line, turns, f"{log}, line {number}")
    expected = steps_of(turns)
    played, unfinished = [], 0
    for row, of_row in sorted(_newest(lines).items()):
        if of_row.keys() == set(expected):
            played.append(_played(row, [of_row[place] for place in expected]))
        else:
            unfinished += 1
    return header, played, unfinished


def _newest(lines: Sequence[Line]) -> dict[int, dict[tuple[int, str], Line]]:
    """For each row the newest line of each step, of the data that the row had last."""
    data = {line["row"]: line["data_sha256"] for line in lines}
    rows: dict[int, dict[tuple[int, str], Line]] = {row: {} for row in data}
    for line in lines:
        if line["data_sha256"] == data[line["row"]]:
            rows[line["row"]][line["turn"], line["step"]] = line
    return rows


def _played(row: int, lines: list[Line]) -> Played:
    last = lines[-1]
    case = {"id": last["case_id"], "department": last["gold"], "candidates": last["candidates"]}
    return Played(row, case, lines)


def _check(line: Line, turns: int, where: str) -> None:
    for name, kind in _TYPES.items():
        if not isinstance(line.get(name), kind) or name not in line:
            found = type(line[name]).__name__ if name in line else "missing"
            raise InputError(f"{where}: {name} is {found}: no line of this version's logs. Run the task again.")
    if line["step"] not in _STEPS or not 0 <= line["turn"] < turns:
        raise InputError(
            f"{where}: step {line['step']!r} of turn {line['turn']}: expected one of {', '.join(_STEPS)} and a turn "
            f"below {turns}."
        )
