"""What a dataset says of itself: invented, or made from real patients, whose rows must not leave the machine.

Each data file states its source by a mark of `clinical_evals.markers`: a JSON file in `source`, a Parquet file in its
metadata under `SOURCE_KEY`. The dataset's info and card then say so, with the same mark.
"""

from collections.abc import Collection

from clinical_evals.markers import MIMIC_MARKER, PATIENT_MARKER, SYNTHETIC_MARKER

SOURCE_KEY = b"clinical_evals_source"
"""The key of the mark in a Parquet file's metadata."""

_SYNTHETIC = {
    "clibench": (
        "SYNTHETIC: hospital admissions invented for clinical-evals, to try the benchmark without MIMIC. No patient "
        "and no text of MIMIC is in them, and scores on them say nothing about the published results "
        f"({SYNTHETIC_MARKER})."
    ),
    "ior-bench": (
        "SYNTHETIC: dialogues and records invented for clinical-evals, to try the benchmark without the authors' "
        "files. No patient and no sentence of theirs is in them, and scores on them say nothing about the published "
        f"results ({SYNTHETIC_MARKER})."
    ),
}
_REAL = {
    "clibench": (
        "MIMIC-DERIVED: hospital admissions built from MIMIC-IV, which is credentialed data. They and everything that "
        f"quotes them stay on this machine, as the PhysioNet data use agreement demands ({MIMIC_MARKER})."
    ),
    "ior-bench": (
        "PATIENT DATA: read from files that the user supplied. They and everything that quotes them stay on this "
        f"machine unless whoever answers for them consents ({PATIENT_MARKER})."
    ),
}
_REAL_LICENCE = {
    "clibench": "PhysioNet Credentialed Health Data License 1.5.0",
    "ior-bench": "that of the files that the user supplied",
}


def is_synthetic(sources: Collection[str]) -> bool:
    """Whether every file says that its rows are invented; one that says nothing is taken for real."""
    return bool(sources) and set(sources) == {SYNTHETIC_MARKER}


def describe(dataset: str, sources: Collection[str]) -> str:
    """The description of a dataset whose files state these sources."""
    return (_SYNTHETIC if is_synthetic(sources) else _REAL)[dataset]


def licence(dataset: str, sources: Collection[str]) -> str:
    """Under what the rows may be used."""
    return "apache-2.0" if is_synthetic(sources) else _REAL_LICENCE[dataset]


def mark_in(description: str) -> str:
    """The mark that a dataset's description holds; a description without any is taken for MIMIC's."""
    return next(
        (mark for mark in (MIMIC_MARKER, PATIENT_MARKER, SYNTHETIC_MARKER) if mark in description), MIMIC_MARKER
    )
