"""What the rows of a log are grouped by: a column of the dataset, or what follows from its gold codes."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

from clinical_evals.errors import InputError, UnknownNameError
from clinical_evals.ontology import get_system
from clinical_evals.scoring.row_groups import OTHER_RACE, RACES, Groups, group_numbers, group_texts, race_group
from clinical_evals.tasks.names import Task

CODE_COLUMNS = ("gender", "race", "insurance", "length_of_stay", "chapters", "gold_codes")
"""What CliBench is broken down by in its Figures 2 and 3."""
CASE_COLUMNS = ("sex", "age")
EDGES: Mapping[str, tuple[float, ...]] = {"length_of_stay": (2, 4, 7, 14)}
"""Where bins begin unless the user says otherwise; of a stay in days. They are ours: the paper names none."""
LONGEST_NAME = MOST_GROUPS = 100
"""Longer texts, or more different ones, are no groups."""

Row = Mapping[str, Any]


class By(NamedTuple):
    """What rows are grouped by."""

    column: str
    """Of the dataset; of CliBench also `chapters`, how many distinct members of the coarsest level the gold codes of a
    row have, and `gold_codes`, how many they are."""
    edges: tuple[float, ...] = ()
    """Of numbers: where a new bin begins; empty: see `EDGES` and `row_groups.group_numbers`."""


class Grouped(NamedTuple):
    """The rows of each group."""

    groups: Groups
    numbers: bool
    """Whether the column has numbers."""
    merged: tuple[str, ...] = ()
    """Of races: those that are in `OTHER_RACE`, as the dataset spells them."""


def parse_by(text: str) -> list[By]:
    """What `--by` asks for.

    >>> parse_by("gender, age:40/65")
    [By(column='gender', edges=()), By(column='age', edges=(40.0, 65.0))]

    Raises:
        InputError: no column, one twice, or edges that are no rising numbers.
    """
    found: list[By] = []
    for part in text.split(","):
        column, colon, edges = part.strip().partition(":")
        try:
            starts = tuple(float(edge) for edge in edges.split("/")) if colon else ()
        except ValueError as error:
            raise InputError(
                f"--by {part.strip()}: expected the numbers at which bins begin, such as age:40/65."
            ) from error
        if not all(isfinite(start) for start in starts) or list(starts) != sorted(set(starts)):
            raise InputError(f"--by {part.strip()}: the numbers at which bins begin must rise.")
        if not column or column in (each.column for each in found):
            raise InputError(f"--by {text}: {f'{column} is there twice' if column else 'a column has no name'}.")
        found.append(By(column, starts))
    return found


def group_rows(by: By, rows: Sequence[Row], task: Task) -> Grouped:
    """Put rows into groups.

    Args:
        by: the column.
        rows: of the dataset, at least one.
        task: whose rows they are.

    Raises:
        UnknownNameError: there is no such column.
        InputError: the column cannot be grouped, or not at numbers.
    """
    values = _values(by.column, rows, task)
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
        return Grouped(group_numbers(values, by.edges or EDGES.get(by.column, ())), numbers=True)
    if by.edges:
        raise InputError(f"--by {by.column}: it has no numbers that bins could begin at. Leave them out.")
    if by.column == "race":
        merged = sorted({value for value in known if race_group(value) == OTHER_RACE})
        return Grouped(group_texts(list(map(race_group, values)), (*RACES, OTHER_RACE)), False, tuple(merged))
    _check_texts(by.column, known)
    return Grouped(group_texts(values), numbers=False)


def _values(column: str, rows: Sequence[Row], task: Task) -> list[Any]:
    if task.system and column == "gold_codes":
        return [len(set(row["codes"])) for row in rows]
    if task.system and column == "chapters":
        system = get_system(task.system)
        return [len({system.path(code)[0] for code in system.require(row["codes"], "column codes")}) for row in rows]
    if column not in rows[0]:
        raise UnknownNameError("column", column, [*rows[0], *(("chapters", "gold_codes") if task.system else ())])
    return [row[column] for row in rows]


def _check_texts(column: str, known: Sequence[Any]) -> None:
    texts = {text for value in known for text in ([value] if isinstance(value, str) else _members(column, value))}
    if any(len(text) > LONGEST_NAME for text in texts):
        raise InputError(f"--by {column}: its texts are longer than {LONGEST_NAME} characters, so they are no groups.")
    if len(texts) > MOST_GROUPS:
        raise InputError(f"--by {column}: {len(texts)} different values are too many groups; at most {MOST_GROUPS}.")


def _members(column: str, value: Any) -> Sequence[str]:
    if isinstance(value, list) and all(isinstance(text, str) for text in value):
        return value
    raise InputError(f"--by {column}: expected texts, lists of texts or numbers, found {type(value).__name__}.")
