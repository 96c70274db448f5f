"""`clinical-evals build ior-bench` from end to end: a hospital's table in, data that loads by name out, or nothing."""

import csv
import io
import json
import os
import re
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import datasets
import pyarrow.parquet as pq
import pytest

import clinical_evals  # noqa: F401 - makes the bare name known
from clinical_evals.cli import main
from clinical_evals.datasets_hub.features import schema_of
from clinical_evals.errors import GuardError, InputError
from clinical_evals.hub.guard import check_may_leave
from clinical_evals.hub.target import Target
from clinical_evals.markers import PATIENT_MARKER

datasets.disable_progress_bars()
HEADER = ["编号", "科室", "标题", "问题", "回答", "年龄", "性别"]
RECORDS = [
    ["a1", "神经内科", "头疼", "头疼三天了，“一跳一跳”的", "建议挂神经内科", "34岁", "女"],
    ["a2", "儿 科", "发烧", "孩子发烧39度，\n吐了一次", "", "8月", ""],
    ["a3", "神经内科", "手麻", "右手发麻一周", "神经内科", "", "男"],
]
COLUMNS = "id=编号,department=科室,question=标题+问题,answer=回答,age=年龄,sex=性别"
ROWS = [
    {
        "id": "a1",
        "age": 34.0,
        "sex": "female",
        "dialogue": [
            {"role": "patient", "content": "头疼\n头疼三天了，“一跳一跳”的"},
            {"role": "doctor", "content": "建议挂神经内科"},
        ],
        "department": "神经内科",
        "candidates": ["神经内科", "儿科"],
    },
    {
        "id": "a2",
        "age": 8 / 12,
        "sex": None,
        "dialogue": [{"role": "patient", "content": "发烧\n孩子发烧39度，\n吐了一次"}],
        "department": "儿科",
        "candidates": ["神经内科", "儿科"],
    },
    {
        "id": "a3",
        "age": None,
        "sex": "male",
        "dialogue": [
            {"role": "patient", "content": "手麻\n右手发麻一周"},
            {"role": "doctor", "content": "神经内科"},
        ],
        "department": "神经内科",
        "candidates": ["神经内科", "儿科"],
    },
]
DYNAMIC_HEADER = ["科室", "主诉", "现病史", "家族史", "年龄", "性别"]
DYNAMIC = [
    ["内科", "胸闷1周", "患者1周前无明显诱因出现胸闷", "父亲冠心病", "66", "男"],
    ["外科", "右下腹痛1天", "转移性右下腹痛", "", "19岁", "女"],
]
DYNAMIC_COLUMNS = (
    "department=科室,chief_complaint=主诉,history_of_present_illness=现病史,family_history=家族史,age=年龄,sex=性别"
)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.delenv("IOR_BENCH_DIR", raising=False)


def csv_text(rows: Sequence[Sequence[str]], header: Sequence[str] = HEADER) -> str:
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\n").writerows([header, *rows])
    return stream.getvalue()


def write(path: Path, content: str | bytes, encoding: str = "utf-8") -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return path


def build(table: Path, out: Path, *more: str | Path, kind: str = "--static", columns: str = COLUMNS) -> int:
    return main(["build", "ior-bench", kind, str(table), "--columns", columns, "--out", str(out), *map(str, more)])


def load(out: Path, config: str = "static") -> Any:
    return datasets.load_dataset("ior-bench", config, split="test", data_dir=str(out))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# A table of each format becomes the same rows


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030"])
def test_a_static_csv(tmp_path: Path, encoding: str, capsys: pytest.CaptureFixture[str]) -> None:
    table = write(tmp_path / "table.csv", csv_text(RECORDS), encoding)
    out = tmp_path / "out"
    assert build(table, out) == 0
    assert list(load(out)) == ROWS
    said = capsys.readouterr().out
    assert f"{table}: 3 rows, 2 departments occur, 2 candidates" in said
    assert "labels in one spelling (width, spaces, case): '儿 科' → '儿科'" in said
    assert f'load_dataset("ior-bench", "static", data_dir="{out}")' in said
    assert sorted(contents(out)) == [
        "README.md",
        "croissant.json",
        "static/build-report.txt",
        "static/test.parquet",
    ]


