"""Settings of a recipe: a dataclass filled from a YAML file and from flags that go before it."""

import argparse
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import yaml

from clinical_evals.errors import InputError, UnknownNameError
from clinical_evals.yaml_file import load_yaml


def recipe_parser(description: str | None) -> argparse.ArgumentParser:
    """The parser of a script that runs a recipe: only flags that are given have a value, they go before the file's."""
    parser = argparse.ArgumentParser(
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--config", type=Path, metavar="YAML", help="settings by the names of these flags, with _ for -"
    )
    return parser


_WANTED = {int: "a whole number", float: "a number", tuple: "a list of whole numbers", str: "text"}
S = TypeVar("S")


def read_settings(kind: type[S], config: Path | None, flags: Mapping[str, Any]) -> S:
    """The settings of a YAML file, those of flags before them, else the defaults.

    Args:
        kind: a dataclass whose fields are the settings, each with a default; its own checks run.
        config: the file, a mapping of names to values; None: there is none.
        flags: those that were given, by name.

    Raises:
        InputError: the file cannot be read, a name stands twice, or a value is not of its kind; file and name are in
            the message.
        UnknownNameError: a name that is no setting; the nearest one is in the message.
    """
    kinds = {field.name: type(field.default) for field in fields(kind)}  # type: ignore[arg-type]  # a dataclass
    given = _read_yaml(config) if config else {}
    for name in given:
        if name not in kinds:
            raise UnknownNameError(f"setting in {config}:", str(name), kinds)
    values = {name: _value(name, kinds[name], value, str(config)) for name, value in given.items()}
    values |= {name: _value(name, kinds[name], value, f"--{name.replace('_', '-')}") for name, value in flags.items()}
    return kind(**values)


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        content = load_yaml(path)
    except InputError:
        raise
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise InputError(
            f"{path} cannot be read as YAML: {error}. Give --config a file of training/recipes."
        ) from error
    if not isinstance(content, dict):
        raise InputError(f"{path} holds {type(content).__name__}, expected settings such as `learning_rate: 2.0e-5`.")
    return content


def _value(name: str, kind: type, value: Any, where: str) -> Any:
    try:
        if kind is tuple:
            return tuple(map(_whole_number, value if isinstance(value, list | tuple) else [value]))
        if kind is int:
            return _whole_number(value)
        if kind is float:  # YAML takes 2e-5, without a point, for text
            return float(value if not isinstance(value, bool) else "bool")
        if not isinstance(value, str | kind):  # a setting without default may be left out by null
            raise ValueError("no text")
        return value
    except (TypeError, ValueError) as error:
        raise InputError(f"{where}: {name} is {value!r:.80}, expected {_WANTED.get(kind, 'text')}.") from error


def _whole_number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("no whole number")
    return value
