"""The files of an ICD-10-CM release: where the package simple-icd-10-cm has them, and the CDC's list of codes."""

import re
from importlib.util import find_spec
from pathlib import Path

from clinical_evals.errors import InputError, ResourceMissingError
from clinical_evals.ontology.icd10cm_tabular import TabularList, release_of
from clinical_evals.ontology.table_file import read_text

_LIST = "the list of codes of an ICD-10-CM release (icd10cm-codes-RELEASE.txt)"
_HINT = "Give the CDC's icd10cm-codes or icd10cm-order file of the tabular list's release, or none."
_NAME = re.compile(r"icd-?10-?cm?[_-](codes|order)(?!.*addend)[a-z0-9_ -]*\.txt|code-list[a-z0-9_ -]*\.txt")
# icd10cm-codes: "A000    Cholera"; icd10cm-order: "00002 A000    1 Cholera"; the package's: "22", "A00-A09" and "A000"
_LISTED = re.compile(
    r"(?:[0-9]{5} )?([A-Z][0-9A-Z]{2}\.?[0-9A-Z]{0,4}|[A-Z][0-9A-Z]{2}-[A-Z][0-9A-Z]{2}|[0-9]{1,2})(?: .*)?"
)


def package_files() -> tuple[Path, Path]:
    """The tabular list and the list of codes in the package simple-icd-10-cm, which itself is not imported (1.4 s).

    Raises:
        ResourceMissingError: the package is not installed, or its files have other names than in the versions known.
    """
    spec = find_spec("simple_icd_10_cm")
    folder = Path((spec.submodule_search_locations or ["."])[0]) / "data" if spec else Path()
    tabular = sorted(folder.glob("icd10c*tabular*.xml")) if spec else []
    codes = list_beside(tabular[0]) if len(tabular) == 1 else None
    if codes is None:
        found = f"its files are not as expected in {folder}" if spec else "it is not installed"
        raise ResourceMissingError(
            f"ICD-10-CM comes from the package simple-icd-10-cm, but {found}: pip install 'simple-icd-10-cm>=1.5,<2'"
        )
    return tabular[0], codes


def list_beside(tabular: Path) -> Path | None:
    """The list of codes of the same release in the same folder, told by its name; None where there is none."""
    release, folder = release_of(tabular.name), tabular.parent
    names = sorted(path for path in folder.iterdir() if _NAME.fullmatch(path.name.lower())) if folder.is_dir() else []
    return next((path for path in names if release_of(path.name) == release), None)


def read_list(path: Path) -> frozenset[str]:
    """The codes without dot of a list: of icd10cm-codes or icd10cm-order of the CDC, or one code a line.

    Raises:
        InputError: it is another file; the message names the line.
    """
    codes = set()
    for number, line in enumerate(read_text(path, _LIST, _HINT).split("\n"), 1):
        line = line.rstrip()
        if not line:
            continue
        listed = _LISTED.fullmatch(line)
        if listed is None:
            raise InputError(
                f"{path}, line {number}: {line[:40]!r}, expected a code and its title such as 'A000    Cholera'. "
                f"{_HINT}"
            )
        codes.add(listed[1].replace(".", ""))
    return frozenset(codes)


def differences(tabular: TabularList, listed: frozenset[str], path: Path) -> str:
    """What the two files disagree on, for `CodeSystem.note`; empty where they agree, as they should.

    Raises:
        InputError: they disagree on more than a few codes, so they are of two releases or one is cut off.
    """
    known = {code.replace(".", "") for code in tabular.titles} | tabular.chapters.keys() | tabular.blocks.keys()
    unlisted, unknown = sorted(tabular.billable - listed), sorted(listed - known)
    if not unlisted and not unknown:
        return ""
    first = ", ".join([*unlisted[:3], *unknown[:3]])
    said = (
        f"{len(unlisted)} codes of the tabular list are not in {path.name}, and {len(unknown)} of it are not in the "
        f"tabular list (among them {first})"
    )
    if len(unlisted) + len(unknown) > len(tabular.billable) / 1000:
        raise InputError(f"{path}: {said}: it is of another release, or cut off. {_HINT}")
    return f"{said}."
