"""Tables and text files of a release, as text: CSV, gzipped CSV or Parquet; what is wrong with a file is said.

Everything that reads a release file, a map or a dictionary of MIMIC reads it through here.
"""

import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from clinical_evals.errors import InputError, ResourceMissingError

Row = tuple[str, tuple[str, ...]]
_LONGEST_HEADER = 100_000  # bytes
_GZIP = b"\x1f\x8b"
_PARQUET = b"PAR1"
_WEB_PAGE = (b"<!doctype html", b"<html", b"<head")


def read_text_columns(path: Path, columns: Sequence[str], hint: str) -> Iterator[Row]:
    """Each row's place ("FILE, line 7") and its values of `columns`, in their order, as text: 0010 stays 0010.

    What the file is, is told from its content, since names such as .csv.gz survive a browser that unpacks.

    Args:
        path: the file.
        columns: the columns wanted; further ones are passed over.
        hint: what helps; it ends every error.

    Raises:
        InputError: no such file, a cut-off or other kind of file, a web page, other columns, a row of another length.
        ResourceMissingError: a Parquet file, but pyarrow is not installed.
    """
    content = _read_bytes(path, f"a file with the columns {', '.join(columns)}", hint)
    if content.startswith(_PARQUET):
        return _parquet_rows(path, columns, hint)
    return _csv_rows(path, _decode(path, content, hint), columns, hint)


def read_text(path: Path, what: str, hint: str) -> str:
    """The text of a file, UTF-8 with or without mark, gzipped or not, with the line breaks it has.

    Args:
        path: the file.
        what: what it should be, for the error of a missing file ("the CMS order file").
        hint: what helps; it ends every error.

    Raises:
        InputError: no such file, an empty, cut-off or other kind of file, a web page, another encoding.
    """
    text = _decode(path, _read_bytes(path, what, hint), hint)
    if not text.strip():
        raise InputError(f"{path} is empty, expected {what}. {hint}")
    return text


def _read_bytes(path: Path, what: str, hint: str) -> bytes:
    if not path.is_file():
        kind = "is a folder" if path.is_dir() else "does not exist"
        raise InputError(f"{path} {kind}, expected {what}. {hint}")
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}. {hint}") from error


def _decode(path: Path, content: bytes, hint: str) -> str:
    if content.startswith(_GZIP):
        try:
            content = gzip.decompress(content)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise InputError(
                f"{path}: the gzip file is cut off or damaged ({error}): copy or download it again. {hint}"
            ) from error
    elif path.suffix == ".parquet":
        raise InputError(f"{path}: not a Parquet file (it starts with {content[:8]!r}). {hint}")
    if content.lstrip(b"\xef\xbb\xbf \t\r\n")[:200].lower().startswith(_WEB_PAGE):
        raise InputError(
            f"{path}: a web page, not the file itself: a site such as PhysioNet or loinc.org answers with its login "
            f"page where nobody is logged in. Log in and download it again. {hint}"
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text ({error}). {hint}") from error


def _csv_rows(path: Path, text: str, columns: Sequence[str], hint: str) -> Iterator[Row]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, [])
        places = _places(path, header, columns, hint)
        for row in reader:
            if len(row) != len(header):
                raise InputError(
                    f"{path}, line {reader.line_num}: {len(row)} fields, expected {len(header)} as in its header; the "
                    f"file may be cut off. {hint}"
                )
            yield f"{path}, line {reader.line_num}", tuple(row[place] for place in places)
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: not CSV ({error}); it may be cut off. {hint}") from error


def _places(path: Path, found: Sequence[str], columns: Sequence[str], hint: str) -> list[int]:
    missing = [column for column in columns if column not in found]
    if missing:
        shown = ", ".join(found)[:200] or "nothing"
        raise InputError(f"{path}: no column {', '.join(missing)}; its first line has {shown}. {hint}")
    return [found.index(column) for column in columns]


def _parquet_rows(path: Path, columns: Sequence[str], hint: str) -> Iterator[Row]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise ResourceMissingError(f"{path}: reading Parquet needs pyarrow: pip install pyarrow") from error
    try:
        table = pq.ParquetFile(path).read()
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: the Parquet file is cut off or damaged ({error}). {hint}") from error
    _places(path, table.column_names, columns, hint)
    for column in columns:
        kind = table.schema.field(column).type
        number = pa.types.is_floating(kind) or (pa.types.is_integer(kind) and column.endswith("_code"))
        if number:
            raise InputError(
                f"{path}: column {column} is {kind}, expected text: codes stored as numbers have lost their leading "
                f"zeros. {hint}"
            )
    values = [table.column(column).to_pylist() for column in columns]
    for number, row in enumerate(zip(*values, strict=True)):
        yield f"{path}, row {number}", tuple("" if value is None else str(value) for value in row)


def require_last_line_break(path: Path, hint: str) -> None:
    """An InputError where a plain text file does not end with a line break: its last row may be cut off.

    A gzip or Parquet file tells by itself whether it is whole.
    """
    with path.open("rb") as file:
        start = file.read(4)
        file.seek(0, 2)
        file.seek(max(0, file.tell() - 1))
        last = file.read(1)
    if not start.startswith((b"\x1f\x8b", b"PAR1")) and last not in (b"\n", b"\r"):
        raise InputError(
            f"{path}: the last line does not end with a line break, so the file may be cut off in the middle of it; "
            f"if it is whole, add one. {hint}"
        )


def csv_columns(path: Path) -> list[str]:
    """The columns of a CSV file, gzipped or not; none where it is something else, which its reader then says."""
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        with gzip.open(path) if packed else path.open("rb") as file:
            line = file.readline(_LONGEST_HEADER)
    except (OSError, EOFError, zlib.error):
        return []
    try:
        return next(csv.reader([line.decode("utf-8-sig", errors="replace")]), [])
    except csv.Error:
        return []
