"""MIMIC's lab items and drugs as what the official protocol matches to (protocol.md 3, "candidates").

Both are told by MIMIC's own numbers, not by codes: a lab by its itemid, a drug by its NDC.
"""

from collections import Counter
from pathlib import Path

from clinical_evals.errors import InputError
from clinical_evals.matching.dictionary_rows import Candidates, sha256_of
from clinical_evals.ontology.drugs import DrugMap
from clinical_evals.ontology.ndc import normalize_ndc
from clinical_evals.ontology.table_file import read_text_columns

LAB_COLUMNS = ("itemid", "label", "fluid", "category")
DRUG_COLUMNS = ("drug", "gsn", "ndc")
_LABS = "Give MIMIC-IV's own file hosp/d_labitems.csv.gz."
_DRUGS = "Give MIMIC-IV's own file hosp/prescriptions.csv.gz."


def read_lab_items(path: Path) -> Candidates:
    """MIMIC's `d_labitems` by itemid, each as "label for fluid (category)".

    A text equals one if it equals what stands before the first bracket of that.

    Raises:
        InputError: the file cannot be read or is another table, or a row has no itemid or no label, or one twice.
    """
    titles: dict[int, str] = {}
    for where, (itemid, label, fluid, category) in read_text_columns(path, LAB_COLUMNS, _LABS):
        itemid = itemid.strip()
        if not (itemid.isascii() and itemid.isdecimal()):
            raise InputError(f"{where}: itemid is {itemid!r}, expected digits only. {_LABS}")
        if int(itemid) in titles:
            raise InputError(f"{where}: itemid {itemid} stands there a second time. {_LABS}")
        titles[int(itemid)] = f"{label} for {fluid} ({category})"
    if not titles:
        raise InputError(f"{path}: no row below its header. {_LABS}")
    ordered = sorted(titles)
    named = tuple(titles[itemid] for itemid in ordered)
    return Candidates(
        "d_labitems",
        tuple(map(str, ordered)),
        named,
        f"{len(named)} lab items of {path.name} (SHA-256 {sha256_of(path)})",
        from_mimic=True,
        equal_to=tuple(title.partition("(")[0] for title in named),
        ids="itemid",
    )


def read_drugs(path: Path, drug_map: DrugMap) -> Candidates:
    """The drugs of MIMIC's `prescriptions` by NDC, each by its most frequent name.

    The authors did not release their list of names: this is ours, and it says so. What an NDC stands for is what the
    map has for it and for the GSNs that prescriptions give it.

    Raises:
        InputError: the file cannot be read, is another table, or has no drug with an NDC.
    """
    names: dict[str, Counter[str]] = {}
    classes: dict[str, set[str]] = {}
    for _, (drug, gsn, ndc) in read_text_columns(path, DRUG_COLUMNS, _DRUGS):
        if (code := normalize_ndc(ndc)) and drug.strip():
            names.setdefault(code, Counter())[drug.strip()] += 1
            classes.setdefault(code, set()).update(drug_map.classes(gsn, ndc).codes)
    if not names:
        raise InputError(f"{path}: no row with a drug and its NDC of 11 digits. {_DRUGS}")
    ordered = tuple(sorted(names))
    return Candidates(
        f"the drugs of {path.name}",
        ordered,
        tuple(_most_frequent(names[ndc]) for ndc in ordered),
        f"{len(ordered)} drugs of {path.name} (SHA-256 {sha256_of(path)}) by NDC, with the classes of "
        f"{drug_map.source}; the authors' own list was not released",
        from_mimic=True,
        ids="ndc",
        classes={ndc: tuple(sorted(found)) for ndc, found in classes.items()},
    )


def _most_frequent(names: Counter[str]) -> str:
    """Of names that are as frequent the first by the alphabet."""
    return min(names, key=lambda name: (-names[name], name))
