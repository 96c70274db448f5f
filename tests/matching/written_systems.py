"""Releases of a handful of codes of the three systems of orders, so that answers are read without the users' files.

This material contains content from LOINC (http://loinc.org). LOINC is copyright © Regenstrief Institute, Inc. and the
LOINC Committee and is available at no cost under the license at http://loinc.org/license. LOINC® is a registered
United States trademark of Regenstrief Institute, Inc.
"""

import re
from collections.abc import Sequence

from clinical_evals.ontology import CodeSystem


class WrittenSystem(CodeSystem):
    """A few codes with their titles, in the form of another system's.

    Args:
        name: the system.
        shape: regular expression of its codes, in upper case.
        titles: by code.
    """

    release = "written"
    levels = ("full",)

    def __init__(self, name: str, shape: str, titles: dict[str, str]) -> None:
        self.name = name
        self.code_shape = re.compile(shape)
        self._titles = titles

    def normalize(self, text: str) -> str | None:
        code = text.strip(" .,;").replace(" ", "").upper()
        return code if code in self._titles else None

    def codes(self) -> Sequence[str]:
        return list(self._titles)

    def title(self, code: str) -> str:
        return self._titles[code]

    def path(self, code: str) -> tuple[str, ...]:
        return (code,)


PROCEDURES = WrittenSystem(
    "icd10pcs",
    "[0-9A-HJ-NP-Z]{7}",
    {
        "0FT44ZZ": "Resection of Gallbladder, Percutaneous Endoscopic Approach",
        "02HV33Z": "Insertion of Infusion Device into Superior Vena Cava, Percutaneous Approach",
        "3E0436Z": "Introduction of Nutritional Substance into Central Vein, Percutaneous Approach",
        "0BH17EZ": "Insertion of Endotracheal Airway into Trachea, Via Natural or Artificial Opening",
        "5A1945Z": "Respiratory Ventilation, 24-96 Consecutive Hours",
        "5A1955Z": "Respiratory Ventilation, Greater than 96 Consecutive Hours",
        "5A1D70Z": "Performance of Urinary Filtration, Intermittent, Less than 6 Hours Per Day",
        "0W9930Z": "Drainage of Right Pleural Cavity with Drainage Device, Percutaneous Approach",
        "0W9G3ZZ": "Drainage of Peritoneal Cavity, Percutaneous Approach",
        "0DTJ4ZZ": "Resection of Appendix, Percutaneous Endoscopic Approach",
        "BW03ZZZ": "Plain Radiography of Chest",
        "BW20ZZZ": "Computerized Tomography (CT Scan) of Abdomen",
        "GZFZZZZ": "Hypnosis",
    },
)
LABS = WrittenSystem(
    "loinc",
    r"\d{1,7}-\d",
    {
        "2345-7": "Glucose [Mass/volume] in Serum or Plasma",
        "2951-2": "Sodium [Moles/volume] in Serum or Plasma",
        "718-7": "Hemoglobin [Mass/volume] in Blood",
        "6690-2": "Leukocytes [#/volume] in Blood by Automated count",
        "6598-7": "Troponin T.cardiac [Mass/volume] in Serum or Plasma",
    },
)
DRUGS = WrittenSystem(
    "atc",
    r"[ABCDGHJLMNPRSV](?:\d\d(?:[A-Z](?:[A-Z](?:\d\d)?)?)?)?",
    {
        "A07AA": "Antibiotics",
        "A10": "DRUGS USED IN DIABETES",
        "A10BA02": "metformin",
        "B01AB01": "heparin",
        "B05XA01": "potassium chloride",
        "A06AA02": "docusate sodium",
        "C03CA01": "furosemide",
        "C07AB02": "metoprolol",
        "J01DD04": "ceftriaxone",
        "N02": "ANALGESICS",
    },
)
SYSTEMS = {"procedures": PROCEDURES, "labs": LABS, "drugs": DRUGS}
"""By the name of their table of answers, answers_….json."""
