"""From a drug of MIMIC's `prescriptions` to its ATC codes: by GSN, else by NDC. Source: protocol.md 2.2.

MIMIC's `gsn` is a list of GSNs of 6 digits, divided by blanks: a prescription may stand for several ("Insulin Pump").
The files give no names of drugs: names are those of the ATC release.
"""

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from clinical_evals.ontology.atc import ATC
from clinical_evals.ontology.drugs_file import read_drug_map
from clinical_evals.ontology.ndc import normalize_ndc


class DrugClasses(NamedTuple):
    """The ATC codes of one drug."""

    codes: tuple[str, ...]
    """All of them, sorted; empty where the map has none. Of the release that the map was made with."""
    by: Literal["gsn", "ndc", ""]
    """What they were found by."""


class OutsideRelease(NamedTuple):
    """An ATC code of the map that the ATC release does not have."""

    code: str
    gsns: int
    """How many GSNs have it."""
    ndcs: int
    """How many NDCs have it."""
    nearest: str | None
    """The longest group of the release that it lies in."""


class DrugMap:
    """All ATC codes of a drug.

    Args:
        path: a table with the columns gsn, atc and ndc, see `drugs_file`.
    """

    def __init__(self, path: Path) -> None:
        self.table = read_drug_map(path)
        """Both maps, for joins, and what of the file could not be used."""
        content = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
        self.source = f"{path.name} ({self.table.rows:,} rows, SHA-256 {content})"
        """The file in use, as it is written into logs."""

    def classes(self, gsn: str, ndc: str) -> DrugClasses:
        """The ATC codes of a prescription: of its GSNs, else of its NDC.

        Args:
            gsn: MIMIC's `gsn`, several divided by blanks; may be empty.
            ndc: MIMIC's `ndc`, in any form that `normalize_ndc` reads; "0" and empty mean none.
        """
        if codes := self.by_gsn(gsn):
            return DrugClasses(codes, "gsn")
        codes = self.by_ndc(ndc)
        return DrugClasses(codes, "ndc" if codes else "")

    def by_gsn(self, text: str) -> tuple[str, ...]:
        """The ATC codes of all the GSNs of a blank-separated list; those that the map lacks contribute nothing."""
        found = [self.table.by_gsn.get(gsn, ()) for gsn in text.split()]
        return found[0] if len(found) == 1 else tuple(sorted(set().union(*found)))

    def by_ndc(self, text: str) -> tuple[str, ...]:
        """The ATC codes of an NDC; none for what is no NDC."""
        ndc = normalize_ndc(text)
        return self.table.by_ndc.get(ndc, ()) if ndc else ()

    def outside(self, system: ATC) -> tuple[OutsideRelease, ...]:
        """The codes of the map that are not in an ATC release, sorted: withdrawn, moved, or newer than it."""
        gsns, ndcs = (_count_codes(table.values()) for table in (self.table.by_gsn, self.table.by_ndc))
        return tuple(
            OutsideRelease(code, gsns.get(code, 0), ndcs.get(code, 0), system.nearest(code))
            for code in sorted(gsns.keys() | ndcs.keys())
            if system.normalize(code) is None
        )


def _count_codes(drugs: Iterable[tuple[str, ...]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for codes in drugs:
        for code in codes:
            counts[code] = counts.get(code, 0) + 1
    return counts


@cache
def drug_map() -> DrugMap:
    """The one instance of this process, over the file that `resources.find` gives.

    Raises:
        ResourceMissingError: there is no map of drugs on this machine.
        InputError: the file is no such map.
    """
    from clinical_evals.ontology.resources import find, telling_where

    with telling_where("drug-atc"):
        return DrugMap(find("drug-atc"))
