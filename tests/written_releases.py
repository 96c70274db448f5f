"""Small release files of the three systems that users supply, in one folder, as CLINICAL_EVALS_RESOURCES names it."""

import json
from pathlib import Path

import atc_table
import drug_table
import loinc_release

PCS_ROWS = Path(__file__).parent / "ontology" / "icd10pcs_small.json"
"""Lines of the CMS order file of 2022 (public domain): code, short title, long title."""


def write_all(folder: Path) -> Path:
    """The folder with an order file of ICD-10-PCS, LOINC's two files, an ATC table and a map of drugs."""
    rows = json.loads(PCS_ROWS.read_text(encoding="utf-8"))
    lines = [
        f"{number:05} {code:<7} {int(len(code) == 7)} {short:<60} {long}\n"
        for number, (code, short, long) in enumerate(rows, 1)
    ]
    (folder / "icd10pcs_order_2022.txt").write_text("".join(lines), encoding="ascii")
    loinc_release.write_hierarchy(folder)
    loinc_release.write_names(folder)
    atc_table.write(folder)
    drug_table.write(folder)
    return folder
