"""Rows put into groups by a column: texts by their value, numbers by bins, MIMIC's races as in CliBench's Figure 2."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import isnan

import numpy as np
from numpy.typing import NDArray

Groups = Mapping[str | None, Sequence[int]]
"""The places of the rows of each group, in the order in which groups are shown; None: those without a value."""

MOST_VALUES = 12
"""So many different whole numbers are groups by themselves; more are put into bins."""
BINS = 4
RACES = ("WHITE", "BLACK", "HISPANIC", "ASIAN")
OTHER_RACE = "OTHER/UNKNOWN"


def group_texts(values: Sequence[str | Sequence[str] | None], first: Sequence[str] = ()) -> Groups:
    """Rows by text; a row with a list is in the group of each of its texts.

    Args:
        values: of each row. None, an empty list and a blank text are no value.
        first: groups that come first, in this order; then come the largest, equal ones by name.
    """
    places: dict[str | None, list[int]] = {}
    for place, value in enumerate(values):
        texts = [value] if value is None or isinstance(value, str) else value
        named: set[str | None] = {text for text in texts if text is not None and text.strip()}
        for name in named or {None}:
            places.setdefault(name, []).append(place)
    order = {name: rank for rank, name in enumerate(first)}

    def rank(name: str | None) -> tuple[bool, int, int, str]:
        return name is None, order.get(name or "", len(order)), -len(places[name]), name or ""

    return {name: places[name] for name in sorted(places, key=rank)}


def group_numbers(values: Sequence[float | None], edges: Sequence[float] = ()) -> Groups:
    """Rows by number, from low to high.

    Args:
        values: of each row; None and NaN are no value.
        edges: where a new bin begins, rising. Without them a few different whole numbers (`MOST_VALUES`) are groups by
            themselves, and others are put into `BINS` bins of about as many rows, which begin at numbers that occur.
    """
    known = np.array([value for value in values if not _is_missing(value)], dtype=float)
    numbers = np.unique(known)
    if not len(edges) and len(numbers) <= MOST_VALUES and np.all(numbers == np.round(numbers)):
        names = [_said(number) for number in numbers]
    else:
        starts = tuple(edges) or _quantile_edges(known)
        bins = _bin_names(starts)
        names = [bins[place] for place in np.searchsorted(starts, numbers, "right")]
    name_of = dict(zip(numbers.tolist(), names, strict=True))
    places: dict[str | None, list[int]] = {name: [] for name in (*names, None)}  # rising, as the numbers do
    for place, value in enumerate(values):
        places[None if _is_missing(value) else name_of[value]].append(place)
    return {name: found for name, found in places.items() if found}


def race_group(race: str | None) -> str | None:
    """MIMIC's races, put together by the word that they begin with; None stays None.

    >>> [race_group(race) for race in ("WHITE - RUSSIAN", "HISPANIC OR LATINO", "BLACK/CAPE VERDEAN", "PORTUGUESE")]
    ['WHITE', 'HISPANIC', 'BLACK', 'OTHER/UNKNOWN']
    """
    if race is None or not race.strip():
        return None
    word = race.strip().upper().replace("/", " ").split()[0]
    return word if word in RACES else OTHER_RACE


def _is_missing(value: float | None) -> bool:
    return value is None or isnan(value)


def _quantile_edges(known: NDArray[np.float64]) -> tuple[float, ...]:
    edges = np.unique(np.quantile(known, np.arange(1, BINS) / BINS, method="higher"))
    return tuple(float(edge) for edge in edges if edge > known.min())


def _bin_names(edges: Sequence[float]) -> list[str]:
    """
    >>> _bin_names((2, 4.5))
    ['under 2', '2 to under 4.5', '4.5 and more']
    """
    if not edges:
        return ["any number"]
    said = [_said(edge) for edge in edges]
    between = [f"{low} to under {high}" for low, high in pairwise(said)]
    return [f"under {said[0]}", *between, f"{said[-1]} and more"]


def _said(number: float) -> str:
    return f"{number:.12g}"
