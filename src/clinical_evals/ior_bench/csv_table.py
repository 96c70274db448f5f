"""Delimited text (comma, tab or semicolon) as records; quoted cells may hold line breaks."""

import csv
import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clinical_evals.errors import InputError
from clinical_evals.ior_bench.records import Record, Table, fold_name
from clinical_evals.ior_bench.text_file import NOT_IN, TextFile, cell_problem

_DELIMITERS = (",", "\t", ";")
_FIELD_LIMIT = threading.Lock()


def read_csv(path: Path, file: TextFile) -> Table:
    """The table of a delimited file; the delimiter is the one that gives the header the most cells.

    Records with too few or too many cells or bad quotes are there with their `problem`; NUL characters, bytes of
    another encoding and cells beyond `text_file.MAX_CELL` stand in `bad_cells`. Lines without text are passed over.

    Raises:
        InputError: no header, a header with bytes of another encoding, or a quotation mark that is never closed.
    """
    with _any_cell_size():
        delimiter = max(_DELIMITERS, key=lambda each: len(_first_cells(file.text, each)))
        lines = _cells_by_line(path, file.text, delimiter)
        header = next(lines, None)
        if header is None or isinstance(header[1], str):
            found = f"a quoting mistake ({header[1]})" if header else "no text"
            raise InputError(
                f"{path}: {found} where the header is expected. Write the column names in the first line."
            )
        columns = [cell.strip() for cell in header[1]]
        _check_header(path, file, header[0], columns)
        records: list[Record] = []
        for line, cells in lines:
            if isinstance(cells, str):
                records.append(Record(len(records) + 1, line, {}, cells))
                continue
            bad_cells = _bad_cells(cells, columns, file)
            if file.first_bad is not None and any(NOT_IN in reason for reason in bad_cells.values()):
                file = file._replace(first_bad=None)  # records come in order: only the first one holds that byte
            values = dict(zip(columns, cells, strict=False))
            records.append(Record(len(records) + 1, line, values, _count_problem(cells, columns), bad_cells))
    return Table(path, columns, records, file.encoding)


@contextmanager
def _any_cell_size() -> Iterator[None]:
    """Lift the csv module's limit of 131,072 characters: it cannot go on after such a cell, our own check can."""
    with _FIELD_LIMIT:
        before = csv.field_size_limit(2**31 - 1)
        try:
            yield
        finally:
            csv.field_size_limit(before)


def _first_cells(text: str, delimiter: str) -> list[str]:
    try:
        return next(
            (cells for cells in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if any(cells)), []
        )
    except csv.Error:
        return []


def _cells_by_line(path: Path, text: str, delimiter: str) -> Iterator[tuple[int, list[str] | str]]:
    """Start line and cells of each record with text; a quoting mistake gives the reason in place of the cells."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if "unexpected end" in str(error):
                raise InputError(
                    f"{path}, line {line}: a quotation mark that opens in this record is not closed before the end of "
                    f"the file (line {reader.line_num}), so the records after it cannot be told apart. Close it, and "
                    'write a quotation mark inside a quoted cell as "".'
                ) from error
            until = f" (up to line {reader.line_num})" if reader.line_num > line else ""
            yield line, f'a quotation mark inside a quoted cell is not doubled{until}: write it as ""'
            continue
        if any(cell.strip() for cell in cells):
            yield line, cells


def _check_header(path: Path, file: TextFile, line: int, columns: list[str]) -> None:
    if not any(fold_name(column) for column in columns):
        raise InputError(f"{path}, line {line}: no text where the header is expected. Write the column names there.")
    for place, column in enumerate(columns, start=1):
        problem = cell_problem(column, file.encoding)
        if problem:
            at = f" (byte {file.first_bad} of the file)" if file.first_bad is not None else ""
            raise InputError(f"{path}, line {line}: the name of column {place} holds {problem}{at}.")


def _bad_cells(cells: list[str], columns: list[str], file: TextFile) -> dict[str, str]:
    bad: dict[str, str] = {}
    for column, cell in zip(columns, cells, strict=False):
        reason = cell_problem(cell, file.encoding)
        if reason:
            at = f" (byte {file.first_bad} of the file)" if file.first_bad is not None and NOT_IN in reason else ""
            bad[column] = reason + at
    return bad


def _count_problem(cells: list[str], columns: list[str]) -> str:
    """Too few or too many cells; empty ones beyond the header (a delimiter at the end of the line) do no harm."""
    if len(cells) >= len(columns) and not any(cell.strip() for cell in cells[len(columns) :]):
        return ""
    return (
        f"{len(cells)} cells, the header has {len(columns)}: give each column a cell, and quote cells that hold the "
        "delimiter or a line break"
    )
