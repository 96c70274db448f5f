"""An admission of the demo, with what a note mentions of it; times and values are text as in MIMIC's files."""

from datetime import datetime
from typing import NamedTuple


class Coded(NamedTuple):
    """A diagnosis or a procedure."""

    code: str
    version: str
    """"9" or "10"."""
    title: str
    """MIMIC's long title; empty for procedures, and where the dictionary lacks the code."""


class Lab(NamedTuple):
    """A result that was reported."""

    charttime: str
    label: str
    fluid: str
    value: str
    unit: str
    abnormal: bool


class Drug(NamedTuple):
    """A drug that was ordered."""

    start: str
    stop: str
    name: str
    dose: str
    unit: str
    route: str
    times: str
    """Doses in 24 hours; empty where it is given as needed."""


class Stay(NamedTuple):
    """An admission."""

    subject_id: int
    hadm_id: int
    gender: str
    age: int
    admitted: datetime
    discharged: datetime
    kind: str
    """MIMIC's admission_type."""
    destination: str
    """MIMIC's discharge_location; empty where it is not known."""
    died: bool
    service: str
    """The first service; empty where there is none."""
    diagnoses: tuple[Coded, ...]
    procedures: tuple[Coded, ...]
    labs: tuple[Lab, ...]
    drugs: tuple[Drug, ...]
