"""Reads a small CSV of figures that a paper prints, as they are printed."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from clinical_evals.errors import InputError


class PublishedRow(NamedTuple):
    """One row of a table."""

    path: Path
    line: int
    """On which it ends."""
    cells: Mapping[str, str]

    def number(self, column: str) -> float:
        """A cell as a number.

        Raises:
            InputError: it is none.
        """
        try:
            return float(self.cells[column])
        except ValueError as error:
            found = f"{self.cells[column]!r:.80}"
            raise InputError(f"{self.path}, line {self.line}: {column} is {found}, expected a number") from error


def read_published(path: Path, columns: Sequence[str]) -> list[PublishedRow]:
    """The rows of a table.

    Args:
        path: the CSV.
        columns: those that it must have.

    Raises:
        InputError: the file cannot be read, or a column is missing.
    """
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            reader = csv.DictReader(stream, restval="")
            rows = [PublishedRow(path, reader.line_num, row) for row in reader]
            names = reader.fieldnames or []
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(f"{path} cannot be read as a table of published figures: {error}") from error
    if lacking := [column for column in columns if column not in names]:
        raise InputError(f"{path} has no column {', '.join(lacking)}; found {', '.join(names) or 'none'}")
    return rows
