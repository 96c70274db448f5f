"""Department names as labels: one spelling each, and the list that they must be in."""

import re
import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from clinical_evals.errors import InputError
from clinical_evals.ior_bench.records import RowError, listed
from clinical_evals.ior_bench.tables import WORKBOOK_SUFFIXES, read_table
from clinical_evals.ior_bench.text_file import cell_problem, read_text

_MAX_NAME = 100
_HEADS = ("department", "departments", "科室", "科室名称")
_SPACE_BESIDE_CHINESE = re.compile(r"(?<=[^\x00-\x7f]) | (?=[^\x00-\x7f])")


def clean_label(text: str) -> str:
    """A department name as it is kept: NFKC, no invisible characters, no spaces beside Chinese characters.

    >>> clean_label("　耳鼻 喉科（门诊）"), clean_label(" Internal  Medicine")
    ('耳鼻喉科(门诊)', 'Internal Medicine')
    """
    visible = "".join(letter for letter in text if unicodedata.category(letter) != "Cf")
    return _SPACE_BESIDE_CHINESE.sub("", " ".join(unicodedata.normalize("NFKC", visible).split()))


class Labels:
    """The departments of a data set, in order: those of a list, or those that occur."""

    def __init__(self, names: Iterable[str] | None = None, source: str = "") -> None:
        self.source = source
        self._names: dict[str, str] = {}
        self._is_listed = names is not None
        for name in names or ():
            self._add(name)

    @property
    def names(self) -> list[str]:
        """The departments, in the order of the list or of first appearance."""
        return list(self._names.values())

    def find(self, text: str) -> str:
        """The department that a label names, in the spelling of the list or of its first appearance.

        Raises:
            RowError: no name, an overlong one, or one that is not in the list (the nearest ones are named).
        """
        name = clean_label(text)
        if not name:
            raise RowError("the department is empty; expected the name of the one right department")
        if len(name) > _MAX_NAME:
            raise RowError(f"the department has {len(name)} characters ({name[:30]!r}…); expected one name")
        if not self._is_listed:
            return self._add(name)
        found = self._names.get(name.casefold())
        if found is None:
            near = get_close_matches(name, self.names, n=3, cutoff=0.4)
            raise RowError(
                f"the department {name!r} is not in the list {self.source} ({len(self._names)} departments). "
                + (f"Nearest: {listed(near)}. " if near else "")
                + "Correct the label, or add the department to the list"
            )
        return found

    def _add(self, text: str) -> str:
        name = clean_label(text)
        return self._names.setdefault(name.casefold(), name)


def read_departments(path: Path) -> Labels:
    """A hospital's list of departments: one a line, or the column 科室 (or department) of a table.

    Lines that are empty or begin with # are passed over, and so is a first line that is only such a column name.

    Raises:
        InputError: no department, the same one twice (the two lines are named), or a file that cannot be read.
    """
    if not path.is_file():
        raise InputError(f"{path} is not a file; expected a list of departments, one a line (UTF-8 or GB18030).")
    places: dict[str, int] = {}
    names: list[str] = []
    for line, text in _entries(path):
        name = clean_label(text)
        if not name or name.startswith("#"):
            continue
        if len(name) > _MAX_NAME:
            raise InputError(f"{path}, line {line}: {len(name)} characters; expected one department a line.")
        first = places.setdefault(name.casefold(), line)
        if first != line:
            raise InputError(f"{path}, line {line}: {name!r} is already there in line {first}. Remove one of the two.")
        names.append(name)
    if not names:
        raise InputError(f"{path} names no department; expected one a line.")
    return Labels(names, str(path))


def _entries(path: Path) -> list[tuple[int, str]]:
    """Line and text of each entry: of a table with several columns its department column, else every line."""
    if path.suffix.lower() in WORKBOOK_SUFFIXES:
        return _column(path)
    file = read_text(path)
    lines = list(enumerate(file.text.splitlines(), start=1))
    for line, text in lines:
        problem = cell_problem(text, file.encoding)
        if problem:
            raise InputError(f"{path}, line {line}: {problem}.")
    if path.suffix.lower() in (".csv", ".tsv") and any(sign in lines[0][1] for sign in ",\t;"):
        return _column(path)
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        return _column(path)
    return lines[1:] if clean_label(lines[0][1]).casefold() in _HEADS else lines


def _column(path: Path) -> list[tuple[int, str]]:
    table = read_table(path)
    column = next((column for column in table.columns if clean_label(column).casefold() in _HEADS), None)
    if column is None:
        raise InputError(
            f"{path} has no column 科室 or department. It has {listed(table.columns)}. Rename the column."
        )
    return [(record.line, record.cells.get(column, "")) for record in table.records]
