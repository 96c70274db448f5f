"""What a text can be matched to: entries (titles, synonyms, names in notes), their codes, and the tree."""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clinical_evals.ontology import CodeSystem

LEFT_OR_RIGHT = ("left", "right", "bilateral")
_SIDE = re.compile(r"\b(left|right|bilateral|both|lt|rt)\b", re.IGNORECASE)
_SIDES = {"lt": "left", "rt": "right", "both": "bilateral"}
_ENCOUNTER = re.compile(r"\b(initial|subsequent) encounter\b|, sequela\b|\bsequelae?\b", re.IGNORECASE)
_NUMBER = re.compile(r"\b(?:[0-9]+|i{1,3}|iv|v|vi{1,3}|first|second|third|fourth|fifth)\b")
_NUMBERS = {
    **{"i": "1", "ii": "2", "iii": "3", "iv": "4", "v": "5", "vi": "6", "vii": "7", "viii": "8"},
    **{"first": "1", "second": "2", "third": "3", "fourth": "4", "fifth": "5"},
}


def sides(text: str) -> frozenset[str]:
    """The sides that a text names: left, right, bilateral."""
    return frozenset(_SIDES.get(side.lower(), side.lower()) for side in _SIDE.findall(text))


def names_encounter(text: str) -> bool:
    """Whether a text says which encounter it is, or that it is a sequela."""
    return _ENCOUNTER.search(text) is not None


def numbers(text: str) -> frozenset[str]:
    """Types, stages and degrees that a text names, as digits: "stage III" and "stage 3" are one."""
    return frozenset(_NUMBERS.get(found, found) for found in _NUMBER.findall(text.lower()))


class Entries:
    """Entries in the order that decides ties, and their codes.

    Args:
        system: the code system.
        codes: of the entries.
        texts: of the entries, parallel; the titles come first.
        titles: how many of them are titles.
    """

    codes: list[str]
    """The distinct codes, in the order of their first entry."""
    code_of: NDArray[np.int64]
    """Place in `codes` of each entry."""

    def __init__(self, system: CodeSystem, codes: Sequence[str], texts: Sequence[str], titles: int) -> None:
        self.system, self.texts, self.titles = system, list(texts), titles
        place: dict[str, int] = {}
        self.code_of = np.array([place.setdefault(code, len(place)) for code in codes], dtype=np.int64)
        self.codes = list(place)

    @cached_property
    def ancestors(self) -> NDArray[np.int64]:
        """What each code stands for at each level, as numbers (codes, levels)."""
        paths = [self.system.path(code) for code in self.codes]
        columns = [np.unique([path[level] for path in paths], return_inverse=True)[1] for level in range(self.levels)]
        return np.stack(columns, axis=1).astype(np.int64)

    @property
    def levels(self) -> int:
        """How many levels the system has."""
        return len(self.system.levels)

    @cached_property
    def contexts(self) -> list[str]:
        """Each entry with the titles above its code."""
        above = [self._above(code) for code in self.codes]
        return [f"{text} {above[code]}" for text, code in zip(self.texts, self.code_of.tolist(), strict=True)]

    def _above(self, code: str) -> str:
        path = self.system.path(code)[:-1]
        levels = zip(self.system.levels, path, strict=False)
        titles = (self.system.level_title(level, ancestor) for level, ancestor in list(levels)[1:] if ancestor != code)
        return " ".join(dict.fromkeys(titles))

    @cached_property
    def entry_above(self) -> NDArray[np.int64]:
        """For each code the entries of its ancestors' titles (codes, levels - 1); its own where there is none."""
        first = np.full(len(self.codes), -1, dtype=np.int64)
        for entry in range(len(self.texts) - 1, -1, -1):
            first[self.code_of[entry]] = entry
        place = {code: first[number] for number, code in enumerate(self.codes)}
        own = first
        rows = [
            [place.get(ancestor, own[number]) for ancestor in self.system.path(code)[:-1]]
            for number, code in enumerate(self.codes)
        ]
        return np.array(rows, dtype=np.int64).reshape(len(self.codes), self.levels - 1)

    @cached_property
    def marks(self) -> NDArray[np.float32]:
        """What a code's title says that a text may leave open (codes, 5).

        Columns: "unspecified", "other", an encounter or sequela, whether codes stand below it, length of the code / 8.
        """
        titles = [self.system.title(code).lower() for code in self.codes]
        headers = self._headers()
        rows = [
            [
                "unspecified" in title or "nos" in title.split(),
                title.startswith("other ") or "other specified" in title,
                names_encounter(title),
                code in headers,
                len(code) / 8,
            ]
            for code, title in zip(self.codes, titles, strict=True)
        ]
        return np.array(rows, dtype=np.float32)

    def _headers(self) -> set[str]:
        bare = [code.replace(".", "") for code in self.codes]
        longer = set(bare)
        prefixes = {code[:length] for code in longer for length in range(1, len(code))}
        return {code for code, short in zip(self.codes, bare, strict=True) if short in prefixes}

    @cached_property
    def sides(self) -> list[frozenset[str]]:
        """The sides that each code's title names."""
        return [sides(self.system.title(code)) for code in self.codes]

    @cached_property
    def numbers(self) -> list[frozenset[str]]:
        """The types and stages that each code's title names."""
        return [numbers(self.system.title(code)) for code in self.codes]


def pairs_of_rows(found: Iterable[NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Lists of entries, one a query, as two parallel arrays: rows of the queries, and entries."""
    lists = list(found)
    rows = np.repeat(np.arange(len(lists), dtype=np.int64), [len(each) for each in lists])
    return rows, (np.concatenate(lists) if lists else np.empty(0, dtype=np.int64))
