"""What cannot be in a table of MIMIC: each check names the file, how many rows there are of it, and one of them.

They look at stored stages, where what could not be read as a number or a time is null or stands in `unreadable`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from clinical_evals.clibench.values import count_of, rows_of
from clinical_evals.errors import InputError

if TYPE_CHECKING:
    import ibis.expr.types as ir

MOST_ODD = 0.02
"""Share of drugs whose codes may be of another form than all others."""
_SHOWN = 5
_NUMBERS = "the column was read as numbers and has lost its leading zeros. Take the table as PhysioNet gives it."


def check_ids(table: "ir.Table", path: Path) -> None:
    """Raises InputError where a row has no admission."""
    if number := count_of(table.filter(table.hadm_id.isnull())):
        raise InputError(
            f"{path}: {number:,} rows whose hadm_id is empty or no whole number. Download the table again."
        )


def check_readable_ids(table: "ir.Table", path: Path) -> None:
    """Raises InputError where an admission is no number; a row may have none."""
    bad = table.filter(table.unreadable_id.notnull())
    if number := count_of(bad):
        example = rows_of(bad.order_by("unreadable_id").limit(1))[0]["unreadable_id"]
        raise InputError(
            f"{path}: {number:,} rows whose hadm_id is no whole number, as {example!r}. Download the table again."
        )


def check_once(table: "ir.Table", path: Path) -> None:
    """Raises InputError where an admission is there more than once, with other content."""
    times = table.group_by("hadm_id").aggregate(rows=table.count())
    if found := rows_of(times.filter(times.rows > 1).order_by("hadm_id").limit(_SHOWN)):
        raise InputError(
            f"{path}: hadm_id {', '.join(str(row['hadm_id']) for row in found)} is there more than once with other "
            "content, in admissions or in patients. Download the tables again."
        )


def check_times(table: "ir.Table", path: Path, column: str) -> None:
    """Raises InputError where a time of the source is none."""
    bad = table.filter(table.unreadable.notnull())
    if number := count_of(bad):
        example = rows_of(bad.order_by("unreadable", "hadm_id").limit(1))[0]
        raise InputError(
            f"{path}: {number:,} rows whose {column} is no time, as {example['unreadable']!r} of hadm_id "
            f"{example['hadm_id']}; expected YYYY-MM-DD HH:MM:SS. Download the table again."
        )


def check_profile(table: "ir.Table", path: Path) -> None:
    """Raises InputError where an age or a sex cannot be; the age is worked out from two columns of `patients`."""
    known = table.filter(table.patient & table.admittime.notnull())
    for column, bad, expected in (
        ("age", known.age.isnull() | (known.age < 0) | (known.age > 130), "0 to 130 years"),
        ("gender", ~known.gender.isin(["F", "M"]) | known.gender.isnull(), "F or M"),
    ):
        odd = known.filter(bad)
        if number := count_of(odd):
            example = rows_of(odd.order_by("hadm_id").limit(1))[0]
            origin = " (from anchor_age, anchor_year and admittime)" if column == "age" else ""
            raise InputError(
                f"{path}: the {column} of {number:,} admissions cannot be, as {example[column]!r} of subject_id "
                f"{example['subject_id']}{origin}; expected {expected}."
            )


def check_icd(table: "ir.Table", path: Path, shortest: Mapping[str, int]) -> None:
    """Raises InputError where a code is empty, of an unknown version, or was once a number.

    Args:
        table: with `icd_code` and `icd_version`.
        path: of its source.
        shortest: by version how many characters a code has at least.
    """
    versions = sorted(shortest)
    other = table.filter(~table.icd_version.isin(versions) | table.icd_version.isnull())
    if found := rows_of(other.order_by("hadm_id", "icd_version").limit(1)):
        raise InputError(
            f"{path}: icd_version {found[0]['icd_version']!r} of hadm_id {found[0]['hadm_id']}, expected 9 or 10. Is "
            "it MIMIC-IV's own table?"
        )
    if found := rows_of(table.filter(table.icd_code.isnull()).order_by("hadm_id").limit(1)):
        raise InputError(f"{path}: icd_code is empty for hadm_id {found[0]['hadm_id']}. Download the table again.")
    for version in versions:
        short = table.filter((table.icd_version == version) & (table.icd_code.length() < shortest[version]))
        if found := rows_of(short.order_by("icd_code", "hadm_id").limit(1)):
            raise InputError(
                f"{path}: icd_code {found[0]['icd_code']!r} of hadm_id {found[0]['hadm_id']}, but a code of "
                f"ICD-{version} has at least {shortest[version]} characters: {_NUMBERS}"
            )


def check_drug_codes(table: "ir.Table", path: Path) -> None:
    """Raises InputError where more than a few NDCs have not 11 digits, or GSNs not six."""
    total = count_of(table)
    for column, name, shape, expected in (
        ("ndc", "NDCs", "^([0-9]{11}|[0-9]{4,5}-[0-9]{3,4}-[0-9]{1,2})$", "11 digits"),
        ("gsn", "GSNs", "^([0-9]{6}( +[0-9]{6})*)?$", "6 digits each"),
    ):
        odd = table.filter(~table[column].re_search(shape))
        number = count_of(odd)
        if number > MOST_ODD * total:
            example = rows_of(odd.order_by(column, "hadm_id").limit(1))[0]
            raise InputError(
                f"{path}: {number:,} of {total:,} {name} have not {expected}, as {example[column]!r} of hadm_id "
                f"{example['hadm_id']}: {_NUMBERS}"
            )
