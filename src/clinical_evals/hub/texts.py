"""Text: tables with delimiters, spreadsheets' XML, and everything else."""

import csv
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import numpy as np

from clinical_evals.hub.columnar import scan_array
from clinical_evals.hub.evidence import Evidence
from clinical_evals.hub.sources import BLOCK, blocks

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.csv as pacsv

DELIMITERS = ",\t;|"
LINES = 20
"""First lines from which the layout of a table is read."""
MOST_ODD_ROWS = 1_000
_CELL = re.compile(rb'<c r="([A-Z]{1,3})\d{1,7}"[^>]{0,200}>(?:<f>[^<]{0,500}</f>)?<v>([^<]{1,32})</v>')
_LETTER = re.compile(r"[^\W\d]")


class _NotATableError(Exception):
    """Internal: the text does not parse as a table."""


class Layout(NamedTuple):
    """How the columns of a text are separated."""

    delimiter: str
    skip: int
    """Lines before the first row, such as comments."""
    first: tuple[str, ...]
    """The first row, usually the names."""


def layout_of(head: bytes, name: str) -> Layout | None:
    """The layout of a table with delimiters, or None where most of its first lines are not equally wide.

    Args:
        head: the first bytes.
        name: the file's name: .csv and .tsv are taken for tables of one column at least.
    """
    lines = re.split(r"\r\n|\n|\r", head.decode("latin-1"))[:LINES]
    suffix = name.lower().rsplit(".", 1)[-1]
    best = Layout({"tsv": "\t"}.get(suffix, ","), 0, tuple(lines[:1])) if suffix in ("csv", "tsv") else None
    for delimiter in DELIMITERS:
        rows = _rows(lines, delimiter)
        width, count = Counter(map(len, rows)).most_common(1)[0] if rows else (0, 0)
        if width > max(1, len(best.first) if best else 1) and count >= 0.8 * len(rows) and (len(rows) > 1 or best):
            skip = next((number for number, line in enumerate(lines) if line.count(delimiter) >= width - 1), 0)
            best = Layout(delimiter, skip, tuple(next(row for row in rows if len(row) == width)))
    return best


def _rows(lines: list[str], delimiter: str) -> list[list[str]]:
    try:
        return [row for row in csv.reader(lines, delimiter=delimiter) if row]
    except csv.Error:
        return []


def scan_delimited(open_file: Callable[[], BinaryIO], layout: Layout, evidence: Evidence) -> None:
    """Look at the whole of a CSV or TSV; rows of another width, and files that do not parse, are read as text."""
    first = layout.first
    evidence.add_column_names(first)
    named = all(_LETTER.search(name) for name in first) and len(set(first)) == len(first)
    names = [name if named else f"#{number}" for number, name in enumerate(first)]
    odd: list[str] = []
    try:
        with open_file() as file:
            for _ in range(layout.skip):
                odd.append(file.readline(BLOCK).decode("latin-1"))
            for columns in _read_columns(file, layout, odd):
                for name, column in zip(names, columns, strict=True):
                    scan_array(column, name, evidence)
                if evidence.certain:
                    return
        evidence.add_text(("\n" + "\n".join(odd) + "\n").encode(errors="replace"))
    except _NotATableError:
        scan_plain(open_file, evidence)


def _read_columns(file: BinaryIO, layout: Layout, odd: list[str]) -> Iterator[list["pa.Array"]]:
    """The columns of a table as bytes, header included, in pieces of 4 MiB; rows of another width go to `odd`.

    Raises:
        _NotATableError: the text does not parse, or too many rows are of another width.
    """
    import pyarrow as pa
    import pyarrow.csv as pacsv

    def keep(row: "pacsv.InvalidRow") -> str:
        odd.append(row.text or "")
        return "skip" if len(odd) <= MOST_ODD_ROWS else "error"

    try:
        for batch in pacsv.open_csv(
            file,
            pacsv.ReadOptions(block_size=4 * BLOCK, autogenerate_column_names=True),
            pacsv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=True, invalid_row_handler=keep),
            pacsv.ConvertOptions(column_types={f"f{number}": pa.binary() for number in range(len(layout.first))}),
        ):
            if batch.num_columns != len(layout.first):  # quotes that the two readers take differently
                raise _NotATableError
            yield batch.columns
    except pa.ArrowInvalid:
        raise _NotATableError from None


def scan_plain(open_file: Callable[[], BinaryIO], evidence: Evidence) -> None:
    """Look at the whole of a text, block by block; ids count for the key or name before them."""
    with open_file() as file:
        for block in blocks(file):
            evidence.add_text(block)
            if evidence.certain:
                return


def scan_sheet(open_file: Callable[[], BinaryIO], evidence: Evidence) -> None:
    """Look at the numbers of a spreadsheet's XML by column, and at its text."""
    with open_file() as file:
        for block in blocks(file):
            columns: dict[str, list[int]] = {}
            for letters, number in _CELL.findall(block):
                value = _float(number)
                if math.isfinite(value) and value == math.floor(value) and abs(value) < 1e15:
                    columns.setdefault(letters.decode(), []).append(int(value))
            for letters, values in columns.items():
                evidence.add_values(np.array(values, dtype=np.int64), letters)
            evidence.add_text(_CELL.sub(b" ", block))


def _float(text: bytes) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
