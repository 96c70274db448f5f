"""Where the rows of a run come from: its log says so in its first line, scored rows only by lying beside it."""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from clinical_evals.markers import MIMIC_MARKER, PATIENT_MARKER, SYNTHETIC_MARKER

LOGS = ("predictions.jsonl", "transcripts.jsonl")
LONGEST_HEAD = 65_536
"""Bytes of a first line that are read."""
_MARKS = tuple(mark.encode() for mark in (MIMIC_MARKER, PATIENT_MARKER, SYNTHETIC_MARKER))


def rows_without_source(files: Mapping[str, Path]) -> list[str]:
    """The .jsonl files among results that say nothing of the data they come from, nor does a log beside them.

    Args:
        files: by place in the repository; the log must be sent too, so that the guard looks at it.
    """
    return [place for place, path in files.items() if place.endswith(".jsonl") and not _is_said(place, path, files)]


def _is_said(place: str, path: Path, files: Mapping[str, Path]) -> bool:
    beside = [files.get((PurePosixPath(place).parent / name).as_posix()) for name in LOGS]
    return any(_says_source(one) for one in (path, *beside) if one is not None)


def _says_source(path: Path) -> bool:
    if not path.is_file():
        return False  # a pipe, or nothing: the guard refuses it
    with path.open("rb") as file:
        head = file.readline(LONGEST_HEAD)
    return any(mark in head for mark in _MARKS)
