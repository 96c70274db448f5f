"""What generated tables are drawn from: lab items, drugs, codes and the words of the columns of admissions."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

_FILE = Path(__file__).with_name("generated_catalog.json")


class LabItem(NamedTuple):
    """A lab item and the level of its results."""

    itemid: str
    label: str
    fluid: str
    category: str
    unit: str
    mean: float
    deviation: float
    decimals: int
    low: float | None
    """Lower limit of normal; None where there is none."""
    high: float | None


class Drug(NamedTuple):
    """A drug as MIMIC's prescriptions name it."""

    name: str
    gsn: str
    ndc: str
    """11 digits, "0" or empty."""
    strength: str
    dose: str
    unit: str
    route: str
    times: str


class Catalog(NamedTuple):
    """The lists."""

    labs: tuple[LabItem, ...]
    drugs: tuple[Drug, ...]
    diagnoses: Mapping[str, tuple[tuple[str, str], ...]]
    """Code and title, by "9" and "10", the revision."""
    procedures: Mapping[str, tuple[str, ...]]
    """Codes by revision."""
    values: Mapping[str, Sequence[str]]
    """Words of the other columns."""


@cache
def built_in_catalog() -> Catalog:
    """A small list of each, which the maps of lab items and drugs cover (except drugs that have no NDC)."""
    content: dict[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))
    return Catalog(
        tuple(LabItem(*row) for row in content.pop("labs")),
        tuple(Drug(*row) for row in content.pop("drugs")),
        {revision: tuple(map(tuple, content.pop(f"diagnoses_{revision}"))) for revision in ("9", "10")},
        {revision: tuple(content.pop(f"procedures_{revision}")) for revision in ("9", "10")},
        content,
    )
