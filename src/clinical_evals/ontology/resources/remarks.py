"""What is to be said of a file that can be read, and yet may not be all of what its user takes it for."""

from pathlib import Path

from clinical_evals.errors import ClinicalEvalsError
from clinical_evals.ontology.resources.manifest import Resource, get_resource
from clinical_evals.ontology.resources.search import Found, locate

_HIERARCHY, _NAMES = "loinc-hierarchy", "loinc-names"


def remarks_on(resource: Resource, found: Found, sha256: str, entries: int) -> list[str]:
    """All that is to be said of a file that was just read; nothing where it is the known file, or nothing is known.

    Args:
        resource: what it is.
        found: where it is; "kept folder" or not decides how it is called.
        sha256: of the file.
        entries: how many entries its reader found in it.
    """
    said = [remark_on_hash(resource, found, sha256, entries), _remark_on_names(resource, found.path)]
    return [remark for remark in said if remark]


def remark_on_hash(resource: Resource, found: Found, sha256: str, entries: int = 0) -> str:
    """Says that a file is another one than the one the manifest knows; empty where it is that, or none is known.

    Args:
        resource: what it is.
        found: where it is.
        sha256: of the file.
        entries: how many entries it has; 0 where it was not read.
    """
    pinned = resource.download.pinned if resource.download else None
    if pinned is None or sha256 in (pinned.sha256, pinned.unpacked):
        return ""
    if not entries:
        counted = ""
    elif entries <= pinned.entries:
        counted = f": {entries:,} of {pinned.entries:,} {pinned.unit}"
    else:
        counted = f": {entries:,} {pinned.unit}, that one has {pinned.entries:,}"
    done = "kept" if found.by == "kept folder" else "used"
    return f"not the pinned file of {resource.tested}{counted}; {done} as your own"


def _remark_on_names(resource: Resource, path: Path) -> str:
    """How many numbers of LOINC's hierarchy have a name in the file of names, where only some have."""
    if resource.name not in (_HIERARCHY, _NAMES):
        return ""
    other = get_resource(_NAMES if resource.name == _HIERARCHY else _HIERARCHY)
    try:
        found = locate(other)
        if found is None:
            return ""
        hierarchy, names = (path, found.path) if resource.name == _HIERARCHY else (found.path, path)
        named, numbers = _count_named(hierarchy, names)
    except ClinicalEvalsError:  # the other file is at fault, which is told where that one is looked at
        return ""
    if named == numbers:
        return ""
    return (
        f"{named:,} of the {numbers:,} LOINC numbers below Laboratory in {hierarchy} have a name in {names}; in "
        "the files of one release all have one: the names are a part, cut off, or of another release"
    )


def _count_named(hierarchy: Path, names: Path) -> tuple[int, int]:
    from clinical_evals.ontology.loinc_files import read_hierarchy
    from clinical_evals.ontology.loinc_names import read_names

    numbers = read_hierarchy(hierarchy).groups
    found = read_names(names, numbers)
    return sum(bool(found.titles.get(number) or found.composed.get(number)) for number in numbers), len(numbers)
