"""A LOINC release of a handful of numbers in the official layout, for tests that have no real one.

This material contains content from LOINC (http://loinc.org). LOINC is copyright © Regenstrief Institute, Inc. and the
LOINC Committee and is available at no cost under the license at http://loinc.org/license. LOINC® is a registered
United States trademark of Regenstrief Institute, Inc.

The parts and their codes are invented, but for the two at the top.
"""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

LABORATORY = "LP29693-6"
ABOVE = "LP432695-7"
CHEMISTRY, SUGARS, GLUCOSE, IN_SERUM = "LP100-1", "LP110-1", "LP111-1", "LP112-1"
FASTING, BLOOD, CELLS = "LP120-1", "LP200-1", "LP210-1"
CLINICAL = "LP900-1"

# Ancestors below Laboratory, code, text. The part Glucose has two parents, so two rows for it and all below it:
#   Chemistry ─ Sugars  ─ Glucose ─ 2339-0
#                                 └ in serum ─ 2345-7
#             └ Fasting ─ Glucose ─ (the same)
#   (a class without a name) ─ 4548-4
#                            └ Cells ─ 718-7, 6690-2
#   1-8
NODES: tuple[tuple[tuple[str, ...], str, str], ...] = (
    ((), CHEMISTRY, "Chemistry"),
    ((), BLOOD, ""),
    ((), "1-8", ""),
    ((CHEMISTRY,), SUGARS, "Sugars"),
    ((CHEMISTRY,), FASTING, "Fasting"),
    ((CHEMISTRY, SUGARS), GLUCOSE, "Glucose"),
    ((CHEMISTRY, SUGARS, GLUCOSE), IN_SERUM, "Glucose in serum"),
    ((CHEMISTRY, SUGARS, GLUCOSE), "2339-0", ""),
    ((CHEMISTRY, SUGARS, GLUCOSE, IN_SERUM), "2345-7", "Glucose SerPl-mCnc"),
    ((CHEMISTRY, FASTING), GLUCOSE, "Glucose"),
    ((CHEMISTRY, FASTING, GLUCOSE), IN_SERUM, "Glucose in serum"),
    ((CHEMISTRY, FASTING, GLUCOSE), "2339-0", ""),
    ((CHEMISTRY, FASTING, GLUCOSE, IN_SERUM), "2345-7", "Glucose SerPl-mCnc"),
    ((BLOOD,), CELLS, "Cells"),
    ((BLOOD,), "4548-4", "Hemoglobin A1c/Hemoglobin.total in Blood"),
    ((BLOOD, CELLS), "718-7", "Hgb Bld-mCnc"),
    ((BLOOD, CELLS), "6690-2", ""),
)
OUTSIDE = ("8310-5", "Body temperature")
"""A LOINC number that is no laboratory test."""
HIERARCHY_COLUMNS = ("PATH_TO_ROOT", "SEQUENCE", "IMMEDIATE_PARENT", "CODE", "CODE_TEXT")
NAMES_COLUMNS = (
    "LOINC_NUM",
    "COMPONENT",
    "SYSTEM",
    "STATUS",
    "CONSUMER_NAME",
    "SHORTNAME",
    "LONG_COMMON_NAME",
    "DisplayName",
    "VersionLastChanged",
)
GLUCOSE_NAME = "Glucose [Mass/volume] in Serum or Plasma"
NAMES = (
    ("2345-7", "Glucose", "Ser/Plas", "ACTIVE", "Glucose, Blood", "Glucose SerPl", GLUCOSE_NAME, "Glucose", "2.78"),
    ("2339-0", "Glucose", "Bld", "ACTIVE", "", "", "", "", "2.09"),
    ("718-7", "Hemoglobin", "Bld", "ACTIVE", "", "", "Hemoglobin [Mass/volume] in Blood", "", "2.8"),
    ("4548-4", "", "Bld", "ACTIVE", "", "", "", "", "1.0f"),
    ("2346-5", "Glucose", "Ser/Plas", "DEPRECATED", "", "", "Deprecated Glucose", "", "2.36"),
    (OUTSIDE[0], "Body temperature", "^Patient", "ACTIVE", "", "", OUTSIDE[1], "", "2.73"),
)


def csv_text(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table as LOINC writes it: every field quoted, lines ended by CR LF."""
    text = io.StringIO(newline="")
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([columns, *rows])
    return text.getvalue()


def hierarchy_text(
    above: bool = False, nodes: Sequence[tuple[tuple[str, ...], str, str]] = NODES, outside: bool = True
) -> str:
    """ComponentHierarchyBySystem.csv, with or without LP432695-7 above Laboratory."""
    top = (ABOVE,) if above else ()
    rows: list[tuple[tuple[str, ...], str, str]] = [((), ABOVE, "{component}")] if above else []
    rows += [(top, LABORATORY, "Laboratory")]
    rows += [((*top, LABORATORY, *ancestors), code, text) for ancestors, code, text in nodes]
    rows += [(top, CLINICAL, "Clinical"), ((*top, CLINICAL), *OUTSIDE)] if outside else []
    return csv_text(
        HIERARCHY_COLUMNS,
        [(".".join(path), str(place), path[-1] if path else "", code, text)
         for place, (path, code, text) in enumerate(rows, 1)],
    )  # fmt: skip


def write_hierarchy(folder: Path, text: str | None = None, name: str = "ComponentHierarchyBySystem.csv") -> Path:
    """Writes the hierarchy, or another text, to a file of its name."""
    path = folder / name
    path.write_bytes((hierarchy_text() if text is None else text).encode())
    return path


def write_names(folder: Path, text: str | None = None, name: str = "Loinc.csv") -> Path:
    """Writes the names, or another text, to a file of their name."""
    path = folder / name
    path.write_bytes((csv_text(NAMES_COLUMNS, NAMES) if text is None else text).encode())
    return path
