"""The card of a dataset, held against the files that go with it: splits of yesterday must not be promised today."""

import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml

from clinical_evals.errors import InputError

CARD = "README.md"
_HEAD = re.compile(r"\A---\r?\n(.*?)\r?\n---\s", re.DOTALL)


def read_head(path: Path) -> dict[str, Any]:
    """The YAML at the beginning of a card.

    Raises:
        InputError: there is no card, no YAML in it, or that is no mapping.
    """
    if not path.is_file():
        raise InputError(f"{path} is no file")
    found = _HEAD.match(path.read_text(encoding="utf-8", errors="replace"))
    try:
        head = yaml.safe_load(found[1]) if found else None
    except yaml.YAMLError as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        where = "" if line is None else f", line {line + 2}"
        raise InputError(f"{path}{where}: the YAML between the --- lines cannot be read") from None
    if not isinstance(head, dict):
        raise InputError(
            f"{path} has no YAML between two --- lines at its beginning: the Hub reads it for what this is"
        )
    return head


def require_card(files: dict[str, Path], origin: Path, what: str, help_with: str) -> Path:
    """The card among the files.

    Raises:
        InputError: there is none; `help_with` says how to get one.
    """
    if CARD not in files:
        raise InputError(f"{origin} has no {CARD}: {what} and its card go in one commit. {help_with}")
    return files[CARD]


def check_dataset_card(files: dict[str, Path], origin: Path) -> list[str]:
    """Hold the configs of a card against the files.

    Returns:
        The names of the configs, in the card's order.

    Raises:
        InputError: no card, no configs; a config names a file that is not there; a Parquet file is in no config.
    """
    card = require_card(files, origin, "a dataset", "A folder that `clinical-evals build clibench` wrote has one.")
    configs = read_head(card).get("configs")
    if not isinstance(configs, list) or not configs:
        raise InputError(f"{card} names no configs: load_dataset would have to guess what belongs together")
    named: set[str] = set()
    for number, config in enumerate(configs):
        if not isinstance(config, dict) or not isinstance(config.get("config_name"), str):
            raise InputError(f"{card}: entry {number} of configs has no config_name")
        for pattern in _patterns(config.get("data_files")):
            found = {place for place in files if fnmatchcase(place, pattern)}
            if not found:
                raise InputError(
                    f"{card}: config {config['config_name']!r} names {pattern}, which is not in {origin}. The card is "
                    "of another build: build again, or put it right."
                )
            named |= found
    unknown = sorted(place for place in files if place.endswith(".parquet") and place not in named)
    if unknown:
        raise InputError(f"{origin / unknown[0]} belongs to no config of {card}: nobody would load it")
    return [config["config_name"] for config in configs]


def _patterns(data_files: object) -> list[str]:
    """The paths and patterns of a config's data_files: text, a list, or a list of split and path."""
    if isinstance(data_files, str):
        return [data_files]
    if isinstance(data_files, dict):
        return [pattern for value in data_files.values() for pattern in _patterns(value)]
    if isinstance(data_files, list):
        return [
            pattern
            for one in data_files
            for pattern in _patterns(one.get("path") if isinstance(one, dict) and "path" in one else one)
        ]
    return []
