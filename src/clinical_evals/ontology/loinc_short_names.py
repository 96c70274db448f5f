"""The names by which clinicians order LOINC's tests: "Sodium" and "Na" are sodium in serum, not in a body fluid.

A short form is what stands before property and specimen in a long name, "Sodium" of "Sodium [Moles/volume] in Serum or
Plasma". It stands for one test only: in the specimen, as the quantity and by the method that are meant when none is
said. The abbreviations are written from general knowledge; no list copied.

This material contains content from LOINC (http://loinc.org). LOINC is copyright © Regenstrief Institute, Inc. and the
LOINC Committee and is available at no cost under the license at http://loinc.org/license. LOINC® is a registered
United States trademark of Regenstrief Institute, Inc.
"""

import re
from collections.abc import Mapping

_SPECIMENS = r"(?:Serum|Plasma|Platelet|Blood|Urine|Body|Pleural|Peritoneal|Synovial|Cerebral|Stool|Specimen)\b"
_IN = r" in (?!(?:HDL|LDL|VLDL|IDL)\b)"
_OF = rf" of (?=(?:[A-Z]\w+ )?{_SPECIMENS})"
_END = re.compile(rf" \[|{_IN}|{_OF}| by |--| - ")
_WHERE = re.compile(rf"(?:{_IN}|{_OF})(?:24 hour )?(.+?)(?: by |--|\Z)")
_PROPERTY = re.compile(r" \[([^\]]*)\]")
_METHOD = re.compile(r" by (.+)\Z")
_NO_TEST = frozenset(
    {
        "appearance",
        "blood",
        "clarity",
        "collection duration",
        "color",
        "comment",
        "deprecated",
        "fragments",
        "microscopic observation",
        "nan",
        "service comment",
        "specimen",
        "specimen type",
        "volume",
    }
)
"""Short forms that name no test by themselves."""
_IN_BLOOD = frozenset(
    {
        "base excess",
        "calcium.ionized",
        "carbon dioxide",
        "erythrocytes",
        "hematocrit",
        "hemoglobin",
        "hemoglobin a1c",
        "leukocytes",
        "oxygen",
        "ph",
        "platelets",
        "reticulocytes",
    }
)
"""Tests of blood as it is; all others are of serum or plasma first."""
_AFTER_BLOOD = ("Arterial blood", "Venous blood", "Urine")
"""What comes next where a test is in neither."""
_IN_MOLES = frozenset(
    {
        "ammonia",
        "bicarbonate",
        "calcium.ionized",
        "carbon dioxide, total",
        "chloride",
        "lactate",
        "lithium",
        "potassium",
        "sodium",
    }
)
"""Tests that US laboratories report in moles; of all others the mass comes first."""
_NO_QUANTITY = re.compile(r"Presence|Interpretation|Identifier|Titer|/time|area|Multiple|Susceptib|type|Log")

ABBREVIATIONS: Mapping[str, str] = {
    "sodium": "Na;Na+",
    "potassium": "K;K+",
    "chloride": "Cl;Cl-",
    "bicarbonate": "HCO3;CO2;bicarb;serum bicarbonate;total CO2",
    "urea nitrogen": "BUN;urea;blood urea nitrogen",
    "creatinine": "Cr;creat;serum creatinine",
    "glucose": "blood glucose;serum glucose;blood sugar",
    "calcium": "Ca;total calcium",
    "calcium.ionized": "ionized calcium;iCa;free calcium",
    "magnesium": "Mg;Mag",
    "phosphate": "Phos;phosphorus;PO4",
    "anion gap;anion gap 4": "anion gap;AG",
    "osmolality": "serum osmolality",
    "leukocytes": "WBC;WBC count;white blood cell count;white blood cells;white cell count;white count",
    "erythrocytes": "RBC;RBC count;red blood cell count;red blood cells;red cell count",
    "hemoglobin": "Hgb;Hb;haemoglobin",
    "hematocrit": "Hct;haematocrit",
    "platelets": "Plt;Plts;platelet;platelet count",
    "mcv;erythrocyte mean corpuscular volume": "MCV;mean corpuscular volume",
    "mch;erythrocyte mean corpuscular hemoglobin": "MCH",
    "mchc;erythrocyte mean corpuscular hemoglobin concentration": "MCHC",
    "erythrocyte distribution width": "RDW;red cell distribution width",
    "platelet mean volume": "MPV",
    "reticulocytes": "reticulocyte count;retic count",
    "prothrombin time (pt)": "PT;prothrombin time",
    "inr": "INR;PT-INR;international normalized ratio",
    "aptt": "PTT;aPTT;partial thromboplastin time;activated partial thromboplastin time",
    "fibrin d-dimer feu;fibrin d-dimer ddu": "D-dimer",
    "aspartate aminotransferase": "AST;SGOT",
    "alanine aminotransferase": "ALT;SGPT",
    "alkaline phosphatase": "ALP;alk phos",
    "gamma glutamyl transferase": "GGT",
    "bilirubin.total": "T bili;Tbili;total bilirubin;bilirubin;bilirubin total",
    "bilirubin.direct": "D bili;direct bilirubin",
    "bilirubin.indirect": "indirect bilirubin",
    "protein": "total protein",
    "albumin": "Alb;serum albumin",
    "lactate": "lactic acid;serum lactate;blood lactate",
    "lactate dehydrogenase": "LDH",
    "troponin t.cardiac": "troponin T;cardiac troponin T;TnT;troponin;cardiac troponin",
    "troponin i.cardiac": "troponin I;cardiac troponin I;TnI;troponin;cardiac troponin",
    "creatine kinase": "CK;CPK",
    "creatine kinase.mb": "CK-MB;CKMB",
    "natriuretic peptide b": "BNP;B-type natriuretic peptide;brain natriuretic peptide",
    "natriuretic peptide.b prohormone n-terminal": "NT-proBNP;proBNP;BNP",
    "thyrotropin": "TSH;thyroid stimulating hormone",
    "thyroxine (t4) free": "free T4;FT4",
    "hemoglobin a1c/hemoglobin.total": "HbA1c;A1c;hemoglobin A1c;glycated hemoglobin",
    "c reactive protein": "CRP;C-reactive protein",
    "erythrocyte sedimentation rate": "ESR;sed rate",
    "urate": "uric acid",
    "triglyceride": "triglycerides",
    "cholesterol": "total cholesterol",
    "cholesterol in hdl": "HDL;HDL cholesterol",
    "cholesterol in ldl": "LDL;LDL cholesterol",
    "iron binding capacity": "TIBC;total iron binding capacity",
    "cobalamin (vitamin b12)": "vitamin B12;B12",
    "25-hydroxyvitamin d3;25-hydroxyvitamin d3+25-hydroxyvitamin d2": "vitamin D;25-hydroxyvitamin D",
    "choriogonadotropin": "hCG;beta hCG",
    "prostate specific ag": "PSA",
    "carcinoembryonic ag": "CEA",
    "alpha-1-fetoprotein": "AFP",
    "parathyrin.intact": "PTH",
    "salicylates": "salicylate",
}
"""What clinicians write, by short form. Of several forms the first that a release has counts, and of entries with the
same abbreviation the first of those."""


