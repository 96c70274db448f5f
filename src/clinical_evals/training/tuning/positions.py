"""How many tokens a model reads, by the config.json beside its tokenizer."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clinical_evals.errors import InputError
from clinical_evals.json_file import read_object

KEYS = ("max_position_embeddings", "n_positions")


def most_positions(name: str) -> int | None:
    """The most tokens that a model reads.

    Args:
        name: the folder of its tokenizer.

    Returns:
        None where no config.json lies there (the id of a model on the Hub, a tokenizer alone), or it does not say.

    Raises:
        InputError: config.json is no JSON object.
    """
    path = Path(name).expanduser() / "config.json"
    if not path.is_file():
        return None
    config = read_object(path)
    text = config.get("text_config")  # of a model that reads images, too
    return _read(config) or (_read(text) if isinstance(text, dict) else None)


def check_reads(path: Path, name: str, longest: int) -> None:
    """Whether a model reads the rows of a recipe whole.

    Args:
        path: the recipe, for the message.
        name: of the model.
        longest: tokens of the longest row.

    Raises:
        InputError: it reads fewer; both numbers are in the message.
    """
    reads = most_positions(name)
    if reads is not None and longest > reads:
        raise InputError(
            f"{path}: a row has {longest} tokens, and the model reads at most {reads}, as config.json in {name} says. "
            f"Build the rows with --max-length {reads}."
        )


def _read(config: Mapping[str, Any]) -> int | None:
    found = next((config[key] for key in KEYS if isinstance(config.get(key), int)), None)
    if found is None or found < 1:
        return None
    scaling = config.get("rope_parameters") or config.get("rope_scaling")  # positions that are stretched
    scaling = scaling if isinstance(scaling, dict) else {}
    factor, original = scaling.get("factor"), scaling.get("original_max_position_embeddings") or found
    stretched = int(factor * original) if isinstance(factor, int | float) and isinstance(original, int) else found
    return int(max(found, stretched))
