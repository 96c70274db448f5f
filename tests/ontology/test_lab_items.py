"""MIMIC's lab items: their LOINC numbers, malformed rows, coverage over a table."""

import csv
import gzip
import io
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from loinc_release import write_hierarchy, write_names

from clinical_evals.errors import InputError, ResourceMissingError
from clinical_evals.ontology.lab_items import LabItems, UncoveredItem, lab_items
from clinical_evals.ontology.loinc import LOINC

HEADER = ("itemid (omop_source_code)", "label", "fluid", "category", "valueuom", "omop_concept_code", "sssom_comment")
ROWS = (
    ("50931", "Glucose", "Blood", "Chemistry", "mg/dL", "2345-7", ""),
    ("51222", "Hemoglobin", "Blood", "Hematology", "g/dL", "718-7", ""),
    ("50811", "Hemoglobin", "Blood", "Blood Gas", "g/dL", "718-7", "several items may have one number"),
    ("50934", "H", "Blood", "Chemistry", "", "", "Not a lab test"),
    ("50825", "Temperature", "Blood", "Blood Gas", "", "8310-5", "no laboratory test"),
    ("51643", "Hemoglobin  A2", "Blood", "Chemistry", "", "968472", "malformed, as in the real file"),
    ("51777", "Albumin, CSF", "Cerebrospinal Fluid", "Chemistry", "", "2345-8", "wrong check digit"),
)


def _csv(rows: Sequence[Sequence[str]], header: Sequence[str] = HEADER) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue().encode()


def _write(folder: Path, content: bytes, name: str = "d_labitems_to_loinc.csv") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.fixture
def items(tmp_path: Path) -> LabItems:
    return LabItems(_write(tmp_path, _csv(ROWS)))


def test_items_have_at_most_one_number(items: LabItems) -> None:
    assert items.loinc("50931") == "2345-7"
    assert items.loinc("51222") == items.loinc("50811") == "718-7"
    assert items.loinc("50934") is None  # in the map, without a number
    assert items.loinc("99999") is None
    assert items.label("51777") == "Albumin, CSF"
    assert items.items["51777"].fluid == "Cerebrospinal Fluid"
    with pytest.raises(KeyError):
        items.label("99999")


def test_malformed_numbers_are_listed_and_the_item_is_kept(items: LabItems) -> None:
    assert [(row.where[-6:], row.found, row.why) for row in items.malformed] == [
        ("line 7", "968472", "expected digits, a hyphen and a check digit, as 2345-7"),
        ("line 8", "2345-8", "its check digit is wrong: after 2345 it would be 7"),
    ]
    assert items.loinc("51643") is None
    assert items.label("51643") == "Hemoglobin  A2"


def test_malformed_item_ids_are_listed(tmp_path: Path) -> None:
    rows = (*ROWS[:1], ("50931.0", *ROWS[1][1:]), ("", *ROWS[1][1:]))
    items = LabItems(_write(tmp_path, _csv(rows)))
    assert [(row.where[-6:], row.found) for row in items.malformed] == [("line 3", "50931.0"), ("line 4", "")]
    assert list(items.items) == ["50931"]


def test_layouts(tmp_path: Path, items: LabItems) -> None:
    renamed = _write(tmp_path, _csv(ROWS, ("itemid", *HEADER[1:])), "renamed.csv")
    turned = _write(tmp_path, _csv([row[::-1] for row in ROWS], HEADER[::-1]), "turned.csv")
    packed = _write(tmp_path, gzip.compress(_csv(ROWS)), "packed.csv.gz")
    for path in (renamed, turned, packed):
        assert LabItems(path).items == items.items


def test_coverage_of_a_table(items: LabItems) -> None:
    rows = {"50931": 10, "51222": 5, "50934": 7, "51643": 1, "53153": 2, "50825": 7}
    found = items.coverage(rows)
    # Known: all but 53153. With a number: 50931, 51222 and 50825, so 10 + 5 + 7 rows.
    assert found[:6] == (6, 32, 5, 30, 3, 22)
    assert found.without == (  # the most frequent first
        UncoveredItem("50934", "H", 7, "no LOINC number in the map"),
        UncoveredItem("53153", "", 2, "not in the map"),
        UncoveredItem("51643", "Hemoglobin  A2", 1, "its LOINC number in the map, '968472', is malformed"),
    )
    assert found.describe().splitlines()[:2] == [
        "3 of 6 lab items have a LOINC number (22 of 32 rows); 5 items are in the map",
        "  50934 'H': 7 rows, no LOINC number in the map",
    ]


