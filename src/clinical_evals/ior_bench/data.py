"""The rows of the `ior-bench` dataset, and the checks that every source of them passes through (protocol.md 1.1).

A row of `static`: `id`, `age` (years, float or None), `sex` ("female", "male" or None), `dialogue` (list of `role`
"patient" | "doctor" and `content`), `department`, `candidates` (list). A row of `dynamic_h1` and `dynamic_h2`: `id`,
`age`, `sex`, the five `RECORD_FIELDS` (text, "" where the record has nothing), `department`, `candidates`.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.ior_bench.dialogue_text import Turn
from clinical_evals.ior_bench.labels import Labels
from clinical_evals.ior_bench.records import Record, RowError, Table
from clinical_evals.ior_bench.static import seen_turns

CONFIGS = ("static", "dynamic_h1", "dynamic_h2")
RECORD_FIELDS = (
    "chief_complaint",
    "history_of_present_illness",
    "past_medical_history",
    "personal_history",
    "family_history",
)
STATIC_FEATURES = ("id", "age", "sex", "dialogue", "department", "candidates")
DYNAMIC_FEATURES = ("id", "age", "sex", *RECORD_FIELDS, "department", "candidates")

Row = dict[str, Any]


class Skipped(NamedTuple):
    """A record that was left out: `where` names file and line, `reason` what is wrong with it."""

    where: str
    reason: str


class Read(NamedTuple):
    """What a source gave: rows, records left out, and what was changed or is odd (for the user to read)."""

    rows: list[Row]
    skipped: list[Skipped]
    notes: tuple[str, ...] = ()


class Draft(NamedTuple):
    """A row before its candidates are known, with its label as the source spells it."""

    row: Row
    empty_turns: int = 0


def gather_rows(table: Table, draft: Callable[[Record], Draft], labels: Labels, skip_invalid: bool) -> Read:
    """The rows of a table, with one spelling a department and the candidates.

    Args:
        table: the records.
        draft: makes a row of a record, or raises `RowError`; its `department` is the label as written.
        labels: the hospital's list, or an empty `Labels` that collects the departments of the valid rows.
        skip_invalid: list what cannot be used instead of stopping at it.

    Raises:
        InputError: the first record that cannot be used (file, line, reason, way out), or no usable record at all.
    """
    rows: list[Row] = []
    skipped: list[Skipped] = []
    notes = _Notes()
    places: dict[str, str] = {}
    for record in table.records:
        where = table.where(record)
        try:
            if record.problem:
                raise RowError(record.problem)
            made = draft(record)
            _check_id(made.row["id"], where, places)
            written = made.row["department"]
            made.row["department"] = labels.find(written)
        except RowError as error:
            if not skip_invalid:
                raise InputError(_stop(where, str(error))) from error
            skipped.append(Skipped(where, str(error)))
            continue
        places[made.row["id"]] = where
        notes.take(made, written, where)
        rows.append(made.row)
    _check_any(table, rows, skipped)
    for row in rows:
        row["candidates"] = labels.names
    return Read(rows, skipped, notes.lines())


def record_row(row_id: str, age: float | None, sex: str | None, fields: Sequence[str], department: str) -> Row:
    """A row of the dynamic configs, without candidates yet; `fields` are the texts of `RECORD_FIELDS`.

    Raises:
        RowError: all five fields are empty.
    """
    texts = [field.strip() for field in fields]
    if not any(texts):
        raise RowError("the record is empty; expected text in at least one of chief complaint, histories")
    described = dict(zip(RECORD_FIELDS, texts, strict=True))
    return {"id": row_id, "age": age, "sex": sex, **described, "department": department, "candidates": []}


def dialogue_row(row_id: str, age: float | None, sex: str | None, turns: Sequence[Turn], department: str) -> Row:
    """A row of the static config, without candidates yet."""
    dialogue = [{"role": turn.role, "content": turn.content} for turn in turns]
    return {"id": row_id, "age": age, "sex": sex, "dialogue": dialogue, "department": department, "candidates": []}


class _Notes:
    """Counts of what was changed or is odd in the rows that are kept."""

    def __init__(self) -> None:
        self._empty_turns = self._repeated = 0
        self._respelled: dict[str, str] = {}
        self._seen: set[str] = set()
        self._told: list[str] = []
        self._guessed = 0

    def take(self, made: Draft, written: str, where: str) -> None:
        self._empty_turns += made.empty_turns
        if written != made.row["department"]:
            self._respelled[written] = made.row["department"]
        content = repr([value for name, value in made.row.items() if name != "id"])
        self._repeated += content in self._seen
        if "dialogue" in made.row:
            shown = seen_turns(made.row["dialogue"])
            told = {turn["role"] for turn in shown if made.row["department"] in turn["content"]}
            self._told += [where] if "doctor" in told else []
            self._guessed += told == {"patient"}
        self._seen.add(content)

    def lines(self) -> tuple[str, ...]:
        respelled = "; ".join(f"{old!r} → {new!r}" for old, new in list(self._respelled.items())[:10])
        notes = {
            f"turns without text left out of the dialogues: {self._empty_turns}": self._empty_turns,
            f"labels in one spelling (width, spaces, case): {respelled}": self._respelled,
            f"rows that repeat an earlier one in all but the id, kept: {self._repeated}": self._repeated,
        }
        notes |= {
            "rows in which a doctor turn before the last one names the department, so that the prompt gives it away: "
            f"{len(self._told)}, the first at {self._told[0] if self._told else ''}": self._told,
            f"rows in which the patient names the department, as patients do: {self._guessed}": self._guessed,
        }
        return tuple(note for note, count in notes.items() if count)


def _check_id(row_id: str, where: str, places: dict[str, str]) -> None:
    if not row_id:
        raise RowError("the id is empty; give every record its own, or name no id column")
    if row_id in places:
        raise RowError(f"the id {row_id!r} is already that of {places[row_id]}; give every record its own")


def _check_any(table: Table, rows: list[Row], skipped: list[Skipped]) -> None:
    if rows:
        return
    if not skipped:
        raise InputError(f"{table.path} has a header but no record; expected at least one below it.")
    raise InputError(
        f"none of the {len(skipped)} records of {table.path} can be used. The first: {skipped[0].where}: "
        f"{skipped[0].reason}. Correct the file, or the columns that were named."
    )


def _stop(where: str, reason: str) -> str:
    return (
        f"{where}: {reason}. Correct the record, or leave out such records, counted and listed, with --skip-invalid "
        "(skip_invalid=True in Python)."
    )
