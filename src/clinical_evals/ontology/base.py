"""What every code system offers, and what is the same in all of them."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from clinical_evals.errors import InputError, UnknownNameError

_GAPS = re.compile(r"[\s.\u00a0\u200b]+")
_EDGES = " \t\r\n.,;:()[]{}<>\"'*_`"


def bare_code(text: str) -> str:
    """A code as it is written, without brackets, quotes and punctuation around it, spaces and dots; upper case.

    >>> [bare_code(text) for text in ("e11.9", " [I25 . 10] ", "0ft4 4zz,")]
    ['E119', 'I2510', '0FT44ZZ']
    """
    return _GAPS.sub("", text.strip(_EDGES)).upper()


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
    outside_average: tuple[str, ...] = ()
    """Those of the levels that the average over the levels leaves out."""
    code_shape: re.Pattern[str]
    """Matches the whole of a token that looks like a code of this system, valid or not (upper case, no spaces)."""
    note: str = ""
    """What whoever reads a result has to know of the files in use: stand-ins, other years, gaps. Often empty."""

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
        """Ancestor of a valid canonical code at each level, itself where it has none. KeyError for anything else."""

    def synonyms(self, code: str) -> tuple[str, ...]:
        """Further official names of a code."""
        return ()

    def noted_names(self, code: str) -> tuple[str, ...]:
        """What the release calls a code in passing, in notes: looser than synonyms, and of whole categories too."""
        return ()

    def names(self, code: str) -> tuple[str, ...]:
        """Further names that a text may equal, and that are embedded beside the title.

        Not the synonyms, which a matcher is evaluated on.
        """
        return ()

    def preference(self, code: str) -> int:
        """Of codes with one and the same title a text stands for the one whose preference is least.

        By default the longest code: down the line it shares all ancestors with the others, and it is the one that can
        be billed, so the one that can be gold.
        """
        return -len(code)

    def ancestors(self, level: str) -> frozenset[str]:
        """What the codes of the release stand for at one of `levels`.

        Raises:
            UnknownNameError: no such level.
        """
        if level not in self.levels:
            raise UnknownNameError(f"level of {self.name}", level, self.levels)
        return self._ancestors[self.levels.index(level)]

    @cached_property
    def _ancestors(self) -> tuple[frozenset[str], ...]:
        return tuple(map(frozenset, zip(*map(self.path, self.codes()), strict=True)))

    def level_title(self, level: str, ancestor: str) -> str:
        """The title of what codes stand for at a level; where the files in use have none, `ancestor` itself.

        This is the title of a code. A system overrides it for the levels whose ancestors are no codes.

        Raises:
            KeyError: no code of the release has that ancestor at that level.
            UnknownNameError: no such level.
        """
        if ancestor not in self.ancestors(level):
            raise KeyError(ancestor)
        return self.title(ancestor)

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
                raise InputError(
                    f"{where}: {text!r} is not a code of {self.name} {self.release}. {self.explain(text)}".strip()
                )
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
        # A new ancestor starts where this or a coarser level changes: ids are then non-decreasing in every column.
        change = np.ones(names.shape, dtype=bool)
        change[1:] = np.logical_or.accumulate(names[1:] != names[:-1], axis=1)
        self.ancestors = np.asfortranarray(np.cumsum(change, axis=0) - 1, dtype=np.int32)  # read by column

    def lookup(self, codes: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """See `CodeSystem.path_ids`. Codes that are not in the table each get a place and ancestors of their own."""
        ids = np.fromiter(map(self.place.get, codes, repeat(-1)), dtype=np.int64, count=len(codes))
        missing = np.flatnonzero(ids < 0)
        if not len(missing):
            return ids, self.ancestors
        unknown = [codes[i] for i in missing.tolist()]
        place = {code: len(self.place) + i for i, code in enumerate(sorted(set(unknown)))}
        ids[missing] = [place[code] for code in unknown]
        own = self.ancestors.max(axis=0, initial=-1) + 1 + np.arange(len(place), dtype=np.int32)[:, None]
        return ids, np.asfortranarray(np.concatenate([self.ancestors, own]))
