"""What a map of drugs covers of a table of prescriptions; on written rows and on the MIMIC demo."""

from pathlib import Path

import pytest
from drug_table import write

from clinical_evals.errors import InputError
from clinical_evals.ontology.drugs import DrugMap
from clinical_evals.ontology.drugs_coverage import Drug, cover, read_prescriptions
from clinical_evals.ontology.drugs_file import explain_gsn
from clinical_evals.ontology.ndc import explain_ndc

PRESCRIPTIONS = (
    ("Metformin", "004763", "00087606005"),
    ("Metformin", "004763", "00087606005"),
    ("Acetaminophen", "", "00045048760"),  # by NDC only
    ("Insulin Pump", "999999 004764 ", "0"),  # one of its GSNs is in the map
    ("Bag", "", "0"),
    ("Bag", "", "0"),
    ("Sterile Water", "", ""),
    ("New Drug", "888888", "12345678901"),
    ("Read as number", "4763", "87606005.0"),
)


def test_rows_are_counted_by_what_the_map_says(tmp_path: Path) -> None:
    found = cover(DrugMap(write(tmp_path)), iter(PRESCRIPTIONS))
    assert found.rows == 9
    assert found.with_ndc == 5  # two Metformin, Acetaminophen, New Drug, and the malformed one
    assert found.with_gsn == 5  # two Metformin, Insulin Pump, New Drug, and the malformed one
    assert (found.by_gsn, found.by_ndc) == (3, 1)
    assert found.ndc_unmapped == 2  # New Drug, Read as number
    assert found.unmapped == (
        (Drug("Bag", "", "0"), 2),  # the most frequent first, then by name
        (Drug("New Drug", "888888", "12345678901"), 1),
        (Drug("Read as number", "4763", "87606005.0"), 1),
        (Drug("Sterile Water", "", ""), 1),
    )
    assert found.unknown_gsns == (("888888", 1), ("999999", 1))
    assert [(value.column, value.found, rows) for value, rows in found.malformed] == [
        ("gsn", "4763", 1),
        ("ndc", "87606005.0", 1),
    ]


def test_the_order_of_rows_changes_nothing(tmp_path: Path) -> None:
    drugs = DrugMap(write(tmp_path))
    assert cover(drugs, PRESCRIPTIONS) == cover(drugs, reversed(PRESCRIPTIONS))


def test_the_report_names_the_gaps(tmp_path: Path) -> None:
    text = cover(DrugMap(write(tmp_path)), PRESCRIPTIONS).describe()
    assert text.splitlines() == [
        "4 of 9 rows have an ATC code: 3 by GSN, 1 by NDC only",
        "5 rows have a GSN, 5 an NDC; 2 of the latter have no ATC code",
        "4 drugs without an ATC code, in 5 rows:",
        "  2: 'Bag' (gsn '', ndc '0')",
        "  1: 'New Drug' (gsn '888888', ndc '12345678901')",
        "  1: 'Read as number' (gsn '4763', ndc '87606005.0')",
        "  1: 'Sterile Water' (gsn '', ndc '')",
        "2 GSNs that the map lacks, in 2 rows:",
        "  1: 888888",
        "  1: 999999",
        "2 malformed values, in 2 rows:",
        f"  1: gsn '4763': {explain_gsn('4763')}",
        f"  1: ndc '87606005.0': {explain_ndc('87606005.0')}",
    ]


def test_a_long_list_is_cut_and_says_so(tmp_path: Path) -> None:
    rows = [(f"Drug {number:02}", "", "") for number in range(25)]
    lines = cover(DrugMap(write(tmp_path)), rows).describe().splitlines()
    assert lines[2] == "25 drugs without an ATC code, in 25 rows:"
    assert lines[-1] == "  and 5 more"
    assert len(lines) == 2 + 1 + 20 + 1


def test_no_rows(tmp_path: Path) -> None:
    found = cover(DrugMap(write(tmp_path)), [])
    assert (found.rows, found.unmapped) == (0, ())
    assert found.describe().startswith("0 of 0 rows")


def test_reads_the_columns_of_prescriptions_as_text(tmp_path: Path) -> None:
    path = write(tmp_path, "subject_id,ndc,drug,gsn\n1,00087606005,Metformin,004763\n", "prescriptions.csv")
    assert list(read_prescriptions(path)) == [("Metformin", "004763", "00087606005")]
    with pytest.raises(InputError, match=r"no column gsn.*hosp/prescriptions"):
        list(read_prescriptions(write(tmp_path, "drug,ndc\nMetformin,0\n", "other.csv")))


def test_every_row_of_the_demo_with_an_ndc_has_an_atc_code(release_files: Path, mimic_demo: Path) -> None:
    drugs = DrugMap(release_files / "gsn_atc_ndc_mapping.csv.gz")
    found = cover(drugs, read_prescriptions(mimic_demo / "hosp" / "prescriptions.csv"))
    assert found.rows == 18_087
    assert (found.with_ndc, found.ndc_unmapped) == (15_456, 0)
    assert (found.with_gsn, found.by_gsn, found.by_ndc) == (15_568, 15_568, 0)
    # What is left has neither: bags, flushes, vials and the like.
    assert sum(rows for _, rows in found.unmapped) == 18_087 - 15_568
    assert all(not drug.gsn and drug.ndc in ("", "0") for drug, _ in found.unmapped)
    assert found.unmapped[0] == (Drug("Sodium Chloride 0.9%  Flush", "", "0"), 585)
    assert len(found.unmapped) == 36
    assert found.malformed == ()
    # All in one list of 16 GSNs ("Insulin Pump"), whose other six are in the map.
    assert len(found.unknown_gsns) == 10


def test_restored_zeros_agree_with_the_demo(release_files: Path, mimic_demo: Path) -> None:
    drugs = DrugMap(release_files / "gsn_atc_ndc_mapping.csv.gz")
    restored = [
        (drugs.by_gsn(gsn), drugs.by_ndc(ndc))
        for _, gsn, ndc in read_prescriptions(mimic_demo / "hosp" / "prescriptions.csv")
        if ndc.startswith("0") and drugs.by_ndc(ndc)
    ]
    # Every NDC of the map that begins with a zero had lost it; put back, each gives what the row's own GSN gives.
    assert len(restored) == 212
    assert all(by_gsn == by_ndc for by_gsn, by_ndc in restored)
