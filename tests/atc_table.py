"""A small ATC table in the layout of the collected WHO tables, for tests without the user's file.

Every main group has one line down to an invented substance; below A10 stand a few true codes, metformin with two DDDs.
"""

import csv
import io
from pathlib import Path

HEADER = ("atc_code", "atc_name", "ddd", "uom", "adm_r", "note")
MAIN_GROUPS = "ABCDGHJLMNPRSV"
_TRUE = (
    ("A10", "DRUGS USED IN DIABETES", "NA", "NA", "NA", "NA"),
    ("A10B", "BLOOD GLUCOSE LOWERING DRUGS, EXCL. INSULINS", "NA", "NA", "NA", "NA"),
    ("A10BA", "Biguanides", "NA", "NA", "NA", "NA"),
    ("A10BA02", "metformin", "2", "g", "O", "NA"),
    ("A10BA02", "metformin", "1", "g", "R", "a second DDD, with a comma"),
    ("A10BA03", "buformin", "0.2", "g", "O", "NA"),
)


def rows() -> list[tuple[str, ...]]:
    """The rows in the order of their codes."""
    invented = [
        (code, f"Group {code}" if len(code) < 7 else f"substance {code[0]}", "NA", "NA", "NA", "NA")
        for letter in MAIN_GROUPS
        for code in (letter, f"{letter}01", f"{letter}01A", f"{letter}01AA", f"{letter}01AA01")
    ]
    return sorted([*invented, *_TRUE])


def table(lines: list[tuple[str, ...]] | None = None, header: tuple[str, ...] = HEADER) -> bytes:
    """The bytes of a table; by default of the whole one."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([header, *(rows() if lines is None else lines)])
    return text.getvalue().encode()


def write(folder: Path, content: bytes | None = None, name: str = "who_atc_ddd_2031-01-02.csv") -> Path:
    """A file with that content; by default the whole table."""
    path = folder / name
    path.write_bytes(table() if content is None else content)
    return path
