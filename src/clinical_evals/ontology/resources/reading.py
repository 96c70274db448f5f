"""Reads a release file as its code system will, to know whether it is what it is said to be."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from clinical_evals.ontology.resources.manifest import Resource


class Read(NamedTuple):
    """What a reader found in a file."""

    content: str
    """In a few words: "78,220 codes, release 2022"."""
    entries: int
    """How many codes, items or rows that are."""


def read_resource(resource: Resource, path: Path) -> Read:
    """Read a file as the code system reads it.

    Args:
        resource: what it is said to be.
        path: the file.

    Raises:
        InputError: it is not that, or it is broken.
    """
    return _READERS[resource.name](path)


def _icd10cm_release(path: Path) -> Read:
    from clinical_evals.ontology.icd10cm_tabular import read_tabular

    found = read_tabular(path, None)
    return Read(f"{len(found.titles):,} codes, release {found.release}", len(found.titles))


def _icd10pcs_order(path: Path) -> Read:
    from clinical_evals.ontology.icd10pcs import ICD10PCS

    system = ICD10PCS(path)
    return Read(f"{len(system.codes()):,} codes, release {system.release}", len(system.codes()))


def _icd10pcs_tables(path: Path) -> Read:
    from clinical_evals.ontology.icd10pcs_files import read_tables, year_of

    titles = read_tables(path)
    return Read(f"{len(titles):,} titles above the codes, release {year_of(path) or 'unknown'}", len(titles))


def _loinc_hierarchy(path: Path) -> Read:
    from clinical_evals.ontology.loinc_files import read_hierarchy

    numbers = len(read_hierarchy(path).groups)
    return Read(f"{numbers:,} LOINC numbers below Laboratory", numbers)


def _loinc_names(path: Path) -> Read:
    from clinical_evals.ontology.loinc_names import read_names

    names = read_names(path, ())  # no names wanted: they are counted, not kept
    return Read(
        f"names of {len(names.others):,} LOINC numbers, release {names.version or 'unknown'}", len(names.others)
    )


def _lab_items(path: Path) -> Read:
    from clinical_evals.ontology.lab_items import LabItems

    found = LabItems(path)
    mapped = sum(item.loinc is not None for item in found.items.values())
    number = len(found.items)
    return Read(
        f"{mapped:,} of {number:,} lab items have a LOINC number; {len(found.malformed)} malformed values", number
    )


def _atc(path: Path) -> Read:
    from clinical_evals.ontology.atc import ATC

    system = ATC(path)
    return Read(f"{len(system.codes()):,} codes, release {system.release}", len(system.codes()))


def _drug_atc(path: Path) -> Read:
    from clinical_evals.ontology.drugs_file import read_drug_map

    table = read_drug_map(path)
    return Read(
        f"{len(table.by_gsn):,} GSNs and {len(table.by_ndc):,} NDCs; {len(table.malformed)} malformed values",
        table.rows,
    )


_READERS: dict[str, Callable[[Path], Read]] = {
    "icd10cm-release": _icd10cm_release,
    "icd10pcs-order": _icd10pcs_order,
    "icd10pcs-tables": _icd10pcs_tables,
    "loinc-hierarchy": _loinc_hierarchy,
    "loinc-names": _loinc_names,
    "lab-items": _lab_items,
    "atc": _atc,
    "drug-atc": _drug_atc,
}
