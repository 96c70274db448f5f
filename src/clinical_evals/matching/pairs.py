"""Texts whose codes are known, of each code system: what a matcher is evaluated on.

ICD-10-CM    inclusion terms of the tabular list (official synonyms)    the code below which each stands
ICD-10-PCS   short titles of the CMS order file                        the code of the long title
LOINC        MIMIC's names of its lab items                             the number that the map of lab items gives
ATC          MIMIC's names of drugs                                     all codes that the map of drugs gives

Texts that equal a title are left out: they need no matcher.
"""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.matching.titles import Titles, fold, further_texts
from clinical_evals.ontology import CodeSystem

SOURCES = {
    "icd10cm": "inclusion terms",
    "icd10pcs": "short titles",
    "loinc": "MIMIC's names of lab items",
    "atc": "MIMIC's names of drugs",
}


class Pair(NamedTuple):
    """A text and what it may be taken for."""

    text: str
    codes: tuple[str, ...]
    """Any of them is right; more than one only of drugs, and of texts that the source gives several codes."""


class Split(NamedTuple):
    """The pairs that a matcher is asked, and those that it may know."""

    held_out: list[Pair]
    known: list[Pair]
    """None of their texts is among the held-out ones, in any spelling that `titles.fold` takes for the same."""


def pairs_of(system: CodeSystem, drugs: Path | None = None) -> list[Pair]:
    """All pairs of a system, sorted, each distinct text once.

    Args:
        system: the code system.
        drugs: of ATC: MIMIC's table of prescriptions, for the names of drugs.

    Raises:
        InputError: ATC without a table, or a table that another system has no use for.
        ResourceMissingError: the map of lab items or of drugs is not on this machine.
    """
    if (drugs is None) == (system.name == "atc"):
        raise InputError(
            "the names of drugs are MIMIC's: give its table by --drugs …/hosp/prescriptions.csv.gz."
            if drugs is None
            else f"--drugs {drugs} is for atc; {system.name} has no use for it. Leave it out."
        )
    titles = {fold(system.title(code)) for code in system.codes()}
    found: dict[str, dict[str, set[str]]] = {}
    for text, code in _texts(system, drugs):
        if (same := fold(text)) and same not in titles:
            found.setdefault(same, {}).setdefault(text, set()).add(code)
    pairs = []
    for spellings in found.values():  # one spelling stands for all: the first in sorted order
        codes = tuple(sorted(set().union(*spellings.values())))
        pairs.append(Pair(min(spellings), codes))
    return sorted(pairs)


def _texts(system: CodeSystem, drugs: Path | None) -> list[tuple[str, str]]:
    if system.name == "loinc":
        return _lab_names(system)
    if drugs is not None:
        return _drug_names(system, drugs)
    shaped = filter(system.code_shape.fullmatch, system.codes())
    return [(text, code) for code in shaped for text in system.synonyms(code)]


def _lab_names(system: CodeSystem) -> list[tuple[str, str]]:
    from clinical_evals.ontology.lab_items import lab_items

    items = [(f"{item.label} ({item.fluid})", item.loinc) for item in lab_items().items.values()]
    return [(name, code) for name, number in items if number and (code := system.normalize(number))]


def _drug_names(system: CodeSystem, table: Path) -> list[tuple[str, str]]:
    from clinical_evals.ontology.drugs import drug_map
    from clinical_evals.ontology.drugs_coverage import read_prescriptions

    found = drug_map()
    distinct = dict.fromkeys(read_prescriptions(table))
    codes = ((drug, code) for drug, gsn, ndc in distinct for code in found.classes(gsn, ndc).codes)
    return [(drug, known) for drug, code in codes if drug and (known := system.normalize(code))]


def split(pairs: Sequence[Pair], items: int, seed: int = 0) -> Split:
    """A seeded draw of the pairs that are held out; the others are known.

    Raises:
        InputError: no pair is left, or none is asked for.
    """
    if items < 1:
        raise InputError(f"--items {items}: expected a whole number of at least 1.")
    if not pairs:
        raise InputError("there are no texts with known codes: the files in use have no further names.")
    held = set(random.Random(seed).sample(range(len(pairs)), min(items, len(pairs))))
    return Split(
        [pair for place, pair in enumerate(pairs) if place in held],
        [pair for place, pair in enumerate(pairs) if place not in held],
    )


def further_names(system: CodeSystem, pairs: Sequence[Pair]) -> Titles:
    """The texts of pairs as entries that stand beside the titles."""
    named = [(pair.text, pair.codes[0]) for pair in pairs]
    return further_texts(system, named, f"further names of {system.name} {system.release}")


def known_pairs(system: CodeSystem) -> list[Pair]:
    """What a matcher may know besides the titles: all pairs that need no table of the user's; none for drugs."""
    from clinical_evals.errors import ResourceMissingError

    if system.name == "atc":
        return []
    try:
        return pairs_of(system)
    except ResourceMissingError:  # MIMIC's map of lab items
        return []