def test_coverage_in_a_release(items: LabItems, tmp_path: Path) -> None:
    system = LOINC(write_hierarchy(tmp_path), write_names(tmp_path))
    found = items.coverage({"50931": 10, "50825": 7}, system)
    assert (found.covered_items, found.covered_rows) == (1, 10)
    assert found.without == (UncoveredItem("50825", "Temperature", 7, "8310-5 is not in this release of loinc"),)


def test_coverage_of_nothing(items: LabItems) -> None:
    assert items.coverage({}) == (0, 0, 0, 0, 0, 0, ())


BROKEN = {
    "login page": (b"<html><title>404</title></html>", ["web page"]),
    "empty file": (b"", ["no column itemid (omop_source_code)", "nothing"]),
    "MIMIC's own dictionary": (
        b"itemid,label,fluid,category\n50931,Glucose,Blood,Chemistry\n",
        ["no column omop_concept_code"],
    ),
    "cut off within a line": (_csv(ROWS)[:-25], ["line 8", "cut off"]),
    "cut-off gzip": (gzip.compress(_csv(ROWS))[:-20], ["cut off"]),
    "UTF-16": (_csv(ROWS).decode().encode("utf-16"), ["not UTF-8"]),
    "an item twice": (_csv((*ROWS, ROWS[0])), ["line 9", "itemid 50931", "second time"]),
    "no numbers": (_csv(ROWS[3:4]), ["none of its 1 lab items has a LOINC number"]),
    "numbers that a spreadsheet made dates of": (
        _csv([(*ROWS[0][:5], "8-Jan", "")]),
        ["none of its 1 lab items has a LOINC number"],
    ),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_files_that_are_something_else_are_named(kind: str, tmp_path: Path) -> None:
    content, said = BROKEN[kind]
    path = _write(tmp_path, content)
    with pytest.raises(InputError) as error:
        LabItems(path)
    for part in (str(path), *said, "clinical-evals resources add lab-items FILE"):
        assert part in str(error.value)


def test_without_the_map_the_error_carries_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("CLINICAL_EVALS_RESOURCES", "CLINICAL_EVALS_STATE", "XDG_DATA_HOME", "HOME"):
        monkeypatch.setenv(variable, str(tmp_path))
    lab_items.cache_clear()
    with pytest.raises(ResourceMissingError, match="clinical-evals resources add lab-items FILE"):
        lab_items()
    _write(tmp_path, _csv(ROWS))
    assert lab_items().loinc("50931") == "2345-7"
    lab_items.cache_clear()


# The real files


@pytest.fixture(scope="module")
def real(release_files: Path) -> LabItems:
    return LabItems(release_files / "d_labitems_to_loinc.csv")


def test_the_real_map(real: LabItems) -> None:
    assert len(real.items) == 1_630
    # 1,400 have a code, two of them malformed; the others are 1,146 distinct LOINC numbers (1,148 distinct codes).
    assert sum(item.loinc is not None for item in real.items.values()) == 1_400 - 2
    assert len({item.loinc for item in real.items.values() if item.loinc}) == 1_148 - 2
    assert [(row.where.rpartition(", ")[2], row.found) for row in real.malformed] == [
        ("line 771", "968472"),
        ("line 905", "-56064"),
    ]
    assert real.label("51643") == "Hemoglobin  A2"


def test_coverage_of_the_demo(real: LabItems, mimic_demo: Path, release_files: Path) -> None:
    with gzip.open(mimic_demo / "hosp" / "labevents.csv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = Counter(row["itemid"] for row in csv.DictReader(file))
    found = real.coverage(rows)
    assert (found.items, found.rows) == (498, 107_727)
    assert found.known_items == 497
    assert [(item.itemid, item.rows) for item in found.without if item.why == "not in the map"] == [("53153", 16)]
    # 49 of the known have no number (specimens on hold, "Intubated"), so 448 have one.
    assert (found.covered_items, found.covered_rows) == (497 - 49, 102_572)
    system = LOINC(release_files / "ComponentHierarchyBySystem.csv", release_files / "Loinc.csv")
    # Twelve items more have a number that is no laboratory test in the release: temperature, ventilator settings, …
    assert real.coverage(rows, system).covered_items == 448 - 12
