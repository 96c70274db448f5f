"""Code systems; every one answers through the one protocol of `CodeSystem`."""

from clinical_evals.errors import UnknownNameError
from clinical_evals.ontology.base import CodeSystem

_RESOURCES = {
    "icd10cm": ("icd10cm-release",),
    "icd10pcs": ("icd10pcs-order", "icd10pcs-tables"),
    "loinc": ("loinc-hierarchy", "loinc-names"),
    "atc": ("atc",),
}
SYSTEMS = tuple(_RESOURCES)
"""The code systems, as `system=` is spelled everywhere."""

__all__ = ["SYSTEMS", "CodeSystem", "get_system"]


def get_system(name: str) -> CodeSystem:
    """The code system of a name, in the release whose files are in use on this machine: one release a process.

    Raises:
        UnknownNameError: the name is none of `SYSTEMS`.
        ResourceMissingError: its files are not on this machine; the message carries the command that brings them.
        InputError: its files cannot be used.
    """
    if name not in SYSTEMS:
        raise UnknownNameError("code system", str(name), SYSTEMS)
    from clinical_evals.ontology.resources import telling_where

    with telling_where(*_RESOURCES[name]):
        return _read_system(name)


def _read_system(name: str) -> CodeSystem:
    match name:
        case "icd10cm":
            from clinical_evals.ontology.icd10cm import icd10cm

            return icd10cm()
        case "icd10pcs":
            from clinical_evals.ontology.icd10pcs import icd10pcs

            return icd10pcs()
        case "loinc":
            from clinical_evals.ontology.loinc import loinc

            return loinc()
        case _:
            from clinical_evals.ontology.atc import atc

            return atc()
