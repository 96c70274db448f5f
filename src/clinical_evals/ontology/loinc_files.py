"""Reads LOINC's multi-axial hierarchy, ComponentHierarchyBySystem.csv: one row for each node and path to it.

Columns: PATH_TO_ROOT (parts from the root to the immediate parent, dots between), SEQUENCE, IMMEDIATE_PARENT, CODE (a
LOINC number, or a part: LP…), CODE_TEXT. The root is Laboratory (LP29693-6), or LP432695-7 with Laboratory below it.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.ontology.loinc_number import NUMBER, PART
from clinical_evals.ontology.table_file import read_text_columns, require_last_line_break

LABORATORY = "LP29693-6"
"""The part below which all laboratory tests hang, in every edition."""
GROUP_LEVELS = 3
"""Levels of groups that are scored, counted from below Laboratory."""
COLUMNS = ("PATH_TO_ROOT", "CODE", "CODE_TEXT")
_GIVE = (
    "Give AccessoryFiles/ComponentHierarchyBySystem/ComponentHierarchyBySystem.csv of a LOINC release "
    "(https://loinc.org/downloads) as it is: clinical-evals resources add loinc-hierarchy FILE"
)
# The rows stand in the order of their paths, so where the file stops early the groups that would come next are named
# but empty. In a whole file no group after the last path is empty; two are let pass, since a release may have a few.
_EMPTY_GROUPS = 2


class HierarchyRow(NamedTuple):
    """One node of the hierarchy, by one of its paths."""

    ancestors: tuple[str, ...]
    """Parts from the root down to the immediate parent; empty for the root."""
    code: str
    """A LOINC number or a part."""
    text: str
    """Its name; often empty."""


class Hierarchy(NamedTuple):
    """The laboratory part of the hierarchy, as far as it is scored."""

    groups: Mapping[str, tuple[str, ...]]
    """Of each LOINC number, in the order of the file: the first one, two or three parts below Laboratory, or none."""
    texts: Mapping[str, str]
    """The names of these numbers and parts, where the file has one."""
    elsewhere: frozenset[str]
    """LOINC numbers of other branches only, such as clinical measurements."""


def hierarchy_rows(path: Path) -> Iterator[HierarchyRow]:
    """The rows of the file in its order, each checked; at the end the file as a whole.

    Raises:
        InputError: the file cannot be read, is another table or a web page, is cut off, has a code of another form
            or a row twice.
        ResourceMissingError: a Parquet file, but pyarrow is not installed.
    """
    written, ancestors = "", tuple[str, ...]()
    seen: set[tuple[str, str]] = set()
    groups = _EmptyGroups()
    for where, (path_to_root, code, text) in read_text_columns(path, COLUMNS, _GIVE):
        if path_to_root != written:
            written, ancestors = path_to_root, _ancestors(where, path_to_root)
            groups.fill(written)
        if PART.fullmatch(code):
            groups.add(f"{written}.{code}" if written else code)
        elif not NUMBER.fullmatch(code):
            raise InputError(
                f"{where}: CODE is {code!r}, expected a LOINC number or part as 2345-7 or LP15705-6. If a spreadsheet "
                f"program saved the file, it has made dates of such numbers. {_GIVE}"
            )
        if (written, code) in seen:
            raise InputError(f"{where}: CODE {code!r} stands a second time below PATH_TO_ROOT {written!r}. {_GIVE}")
        seen.add((written, code))
        yield HierarchyRow(ancestors, code, text.strip())
    require_last_line_break(path, _GIVE)
    groups.check(path)


def read_hierarchy(path: Path) -> Hierarchy:
    """The groups and names below Laboratory; where a node has several paths, by the first one of the file.

    Raises:
        InputError: see `hierarchy_rows`, or nothing in the file is below Laboratory.
    """
    groups: dict[str, tuple[str, ...]] = {}
    texts: dict[str, str] = {}
    elsewhere: set[str] = set()
    one_of: dict[tuple[str, ...], tuple[str, ...]] = {}  # equal tuples are kept once
    for ancestors, code, text in hierarchy_rows(path):
        number = not code.startswith("LP")
        if LABORATORY not in ancestors:
            elsewhere.update([code] if number else [])
            continue
        below = ancestors[ancestors.index(LABORATORY) + 1 :]
        if number:
            first = below[:GROUP_LEVELS]
            groups.setdefault(code, one_of.setdefault(first, first))
        if text and (number or len(below) < GROUP_LEVELS):
            texts.setdefault(code, text)
    if not groups:
        raise InputError(f"{path}: no LOINC number below the part {LABORATORY} (Laboratory). {_GIVE}")
    return Hierarchy(groups, texts, frozenset(elsewhere.difference(groups)))


def _ancestors(where: str, path_to_root: str) -> tuple[str, ...]:
    parts = tuple(path_to_root.split(".")) if path_to_root else ()
    for part in parts:
        if not PART.fullmatch(part):
            raise InputError(
                f"{where}: PATH_TO_ROOT has {part!r}, expected parts between dots, as LP29693-6.LP343631-0. {_GIVE}"
            )
    return parts


class _EmptyGroups:
    """The groups, by their full path, of which no child has come yet."""

    def __init__(self) -> None:
        self._empty: set[str] = set()
        self._last = ""
        self._in_order = True

    def add(self, group: str) -> None:
        self._empty.add(group)

    def fill(self, group: str) -> None:
        self._in_order = self._in_order and group >= self._last
        self._last = group
        self._empty.discard(group)

    def check(self, path: Path) -> None:
        """Refuse a file that ends before its groups do."""
        to_come = [group for group in self._empty if self._is_class(group) or (self._in_order and group > self._last)]
        if len(to_come) > _EMPTY_GROUPS:
            raise InputError(
                f"{path}: the file is cut off: it names {len(to_come)} groups of which nothing follows, such as "
                f"{min(to_come).rpartition('.')[2]}; its last path is {self._last!r}. {_GIVE}"
            )

    @staticmethod
    def _is_class(group: str) -> bool:
        return group.rpartition(".")[0].endswith(LABORATORY)
