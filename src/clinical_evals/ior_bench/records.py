"""A table of a file as records of text, whatever the file's format; every record knows its place in the file."""

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from clinical_evals.errors import InputError

T = TypeVar("T")


class RowError(ValueError):
    """One record cannot become a row; the message says the column, what was found and what was expected."""


class Record(NamedTuple):
    """One record of a table.

    Attributes:
        number: 1 for the first record of the file; blank lines do not count, unusable records do.
        line: the physical line on which the record starts, counted from 1 (XLSX: the row).
        cells: column name → text; an absent value is "".
        problem: why the record as a whole cannot be used, or "".
        bad_cells: column name → why this cell cannot be used; the rest of the record can.
    """

    number: int
    line: int
    cells: dict[str, str]
    problem: str = ""
    bad_cells: Mapping[str, str] = MappingProxyType({})


class Table(NamedTuple):
    """The records of a file; `place` is the word for a record's place ("line", or "row" of a sheet)."""

    path: Path
    columns: list[str]
    records: list[Record]
    encoding: str = "UTF-8"
    place: str = "line"

    def where(self, record: Record) -> str:
        """File and line of a record, as messages name it."""
        return f"{self.path}, {self.place} {record.line}"


def read_cell(record: Record, column: str, parse: Callable[[str], T]) -> T:
    """The parsed value of one cell.

    Raises:
        RowError: the cell cannot be used, or `parse` refuses the text (it raises ValueError); the column is named.
    """
    if column in record.bad_cells:
        raise RowError(f"column {column!r}: {record.bad_cells[column]}")
    try:
        return parse(record.cells.get(column, ""))
    except ValueError as error:
        raise RowError(f"column {column!r}: {error}") from error


def find_column(table: Table, names: Sequence[str], wanted: str = "") -> str:
    """The one column of a table that has one of these names: exactly, else without regard to case, spaces and signs.

    Args:
        table: the table.
        names: spellings of one column, the usual one first.
        wanted: what the column is for, for messages.

    Raises:
        InputError: no column has such a name, or several have.
    """
    found = [column for column in table.columns if column in names]
    if not found:
        folded = {fold_name(name) for name in names}
        found = [column for column in table.columns if fold_name(column) in folded]
    if len(found) == 1:
        return found[0]
    expected = " or ".join(repr(name) for name in names) + (f" ({wanted})" if wanted else "")
    if found:
        raise InputError(
            f"{table.path} has {len(found)} columns for {expected}: {', '.join(map(repr, found))}. "
            "Rename or remove all but one of them."
        )
    near = get_close_matches(names[0], [column for column in table.columns if len(column) <= 100], n=3, cutoff=0.4)
    raise InputError(
        f"{table.path} has no column {expected}. It has {listed(table.columns)} (read as {table.encoding}). "
        + (f"Nearest: {listed(near)}. " if near else "")
        + "Rename the column in the header, or name the right one."
    )


def fold_name(name: str) -> str:
    """A column name without what writers vary: case, width, spaces, hyphens and other signs."""
    return "".join(letter for letter in unicodedata.normalize("NFKC", name).casefold() if letter.isalnum())


def listed(names: Iterable[str], limit: int = 12) -> str:
    """Names in quotes for a message, at most `limit` of them, each of bounded length."""
    names = list(names)
    shown = ", ".join(repr(name[:60]) for name in names[:limit])
    return f"{shown}, … ({len(names)} in all)" if len(names) > limit else shown or "none"
