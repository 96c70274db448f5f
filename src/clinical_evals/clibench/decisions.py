"""What was decided in an admission, as codes: which sources map to which codes, and what does not (protocol.md 2.2).

A source is what MIMIC writes: an ICD code, an itemid, a drug with its GSNs and NDC. It is mapped once, however many
admissions have it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from clinical_evals.matching.titles import fold, titles_of
from clinical_evals.ontology import CodeSystem
from clinical_evals.ontology.drugs import DrugMap
from clinical_evals.ontology.lab_items import LabItems
from clinical_evals.ontology.ndc import explain_ndc, normalize_ndc

Drug = tuple[str, str, str]
"""Name, GSNs divided by blanks, NDC; empty where MIMIC has none."""


class Mapped(NamedTuple):
    """Sources and what they stand for."""

    codes: Mapping[str, tuple[str, ...]]
    """By source its codes of the release, sorted; empty where there is none."""
    dropped: Mapping[str, str]
    """By source without a code, why it has none."""
    replaced: Mapping[str, str]
    """By source whose codes were not all of the release, what became of them."""


def map_codes(sources: Iterable[str], system: CodeSystem) -> Mapped:
    """ICD codes of the system's own kind, as MIMIC writes them: undotted."""
    codes: dict[str, tuple[str, ...]] = {}
    dropped: dict[str, str] = {}
    for source in sorted(set(sources)):
        code = system.normalize(source)
        codes[source] = (code,) if code else ()
        if code is None:
            dropped[source] = f"not a code of {system.name} {system.release}"
    return Mapped(codes, dropped, {})


def map_labs(itemids: Iterable[str], items: LabItems, system: CodeSystem) -> Mapped:
    """MIMIC's lab items by the LOINC numbers of the map that are tests of the release."""
    codes: dict[str, tuple[str, ...]] = {}
    dropped: dict[str, str] = {}
    for itemid in sorted(set(itemids)):
        number = items.loinc(itemid)
        code = system.normalize(number) if number else None
        codes[itemid] = (code,) if code else ()
        if code is None:
            dropped[itemid] = items.coverage({itemid: 1}, system).without[0].why
    return Mapped(codes, dropped, {})


def map_drugs(drugs: Iterable[Drug], drug_map: DrugMap, system: CodeSystem) -> dict[Drug, "DrugCodes"]:
    """Drugs by the ATC codes of their GSNs, else of their NDC; several where a drug has several.

    The map may be of an older ATC release than `system`: where WHO has moved a substance since (gabapentin: N03AX12,
    now N02BF01), the code of the one title that equals the drug's name is taken; else the old code is dropped.
    """
    by_title = _single_titles(system)
    return {drug: _codes_of(drug, drug_map, system, by_title) for drug in sorted(set(drugs))}


class DrugCodes(NamedTuple):
    """The ATC codes of one drug."""

    codes: tuple[str, ...]
    dropped: str = ""
    """Why there is none."""
    replaced: str = ""
    """What became of codes of the map that the release does not have."""


def _codes_of(drug: Drug, drug_map: DrugMap, system: CodeSystem, by_title: Callable[[str], str | None]) -> DrugCodes:
    name, gsn, ndc = drug
    if normalize_ndc(ndc) is None:
        return DrugCodes((), f"its NDC {ndc!r}: {explain_ndc(ndc)}")
    found = drug_map.classes(gsn, ndc).codes
    if not found:
        return DrugCodes((), "neither its GSN nor its NDC is in the map")
    valid = [code for code in found if system.normalize(code)]
    old = [code for code in found if not system.normalize(code)]
    if not old:
        return DrugCodes(tuple(sorted(valid)))
    new = by_title(name)
    what = f"{', '.join(old)} of the map {'is' if len(old) == 1 else 'are'} not in this release of {system.name}"
    if new:
        return DrugCodes(tuple(sorted({*valid, new})), "", f"{what}; {new} has its name")
    if valid:
        return DrugCodes(tuple(sorted(valid)), "", f"{what}, and dropped")
    return DrugCodes((), what)


def _single_titles(system: CodeSystem) -> Callable[[str], str | None]:
    """By folded title its code, where no other code has that title."""
    times = Counter(fold(system.title(code)) for code in system.codes())
    titles = titles_of(system)
    single = {
        folded: code
        for code, title in zip(titles.codes, titles.titles, strict=True)
        if times[folded := fold(title)] == 1
    }
    return lambda name: single.get(fold(name))
