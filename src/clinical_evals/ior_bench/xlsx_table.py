"""An Excel workbook (.xlsx) as records of text, through openpyxl (extra `xlsx`), read row by row."""

import datetime
import io
import zipfile
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from clinical_evals.errors import InputError, ResourceMissingError
from clinical_evals.ior_bench.records import Record, Table, listed
from clinical_evals.ior_bench.text_file import MAX_FILE_BYTES, cell_problem, read_bytes

_EXCEL_ERRORS = frozenset({"#N/A", "#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NUM!", "#NULL!", "#SPILL!", "#CALC!"})


def read_xlsx(path: Path) -> Table:
    """The table of the one sheet that holds anything; its first row with text is the header.

    Numbers and dates become text (34.0 → "34", a date → "2024-05-01"); a formula stands for the value that Excel saved
    with it. Excel errors and formulas without saved value stand in `bad_cells`, text beyond the header is the record's
    `problem`; rows without text are passed over.

    Raises:
        InputError: not a workbook, too large when unpacked, no sheet with text, or several.
        ResourceMissingError: openpyxl is not installed.
    """
    try:
        import openpyxl
    except ImportError as error:
        raise ResourceMissingError(
            f"{path} is an Excel workbook; reading it needs openpyxl: pip install 'clinical-evals[eval]' "
            "(or save the sheet as CSV UTF-8)."
        ) from error
    raw = read_bytes(path)
    _check_size(path, raw)
    try:
        # Twice: a formula is seen in the one, the value that was saved for it in the other.
        values = openpyxl.load_workbook(io.BytesIO(raw), read_only=True, data_only=True)
        formulas = openpyxl.load_workbook(io.BytesIO(raw), read_only=True, data_only=False)
        title = _only_sheet(path, values)
        rows = list(_texts(values[title], formulas[title]))
    except InputError:
        raise
    except Exception as error:  # openpyxl passes on KeyError, XML and zip errors of a damaged workbook as they come
        raise InputError(
            f"{path} is not a readable Excel workbook ({error}): save it again, or as CSV UTF-8."
        ) from error
    columns = rows[0][1]
    while not columns[-1].strip():
        columns.pop()
    columns = [column.strip() for column in columns]
    records = [_record(number, line, cells, columns) for number, (line, cells) in enumerate(rows[1:], start=1)]
    return Table(path, columns, records, "Excel", "row")


def _check_size(path: Path, raw: bytes) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            size = sum(member.file_size for member in archive.infolist())
    except zipfile.BadZipFile as error:
        raise InputError(
            f"{path} is not an Excel workbook (.xlsx), or has a password: save it again without password, "
            "or as CSV UTF-8."
        ) from error
    if size > MAX_FILE_BYTES:
        raise InputError(
            f"{path} unpacks to {size:,} bytes, more than {MAX_FILE_BYTES:,}: split it, or save it as CSV."
        )


def _only_sheet(path: Path, workbook: Any) -> str:
    for sheet in workbook.worksheets:
        sheet.reset_dimensions()  # some writers state a wrong size, and the reader would believe it
    filled = [
        str(sheet.title)
        for sheet in workbook.worksheets
        if any(value is not None and str(value).strip() for row in sheet.iter_rows(values_only=True) for value in row)
    ]
    if len(filled) != 1:
        found = f"{len(filled)} sheets with text ({listed(filled)})" if filled else "no sheet with text"
        raise InputError(f"{path} has {found}; expected one. Save the sheet to be read as a workbook of its own.")
    return filled[0]


def _texts(values: Any, formulas: Any) -> Iterator[tuple[int, list[str]]]:
    """Row number and texts of every row that holds any; a formula without saved value keeps its "=…"."""
    formulas.reset_dimensions()
    pairs = zip_longest(values.iter_rows(values_only=True), formulas.iter_rows(values_only=True), fillvalue=())
    for line, (shown, written) in enumerate(pairs, start=1):
        texts = [_text(*pair) for pair in zip_longest(shown, written)]
        if any(text.strip() for text in texts):
            yield line, texts


def _text(value: Any, formula: Any) -> str:
    if value is None:
        return "" if formula is None else f"={str(formula).removeprefix('=')}"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else str(value)


def _record(number: int, line: int, cells: Sequence[str], columns: list[str]) -> Record:
    padded = [*cells, *[""] * (len(columns) - len(cells))]
    values = dict(zip(columns, padded, strict=False))
    bad_cells = {column: reason for column, cell in values.items() if (reason := _cell_reason(cell))}
    beyond = next((place for place, cell in enumerate(cells) if place >= len(columns) and cell.strip()), None)
    problem = (
        f"text in column {beyond + 1}, beyond the header: name the column there or empty the cell" if beyond else ""
    )
    return Record(number, line, values, problem, bad_cells)


def _cell_reason(cell: str) -> str:
    if cell in _EXCEL_ERRORS:
        return f"Excel's error {cell}: correct the formula"
    if cell.startswith("=") and len(cell) > 1:
        return (
            f"a formula without saved value ({cell[:40]}): open the workbook in Excel and save it, or paste the values"
        )
    return cell_problem(cell, "Excel text")
