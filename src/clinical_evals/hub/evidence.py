"""What speaks for patients in one thing that is to be sent: marks, and MIMIC's named ids, columns of ids and notes.

The readers of formats (`columnar`, `texts`, `arrays`, `containers`) hand over what they read, as text or as whole
numbers under a column's name; this module keeps count and concludes. It keeps no text, and at most 4,096 numbers a
column.
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinical_evals.hub.identifiers import ENOUGH, IdColumn, Integers, find_numbers
from clinical_evals.hub.notes import find_note
from clinical_evals.markers import MIMIC_MARKER, PATIENT_MARKER, SYNTHETIC_MARKER

PATIENT_RULE = "patient marker"
"""The rule of what carries only `PATIENT_MARKER`: a user's own patient data; all others but unreadable mean MIMIC."""
NEXT_TO = 32
"""Bytes between the beginnings of two numbers that stand side by side."""
MOST_COLUMNS = 1_000
"""Further columns are counted together."""

_MIMIC_WORDS = ("subject", "hadm", "stay")
_COLUMN_NAMES = {word.encode(): re.compile(word.encode() + rb"[ _-]?ids?\b") for word in _MIMIC_WORDS}
_NAMED_ID = re.compile(  # what follows such a name: "hadm_id": 2..., subject_id=1..., <stay_id>3..., 'hadm_id': ['2...
    rb"\\?[\"'`*]{0,3}[\s:=>|,({\[]{1,8}\\?[\"']?"
    rb"(?!\d\d(?:0{6}|9{6}))([123]\d{7})(?=[^0-9a-z])(?!\.\d*[1-9])"  # a range's own limits are documentation
)
_NOTE_ID = re.compile(rb"(?<![0-9a-z])1\d{7}-(?:ds|ad|rr|ar)-\d{1,6}(?=[^0-9a-z])")
_KEY = re.compile(rb"(?<![\w-])([A-Za-z_][\w-]*)\\?[\"']?\s{0,4}\Z")
LONGEST_KEY, SHORT_KEY = 80, 24
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z_.-]{0,40}\d{0,3}")


class Finding(NamedTuple):
    """One reason to hold something back."""

    rule: str
    """marker, patient marker, column name, id column, id pairs, note id, note or unreadable."""
    text: str
    """What was found, in words and counts: never an id, never a word of a note."""


