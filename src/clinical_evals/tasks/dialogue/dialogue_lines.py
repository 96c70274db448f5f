"""The lines of a transcript log, checked before anything is computed from them; `dialogue_log` says what they are."""

from collections.abc import Mapping
from typing import Any, get_args

from clinical_evals.errors import InputError
from clinical_evals.ior_bench.dialogue import Step
from clinical_evals.tasks.prediction_log import Line

_Types = Mapping[str, tuple[type, ...]]

_STEPS: tuple[str, ...] = get_args(Step)
PLACE_TYPES: _Types = {
    "key": (str,),
    "row": (int,),
    "case_id": (str,),
    "data_sha256": (str,),
    "turn": (int,),
    "step": (str,),
    "gold": (str,),
    "candidates": (list,),
}
"""Of every line."""
ANSWER_TYPES: _Types = {
    "who": (str,),
    "text": (str,),
    "said": (str, type(None)),
    "prediction": (str, type(None)),
    "finish": (str,),
    "input_tokens": (int,),
    "output_tokens": (int,),
    "kept": (int, float),
    "prompt_sha256": (str,),
    "seconds": (int, float),
    "rater": (dict,),
}
"""Of an answer, besides."""
MISSING_TYPES: _Types = {"missing": (str,)}
"""Of a line that stands where there is none."""
SERVED_TYPES: _Types = {
    "prompt_tokens": (int,),
    "answer_tokens": (int,),
    "estimated": (bool,),
    "model": (str,),
    "fingerprint": (str,),
    "cost": (int, float, type(None)),
}
"""Of `served`, which the answers of an endpoint have."""


def check_line(line: Line, turns: int, where: str) -> None:
    """Look whether a line is one of this version's logs.

    Args:
        line: as it was read.
        turns: of a dialogue.
        where: names file and line in an error.

    Raises:
        InputError: a field is missing, of another type, or has a value that cannot be.
    """
    _check_types(line, {**PLACE_TYPES, **(MISSING_TYPES if "missing" in line else ANSWER_TYPES)}, where)
    if "served" in line:
        _check_types(line, {"served": (dict,)}, where)
        _check_types(line["served"], SERVED_TYPES, f"{where}, served")
    if line["step"] not in _STEPS or not 0 <= line["turn"] < turns:
        raise InputError(
            f"{where}: step {line['step']!r} of turn {line['turn']}: expected one of {', '.join(_STEPS)} and a turn "
            f"below {turns}."
        )
    names = line["candidates"]
    if not names or not all(isinstance(name, str) for name in names) or line["gold"] not in names:
        raise InputError(f"{where}: expected texts in candidates, and the one in gold among them.")
    if line["row"] < 0:
        raise InputError(f"{where}: row is {line['row']}: expected a number of 0 or more.")
    if "missing" not in line:
        _check_answer(line, where)


def _check_types(value: Mapping[str, Any], types: _Types, where: str) -> None:
    for name, kinds in types.items():
        if name not in value or type(value[name]) not in kinds:  # in Python true is a number too
            found = type(value[name]).__name__ if name in value else "missing"
            raise InputError(f"{where}: {name} is {found}: no line of this version's logs. Run the task again.")


def _check_answer(line: Line, where: str) -> None:
    if not all(line[name] >= 0 for name in ("input_tokens", "output_tokens", "seconds")):
        raise InputError(f"{where}: expected numbers of 0 or more in input_tokens, output_tokens and seconds.")
    if not 0 <= line["kept"] <= 1:
        raise InputError(f"{where}: kept is {line['kept']}: expected a share between 0 and 1.")
    if (line["said"] is None) != (line["step"] == "refer"):
        raise InputError(f"{where}: expected in said what was said, or null where a department is named.")
