"""MIMIC's dictionaries of ICD codes as what the official protocol matches to (protocol.md 3, "candidates")."""

import re
from collections.abc import Iterator
from pathlib import Path

from clinical_evals.errors import InputError
from clinical_evals.matching.dictionary_rows import Candidates, sha256_of
from clinical_evals.ontology import CodeSystem
from clinical_evals.ontology.table_file import read_text_columns

COLUMNS = ("icd_code", "icd_version", "long_title")
_TOO_SHORT_FOR_ICD9 = re.compile(r"[0-9]{1,2}(\.[0-9]*)?|[0-9]+\.0")
_DOWNLOAD = "Give MIMIC-IV's own file hosp/d_icd_diagnoses.csv.gz."


def read_diagnoses(path: Path, system: CodeSystem) -> Candidates:
    """The ICD-10 rows of MIMIC's `d_icd_diagnoses` that are valid in the release, sorted by "ICD-version_code".

    Args:
        path: `d_icd_diagnoses` as `.csv`, `.csv.gz` or `.parquet` with the columns icd_code, icd_version, long_title.
        system: ICD-10-CM.

    Raises:
        InputError: the file cannot be read, is another table, holds codes that were once numbers, an unknown version,
            a code twice or a row without title, or has no ICD-10 row of the release; names file, row and column.
        ResourceMissingError: a Parquet file, but pyarrow is not installed.
    """
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
    source = f"{len(valid)} of the {len(ordered)} ICD-10 titles of {path.name} (SHA-256 {sha256_of(path)})"
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
    for where, (code, version, title) in read_text_columns(path, COLUMNS, _DOWNLOAD):
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


# Procedures

_PROCEDURES = "Give MIMIC-IV's own file hosp/d_icd_procedures.csv.gz."


def read_procedures(path: Path, system: CodeSystem) -> Candidates:
    """All rows of MIMIC's `d_icd_procedures` in the order of the file, the ICD-9 ones too.

    An ICD-9 code, and an ICD-10-PCS code that the release lacks, stand for themselves and are right nowhere.

    Args:
        path: `d_icd_procedures` with the columns icd_code, icd_version, long_title.
        system: ICD-10-PCS.

    Raises:
        InputError: the file cannot be read, is another table, holds codes that were once numbers, an unknown version,
            or a row without code or title; or none of its codes is in the release.
    """
    codes: list[str] = []
    titles: list[str] = []
    valid = 0
    for where, (code, version, title) in read_text_columns(path, COLUMNS, _PROCEDURES):
        code, version = code.strip(), version.strip()
        _check_procedure(where, code, version, title)
        canonical = system.normalize(code) if version == "10" else None
        valid += canonical is not None
        codes.append(canonical or f"ICD-{version} {code}")
        titles.append(title)
    if not valid:
        raise InputError(
            f"{path}: none of its {len(codes)} rows is a code of {system.name} {system.release}. Is it another table, "
            f"such as d_icd_diagnoses? {_PROCEDURES}"
        )
    return Candidates(
        f"d_icd_procedures in {system.name} {system.release}",
        tuple(codes),
        tuple(titles),
        f"{len(codes)} titles of {path.name} (SHA-256 {sha256_of(path)}), {valid} of them of codes in {system.name} "
        f"{system.release}",
        from_mimic=True,
    )


def _check_procedure(where: str, code: str, version: str, title: str) -> None:
    if version not in ("9", "10"):
        raise InputError(f"{where}: icd_version is {version!r}, expected 9 or 10. {_PROCEDURES}")
    if not code or not title.strip():
        raise InputError(f"{where}: {'long_title' if code else 'icd_code'} is empty. {_PROCEDURES}")
    if "." in code or (version == "10" and len(code) != 7) or (version == "9" and len(code) < 2):
        raise InputError(
            f"{where}: icd_code is {code!r}, but a code of ICD-10-PCS has seven characters, and one of ICD-9 two to "
            f"four digits without a dot: it was read as a number, or is of another table. Keep the column as text. "
            f"{_PROCEDURES}"
        )