class Evidence:
    """Collects what speaks for MIMIC or for other patients; see `findings`."""

    def __init__(self) -> None:
        self.synthetic = False
        """Whether the synthetic mark was seen; it changes no conclusion."""
        self._certain: dict[str, Finding] = {}
        self._columns: dict[str, IdColumn] = {}
        self._table_names: set[str] = set()
        self._names_ids = False
        self._key = ""
        self._subjects = IdColumn("")
        self._paired = IdColumn("")

    @property
    def certain(self) -> bool:
        """Whether reading on can change nothing."""
        return bool(self._certain)

    def add_text(self, block: bytes, column: str | None = None) -> None:
        """Look at text; ids count for `column`, or where it is None for the key or name that stands before each.

        Args:
            block: UTF-8 or any superset of ASCII. Numbers at its very ends are left out (see `find_numbers`).
            column: the column that the text comes from.
        """
        lower = block.lower()
        self.add_marks(lower)
        self._add_named(lower)
        if b"-ds-" in lower or b"-rr-" in lower or b"-ad-" in lower or b"-ar-" in lower:
            ids = len(set(_NOTE_ID.findall(lower)))
            if ids:
                self._note("note id", f"{ids} note_id{'s' if ids > 1 else ''} of MIMIC-IV-Note")
        signs = find_note(block)
        if signs is not None:
            self._note(
                "note",
                f"text in the form of MIMIC's notes{_within(column or '')}: {signs.blanks} de-identification blanks, "
                f"{signs.sections} section headings and {signs.phrases} kinds of de-identified phrase close together",
            )
        values, places = find_numbers(block)
        if column is not None:
            self.add_values(values, column)
        elif values.size:
            self._add_keyed(block, values, places)
            self._add_pairs(values, places)

    def add_marks(self, block: bytes) -> None:
        """Look for the marks of `clinical_evals.markers` only; for weights."""
        lower = block.lower()
        if MIMIC_MARKER.encode() in lower:
            self._note("marker", f"the marker {MIMIC_MARKER!r}")
        if PATIENT_MARKER.encode() in lower:
            self._note(PATIENT_RULE, f"the marker {PATIENT_MARKER!r}")
        self.synthetic = self.synthetic or SYNTHETIC_MARKER.encode() in lower

    def add_values(self, values: Integers, column: str) -> None:
        """Count whole numbers of a column.

        Args:
            values: any integers; those outside the ranges and their neighbourhood do not count.
            column: its name, empty for free text.
        """
        self._table_names.add(column)
        self._count(values, column)

    def _count(self, values: Integers, column: str) -> None:
        if values.size == 0:
            return
        self._column(column).add(values)

    def _column(self, name: str) -> IdColumn:
        if name not in self._columns and len(self._columns) >= MOST_COLUMNS:
            name = ""
        return self._columns.setdefault(name, IdColumn(name))

    def add_column_names(self, names: Iterable[str]) -> None:
        """Look at the names of a table's columns."""
        self.add_text(b"\n" + "\n".join(names).encode(errors="replace") + b"\n", "")

    def add_unreadable(self, reason: str) -> None:
        """Note that something could not be read, and why; the reason must not quote content."""
        self._note("unreadable", reason)

    def add_columns_of(self, other: "Evidence") -> None:
        """Count the numbers of another thing too: one patient a file is still a folder of patients."""
        self._names_ids = self._names_ids or other._names_ids
        self.synthetic = self.synthetic or other.synthetic
        for name, column in other._columns.items():
            self._column(name).add_column(column)

    def findings(self) -> list[Finding]:
        """All reasons to hold back what was read; empty: it looks like nothing of MIMIC's or of patients."""
        columns = list(self._id_columns())
        told = {finding.rule for finding in columns}  # in more detail
        return [finding for rule, finding in self._certain.items() if rule not in told] + columns

    def _id_columns(self) -> Iterable[Finding]:
        patients: set[int] = set()
        neighbours = 0
        for name, column in self._columns.items():
            inside = column.inside
            if not inside.size or column.is_size:
                continue
            place = _within(name) if name in self._table_names else ""
            text = f"{_distinct(column.distinct)} in MIMIC-IV's id ranges{place}"
            if column.has_mimic_name and column.stands_out:
                yield Finding("column name", text)
            elif inside.size >= ENOUGH and column.looks_drawn and (self._names_ids or column.stands_out):
                yield Finding("id column", text)
            elif column.has_patient_name:
                patients.update(inside.tolist())
                neighbours += not column.stands_out
        pairs = self._paired.distinct
        if pairs >= ENOUGH and pairs >= 0.8 * self._subjects.distinct and self._paired.looks_drawn:
            yield Finding(
                "id pairs", f"{pairs:,} pairs of whole numbers, one like a subject_id and one like a hadm_id"
            )
        if len(patients) >= 2 and not neighbours:
            yield Finding(
                "id column", f"{_distinct(len(patients))} in MIMIC-IV's id ranges under names of patient ids"
            )

    def _add_named(self, lower: bytes) -> None:
        named = set()
        for word, pattern in _COLUMN_NAMES.items():
            for match in pattern.finditer(lower) if word in lower else ():
                self._names_ids = True
                number = _NAMED_ID.match(lower, match.end())
                named.update([number[1]] if number else [])
        if named:
            self._note("column name", f"{_distinct(len(named))} in MIMIC-IV's id ranges beside the name of a MIMIC id")

    def _add_keyed(self, block: bytes, values: Integers, places: Integers) -> None:
        """Each number counts for the last name before it that a colon or an equals sign follows."""
        text = np.frombuffer(block, dtype=np.uint8)
        colons = np.flatnonzero((text == ord(":")) | (text == ord("=")))
        last = np.searchsorted(colons, places) - 1
        distinct, which = np.unique(last, return_inverse=True)
        names = {-1: self._key}
        owners: dict[str, int] = {}
        owner = np.empty(distinct.size, dtype=np.int64)
        for place, (at, name) in enumerate(zip(distinct.tolist(), _short_names(text, colons, distinct), strict=True)):
            names[at] = name or _name_before(block, colons, at, names)
            owner[place] = owners.setdefault(names[at], len(owners))
        for name, number in owners.items():
            self._count(values[owner[which] == number], name)
        self._key = _name_before(block, colons, colons.size - 1, names)

    def _add_pairs(self, values: Integers, places: Integers) -> None:
        """Which subject_ids have a hadm_id for their neighbour, as in rows of MIMIC of which no column has a name."""
        kind = values // 10_000_000  # 1: subject_id, 2: hadm_id
        near = np.diff(places) <= NEXT_TO
        after = np.append(near & (kind[1:] == 2), False)
        before = np.insert(near & (kind[:-1] == 2), 0, False)
        self._subjects.add(values[kind == 1])
        self._paired.add(values[(kind == 1) & (after | before)])

    def _note(self, rule: str, text: str) -> None:
        self._certain.setdefault(rule, Finding(rule, text))


def _short_names(text: NDArray[np.uint8], colons: Integers, at: Integers) -> list[str]:
    """The names before these colons, empty where none is found in the few bytes before: seldom many different ones."""
    if not colons.size:
        return [""] * at.size
    places = colons[np.maximum(at, 0)][:, None] + np.arange(-SHORT_KEY, 0)
    before = np.ascontiguousarray(np.where(places >= 0, text[np.maximum(places, 0)], 0))
    kinds, which = np.unique(before.view(f"V{SHORT_KEY}").reshape(-1), return_inverse=True)
    matches = [_KEY.search(kind.tobytes()) for kind in kinds]
    names = [match[1].decode() if match and match.start() > 0 else "" for match in matches]
    return [names[kind] if number >= 0 else "" for kind, number in zip(which.tolist(), at.tolist(), strict=True)]


def _name_before(block: bytes, colons: Integers, at: int, known: Mapping[int, str]) -> str:
    """The name that colon number `at` follows; where none stands there (12:30, {"0": ...}), the one before that."""
    while at not in known:
        end = int(colons[at])
        match = _KEY.search(block[max(0, end - LONGEST_KEY) : end])
        if match:
            return match[1].decode()
        at -= 1
    return known[at]


def _distinct(count: int) -> str:
    return f"{count:,} distinct whole number{'s' if count > 1 else ''}"


def _within(column: str) -> str:
    """The column in words; a name that may itself be content (a first row taken for a header) is not repeated."""
    if not column:
        return ""
    return f" in column {column!r}" if _PLAIN_NAME.fullmatch(column) else " in one column"
