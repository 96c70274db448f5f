"""What a dataset says of itself: invented, or built from MIMIC, which must not leave the machine.

Each data file states its source by a mark of `clinical_evals.markers`: a JSON file in `source`, a Parquet file in its
metadata under `SOURCE_KEY`. The dataset's info and card then say so, with the same mark.
"""

from collections.abc import Collection

from clinical_evals.markers import MIMIC_MARKER, SYNTHETIC_MARKER

SOURCE_KEY = b"clinical_evals_source"
"""The key of the mark in a Parquet file's metadata."""

_SYNTHETIC = (
    "SYNTHETIC: hospital admissions invented for clinical-evals, to try the benchmark without MIMIC. No patient and "
    f"no text of MIMIC is in them, and scores on them say nothing about the published results ({SYNTHETIC_MARKER})."
)
_MIMIC = (
    "MIMIC-DERIVED: hospital admissions built from MIMIC-IV, which is credentialed data. They and everything that "
    f"quotes them stay on this machine, as the PhysioNet data use agreement demands ({MIMIC_MARKER})."
)


def is_synthetic(sources: Collection[str]) -> bool:
    """Whether every file says that its rows are invented; one that says nothing is taken for MIMIC's."""
    return bool(sources) and set(sources) == {SYNTHETIC_MARKER}


def describe(sources: Collection[str]) -> str:
    """The description of a dataset whose files state these sources."""
    return _SYNTHETIC if is_synthetic(sources) else _MIMIC


def licence(sources: Collection[str]) -> str:
    """Under what the rows may be used."""
    return "apache-2.0" if is_synthetic(sources) else "PhysioNet Credentialed Health Data License 1.5.0"
