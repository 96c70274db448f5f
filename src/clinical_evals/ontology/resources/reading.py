"""Reads a release file as its code system will, to know whether it is what it is said to be."""

from collections.abc import Callable
from pathlib import Path

from clinical_evals.ontology.resources.manifest import Resource


def read_resource(resource: Resource, path: Path) -> str:
    """Read a file as the code system reads it.

    Args:
        resource: what it is said to be.
        path: the file.

    Returns:
        What is in it, in a few words: "78,220 codes, release 2022".

    Raises:
        InputError: it is not that, or it is broken.
    """
    return _READERS[resource.name](path)


def _icd10cm_release(path: Path) -> str:
    from clinical_evals.ontology.icd10cm_tabular import read_tabular

    found = read_tabular(path, None)
    return f"{len(found.titles):,} codes, release {found.release}"


def _icd10pcs_order(path: Path) -> str:
    from clinical_evals.ontology.icd10pcs import ICD10PCS

    system = ICD10PCS(path)
    return f"{len(system.codes()):,} codes, release {system.release}"


def _icd10pcs_tables(path: Path) -> str:
    from clinical_evals.ontology.icd10pcs_files import read_tables, year_of

    titles = read_tables(path)
    return f"{len(titles):,} titles above the codes, release {year_of(path) or 'unknown'}"


def _loinc_hierarchy(path: Path) -> str:
    from clinical_evals.ontology.loinc_files import read_hierarchy

    return f"{len(read_hierarchy(path).groups):,} LOINC numbers below Laboratory"


def _loinc_names(path: Path) -> str:
    from clinical_evals.ontology.loinc_names import read_names

    names = read_names(path, ())  # no names wanted: they are counted, not kept
    return f"names of {len(names.others):,} LOINC numbers, release {names.version or 'unknown'}"


def _lab_items(path: Path) -> str:
    from clinical_evals.ontology.lab_items import LabItems

    found = LabItems(path)
    mapped = sum(item.loinc is not None for item in found.items.values())
    return f"{mapped:,} of {len(found.items):,} lab items have a LOINC number; {len(found.malformed)} malformed values"


def _atc(path: Path) -> str:
    from clinical_evals.ontology.atc import ATC

    system = ATC(path)
    return f"{len(system.codes()):,} codes, release {system.release}"


def _drug_atc(path: Path) -> str:
    from clinical_evals.ontology.drugs_file import read_drug_map

    table = read_drug_map(path)
    return f"{len(table.by_gsn):,} GSNs and {len(table.by_ndc):,} NDCs; {len(table.malformed)} malformed values"


_READERS: dict[str, Callable[[Path], str]] = {
    "icd10cm-release": _icd10cm_release,
    "icd10pcs-order": _icd10pcs_order,
    "icd10pcs-tables": _icd10pcs_tables,
    "loinc-hierarchy": _loinc_hierarchy,
    "loinc-names": _loinc_names,
    "lab-items": _lab_items,
    "atc": _atc,
    "drug-atc": _drug_atc,
}
