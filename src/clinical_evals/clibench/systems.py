"""The code systems and maps that decide the gold of CliBench's tasks, as far as this machine has them."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from clinical_evals.errors import ResourceMissingError
from clinical_evals.ontology import CodeSystem, get_system

Found = TypeVar("Found")


class Systems(NamedTuple):
    """The code systems and maps that decide the gold; one that is None has no task."""

    icd10cm: CodeSystem
    icd10pcs: CodeSystem | None = None
    loinc: CodeSystem | None = None
    atc: CodeSystem | None = None
    lab_items: Any = None
    drug_map: Any = None


def find_systems() -> tuple[Systems, list[str]]:
    """The code systems and maps of this machine, and the tasks that are lost without them."""
    from clinical_evals.ontology.drugs import drug_map
    from clinical_evals.ontology.lab_items import lab_items

    losses: list[str] = []

    def try_to(find: Callable[[], Found], task: str) -> Found | None:
        try:
            return find()
        except ResourceMissingError as error:
            losses.append(f"the task {task} is left out: {error}")
            return None

    pcs = try_to(lambda: get_system("icd10pcs"), "procedure")
    loinc = try_to(lambda: (get_system("loinc"), lab_items()), "lab_order")
    atc = try_to(lambda: (get_system("atc"), drug_map()), "prescription")
    return (
        Systems(
            get_system("icd10cm"),
            pcs,
            loinc[0] if loinc else None,
            atc[0] if atc else None,
            loinc[1] if loinc else None,
            atc[1] if atc else None,
        ),
        losses,
    )


def releases(systems: Systems) -> dict[str, str]:
    """By name the releases in use, for cards and logs."""
    found = {system.name: system.release for system in systems[:4] if system is not None}
    if systems.lab_items is not None:
        found["lab-items"] = f"{len(systems.lab_items.items)} lab items"
    if systems.drug_map is not None:
        found["drug-atc"] = systems.drug_map.source
    return found
