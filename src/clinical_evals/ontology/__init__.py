"""Code systems; every one answers through the one protocol of `CodeSystem`."""

from clinical_evals.errors import UnknownNameError
from clinical_evals.ontology.base import CodeSystem

SYSTEMS = ("icd10cm", "icd10pcs", "loinc", "atc")
"""The code systems, as `system=` is spelled everywhere."""

__all__ = ["SYSTEMS", "CodeSystem", "get_system"]


def get_system(name: str) -> CodeSystem:
    """The code system of a name, in the release whose files are in use on this machine: one release a process.

    Raises:
        UnknownNameError: the name is none of `SYSTEMS`.
        ResourceMissingError: its files are not on this machine; the message carries the command that brings them.
        InputError: its files cannot be used.
    """
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
        case "atc":
            from clinical_evals.ontology.atc import atc

            return atc()
    raise UnknownNameError("code system", str(name), SYSTEMS)