def test_json_lines(tmp_path: Path) -> None:
    lines = [json.dumps(dict(zip(HEADER, record, strict=True)), ensure_ascii=False) for record in RECORDS]
    assert build(write(tmp_path / "table.jsonl", "\n".join(lines)), tmp_path / "out") == 0
    assert list(load(tmp_path / "out")) == ROWS


def test_a_workbook(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed (extra xlsx)")
    workbook = openpyxl.Workbook()
    for record in [HEADER, *RECORDS]:
        workbook.active.append([cell or None for cell in record])
    workbook.save(tmp_path / "table.xlsx")
    assert build(tmp_path / "table.xlsx", tmp_path / "out") == 0
    assert list(load(tmp_path / "out")) == ROWS


def test_a_workbook_without_openpyxl_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)  # as where it is not installed
    assert build(write(tmp_path / "table.xlsx", b"PK\x03\x04"), tmp_path / "out") == 3
    assert "pip install 'clinical-evals[eval]'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("options", [(), ("--config", "dynamic_h1"), ("--config", "dynamic_h2")])
def test_a_dynamic_table_with_a_list_of_departments(tmp_path: Path, options: tuple[str, ...]) -> None:
    config = options[1] if options else "dynamic_h1"
    table = write(tmp_path / "emr.csv", csv_text(DYNAMIC, DYNAMIC_HEADER), "gb18030")
    departments = write(tmp_path / "departments.txt", "# 本院\n儿科\n内科\n\n外科\n骨科\n")
    out = tmp_path / "out"
    more = (*options, "--departments", departments)
    assert build(table, out, *more, kind="--dynamic", columns=DYNAMIC_COLUMNS) == 0
    assert sorted(path.name for path in out.iterdir()) == ["README.md", "croissant.json", config]
    first, second = load(out, config)
    assert first == {
        "id": "dynamic-0001",
        "age": 66.0,
        "sex": "male",
        "chief_complaint": "胸闷1周",
        "history_of_present_illness": "患者1周前无明显诱因出现胸闷",
        "past_medical_history": "",
        "personal_history": "",
        "family_history": "父亲冠心病",
        "department": "内科",
        "candidates": ["儿科", "内科", "外科", "骨科"],
    }
    assert (second["department"], second["family_history"], second["age"]) == ("外科", "", 19.0)


