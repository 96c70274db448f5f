"""MIMIC-IV's lab items and the LOINC numbers that they map to, from mimic-code's d_labitems_to_loinc.csv.

An itemid is text (50912). An item has at most one LOINC number; several items may share one. The released code of
CliBench took the itemid itself for a LOINC number (protocol.md 2.2); that is in `loinc_official`.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.ontology.base import CodeSystem
from clinical_evals.ontology.loinc_number import MalformedCode, explain_form
from clinical_evals.ontology.table_file import csv_columns, read_text_columns

ITEMID_COLUMNS = ("itemid (omop_source_code)", "itemid")
"""How the column of item ids may be called; the first is that of mimic-code 2.4.0."""
COLUMNS = ("label", "fluid", "category", "omop_concept_code")
_GIVE = "Give mimic-code's own file d_labitems_to_loinc.csv: clinical-evals resources add lab-items FILE"
_SHOWN = 20


class LabItem(NamedTuple):
    """A lab item of MIMIC, as the map describes it."""

    itemid: str
    label: str
    fluid: str
    category: str
    loinc: str | None
    """LOINC number of right form and check digit, of any release; None where the map has none."""


class UncoveredItem(NamedTuple):
    """A lab item of a table for which there is no LOINC number."""

    itemid: str
    label: str
    """As the map has it; empty where it does not have the item."""
    rows: int
    why: str


class LabCoverage(NamedTuple):
    """How many distinct lab items of a table, and how many of its rows, have a LOINC number."""

    items: int
    rows: int
    known_items: int
    """Items that the map has, with or without a LOINC number."""
    known_rows: int
    covered_items: int
    """Items with a LOINC number; of the release, where one was given."""
    covered_rows: int
    without: tuple[UncoveredItem, ...]
    """All the others, the most frequent first."""

    def describe(self) -> str:
        """The counts and the most frequent gaps in lines of text."""
        lines = [
            f"{self.covered_items:,} of {self.items:,} lab items have a LOINC number "
            f"({self.covered_rows:,} of {self.rows:,} rows); {self.known_items:,} items are in the map"
        ]
        lines += [f"  {item.itemid} {item.label!r}: {item.rows:,} rows, {item.why}" for item in self.without[:_SHOWN]]
        more = len(self.without) - _SHOWN
        return "\n".join([*lines, f"  and {more:,} more"] if more > 0 else lines)


class LabItems:
    """The lab items of a map.

    Args:
        path: d_labitems_to_loinc.csv in mimic-code's layout; the columns are `COLUMNS` and one of `ITEMID_COLUMNS`.

    Raises:
        InputError: the file cannot be read, is another table or a web page, is cut off within a line, has an itemid
            twice, or no row of it can be used.
        ResourceMissingError: a Parquet file, but pyarrow is not installed.
    """

    def __init__(self, path: Path) -> None:
        self.items: dict[str, LabItem] = {}
        """By itemid, in the order of the file."""
        self._faults: dict[str, MalformedCode] = {}
        malformed: list[MalformedCode] = []
        present = csv_columns(path)
        itemid_column = next((name for name in ITEMID_COLUMNS if name in present), ITEMID_COLUMNS[0])
        for where, values in read_text_columns(path, (itemid_column, *COLUMNS), _GIVE):
            itemid, label, fluid, category, code = map(str.strip, values)
            if not (itemid.isascii() and itemid.isdecimal()):
                malformed.append(MalformedCode(where, itemid, "expected an itemid, digits only"))
                continue
            if itemid in self.items:
                raise InputError(f"{where}: itemid {itemid} stands there a second time. {_GIVE}")
            if code and (why := explain_form(code)):
                self._faults[itemid] = MalformedCode(where, code, why)
                malformed.append(self._faults[itemid])
            usable = code and itemid not in self._faults
            self.items[itemid] = LabItem(itemid, label, fluid, category, code if usable else None)
        if not any(item.loinc for item in self.items.values()):
            raise InputError(f"{path}: none of its {len(self.items)} lab items has a LOINC number. {_GIVE}")
        self.malformed = tuple(malformed)
        """Item ids and LOINC numbers that are none, in the order of the file; the item is kept without its number."""

    def loinc(self, itemid: str) -> str | None:
        """The LOINC number of an item; None where the map has none."""
        item = self.items.get(itemid)
        return item.loinc if item else None

    def label(self, itemid: str) -> str:
        """What MIMIC calls an item. KeyError for one that the map does not have."""
        return self.items[itemid].label

    def coverage(self, rows: Mapping[str, int], system: CodeSystem | None = None) -> LabCoverage:
        """How much of a table the map covers.

        Args:
            rows: how many rows each distinct itemid has in it; the ids are text, as in the map.
            system: LOINC; an item then counts as covered only where its number is a code of that release.
        """
        reasons = {itemid: self._why_not(itemid, system) for itemid in rows}
        known = [itemid for itemid in rows if itemid in self.items]
        covered = [itemid for itemid in known if not reasons[itemid]]
        without = [
            UncoveredItem(itemid, self.label(itemid) if itemid in self.items else "", rows[itemid], why)
            for itemid, why in reasons.items()
            if why
        ]
        return LabCoverage(
            items=len(rows),
            rows=sum(rows.values()),
            known_items=len(known),
            known_rows=sum(rows[itemid] for itemid in known),
            covered_items=len(covered),
            covered_rows=sum(rows[itemid] for itemid in covered),
            without=tuple(sorted(without, key=lambda item: (-item.rows, item.itemid))),
        )

    def _why_not(self, itemid: str, system: CodeSystem | None) -> str:
        """Why an item has no LOINC number; empty where it has one."""
        if itemid not in self.items:
            return "not in the map"
        if fault := self._faults.get(itemid):
            return f"its LOINC number in the map, {fault.found!r}, is malformed"
        code = self.items[itemid].loinc
        if code is None:
            return "no LOINC number in the map"
        if system and system.normalize(code) is None:
            return f"{code} is not in this release of {system.name}"
        return ""


@cache
def lab_items() -> LabItems:
    """The map of this process, from the file that `resources.find` gives.

    Raises:
        ResourceMissingError: it is not on this machine.
        InputError: the file is not what it should be.
    """
    from clinical_evals.ontology.resources import find, telling_where

    with telling_where("lab-items"):
        return LabItems(find("lab-items"))
