"""The text of a file whose encoding is not stated: UTF-8 with or without mark, UTF-16 with mark, GB18030.

Bytes that do not fit the encoding of their file become lone surrogates (`surrogateescape`), so that one damaged record
can be named, or left out, without the others: `cell_problem` finds them again.
"""

import codecs
import re
from pathlib import Path
from typing import NamedTuple

from clinical_evals.errors import InputError

MAX_FILE_BYTES = 512 * 2**20
MAX_CELL = 1_000_000
"""Characters that one cell may hold: the longest record of a patient has a few thousand."""

NOT_IN = "bytes that are not"
"""How the reason of `cell_problem` begins where a cell has bytes of another encoding."""

_CHINESE = r"\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\u3000-\u303f"
_ALL_CHINESE = re.compile(rf"[\x00-\x7f{_CHINESE}]*")
_SPOILED = re.compile(r"[\x00\ud800-\udfff]")
_FOREIGN = {
    b"\xd0\xcf\x11\xe0": "an old Excel file (.xls) or a password-protected one: save it as .xlsx without password",
    b"\x1f\x8b": "a gzip file: unpack it with gunzip",
    b"PK\x03\x04": "a zip file or an Excel workbook: name a workbook .xlsx, unpack a zip file",
    b"%PDF": "a PDF file: export the table as CSV (UTF-8) or .xlsx",
}


class TextFile(NamedTuple):
    """A decoded file: its text, the encoding in words, and the byte offset of the first byte that does not fit."""

    text: str
    encoding: str
    first_bad: int | None = None


def read_bytes(path: Path) -> bytes:
    """The bytes of a file of bounded size.

    Raises:
        InputError: the file is missing, unreadable, empty or larger than `MAX_FILE_BYTES`.
    """
    try:
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise InputError(f"{path} has {size:,} bytes, more than {MAX_FILE_BYTES:,}: split it into several files.")
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}. Give the path of a table.") from error
    if not raw.strip():
        raise InputError(f"{path} is empty; expected a table with a header line and one record a line.")
    return raw


def read_text(path: Path) -> TextFile:
    """The text of a file: by its mark, else strict UTF-8, else strict GB18030, else the one that most lines fit.

    Raises:
        InputError: see `read_bytes`; or the file is of another kind (.xls, gzip, zip, PDF), or UTF-16 without mark.
    """
    raw = read_bytes(path)
    for magic, explanation in _FOREIGN.items():
        if raw.startswith(magic):
            raise InputError(f"{path} is not a text file but {explanation}.")
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _decode(path, raw, "utf-16")
    if b"\0" in raw[:1000].partition(b"\n")[0]:
        raise InputError(
            f"{path} looks like UTF-16 without byte order mark, or is not a text file (zero bytes in its first "
            "line): save it as CSV (UTF-8)."
        )
    return _decode_unmarked(raw.removeprefix(codecs.BOM_UTF8), marked=raw.startswith(codecs.BOM_UTF8))


def cell_problem(text: str, encoding: str) -> str:
    """Why a cell cannot be used, or "" where it can: too long, NUL characters, bytes of another encoding."""
    if len(text) > MAX_CELL:
        return f"{len(text):,} characters, the limit of one cell is {MAX_CELL:,}: shorten it"
    spoiled = _SPOILED.search(text)
    if spoiled is None:
        is_mixed = encoding == "GB18030" and _is_utf8_in_gb18030(text)
        return "UTF-8 text in a file that is otherwise GB18030: write the whole file in UTF-8" if is_mixed else ""
    if spoiled[0] == "\0":
        return f"a NUL character at place {spoiled.start() + 1}: remove it"
    if not "\udc80" <= spoiled[0] <= "\udcff":
        return f"half a character (a lone surrogate) at place {spoiled.start() + 1}: write it again"
    bad = text[spoiled.start() : spoiled.start() + 4].encode("utf-8", "surrogateescape")[:4]
    return f"{NOT_IN} {encoding} (0x{bad.hex()}): write the whole file in UTF-8"


def _decode(path: Path, raw: bytes, encoding: str) -> TextFile:
    try:
        return TextFile(raw.decode(encoding), encoding.upper())
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is marked as {encoding.upper()} but byte {error.start} does not fit it ({error.reason}): "
            "save it again as CSV (UTF-8)."
        ) from error


def _decode_unmarked(raw: bytes, marked: bool) -> TextFile:
    offset = len(codecs.BOM_UTF8) if marked else 0
    try:
        return TextFile(raw.decode("utf-8"), "UTF-8")
    except UnicodeDecodeError as error:
        first_bad = error.start + offset
    if marked or _most_lines_are_utf8(raw):
        return TextFile(raw.decode("utf-8", "surrogateescape"), "UTF-8", first_bad)
    try:
        return TextFile(raw.decode("gb18030"), "GB18030")
    except UnicodeDecodeError as error:
        return TextFile(raw.decode("gb18030", "surrogateescape"), "GB18030", error.start)


def _most_lines_are_utf8(raw: bytes) -> bool:
    """At least half of the lines with other than ASCII: a few GB18030 lines must not turn a UTF-8 file into noise."""
    lines = [line for line in raw.split(b"\n") if not line.isascii()]
    return 2 * sum(_is_utf8(line) for line in lines) >= len(lines)


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _is_utf8_in_gb18030(text: str) -> bool:
    """UTF-8 Chinese often passes as GB18030 (你好 as 浣犲ソ): its bytes then read as Chinese in UTF-8 as well."""
    if text.isascii():
        return False
    try:
        other = text.encode("gb18030").decode("utf-8")
    except UnicodeError:
        return False
    return sum(not letter.isascii() for letter in other) >= 2 and _ALL_CHINESE.fullmatch(other) is not None