def test_two_hospitals_and_the_dialogues_in_one_folder(tmp_path: Path) -> None:
    emr = write(tmp_path / "emr.csv", csv_text(DYNAMIC, DYNAMIC_HEADER))
    out = tmp_path / "out"
    assert build(write(tmp_path / "table.csv", csv_text(RECORDS)), out) == 0
    for config in ("dynamic_h1", "dynamic_h2"):
        assert build(emr, out, "--config", config, kind="--dynamic", columns=DYNAMIC_COLUMNS) == 0
    counts = {config: load(out, config).num_rows for config in ("static", "dynamic_h1", "dynamic_h2")}
    assert counts == {"static": 3, "dynamic_h1": 2, "dynamic_h2": 2}


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--help"], ["build"]),
        (["build", "--help"], ["ior-bench"]),
        (
            ["build", "ior-bench", "--help"],
            ["--static FILE", "--dynamic FILE", "--departments FILE", "--skip-invalid"],
        ),
    ],
)
def test_help_names_it(capsys: pytest.CaptureFixture[str], arguments: list[str], parts: list[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    assert exit_.value.code == 0
    out = capsys.readouterr().out
    assert [part for part in parts if part not in out] == []


# What is written is patient data, and says so


def test_the_built_data_carry_the_mark_and_are_held_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    assert build(write(tmp_path / "table.csv", csv_text(RECORDS)), out) == 0
    path = out / "static" / "test.parquet"
    metadata = pq.read_schema(path).metadata
    assert metadata[b"clinical_evals_source"] == PATIENT_MARKER.encode()
    assert pq.read_table(path).schema.names == list(schema_of("ior-bench", "static").features)
    loaded = load(out)
    assert loaded.info.description.startswith("PATIENT DATA")
    assert PATIENT_MARKER in loaded.info.description
    monkeypatch.setenv("IOR_BENCH_DIR", str(out))
    assert list(datasets.load_dataset("ior-bench", "static", split="test")) == ROWS
    for each in (path, out / "static" / "build-report.txt"):
        with pytest.raises(GuardError, match="No patient data goes to a public place"):
            check_may_leave(each, Target("hub-public", "someone/some-data"))


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_what_is_written_is_for_its_owner_only(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert build(write(tmp_path / "table.csv", csv_text(RECORDS)), out) == 0
    for path in (out / "static").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path.name


# Nothing is written where anything is wrong

BAD = [
    pytest.param(
        csv_text([*RECORDS, ["a4", "骨科医院", "腿疼", "腿疼", "", "", ""]]),
        ["--departments", "departments.txt"],
        r"table\.csv, line 6: the department '骨科医院' is not in the list .*departments\.txt \(3 departments\)\. "
        r"Nearest: '骨科'",
        id="a label outside the list",
    ),
    pytest.param(
        csv_text([*RECORDS, ["a1", "骨科", "腿疼", "腿疼", "", "", ""]]),
        [],
        r"table\.csv, line 6: the id 'a1' is already that of .*table\.csv, line 2; give every record its own",
        id="duplicate ids",
    ),
    pytest.param(
        csv_text([["", "骨科", "腿疼", "腿疼", "", "", ""]]),
        [],
        r"table\.csv, line 2: the id is empty",
        id="an empty id",
    ),
    pytest.param(
        csv_text([*RECORDS, ["a4", "骨科", " ", "", "骨科", "", ""]]),
        [],
        r"table\.csv, line 6: column '标题' \+ '问题': the question is empty; expected text",
        id="an empty question",
    ),
    pytest.param(
        csv_text([*RECORDS, ["a4", "骨科", "腿疼", "a" * 10 * 2**20, "", "", ""]]),
        [],
        r"table\.csv, line 6: column '问题': 10,485,760 characters, the limit of one cell is 1,000,000: shorten it",
        id="a cell of 10 MB",
    ),
    pytest.param(
        csv_text(RECORDS).encode() + "a4,骨科,腿疼,腿疼,,,\n".encode("gb18030"),
        [],
        r"table\.csv, line 6: column '标题': bytes that are not UTF-8 \(0x[0-9a-f]+\): write the whole file in UTF-8",
        id="GB18030 in UTF-8",
    ),
    pytest.param(
        csv_text(RECORDS).encode("gb18030") + "a4,骨科,腿疼,孩子腿疼三天,,,\n".encode(),
        [],
        r"table\.csv, line 6: column '.{2}': (UTF-8 text in a file that is otherwise|bytes that are not) GB18030",
        id="UTF-8 in GB18030",
    ),
    pytest.param(
        csv_text([*RECORDS, ["a4", "骨科", "腿疼", "腿疼", "", "三百岁", ""]]),
        [],
        r"table\.csv, line 6: column '年龄': '三百岁' is not an age",
        id="no age",
    ),
    pytest.param(
        csv_text([*RECORDS, ["a4", "骨科", "腿疼"]]),
        [],
        r"table\.csv, line 6: 3 cells, the header has 7",
        id="too few cells",
    ),
    pytest.param(
        csv_text(RECORDS, ["编号", "部门", *HEADER[2:]]),
        [],
        r"table\.csv has no column '科室' \(for department\)\. It has '编号', '部门'",
        id="a missing column",
    ),
    pytest.param(csv_text([]), [], r"table\.csv has a header but no record", id="no record"),
    pytest.param("", [], r"table\.csv is empty", id="an empty file"),
]


@pytest.mark.parametrize("before", ["no folder", "an empty folder", "an earlier build"])
@pytest.mark.parametrize(("content", "options", "message"), BAD)
def test_bad_tables_end_with_code_2_a_place_and_nothing_written(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    content: str | bytes,
    options: list[str],
    message: str,
    before: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "departments.txt", "神经内科\n儿科\n骨科\n")
    out = tmp_path / "out"
    if before == "an earlier build":
        assert build(write(tmp_path / "good.csv", csv_text(RECORDS[:1])), out) == 0
    elif before == "an empty folder":
        out.mkdir()
    there = contents(tmp_path / "out")
    capsys.readouterr()
    assert build(write(tmp_path / "table.csv", content), out, *options) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("clinical-evals: error: ")
    assert "Traceback" not in said.err
    assert len(said.err) < 1_500
    assert re.search(message, said.err), said.err
    assert contents(out) == there
    if before != "an earlier build":
        assert out.exists() == (before == "an empty folder")
        assert not out.exists() or list(out.iterdir()) == []


DIALOGUES = [
    pytest.param("", "the dialogue is empty; expected turns of a patient and a doctor", id="empty"),
    pytest.param("[{}, {}]", "the dialogue is empty", id="only empty turns"),
    pytest.param("医生：您好\n医生：挂内科", "no patient turn stands before the last doctor turn", id="no patient"),
    pytest.param("[{'路人': '您好'}]", "entry 1 has the speaker '路人'", id="another speaker"),
]


@pytest.mark.parametrize(("dialogue", "reason"), DIALOGUES)
def test_dialogues_with_nothing_to_ask_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], dialogue: str, reason: str
) -> None:
    rows = [["病人：头疼\n医生：挂神经内科", "神经内科"], [dialogue, "内科"]]
    table = write(tmp_path / "table.csv", csv_text(rows, ["对话", "科室"]))
    assert build(table, tmp_path / "out", columns="dialogue=对话,department=科室") == 2
    assert f"{table}, line 4: column '对话': {reason}" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--static", "table.csv", "--columns", "department=科室"], "neither is named"),
        (["--static", "table.csv", "--columns", "question=问题"], "names no department column"),
        (["--static", "table.csv", "--columns", "departement=科室"], "Did you mean 'department'"),
        (["--static", "table.csv", "--columns", "科室"], "'科室' is not FEATURE=COLUMN"),
        (
            ["--static", "table.csv", "--columns", "department=科室,chief_complaint=问题"],
            "unknown feature of a static",
        ),
        (["--dynamic", "table.csv", "--columns", "department=科室"], "at least one of chief_complaint"),
        (["--static", "nothing.csv", "--columns", "department=科室,question=问题"], "nothing.csv"),
        (
            ["--static", "table.csv", "--columns", "department=科室,question=问题", "--departments", "nothing.txt"],
            "nothing.txt is not a file; expected a list of departments",
        ),
    ],
)
def test_arguments_that_cannot_be_used(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "table.csv", csv_text(RECORDS))
    assert main(["build", "ior-bench", *arguments, "--out", "out"]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--columns", "department=科室"], "one of the arguments --static --dynamic --authors is required"),
        (["--static", "a", "--dynamic", "b", "--columns", "department=科室"], "not allowed with argument --static"),
        (["--static", "a", "--columns", "department=科室", "--config", "dynamic_h2"], "--config goes with --dynamic"),
        (["--dynamic", "a", "--columns", "department=科室", "--config", "static"], "invalid choice: 'static'"),
        (["--static", "a"], "--columns"),
    ],
)
def test_usage_errors(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["build", "ior-bench", *arguments, "--out", "out"])
    assert exit_.value.code == 2
    assert message in capsys.readouterr().err


