"""The files of ICD-10-PCS as CMS publishes them: the order file (codes, titles) and the tables (titles of levels)."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.ontology.table_file import read_text

_ORDER = "the CMS order file of ICD-10-PCS (icd10pcs_order_YEAR.txt)"
_ORDER_HINT = "Give icd10pcs_order_YEAR.txt: clinical-evals resources fetch icd10pcs-order"
_TABLES = "the CMS tables of ICD-10-PCS (icd10pcs_tables_YEAR.xml)"
_TABLES_HINT = "Give icd10pcs_tables_YEAR.xml, or none: clinical-evals resources fetch icd10pcs-tables"
_COLUMNS = "order number 1-5, code 7-13, billable (0 or 1) 15, short title 17-76, long title from 78"

_LINE = re.compile(
    r"([0-9]{5}) ([0-9A-HJ-NP-Z]{7} 1|[0-9A-HJ-NP-Z]{3}     0) (\S.{59}) (\S.*)"
)  # three-character headers are never billable, codes always
_YEAR = re.compile(r"(?<![0-9])20[0-9]{2}(?![0-9])")
_VERSION = re.compile(r"<version>\s*(20[0-9]{2})\s*</version>")

SECTIONS = {
    "0": "Medical and Surgical",
    "1": "Obstetrics",
    "2": "Placement",
    "3": "Administration",
    "4": "Measurement and Monitoring",
    "5": "Extracorporeal or Systemic Assistance and Performance",
    "6": "Extracorporeal or Systemic Therapies",
    "7": "Osteopathic",
    "8": "Other Procedures",
    "9": "Chiropractic",
    "B": "Imaging",
    "C": "Nuclear Medicine",
    "D": "Radiation Therapy",
    "F": "Physical Rehabilitation and Diagnostic Audiology",
    "G": "Mental Health",
    "H": "Substance Abuse Treatment",
    "X": "New Technology",
}
"""The sections of ICD-10-PCS, the same in every release since 2016: order files have no titles for them."""


class OrderFile(NamedTuple):
    """What an order file holds, in its order."""

    titles: dict[str, str]
    """Long title of each code."""
    short_titles: dict[str, str]
    """Abbreviated title of each code, at most 60 characters."""
    headers: dict[str, str]
    """Long title of each three-character header."""


def year_of(path: Path) -> int | None:
    """The year in a file's name, as CMS names its files; None where it has none.

    >>> year_of(Path("icd10pcs_order_2022.txt")), year_of(Path("order.txt"))
    (2022, None)
    """
    years = _YEAR.findall(path.name)
    return int(years[-1]) if years else None


# The order file


def read_order(path: Path) -> OrderFile:
    """Read an order file of any year; the columns are fixed.

    Raises:
        InputError: it is another file, cut off or damaged; the message names file, line, what stands there and what
            was expected.
    """
    text = read_text(path, _ORDER, _ORDER_HINT)
    order = OrderFile({}, {}, {})
    lines = text.split("\n")
    while lines and not lines[-1].strip("\r"):
        lines.pop()
    for number, line in enumerate(lines, 1):
        fields = _LINE.fullmatch(line.rstrip("\r"))
        if fields is None:
            raise _wrong_line(path, number, line)
        if int(fields[1]) != number:
            raise InputError(
                f"{path}, line {number}: its order number is {fields[1]}, expected {number:05}: lines are missing, "
                f"doubled or in another order. {_ORDER_HINT}"
            )
        code, billable = fields[2].split()
        if code in order.titles or code in order.headers:
            raise InputError(f"{path}, line {number}: the code {code} stands there a second time. {_ORDER_HINT}")
        if billable == "1":
            order.titles[code], order.short_titles[code] = fields[4].rstrip(), fields[3].rstrip()
        else:
            order.headers[code] = fields[4].rstrip()
    _check_whole(path, text, lines, order)
    return order


def _wrong_line(path: Path, number: int, line: str) -> InputError:
    line = line.rstrip("\r")
    code, billable = line[6:13].rstrip(), line[14:15]
    if len(line) < 78 or any(line[place] != " " for place in (5, 13, 15, 76)):
        found = f"it starts with {line[:40]!r} and has {len(line)} characters; another file, or cut off"
    elif not line[16:76].strip() or not line[77:].strip():
        found = f"the {'long' if line[16:76].strip() else 'short'} title of {code} is empty"
    elif re.fullmatch(r"[A-Z][0-9][0-9AB][0-9A-Z]{0,4}", code) and len(code) != 7:
        found = f"{code!r} is a code of ICD-10-CM: this is the order file of diagnoses"
    elif not re.fullmatch(r"[0-9A-HJ-NP-Z]{7}|[0-9A-HJ-NP-Z]{3}", code):
        found = (
            f"{code!r} is no code: seven characters, or three in a header, of the digits and letters without I and O"
        )
    elif line[77] == " " or line[16] == " ":
        found = f"a title of {code} starts with a space: the columns are shifted"
    else:
        found = f"billable is {billable!r} for {code}, expected 1 for seven characters and 0 for three"
    return InputError(f"{path}, line {number}: {found}. Expected the columns {_COLUMNS}. {_ORDER_HINT}")


def _check_whole(path: Path, text: str, lines: list[str], order: OrderFile) -> None:
    """Whatever can tell that the end of the file is missing."""
    if not text.endswith("\n"):
        raise InputError(
            f"{path}, line {len(lines)}: the last line has no line break, so the file may be cut off there "
            f"({lines[-1][-40:]!r}). Copy or download it again; if it is whole, add the line break. {_ORDER_HINT}"
        )
    found = {code[0] for code in order.titles}
    if missing := [f"{section} ({title})" for section, title in SECTIONS.items() if section not in found]:
        raise InputError(
            f"{path}, line {len(lines)}: the file ends without codes of {len(missing)} sections, the first of them "
            f"{missing[0]}; expected all {len(SECTIONS)}: it is cut off. Copy or download it again. {_ORDER_HINT}"
        )
    if lines[-1][14] == "0":
        raise InputError(
            f"{path}, line {len(lines)}: the file ends with the header {lines[-1][6:9]}, whose codes should follow: "
            f"it is cut off. Copy or download it again. {_ORDER_HINT}"
        )


# Titles of levels


def year_of_tables(path: Path) -> int | None:
    """The year that the tables say they are of, else the one in their name; raises as `read_tables` does."""
    version = _VERSION.search(read_text(path, _TABLES, _TABLES_HINT)[:2_000])
    return int(version[1]) if version else year_of(path)


def read_tables(path: Path) -> dict[str, str]:
    """Titles of sections, body systems and operations, by the one, two or three characters that stand for them.

    Raises:
        InputError: it is another file, cut off or damaged.
    """
    text = read_text(path, _TABLES, _TABLES_HINT)
    try:
        root = ET.fromstring(text)
    except (ET.ParseError, ValueError) as error:
        raise InputError(f"{path}: not XML, or cut off ({error}). {_TABLES_HINT}") from error
    tables = root.findall("pcsTable")
    if root.tag != "ICD10PCS.tabular" or not tables:
        raise InputError(
            f"{path}: its root is <{root.tag[:60]}> with {len(tables)} <pcsTable>, expected <ICD10PCS.tabular> with "
            f"one for each operation. {_TABLES_HINT}"
        )
    titles: dict[str, str] = {}
    for number, table in enumerate(tables, 1):
        labels = [table.find(f"axis[@pos='{place}']/label") for place in "123"]
        characters = ""
        for label in labels:
            code, title = (label.get("code") or "", label.text or "") if label is not None else ("", "")
            if not code or not title.strip():
                raise InputError(
                    f"{path}: table {number} ({characters or 'unknown'}) lacks the title of one of its axes 1 to 3. "
                    f"{_TABLES_HINT}"
                )
            characters += code
            titles.setdefault(characters, title.strip())
    return titles


def level_titles(
    codes: Iterable[str], headers: dict[str, str], tables: dict[str, str], same_year: bool
) -> dict[str, str]:
    """A title for every section, body system and operation of the codes, by their one, two or three characters.

    The order file's headers name the operations, and begin with the body system. Tables of the same year name body
    systems first; those of another year only fill in what the headers do not tell. What neither knows stands for
    itself. A body system that CMS calls "None", or that headers pass over, has the title of its section.
    """
    own = _body_systems(headers)
    systems = own | tables
    if not same_year:
        systems |= {system: title for system, title in own.items() if title}
    titles: dict[str, str] = {}
    for table in dict.fromkeys(code[:3] for code in codes):
        section, system = table[0], table[:2]
        titles[section] = tables.get(section) or SECTIONS.get(section, section)
        named = systems.get(system, system)
        titles[system] = titles[section] if named in ("", "None") else named
        operation = f"{titles[system]}, {tables[table]}" if table in tables else table
        titles[table] = headers.get(table, operation)
    return titles


def _body_systems(headers: dict[str, str]) -> dict[str, str]:
    """What all headers of a body system start with, as in "Imaging, Skin, Ultrasonography", without the section."""
    common: dict[str, list[str]] = {}
    for table, title in headers.items():
        parts = title.split(", ")[:-1]  # the last one is the operation
        parts = parts[1:] if parts[:1] == [SECTIONS.get(table[0])] else parts
        before = common.setdefault(table[:2], parts)
        same = [one == other for one, other in zip(before, parts, strict=False)] + [False]
        common[table[:2]] = before[: same.index(False)]
    return {system: ", ".join(parts) for system, parts in common.items()}
