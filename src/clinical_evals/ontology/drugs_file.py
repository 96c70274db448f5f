"""Reads a map from drugs to ATC: MIMIC's GSN and one NDC each, with the ATC code (columns gsn, atc, ndc).

The published file (gsn_atc_ndc_mapping.csv.gz of ethos-paper) was written with the NDC as a number: 337 of its 4,323
NDCs have 7 to 10 digits, and none of 11 begins with a zero, though two of three in MIMIC do. There the zeros are put
back, and counted. It has "?" or "0" where it has no NDC (447 rows), and two rows whose ATC code is none (T127, T103).
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.ontology.atc_file import MAIN_GROUPS, SHAPE
from clinical_evals.ontology.ndc import DIGITS, explain_ndc, is_no_ndc, normalize_ndc
from clinical_evals.ontology.table_file import Row, read_text_columns, require_last_line_break

COLUMNS = ("gsn", "atc", "ndc")
_GSN = re.compile(r"[0-9]{6}")
_SHORTENED = re.compile(r"[0-9]{7,10}")
_NO_NDC = "?"
_GIVE = "Give the map of drugs to ATC: clinical-evals resources add drug-atc FILE"


class Malformed(NamedTuple):
    """A value that could not be used; the rest of its row is used where it can be."""

    where: str
    """File and line."""
    column: str
    found: str
    why: str
    """What is wrong with it."""


class DrugTable(NamedTuple):
    """What a map file says."""

    by_gsn: Mapping[str, tuple[str, ...]]
    """ATC codes of each GSN (6 digits), all of them, sorted; of any ATC release."""
    by_ndc: Mapping[str, tuple[str, ...]]
    """The same for each NDC (11 digits)."""
    rows: int
    without_ndc: int
    """Rows that name no NDC."""
    zeros_restored: int
    """Rows whose NDC had lost its leading zeros; they were put back."""
    malformed: tuple[Malformed, ...]
    """Values that could not be used, in the order of the file."""


def read_drug_map(path: Path) -> DrugTable:
    """The ATC codes by GSN and by NDC.

    Raises:
        InputError: the file cannot be read, is another table or a web page, is cut off, or no row of it can be used.
        ResourceMissingError: a Parquet file, but pyarrow is not installed.
    """
    rows = [(where, tuple(map(str.strip, values))) for where, values in read_text_columns(path, COLUMNS, _GIVE)]
    require_last_line_break(path, _GIVE)
    restore = _was_written_as_number([ndc for _, (_, _, ndc) in rows])
    by_gsn: defaultdict[str, set[str]] = defaultdict(set)
    by_ndc: defaultdict[str, set[str]] = defaultdict(set)
    malformed: list[Malformed] = []
    for row in rows:
        atc, gsn, ndc = _read_row(row, restore, malformed)
        if atc and gsn:
            by_gsn[gsn].add(atc)
        if atc and ndc:
            by_ndc[ndc].add(atc)
    if not by_gsn and not by_ndc:
        first = f" (first: {malformed[0].where}: {malformed[0].why})" if malformed else ""
        raise InputError(f"{path}: none of its {len(rows)} rows can be used{first}. {_GIVE}")
    return DrugTable(
        {gsn: tuple(sorted(codes)) for gsn, codes in by_gsn.items()},
        {ndc: tuple(sorted(codes)) for ndc, codes in by_ndc.items()},
        rows=len(rows),
        without_ndc=sum(_names_no_ndc(ndc) for _, (_, _, ndc) in rows),
        zeros_restored=sum(restore and _SHORTENED.fullmatch(ndc) is not None for _, (_, _, ndc) in rows),
        malformed=tuple(malformed),
    )


def _was_written_as_number(ndcs: Sequence[str]) -> bool:
    """Whether a column of 11-digit NDCs lost its leading zeros.

    So it is if it has NDCs of 7 to 9 digits, a length that no written form has, and NDCs of 11 digits, but among those
    none that begins with a zero. Then 10 digits are 11 that lost one as well, and not one of the hyphened forms.
    """
    digits = [ndc for ndc in ndcs if ndc.isascii() and ndc.isdigit()]
    full = [ndc for ndc in digits if len(ndc) == DIGITS]
    shortened = any(7 <= len(ndc) < DIGITS - 1 for ndc in digits)
    return shortened and bool(full) and not any(ndc.startswith("0") for ndc in full)


def _names_no_ndc(ndc: str) -> bool:
    return ndc == _NO_NDC or is_no_ndc(ndc)


def _read_row(row: Row, restore: bool, malformed: list[Malformed]) -> tuple[str, str, str]:
    """ATC code, GSN and NDC of a row, each empty where it is absent or malformed."""
    where, (gsn, atc, ndc) = row
    code = atc.upper()
    if not SHAPE.fullmatch(code) or code[0] not in MAIN_GROUPS:
        malformed.append(
            Malformed(where, "atc", atc, "It is no ATC code of any release; expected one such as A10BA02.")
        )
        code = ""
    if not is_gsn(gsn):
        malformed.append(Malformed(where, "gsn", gsn, explain_gsn(gsn)))
        gsn = ""
    if _names_no_ndc(ndc):
        return code, gsn, ""
    full = ndc.zfill(DIGITS) if restore and _SHORTENED.fullmatch(ndc) else normalize_ndc(ndc)
    if full is None:
        malformed.append(Malformed(where, "ndc", ndc, explain_ndc(ndc)))
    return code, gsn, full or ""


def is_gsn(text: str) -> bool:
    """Whether a text is one GSN: 6 digits."""
    return _GSN.fullmatch(text) is not None


def explain_gsn(text: str) -> str:
    """Why a text is no GSN, and what helps."""
    if re.fullmatch(r"[0-9]{1,5}(?:\.0*)?|[0-9]{6}\.0*", text):
        return "A GSN has 6 digits: read as a number, its leading zeros are lost. Read the column as text."
    return "Expected one GSN of 6 digits."
