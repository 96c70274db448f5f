"""The titles that the official protocol matches to: those of a dictionary of MIMIC, or our own in their place.

Source: protocol.md 3, "candidates". The order of the candidates decides ties, so it is part of the protocol.
"""

from pathlib import Path

from clinical_evals.matching.dictionary_icd import read_diagnoses, read_procedures
from clinical_evals.matching.dictionary_items import read_drugs, read_lab_items
from clinical_evals.matching.dictionary_rows import Candidates
from clinical_evals.ontology import CodeSystem

DICTIONARIES = {
    "icd10cm": "d_icd_diagnoses.csv.gz",
    "icd10pcs": "d_icd_procedures.csv.gz",
    "loinc": "d_labitems.csv.gz",
    "atc": "prescriptions.csv.gz",
}
"""By code system MIMIC's table of what answers are matched to, in its folder hosp/."""


def own_titles(system: CodeSystem) -> Candidates:
    """The release's own titles in code order: what stands in where MIMIC's dictionary is not at hand.

    Ranges such as E08-E13 are no candidates, since MIMIC's dictionary has none, nor are codes without a name.
    """
    shaped = (code for code in system.codes() if system.code_shape.fullmatch(code))
    codes = tuple(sorted(code for code in shaped if system.title(code) != code))
    name = f"{system.name} {system.release} in code order"
    source = f"{len(codes)} titles of {name}; MIMIC's dictionary was not given"
    titles = tuple(map(system.title, codes))
    cut = tuple(title.partition("(")[0] for title in titles) if system.name == "loinc" else ()  # as MIMIC's labels are
    return Candidates(name, codes, titles, source, from_mimic=False, equal_to=cut)


def read_dictionary(path: str | Path, system: CodeSystem) -> Candidates:
    """What MIMIC's table of a system gives to match to; see `DICTIONARIES`.

    Args:
        path: the table as `.csv`, `.csv.gz` or `.parquet`.
        system: the code system of the task.

    Raises:
        InputError: the file cannot be read or used, or is another table; names file, row and column.
        ResourceMissingError: a Parquet file, but pyarrow is not installed; of drugs also the map of their classes.
    """
    path = Path(path)
    match system.name:
        case "icd10pcs":
            return read_procedures(path, system)
        case "loinc":
            return read_lab_items(path)
        case "atc":
            from clinical_evals.ontology.drugs import drug_map

            return read_drugs(path, drug_map())
    return read_diagnoses(path, system)
