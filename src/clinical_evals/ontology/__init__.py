"""Code systems: ICD-10-CM today; every system answers through the one protocol of `CodeSystem`."""

from clinical_evals.errors import UnknownNameError
from clinical_evals.ontology.base import CodeSystem

SYSTEMS = ("icd10cm",)
"""The code systems of this version, as `system=` is spelled everywhere."""

__all__ = ["SYSTEMS", "CodeSystem", "get_system"]


def get_system(name: str) -> CodeSystem:
    """The code system of a name.

    Raises:
        UnknownNameError: the name is none of `SYSTEMS`.
    """
    if name == "icd10cm":
        from clinical_evals.ontology.icd10cm import icd10cm

        return icd10cm()
    raise UnknownNameError("code system", str(name), SYSTEMS)
