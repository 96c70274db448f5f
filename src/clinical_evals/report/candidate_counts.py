"""How many candidates each task of CliBench has at each level, for the releases in use. Source: protocol.md 2.1."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from clinical_evals.errors import ResourceMissingError
from clinical_evals.matching.dictionary import read_dictionary
from clinical_evals.ontology import CodeSystem, get_system


class Counted(NamedTuple):
    """The candidates of one task, counted in one way."""

    task: str
    source: str
    """What was counted: release and, where it matters, how."""
    counts: tuple[int, ...]
    """At level 1 and on."""
    kind: str
    """The way of counting, as `candidate_reasons` has it: release, dictionary or prefixes."""
    note: str = ""
    """What a reader of the counts should know, whatever the published ones are."""


class Uncounted(NamedTuple):
    """A task whose files are not on this machine."""

    task: str
    missing: str
    """What is missing, and the commands that bring it."""


def count_candidates(dictionary: Path | None = None) -> list[Counted | Uncounted]:
    """The candidates of all tasks, in the order of Table 7.

    Args:
        dictionary: MIMIC's `d_icd_diagnoses`; where it is given, its codes are counted too, as the paper counts them.

    Raises:
        InputError: the dictionary or a release file cannot be read, or is something else.
    """
    rows: list[Counted | Uncounted] = [_diagnosis_release()]
    if dictionary is not None:
        rows.append(_diagnosis_dictionary(dictionary))
    for task, count in (("procedure", _procedure), ("lab_order", _lab_order), ("prescription", _prescription)):
        rows += _counted_or_not(task, count)
    return rows


def _counted_or_not(task: str, count: Callable[[], list[Counted]]) -> list[Counted | Uncounted]:
    try:
        return [*count()]
    except ResourceMissingError as error:
        return [Uncounted(task, str(error))]


def _distinct(system: CodeSystem, codes: Sequence[str]) -> tuple[int, ...]:
    """Different ancestors at each level."""
    return tuple(len(set(level)) for level in zip(*map(system.path, codes), strict=True))


def _diagnosis_release() -> Counted:
    """The release as its list has it, with the names that are block and category at once counted as both."""
    system = get_system("icd10cm")
    codes = [code for code in system.codes() if "-" not in code]
    chapters, with_codes, categories, subcategories, full = _distinct(system, codes)
    both = sum(system.path(code)[1] == code for code in codes)
    blocks = sum("-" in code for code in system.codes()) + both
    note = (
        f"{both} names are block and category at once (B20) and stand twice in the release's list: {blocks} and "
        f"{categories:,} distinct; {blocks - with_codes} blocks hold only other blocks, so codes lie in {with_codes}"
    )
    counts = (chapters, blocks + both, categories + both, subcategories, full)
    return Counted("diagnosis", f"icd10cm {system.release}", counts, "release", note)


def _diagnosis_dictionary(path: Path) -> Counted:
    system = get_system("icd10cm")
    found = read_dictionary(path, system)
    counts = _distinct(system, found.codes)
    note = f"{len(found.left_out)} further ICD-10 rows of it are not in this release"
    return Counted("diagnosis", found.name, counts, "dictionary", note)


def _procedure() -> list[Counted]:
    from clinical_evals.ontology.icd10pcs import icd10pcs

    system = icd10pcs()
    counts = _distinct(system, system.codes())
    return [Counted("procedure", f"icd10pcs {system.release}", counts, "release", system.note)]


def _lab_order() -> list[Counted]:
    from clinical_evals.ontology.lab_items import lab_items
    from clinical_evals.ontology.loinc import loinc

    system, items = loinc(), lab_items()
    numbers = {item.loinc for item in items.items.values() if item.loinc}
    codes = sorted({code for code in map(system.normalize, numbers) if code})
    note = (
        f"{len(numbers) - len(codes)} of the {len(numbers):,} mapped numbers are not below Laboratory in this release"
    )
    source = f"mapped lab items in loinc {system.release}"
    return [Counted("lab_order", source, _distinct(system, codes), "release", note)]


def _prescription() -> list[Counted]:
    from clinical_evals.ontology.atc import atc

    system = atc()
    rows = [Counted("prescription", f"atc {system.release}", system.sizes(), "release")]
    with suppress(ResourceMissingError):  # only shows where the published figures come from
        rows.append(_prescription_prefixes())
    return rows


def _prescription_prefixes() -> Counted:
    """What the released scorer takes for levels, over the classes (5 characters) of the drugs that the map knows."""
    from clinical_evals.ontology.atc_official import official_path
    from clinical_evals.ontology.drugs import drug_map

    table = drug_map().table
    drugs = (*table.by_gsn.values(), *table.by_ndc.values())
    classes = {code[:5] for codes in drugs for code in codes if len(code) >= 5}
    counts = tuple(len(set(level)) for level in zip(*map(official_path, classes), strict=True))
    return Counted("prescription", "prefixes A, A1, A10, A10B of the mapped drugs' classes", counts, "prefixes")
