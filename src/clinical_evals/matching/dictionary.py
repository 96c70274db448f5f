"""The titles that the official protocol matches against: MIMIC's dictionary of diagnoses, or our own titles.

Source: protocol.md 3, "candidates". The order of the candidates decides ties, so it is part of the protocol.
"""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.ontology import CodeSystem
from clinical_evals.ontology.table_file import read_text_columns

DIAGNOSIS_COLUMNS = ("icd_code", "icd_version", "long_title")
_TOO_SHORT_FOR_ICD9 = re.compile(r"[0-9]{1,2}(\.[0-9]*)?|[0-9]+\.0")
_DOWNLOAD = "Give MIMIC-IV's own file hosp/d_icd_diagnoses.csv.gz."


class Candidates(NamedTuple):
    """Titles to match against, in the order that decides ties; several codes may have one title."""

    name: str
    """What they are, without regard to how the file was packed: progress bar and cache folder of their index."""
    codes: tuple[str, ...]
    """Canonical codes of the release."""
    titles: tuple[str, ...]
    """The title of each, as its source writes it."""
    source: str
    """Where they are from, and how many, for results and logs."""
    from_mimic: bool
    """Whether they are MIMIC's own, as in the published tables."""
    left_out: tuple[str, ...] = ()
    """Codes of the source, as written there, that the release does not have."""


def own_titles(system: CodeSystem) -> Candidates:
    """The release's own titles in code order: what stands in where MIMIC's dictionary is not at hand.

    Ranges such as E08-E13 are no candidates, since MIMIC's dictionary has none.
    """
    codes = tuple(sorted(code for code in system.codes() if system.code_shape.fullmatch(code)))
    name = f"{system.name} {system.release} in code order"
    source = f"{len(codes)} titles of {name}; MIMIC's dictionary was not given"
    return Candidates(name, codes, tuple(map(system.title, codes)), source, from_mimic=False)


def read_dictionary(path: str | Path, system: CodeSystem) -> Candidates:
    """The ICD-10 rows of MIMIC's `d_icd_diagnoses` that are valid in the release, sorted by "ICD-version_code".

    Args:
        path: `d_icd_diagnoses` as `.csv`, `.csv.gz` or `.parquet` with the columns icd_code, icd_version, long_title.
        system: ICD-10-CM.

    Raises:
        InputError: the file cannot be read, is another table, holds codes that were once numbers, an unknown version,
            a code twice or a row without title, or has no ICD-10 row of the release; names file, row and column.
        ResourceMissingError: a Parquet file, but pyarrow is not installed.
    """
    path = Path(path)
    titles: dict[str, str] = {}
    for where, code, title in _icd10_rows(path):
        if code in titles:
            raise InputError(f"{where}: icd_code {code!r} stands there a second time with icd_version 10. {_DOWNLOAD}")
        titles[code] = title
    ordered = sorted(titles)  # within one version the text "ICD-10_code" sorts as the code does
    canonical = dict(zip(ordered, system.normalize_all(ordered), strict=True))
    valid = [code for code in ordered if canonical[code] is not None]
    if not valid:
        raise InputError(
            f"{path}: none of its {len(ordered)} ICD-10 rows is a code of {system.name} {system.release} "
            f"(first: {ordered[:3]}). Is it another table, such as d_icd_procedures? {_DOWNLOAD}"
        )
    content = hashlib.sha256(path.read_bytes()).hexdigest()
    source = f"{len(valid)} of the {len(ordered)} ICD-10 titles of {path.name} (SHA-256 {content[:16]})"
    return Candidates(
        f"d_icd_diagnoses in {system.name} {system.release}",
        tuple(str(canonical[code]) for code in valid),
        tuple(titles[code] for code in valid),
        f"{source} that are in {system.name} {system.release}",
        from_mimic=True,
        left_out=tuple(code for code in ordered if canonical[code] is None),
    )


def _icd10_rows(path: Path) -> Iterator[tuple[str, str, str]]:
    """Where, code and title of the ICD-10 rows; every row is checked, ICD-9 ones too."""
    for where, (code, version, title) in read_text_columns(path, DIAGNOSIS_COLUMNS, _DOWNLOAD):
        code, version = code.strip(), version.strip()
        if version not in ("9", "10"):
            raise InputError(f"{where}: icd_version is {version!r}, expected 9 or 10. {_DOWNLOAD}")
        if not code or not title.strip():
            raise InputError(f"{where}: {'long_title' if code else 'icd_code'} is empty. {_DOWNLOAD}")
        if _TOO_SHORT_FOR_ICD9.fullmatch(code):
            raise InputError(
                f"{where}: icd_code is {code!r}, but a code has at least three characters: it was read as a number "
                f"and its leading zeros are lost. Keep the column as text. {_DOWNLOAD}"
            )
        if version == "10":
            yield where, code, title
