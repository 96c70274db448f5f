"""The log of dialogues: one line for each answer of a model, appended batch by batch (see `prediction_log`).

A dialogue of T turns has 3 T − 1 lines: in each turn the patient answers, the referrer names a department and, but for
the last turn, the questioner asks. A line is known by the hash of its run, its case, its place in the dialogue and its
prompt as sent, which holds everything that was said before: a changed answer makes every later one of that dialogue
another.

Where a call failed for good, a line says so in the place of the answer (`missing_line`). It answers nothing: a
repeated run asks again, and then an answer stands after it. So a dialogue that broke off is told from a killed one.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.ior_bench.department import extract_department
from clinical_evals.ior_bench.dialogue import Step
from clinical_evals.tasks.models.generation import Output
from clinical_evals.tasks.prediction_log import Kind, Line, PredictionLog, hash_json, hash_text, read_log

TRANSCRIPTS = Kind("clinical-evals transcripts", "transcript log", "transcripts.jsonl")


class Place(NamedTuple):
    """One step of one dialogue."""

    row: int
    """The case's place in the split."""
    turn: int
    """From 0."""
    step: Step


class Shown(NamedTuple):
    """What a model is shown in a step."""

    prompt: str
    """Final, as it is sent."""
    tokens: int
    kept: float
    """Share of the turns spoken so far that are in it."""


def open_transcripts(
    path: Path, identity: Mapping[str, Any], about: Mapping[str, Any], write: bool = True
) -> PredictionLog:
    """The log of a run, open for more answers; see `PredictionLog` for arguments and errors."""
    return PredictionLog(path, identity, about, write, TRANSCRIPTS)


def read_transcripts(path: Path, whole: bool = False) -> tuple[Line, list[Line]]:
    """Header and lines of a log; see `read_log` for arguments and errors.

    Raises:
        InputError: also where an answer stands twice, which no run writes; names file and lines. It is looked for in
            the whole file: a last line that stands twice makes its batch look torn.
    """
    header, lines = read_log(path, whole, TRANSCRIPTS)
    _check_once(path)
    return header, lines


def _check_once(path: Path) -> None:
    seen: dict[tuple[str, str], int] = {}
    for number, raw in enumerate(path.read_bytes().split(b"\n"), 1):
        try:
            line = json.loads(raw)
        except ValueError:
            continue  # the torn end; `read_log` lets none stand elsewhere
        if not isinstance(line, dict) or "key" not in line or "missing" in line:  # what failed may fail again
            continue
        answer = str(line["key"]), str(line.get("row"))  # equal rows have equal keys
        if answer in seen:
            raise InputError(
                f"{path}, line {number}: the answer of line {seen[answer]} (row {line.get('row')}, turn "
                f"{line.get('turn')}, {line.get('step')}) once more, which no run writes. Remove this line."
            )
        seen[answer] = number


def step_key(identity: Mapping[str, Any], data_sha256: str, place: Place, prompt: str) -> str:
    """What an answer is known by; the row's number does not count, since rows may move."""
    return hash_json([hash_json(identity), data_sha256, place.turn, place.step, hash_text(prompt)])


def missing_line(key: str, place: Place, case: Mapping[str, Any], data_sha256: str, why: str) -> Line:
    """The line that says why there is no answer; its key is no answer's."""
    return {
        "key": hash_json([key, "missing"]),
        "row": place.row,
        "case_id": case["id"],
        "data_sha256": data_sha256,
        "turn": place.turn,
        "step": place.step,
        "missing": why,
        "gold": case["department"],
        "candidates": list(case["candidates"]),
    }


def step_line(
    key: str, place: Place, case: Mapping[str, Any], data_sha256: str, shown: Shown, output: Output, seconds: float
) -> Line:
    """The line of one answer; what its side said (`said`) is added by whoever reads the answer into the dialogue."""
    refers, served = place.step == "refer", output.served
    return {
        "key": key,
        "row": place.row,
        "case_id": case["id"],
        "data_sha256": data_sha256,
        "turn": place.turn,
        "step": place.step,
        "who": "patient" if place.step == "patient" else "doctor",
        "text": output.text,
        "said": None,
        "prediction": extract_department(output.text, case["candidates"]).department if refers else None,
        "finish": output.finish,
        "input_tokens": served.prompt_tokens if served else shown.tokens,
        "output_tokens": output.length,
        "kept": round(shown.kept, 4),
        "prompt_sha256": hash_text(shown.prompt),
        "seconds": round(seconds, 3),
        "gold": case["department"],
        "candidates": list(case["candidates"]),
        "rater": {"confidence": None, "coherence": None},
        **({"served": served._asdict()} if served else {}),
    }