def short_names(titles: Mapping[str, str], components: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """By code the short forms and abbreviations that stand for it; codes for which none stands are left out.

    Args:
        titles: the long names by code.
        components: of codes for which a release has it the COMPONENT: a second short form.
    """
    best: dict[str, tuple[tuple[int | str, ...], str, str]] = {}
    for code, title in titles.items():
        for form in dict.fromkeys((short_form(title), components.get(code, ""))):
            folded = form.casefold()
            if not form or "^" in form or folded in _NO_TEST:
                continue
            candidate = (_rank(folded, title, code), code, form)
            best[folded] = min(candidate, best.get(folded, candidate))
    meant = {folded: (form, code) for folded, (_, code, form) in best.items()}
    meant |= _abbreviations({folded: code for folded, (_, code) in meant.items()})
    names: dict[str, tuple[str, ...]] = {}
    for form, code in meant.values():
        names[code] = (*names.get(code, ()), form)
    return names


def short_form(title: str) -> str:
    """What a long name names: without property, specimen and method.

    >>> [short_form(f"Cholesterol{rest}") for rest in (" [Mass/volume] in Serum or Plasma", " in HDL [Presence]")]
    ['Cholesterol', 'Cholesterol in HDL']
    """
    end = _END.search(title)
    return title[: end.start()].strip() if end else title


def _rank(form: str, title: str, code: str) -> tuple[int | str, ...]:
    """The least of all tests of one short form is what it stands for; the number decides at last."""
    special = "--" in title or " Control " in title or title.startswith("Deprecated")
    return (special, _of_specimen(form, title), _of_property(form, title), _of_method(title), len(title), code)


def _of_specimen(form: str, title: str) -> int:
    where = _WHERE.search(title)
    specimen = where[1] if where else "Blood"  # such as the MCV, whose name tells none
    if specimen.startswith(("Ser", "Plas", "Platelet", "PPP")):  # in words, or as the column SYSTEM has it
        return int(form in _IN_BLOOD)
    if specimen.startswith("Bl"):
        return int(form not in _IN_BLOOD)
    return 2 + (_AFTER_BLOOD.index(specimen) if specimen in _AFTER_BLOOD else len(_AFTER_BLOOD))


def _of_property(form: str, title: str) -> int:
    found = _PROPERTY.search(title)
    kind = found[1] if found else ""
    if form.endswith(" ab"):
        return 0  # what is asked of an antibody is mostly whether it is there
    if _NO_QUANTITY.search(kind):
        return 3
    if kind in ("Mass/volume", "Moles/volume"):
        return int((kind == "Moles/volume") != (form in _IN_MOLES))
    return 2


def _of_method(title: str) -> int:
    found = _METHOD.search(title)
    if not found:
        return 1
    return 0 if found[1] in ("Automated count", "Test strip") else 2


def _abbreviations(codes: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """By folded abbreviation it and its code, where the release has a short form that it stands for."""
    found: dict[str, tuple[str, str]] = {}
    for forms, written in ABBREVIATIONS.items():
        code = next((codes[form] for form in forms.split(";") if form in codes), None)
        if code is not None:
            for name in written.split(";"):
                found.setdefault(name.casefold(), (name, code))
    return found
