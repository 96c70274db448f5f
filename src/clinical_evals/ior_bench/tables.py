"""Any table file as records: CSV (UTF-8, UTF-16 or GB18030), XLSX, JSONL; the ending of the name says which."""

from pathlib import Path

from clinical_evals.errors import InputError
from clinical_evals.ior_bench.csv_table import read_csv
from clinical_evals.ior_bench.jsonl_table import read_jsonl
from clinical_evals.ior_bench.records import Table
from clinical_evals.ior_bench.text_file import read_text
from clinical_evals.ior_bench.xlsx_table import read_xlsx

TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
WORKBOOK_SUFFIXES = (".xlsx", ".xlsm")
LINE_SUFFIXES = (".jsonl", ".ndjson")


def read_table(path: Path) -> Table:
    """The table of a file.

    Raises:
        InputError: no such file, a format that is not read, or content that is not of the format (see `csv_table`,
            `xlsx_table`, `jsonl_table`).
        ResourceMissingError: the file is a workbook and openpyxl is not installed.
    """
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise InputError(f"{path} {what}; expected a table: .csv, .tsv, .txt, .xlsx or .jsonl.")
    suffix = path.suffix.lower()
    if suffix in WORKBOOK_SUFFIXES:
        return read_xlsx(path)
    if suffix in LINE_SUFFIXES:
        return read_jsonl(path, read_text(path))
    if suffix in TEXT_SUFFIXES:
        return read_csv(path, read_text(path))
    raise InputError(
        f"{path}: files named {suffix or 'without ending'} are not read. Save the table as .csv (UTF-8 or GB18030), "
        ".xlsx, or .jsonl with one object a line."
    )
