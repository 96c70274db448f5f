"""Values of a recipe that TRL takes, and that cannot work: found before a model is loaded.

They are looked at as they stand in the file; what a file does not say is TRL's default, which works.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clinical_evals.errors import InputError

COUNTS = ("per_device_train_batch_size", "gradient_accumulation_steps", "lora_r", "max_length")
"""Whole numbers of at least 1."""
ABOVE_ZERO = ("learning_rate", "lora_alpha", "beta")
"""Finite numbers above 0."""


def check_values(path: Path, given: Mapping[str, Any]) -> None:
    """Look at the values that decide whether there is any training.

    Args:
        path: the recipe, for the message.
        given: what it says.

    Raises:
        InputError: a value that cannot work; key, value and what is expected are in the message.
    """
    for key in COUNTS:
        if key in given and given[key] is not None and not _is_whole(given[key], 1):
            raise _refused(path, key, given[key], "a whole number of at least 1")
    for key in ABOVE_ZERO:
        if key in given and not _number(given[key]) > 0:
            raise _refused(path, key, given[key], "a number above 0")
    if "lora_dropout" in given and not 0 <= _number(given["lora_dropout"]) < 1:
        raise _refused(path, "lora_dropout", given["lora_dropout"], "a number from 0 on and below 1")
    steps = given.get("max_steps", -1)
    if steps != -1 and not _is_whole(steps, 1):
        raise _refused(path, "max_steps", steps, "a whole number of at least 1, or -1 to count by num_train_epochs")
    if steps == -1 and "num_train_epochs" in given and not _number(given["num_train_epochs"]) > 0:
        expected = "a number above 0, or max_steps beside it"
        raise _refused(path, "num_train_epochs", given["num_train_epochs"], expected)


def check_what_is_learnt(path: Path, trainer: str, given: Mapping[str, Any]) -> None:
    """Whether SFT learns the completions, all of them and nothing else: so its tokens are counted.

    Args:
        path: the recipe, for the message.
        trainer: sft or dpo; DPO knows no other way.
        given: what the recipe says.

    Raises:
        InputError: a key says otherwise; it is named.
    """
    if trainer != "sft":
        return
    if "completion_only_loss" in given and given["completion_only_loss"] not in (True, None, "true", "True"):
        raise InputError(
            f"{path}: completion_only_loss is {given['completion_only_loss']!r}, expected true: TRL would learn the "
            "records of the prompts by heart, too, and not the answers alone. Set completion_only_loss: true, or "
            "remove the key."
        )
    if given.get("assistant_only_loss") not in (None, False, "false", "False"):
        raise InputError(
            f"{path}: assistant_only_loss is {given['assistant_only_loss']!r}, expected false: the completion of a "
            "row is one turn of the assistant, and completion_only_loss learns it whole. Remove the key."
        )


def _is_whole(value: Any, least: int) -> bool:
    number = _number(value)
    return number >= least and (isinstance(value, int) or (isinstance(value, str) and value.strip().isdecimal()))


def _number(value: Any) -> float:
    """The value as TRL takes it; not a number where it is none. YAML takes 2e-5, without a point, for text."""
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return math.nan
    return number if math.isfinite(number) else math.nan


def _refused(path: Path, key: str, value: Any, expected: str) -> InputError:
    return InputError(f"{path}: {key} is {value!r}, expected {expected}.")
