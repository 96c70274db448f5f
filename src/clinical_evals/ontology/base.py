"""What every code system offers, and what is the same in all of them."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clinical_evals.errors import InputError

INVALID = "!"  # put before an invalid code where it stands for itself: it can then equal no ancestor of a valid one


class CodeSystem(ABC):
    """One release of one hierarchical code system.

    A code is text in the system's canonical form. A text that is no code of the release is `None`, never a guess.
    """

    name: str
    """How the system is spelled everywhere: icd10cm, icd10pcs, loinc or atc."""
    release: str
    """The release in use, as it is written into logs and cache keys."""
    levels: tuple[str, ...]
    """The levels that are scored, from the coarsest to the full code."""
    code_shape: re.Pattern[str]
    """Matches the whole of a token that looks like a code of this system, valid or not (upper case, no spaces)."""

    @abstractmethod
    def normalize(self, text: str) -> str | None:
        """The canonical form of a code in any usual spelling; None for what is not in the release."""

    @abstractmethod
    def codes(self) -> Sequence[str]:
        """All codes of the release in the release's own order."""

    @abstractmethod
    def title(self, code: str) -> str:
        """The official title of a valid canonical code. KeyError for anything else."""

    @abstractmethod
    def path(self, code: str) -> tuple[str, ...]:
        """The ancestor of a valid canonical code at each level; itself where it has none. KeyError for anything else."""

    def synonyms(self, code: str) -> tuple[str, ...]:
        """Further official names of a code."""
        return ()

    # Arrays of codes

    def normalize_all(self, texts: Iterable[str]) -> list[str | None]:
        """`normalize` for many texts; each distinct text is looked at once."""
        known: dict[str, str | None] = {}
        result = []
        for text in texts:
            if text not in known:
                known[text] = self.normalize(text)
            result.append(known[text])
        return result

    def require(self, texts: Iterable[str], where: str) -> list[str]:
        """Canonical codes, or an InputError that names `where` and the first text that is no code of the release."""
        texts = list(texts)
        codes = self.normalize_all(texts)
        for text, code in zip(texts, codes, strict=True):
            if code is None:
                raise InputError(f"{where}: {text!r} is not a code of {self.name} {self.release}. {self.explain(text)}".strip())
        return [code for code in codes if code is not None]

    def explain(self, text: str) -> str:
        """Why a text is no code, as far as it can be told."""
        return "Correct the reference, or leave the row out."

    @cached_property
    def _table(self) -> "PathTable":
        return PathTable({code: self.path(code) for code in self.codes()}, len(self.levels))

    def path_ids(self, codes: Sequence[str]) -> "tuple[NDArray[np.int64], NDArray[np.int32]]":
        """Order keys and ancestors of many canonical or invalid codes, as `scoring.hierarchy.count` wants them.

        Returns the place of every code in hierarchical order (n,) and the ancestors by place (places, levels).
        """
        return self._table.lookup(codes)


class PathTable:
    """Ancestors of all codes as integers, ordered so that at every level equal ancestors are neighbours."""

    def __init__(self, paths: Mapping[str, tuple[str, ...]], levels: int) -> None:
        ordered = sorted(paths, key=lambda code: (paths[code], code))
        self.place = {code: i for i, code in enumerate(ordered)}
        names = np.array([paths[code] for code in ordered], dtype=object).reshape(len(ordered), levels)
        # A new ancestor starts wherever any coarser or equal level changes: ids are then non-decreasing in every column.
        change = np.ones(names.shape, dtype=bool)
        change[1:] = np.logical_or.accumulate(names[1:] != names[:-1], axis=1)
        self.ancestors = (np.cumsum(change, axis=0) - 1).astype(np.int32)

    def lookup(self, codes: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """See `CodeSystem.path_ids`. Codes that are not in the table each get a place and ancestors of their own."""
        place = self.place
        try:
            return np.fromiter(map(place.__getitem__, codes), dtype=np.int64, count=len(codes)), self.ancestors
        except KeyError:
            pass
        extra = {code: len(place) + i for i, code in enumerate(sorted(set(codes) - place.keys()))}
        both = place | extra if len(extra) > len(codes) // 4 else _Chain(place, extra)
        ids = np.fromiter(map(both.__getitem__, codes), dtype=np.int64, count=len(codes))
        first = self.ancestors[-1].astype(np.int64) + 1 if len(self.ancestors) else np.zeros(self.ancestors.shape[1], np.int64)
        own = (first + np.arange(len(extra))[:, None]).astype(np.int32)
        return ids, np.concatenate([self.ancestors, own])


class _Chain(dict[str, int]):
    """The big table, with the few codes that it lacks beside it (and not a copy of it)."""

    def __init__(self, place: Mapping[str, int], extra: Mapping[str, int]) -> None:
        super().__init__(extra)
        self._place = place

    def __missing__(self, code: str) -> int:
        return self._place[code]