# Built before, and places that cannot be written to


def test_a_rebuild_replaces_the_rows(tmp_path: Path) -> None:
    table = write(tmp_path / "table.csv", csv_text(RECORDS))
    out = tmp_path / "out"
    assert build(table, out) == 0
    first = contents(out)
    assert build(table, out) == 0
    assert contents(out) == first, "the same table gives the same bytes"
    assert load(out).num_rows == 3
    assert build(write(table, csv_text(RECORDS[1:])), out) == 0
    assert load(out)["id"] == ["a2", "a3"]
    assert "2 rows" in (out / "static" / "build-report.txt").read_text(encoding="utf-8")
    assert sorted(contents(out)) == sorted(first), "and leaves nothing beside them"


def test_a_card_of_somebody_else_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = write(tmp_path / "table.csv", csv_text(RECORDS))
    (tmp_path / "project").mkdir()
    write(tmp_path / "project" / "README.md", "# My project\n")
    assert build(table, tmp_path / "project") == 2
    assert "README.md is there already" in capsys.readouterr().err
    assert list(contents(tmp_path / "project")) == ["README.md"]


def test_folders_with_other_data_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = write(tmp_path / "table.csv", csv_text(RECORDS))
    for name in ("static/test.json", "final_static.csv"):
        out = tmp_path / name.replace("/", "-")
        (out / name).parent.mkdir(parents=True)
        (out / name).write_text("theirs")
        assert build(table, out) == 2
        assert Path(name).name in capsys.readouterr().err
        assert contents(out) == {name: b"theirs"}
        # For the other configs the file is no matter.
    emr = write(tmp_path / "emr.csv", csv_text(DYNAMIC, DYNAMIC_HEADER))
    assert build(emr, tmp_path / "final_static.csv", kind="--dynamic", columns=DYNAMIC_COLUMNS) == 0


