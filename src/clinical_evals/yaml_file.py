"""Recipes and model arguments are YAML, in which the last of two equal keys quietly counts: here that is an error."""

from pathlib import Path
from typing import Any

import yaml

from clinical_evals.errors import InputError


def load_yaml(path: Path) -> Any:
    """What a YAML file holds.

    Args:
        path: the file, in UTF-8.

    Raises:
        InputError: a key stands twice in a mapping; file, key and both lines are in the message.
        OSError: the file cannot be read.
        ValueError: it is not UTF-8.
        yaml.YAMLError: it is no YAML.
    """
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=_OnceLoader)  # a SafeLoader
    except _TwiceError as error:
        raise InputError(
            f"{path}: the key {error.key!r} stands twice, in lines {error.first} and {error.second}: only the last "
            "one would count. Remove one of them."
        ) from error


class _TwiceError(Exception):
    def __init__(self, key: str, first: int, second: int) -> None:
        super().__init__(key)
        self.key, self.first, self.second = key, first, second


class _OnceLoader(yaml.SafeLoader):
    """The safe loader, to which the keys of a mapping are each there once."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        """Compose a mapping and compare its keys as they are written, before merge keys (<<) are resolved."""
        node: yaml.MappingNode = super().compose_mapping_node(anchor)
        lines: dict[tuple[str, str], int] = {}
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            named, line = (key.tag, key.value), key.start_mark.line + 1
            if named in lines:
                raise _TwiceError(key.value, lines[named], line)
            lines[named] = line
        return node
