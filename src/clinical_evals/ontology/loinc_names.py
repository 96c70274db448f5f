"""Reads the names of LOINC numbers from a release's Loinc.csv (or LoincTableCore.csv, which has fewer of them)."""

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.ontology.loinc_number import NUMBER, MalformedCode, explain_form
from clinical_evals.ontology.table_file import csv_columns, read_text_columns, require_last_line_break

REQUIRED = ("LOINC_NUM", "LONG_COMMON_NAME")
FURTHER_NAMES = ("DisplayName", "SHORTNAME", "CONSUMER_NAME")
"""Columns with further names of a number, where the file has them."""
_OPTIONAL = ("COMPONENT", "SYSTEM", *FURTHER_NAMES, "STATUS", "VersionLastChanged")
_GIVE = (
    "Give LoincTable/Loinc.csv of a LOINC release (https://loinc.org/downloads) as it is: "
    "clinical-evals resources add loinc-names FILE"
)
_VERSION = re.compile(r"([0-9]{1,3})\.([0-9]{1,3})")
_NAMED = re.compile(r"loinc[ _-]?v?([0-9]{1,3})\.([0-9]{1,3})(?![0-9])", re.IGNORECASE)
_NEAR = 3  # LOINC's archive unpacks to Loinc_2.78/LoincTable/Loinc.csv


class Names(NamedTuple):
    """What the file says of the wanted numbers, and which others it has."""

    titles: Mapping[str, str]
    """LONG_COMMON_NAME; empty where the file has none."""
    composed: Mapping[str, str]
    """COMPONENT "in" SYSTEM of the numbers that have a COMPONENT: what stands in for a missing name."""
    further: Mapping[str, tuple[str, ...]]
    """Distinct names of the columns `FURTHER_NAMES`."""
    others: Mapping[str, str]
    """STATUS of the numbers that were not wanted; empty where the file has no such column."""
    version: str
    """The release: the newest version in which any row changed, else the one that the path names; empty where neither
    tells."""
    malformed: tuple[MalformedCode, ...]
    """Rows whose LOINC_NUM is none, in the order of the file."""


NO_NAMES = Names({}, {}, {}, {}, "", ())
"""What stands in where there is no such file."""


def read_names(path: Path, wanted: Container[str]) -> Names:
    """The names of the wanted numbers.

    Args:
        path: a CSV file with at least the columns `REQUIRED`; of the official ones also COMPONENT, SYSTEM, STATUS,
            VersionLastChanged and `FURTHER_NAMES` are used where it has them.
        wanted: LOINC numbers in canonical form; the names of others are not kept.

    Raises:
        InputError: the file cannot be read, is another table or a web page, is cut off within a line, has a number
            twice, or no LOINC number at all.
        ResourceMissingError: a Parquet file, but pyarrow is not installed.
    """
    titles: dict[str, str] = {}
    composed: dict[str, str] = {}
    further: dict[str, tuple[str, ...]] = {}
    others: dict[str, str] = {}
    malformed: list[MalformedCode] = []
    newest = (0, 0)
    for where, row in _rows(path):
        code, title = row["LOINC_NUM"], row["LONG_COMMON_NAME"]
        if not NUMBER.fullmatch(code):
            malformed.append(MalformedCode(where, code, explain_form(code)))
            continue
        if code in titles or code in others:
            raise InputError(f"{where}: LOINC_NUM {code!r} stands there a second time. {_GIVE}")
        if version := _VERSION.match(row.get("VersionLastChanged", "")):
            newest = max(newest, (int(version[1]), int(version[2])))
        if code not in wanted:
            others[code] = row.get("STATUS", "")
            continue
        titles[code] = title
        if component := row.get("COMPONENT", ""):
            composed[code] = f"{component} in {row['SYSTEM']}" if row.get("SYSTEM") else component
        if also := [row[column] for column in FURTHER_NAMES if row.get(column, title) != title and row[column]]:
            further[code] = tuple(dict.fromkeys(also))
    require_last_line_break(path, _GIVE)
    if not titles and not others:
        raise InputError(f"{path}: none of its {len(malformed)} rows has a LOINC number. {_GIVE}")
    version_text = _version_text(*newest) if newest > (0, 0) else version_named(path.absolute().parts[-_NEAR:])
    return Names(titles, composed, further, others, version_text, tuple(malformed))


def version_named(names: Sequence[str]) -> str:
    """The release that names of files and folders tell; empty where none does. The last name goes first.

    >>> version_named(("Loinc_2.78.zip", "LoincTable", "Loinc.csv")), version_named(("Loinc.csv",))
    ('2.78', '')
    """
    found = next(filter(None, map(_NAMED.search, reversed(names))), None)
    return _version_text(int(found[1]), int(found[2])) if found else ""


def _version_text(major: int, minor: int) -> str:
    return f"{major}.{minor:02d}"


def _rows(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    columns = (*REQUIRED, *sorted(set(_OPTIONAL).intersection(csv_columns(path))))
    for where, values in read_text_columns(path, columns, _GIVE):
        yield where, dict(zip(columns, map(str.strip, values), strict=True))