def test_a_place_that_cannot_be_written_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = write(tmp_path / "table.csv", csv_text(RECORDS))
    write(tmp_path / "file", "in the way, so that nobody can make a folder of it, root included")
    assert build(table, tmp_path / "file") == 2
    assert "cannot be written" in capsys.readouterr().err
    for name in ("test.parquet", "build-report.txt"):  # a folder where the file should be
        out = tmp_path / f"taken-{name}"
        (out / "static" / name / "inside").mkdir(parents=True)
        assert build(table, out) == 2
        assert f"{name} cannot be written" in capsys.readouterr().err
        assert [path.name for path in (out / "static").iterdir() if path.name.startswith(".")] == []


# Leaving out


def test_skipped_records_are_counted_and_listed_in_full_in_the_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = [[f"b{number}", "骨科", "腿疼", "腿疼", "", f"{number}百岁", ""] for number in range(30)]
    table = write(tmp_path / "table.csv", csv_text([RECORDS[0], *bad, *RECORDS[1:]]))
    out = tmp_path / "out"
    assert build(table, out, "--skip-invalid") == 0
    assert list(load(out)) == ROWS, "the department that only invalid records have is no candidate"
    said = capsys.readouterr().out
    assert "3 rows, 2 departments occur, 2 candidates" in said
    assert "30 records left out:" in said
    assert f"{table}, line 3: column '年龄': '0百岁' is not an age" in said
    assert "and 10 more" in said
    assert "29百岁" not in said
    report = (out / "static" / "build-report.txt").read_text(encoding="utf-8")
    assert report.startswith(f"{table}, as static\n3 rows, 2 departments occur, 2 candidates\n30 records left out:\n")
    assert [f"line {number + 3}: column '年龄': '{number}百岁'" in report for number in range(30)] == [True] * 30
    assert "labels in one spelling" in report


def test_nothing_is_written_where_no_record_is_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = write(tmp_path / "table.csv", csv_text([[*RECORDS[0][:5], "三百岁", ""]]))
    assert build(table, tmp_path / "out", "--skip-invalid") == 2
    assert "none of the 1 records" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_built_data_are_read_without_skip_invalid(tmp_path: Path) -> None:
    assert build(write(tmp_path / "table.csv", csv_text(RECORDS)), tmp_path / "out") == 0
    with pytest.raises(InputError, match="built data has been read with or without"):
        datasets.load_dataset("ior-bench", "static", data_dir=str(tmp_path / "out"), skip_invalid=True)


# Real questions of patients


def test_real_questions_become_a_hospital(questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert build(questions, out, columns="department=department,question=title+ask,answer=answer") == 0
    assert "7,644 rows, 11 departments occur, 11 candidates" in capsys.readouterr().out
    loaded = load(out)
    assert loaded.num_rows == 7644
    assert len(set(loaded["department"])) == 11
    assert all(len(row["dialogue"]) == 2 for row in loaded)
    assert loaded[0]["dialogue"][0]["content"].startswith("高血压患者能吃党参吗？\n我有高血压")
    assert loaded.info.description.startswith("PATIENT DATA")
