"""Smuggling attempts, each of which the guard refuses for a public repository without quoting what it found."""

import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import re
import socket
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from mimic_like import ADMISSIONS, NOTE, REPORT, SECRET_WORDS, STAYS, SUBJECTS

from clinical_evals.errors import GuardError
from clinical_evals.hub.guard import check_may_leave
from clinical_evals.hub.inspection import Rows
from clinical_evals.hub.target import Target
from clinical_evals.markers import MIMIC_MARKER, PATIENT_MARKER, SYNTHETIC_MARKER

PUBLIC = Target("hub-public", "someone/some-data")
PRIVATE = Target("hub-private", "someone/some-data")
CONSENT = "Jane Doe, 2026-01-31"

Attempt = Callable[[Path], Any]
ATTEMPTS: list[Any] = []


def attempt(rule: str) -> Callable[[Attempt], Attempt]:
    """Collect an attempt with the rule that must catch it."""

    def collect(build: Attempt) -> Attempt:
        ATTEMPTS.append(pytest.param(build, rule, id=build.__name__))
        return build

    return collect


def table(rows: int = 200) -> pa.Table:
    """Ids under names that say nothing, beside a column of nothing."""
    return pa.table({"a": SUBJECTS[:rows], "b": ADMISSIONS[:rows], "c": list(range(rows))})


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def csv_text(sep: str = ",", header: str = "a,b,c\n") -> str:
    rows = zip(SUBJECTS, ADMISSIONS, range(200), strict=True)
    return header.replace(",", sep) + "".join(f"{a}{sep}{b}{sep}{c}\n" for a, b, c in rows)


def parquet_bytes(content: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(content, sink)
    return sink.getvalue()


def zip_bytes(**members: bytes) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "."), content)
    return sink.getvalue()


# --- columns of ids, renamed, in every format -----------------------------------------------------------------------


@attempt("id column")
def parquet_with_renamed_columns(folder: Path) -> Path:
    return write(folder / "x.parquet", parquet_bytes(table()))


@attempt("id column")
def parquet_with_ids_as_text(folder: Path) -> Path:
    return write(folder / "x.parquet", parquet_bytes(pa.table({"key": [str(number) for number in ADMISSIONS]})))


@attempt("id column")
def parquet_with_ids_as_floats_with_gaps(folder: Path) -> Path:
    return write(folder / "x.parquet", parquet_bytes(pa.table({"key": [None, *map(float, ADMISSIONS)]})))


@attempt("id column")
def parquet_with_ids_as_decimals(folder: Path) -> Path:
    column = pa.array(ADMISSIONS, pa.int64()).cast(pa.decimal128(20, 0))
    return write(folder / "x.parquet", parquet_bytes(pa.table({"key": column})))


@attempt("id column")
def parquet_with_ids_in_nested_lists(folder: Path) -> Path:
    rows = [{"visits": [{"n": number}, {"n": number + 1}]} for number in STAYS]
    return write(folder / "x.parquet", parquet_bytes(pa.table({"person": rows})))


@attempt("id column")
def parquet_with_ids_as_a_dictionary(folder: Path) -> Path:
    column = pa.array([str(number) for number in SUBJECTS]).dictionary_encode()
    return write(folder / "x.parquet", parquet_bytes(pa.table({"who": column})))


@attempt("id column")
def parquet_with_ids_under_a_prefix(folder: Path) -> Path:
    return write(folder / "x.parquet", parquet_bytes(pa.table({"who": [f"p{number}" for number in SUBJECTS]})))


@attempt("id column")
def a_few_mimic_rows_among_many_synthetic_ones(folder: Path) -> Path:
    ids = list(range(900_000_000, 900_100_000))
    ids[50_000:50_000] = ADMISSIONS[:20]  # 20 of 100,020 rows
    sink = folder / "x.parquet"
    pq.write_table(pa.table({"n": ids}), sink, row_group_size=10_000)
    return sink


@attempt("id column")
def parquet_under_another_suffix(folder: Path) -> Path:
    return write(folder / "weights.bin", parquet_bytes(table()))


@attempt("id column")
def arrow_file(folder: Path) -> Path:
    pyarrow.feather.write_feather(table(), folder / "x.feather")
    return folder / "x.feather"


@attempt("id column")
def arrow_stream_as_datasets_saves_it(folder: Path) -> Path:
    with pa.ipc.new_stream(folder / "data-00000-of-00001.arrow", table().schema) as writer:
        writer.write_table(table())
    return folder


@attempt("id column")
def csv_with_renamed_columns(folder: Path) -> Path:
    return write(folder / "x.csv", csv_text())


@attempt("id column")
def csv_without_a_header(folder: Path) -> Path:
    return write(folder / "x.csv", csv_text(header=""))


@attempt("id column")
def csv_with_a_row_that_does_not_parse(folder: Path) -> Path:
    return write(folder / "x.csv", csv_text() + "a,row,of,another,width\n")


@attempt("id column")
def semicolons_in_a_txt(folder: Path) -> Path:
    return write(folder / "x.txt", csv_text(";"))


@attempt("id column")
def tsv_in_utf_16(folder: Path) -> Path:
    return write(folder / "x.tsv", csv_text("\t").encode("utf-16"))


@attempt("id column")
def json_lines(folder: Path) -> Path:
    pairs = zip(SUBJECTS, ADMISSIONS, strict=True)
    return write(folder / "x.jsonl", "".join(json.dumps({"k": a, "v": {"w": b}}) + "\n" for a, b in pairs))


@attempt("id column")
def json_by_column_as_pandas_writes_it(folder: Path) -> Path:
    return write(folder / "x.json", json.dumps({"pid": {str(i): number for i, number in enumerate(SUBJECTS)}}))


@attempt("id column")
def ids_as_keys_of_scores(folder: Path) -> Path:
    return write(folder / "scores.json", json.dumps({str(number): {"f1": 0.5} for number in ADMISSIONS}))


@attempt("id column")
def markdown_with_a_list_of_ids(folder: Path) -> Path:
    return write(folder / "README.md", "# Rows used\n\n" + "\n".join(f"- {number}" for number in ADMISSIONS))


@attempt("id column")
def sql_dump(folder: Path) -> Path:
    rows = ",".join(f"({a},{b},{c})" for a, b, c in zip(SUBJECTS, ADMISSIONS, range(10**6, 10**6 + 200), strict=True))
    return write(folder / "dump.sql", f"INSERT INTO t (subject_id, hadm_id, n) VALUES {rows};")


@attempt("id pairs")
def lists_of_lists_without_names(folder: Path) -> Path:
    rows = [[b, a, 5_000_000 + a // 3, "x"] for a, b in zip(SUBJECTS, ADMISSIONS, strict=True)]
    return write(folder / "x.json", json.dumps({"data": rows}))


@attempt("id pairs")
def a_table_inside_a_card(folder: Path) -> Path:
    rows = "".join(f"| {a} | {b} | {5_000_000 + a // 3} |\n" for a, b in zip(SUBJECTS, ADMISSIONS, strict=True))
    prose = "Some runs, with their cost, in words.\n" * 30  # the file as a whole is no table
    return write(folder / "README.md", f"# Runs\n\n{prose}\n| a | b | tokens |\n|-|-|-|\n{rows}")


@attempt("id column")
def csv_after_two_lines_of_comment(folder: Path) -> Path:
    return write(folder / "x.csv", "# made by hand\n# in March\n" + csv_text())


@attempt("id column")
def one_patient_a_file(folder: Path) -> Path:
    for number, who in enumerate(SUBJECTS):
        write(folder / "people" / f"{number:03}.json", json.dumps({"who": who}))
    return folder


@attempt("id column")
def ids_only_in_file_names(folder: Path) -> Path:
    for who in SUBJECTS[:20]:
        write(folder / f"p{who}.txt", "nothing here")
    return folder


@attempt("id column")
def two_ids_in_one_row_under_names_of_patients(folder: Path) -> Path:
    return write(folder / "x.json", json.dumps({"patient": SUBJECTS[0], "admission": ADMISSIONS[0]}))


@attempt("id column")
def numpy_array_of_ids(folder: Path) -> Path:
    np.save(folder / "embeddings.npy", np.array(ADMISSIONS))
    return folder / "embeddings.npy"


@attempt("id column")
def spreadsheet(folder: Path) -> Path:
    cells = "".join(
        f'<row r="{n}"><c r="A{n}"><v>{a}</v></c><c r="B{n}"><v>{n * 40_011}</v></c></row>'
        for n, a in enumerate(ADMISSIONS, 1)
    )
    sheet = f"<worksheet><sheetData>{cells}</sheetData></worksheet>".encode()
    return write(folder / "x.xlsx", zip_bytes(**{"xl/worksheets/sheet1__xml": sheet}))


# --- names and note ids that MIMIC alone has ------------------------------------------------------------------------


@attempt("column name")
def one_row_with_mimic_names(folder: Path) -> Path:
    return write(folder / "x.json", json.dumps({"hadm_id": ADMISSIONS[0]}))


@attempt("column name")
def parquet_with_mimic_names_and_one_mimic_row(folder: Path) -> Path:
    content = pa.table({"HADM_ID": [950_000_001, ADMISSIONS[0], 950_000_003]})
    return write(folder / "x.parquet", parquet_bytes(content))


@attempt("column name")
def training_log_that_prints_an_id(folder: Path) -> Path:
    return write(folder / "train.log", f"step 3 loss 0.51\nskipped: subject_id={SUBJECTS[0]} (too long)\n")


@attempt("column name")
def ids_inside_json_inside_json(folder: Path) -> Path:
    return write(folder / "x.json", json.dumps({"payload": json.dumps({"stay_id": str(STAYS[0])})}))


@attempt("note id")
def note_ids(folder: Path) -> Path:
    return write(folder / "x.csv", f"note,score\n{SUBJECTS[0]}-DS-21,0.5\n")


# --- notes ----------------------------------------------------------------------------------------------------------


@attempt("note")
def card_that_quotes_a_note(folder: Path) -> Path:
    quoted = "\n".join(f"> {line}" for line in NOTE.splitlines())
    return write(folder / "README.md", f"---\nlicense: mit\n---\n# My data\n\nA row looks like this:\n\n{quoted}\n")


@attempt("note")
def card_that_quotes_a_sentence_of_a_note(folder: Path) -> Path:
    return write(folder / "README.md", "For example: '___ year old woman with marmalade allergy, seen by Dr. ___'.\n")


@attempt("note")
def notes_in_a_parquet_text_column(folder: Path) -> Path:
    return write(folder / "x.parquet", parquet_bytes(pa.table({"t": ["short", NOTE, None]})))


@attempt("note")
def notes_as_bytes_in_parquet(folder: Path) -> Path:
    return write(folder / "x.parquet", parquet_bytes(pa.table({"blob": [NOTE.encode()]})))


@attempt("note")
def notes_in_chat_messages(folder: Path) -> Path:
    messages = [{"role": "user", "content": NOTE}, {"role": "assistant", "content": "I10"}]
    return write(folder / "train.jsonl", json.dumps({"messages": messages}))


@attempt("note")
def radiology_report(folder: Path) -> Path:
    return write(folder / "report.txt", REPORT)


@attempt("note")
def note_split_into_sections(folder: Path) -> Path:
    sections = {"chief_complaint": "___ fell", "brief_hospital_course": "seen on ___ by marmalade service, home ___"}
    return write(folder / "x.json", json.dumps(sections))


@attempt("note")
def older_mimic_note(folder: Path) -> Path:
    return write(folder / "x.txt", "Seen by Dr. [**Last Name (STitle) 1234**] at [**Hospital1 18**] on a trampoline.")


@attempt("note")
def note_deep_in_a_large_text(folder: Path) -> Path:
    filler = (
        "Nothing to see here.\n" * 150_000
    )  # 3 MB before and after: no block of 1 MiB begins or ends with the note
    return write(folder / "x.txt", filler + REPORT + filler)


@attempt("note")
def note_in_a_notebook_output(folder: Path) -> Path:
    cell = {"cell_type": "code", "outputs": [{"text": NOTE.splitlines(keepends=True)}]}
    return write(folder / "look.ipynb", json.dumps({"cells": [cell]}))


@attempt("note")
def note_in_a_sheet_of_shared_strings(folder: Path) -> Path:
    shared = f"<sst><si><t>{NOTE}</t></si></sst>".encode()
    return write(folder / "x.xlsx", zip_bytes(**{"xl/sharedStrings__xml": shared}))


@attempt("note")
def note_that_says_it_is_synthetic(folder: Path) -> Path:
    return write(folder / "x.json", json.dumps({"source": SYNTHETIC_MARKER, "rows": [{"record": NOTE}]}))


@attempt("note")
def note_in_the_pickle_of_a_checkpoint(folder: Path) -> Path:
    return write(folder / "state.pt", zip_bytes(**{"state/data__pkl": pickle.dumps({"prompt": NOTE})}))


# --- packed ---------------------------------------------------------------------------------------------------------


@attempt("id column")
def gzip_under_another_name(folder: Path) -> Path:
    return write(folder / "model.dat", gzip.compress(csv_text().encode()))


@attempt("id column")
def bzip2(folder: Path) -> Path:
    return write(folder / "x.csv.bz2", bz2.compress(csv_text().encode()))


@attempt("id column")
def xz(folder: Path) -> Path:
    return write(folder / "x.csv.xz", lzma.compress(csv_text().encode()))


@attempt("id column")
def zstd(folder: Path) -> Path:
    zstandard = pytest.importorskip("zstandard")
    return write(folder / "x.jsonl.zst", zstandard.compress(csv_text().encode()))


@attempt("id column")
def parquet_in_zip_in_tar_gz(folder: Path) -> Path:
    inner = zip_bytes(**{"deep/x__parquet": parquet_bytes(table())})
    with tarfile.open(folder / "all.tar.gz", "w:gz") as archive:
        info = tarfile.TarInfo("inner.zip")
        info.size = len(inner)
        archive.addfile(info, io.BytesIO(inner))
    return folder / "all.tar.gz"


@attempt("note")
def zip_in_a_nested_folder(folder: Path) -> Path:
    write(folder / "a" / "b" / "c" / "more.zip", zip_bytes(x__txt=NOTE.encode()))
    return write(folder / "README.md", "# Fine").parent


@attempt("id column")
def npz(folder: Path) -> Path:
    np.savez_compressed(folder / "x.npz", ids=np.array(SUBJECTS))
    return folder / "x.npz"


@attempt("note")
def behind_a_link(folder: Path) -> Path:
    secret = write(folder / "elsewhere" / "note.txt", NOTE)
    (folder / "sent").mkdir()
    (folder / "sent" / "linked").symlink_to(secret.parent, target_is_directory=True)
    return folder / "sent"


@attempt("note")
def in_a_hidden_file(folder: Path) -> Path:
    write(folder / "fine.txt", "fine")
    return write(folder / ".notes", NOTE).parent


# --- marks ----------------------------------------------------------------------------------------------------------


@attempt("marker")
def mark_in_a_card(folder: Path) -> Path:
    return write(folder / "README.md", f"---\ntags:\n- {MIMIC_MARKER}\n---\n# Data\n").parent


@attempt("marker")
def mark_in_dataset_info(folder: Path) -> Path:
    return write(folder / "dataset_info.json", json.dumps({"description": f"Built here. {MIMIC_MARKER.upper()}"}))


@attempt("marker")
def mark_in_parquet_metadata(folder: Path) -> Path:
    content = pa.table({"x": [1]}).replace_schema_metadata({"clinical_evals": MIMIC_MARKER})
    return write(folder / "x.parquet", parquet_bytes(content))


@attempt("marker")
def mark_in_the_metadata_of_a_parquet_field(folder: Path) -> Path:
    field = pa.field("x", pa.int64(), metadata={"source": MIMIC_MARKER})
    return write(folder / "x.parquet", parquet_bytes(pa.table([[1]], schema=pa.schema([field]))))


@attempt("marker")
def adapter_trained_on_mimic(folder: Path) -> Path:
    write(folder / "adapter_model.safetensors", safetensors({}))
    return write(folder / "adapter_config.json", json.dumps({"peft_type": "LORA", "data": MIMIC_MARKER})).parent


@attempt("marker")
def weights_with_marked_metadata(folder: Path) -> Path:
    return write(folder / "model.safetensors", safetensors({"trained_on": MIMIC_MARKER}))


@attempt("marker")
def log_with_a_marked_header(folder: Path) -> Path:
    lines = [json.dumps({"header": True, "source": MIMIC_MARKER}), json.dumps({"answer": "I10"})]
    return write(folder / "predictions.jsonl", "\n".join(lines))


@attempt("marker")
def mark_in_gguf(folder: Path) -> Path:
    return write(folder / "model.gguf", b"GGUF\x03\0\0\0" + MIMIC_MARKER.encode() + bytes(5_000_000))


@attempt("patient marker")
def hospital_parquet_as_the_builder_writes_it(folder: Path) -> Path:
    content = pa.table({"x": ["头疼"]}).replace_schema_metadata({"clinical_evals_source": PATIENT_MARKER})
    return write(folder / "static" / "test.parquet", parquet_bytes(content)).parents[1]


@attempt("patient marker")
def patient_mark_in_dataset_info_beside_a_synthetic_one(folder: Path) -> Path:
    text = f"PATIENT DATA ({PATIENT_MARKER.upper()}), {SYNTHETIC_MARKER}"
    return write(folder / "dataset_info.json", json.dumps({"description": text}))


@attempt("patient marker")
def adapter_trained_on_a_hospitals_rows(folder: Path) -> Path:
    return write(folder / "model.safetensors", safetensors({"trained_on": PATIENT_MARKER}))


@attempt("patient marker")
def zipped_log_of_a_hospitals_rows(folder: Path) -> Path:
    header = json.dumps({"header": True, "source": PATIENT_MARKER}).encode()
    return write(folder / "runs.zip", zip_bytes(predictions__jsonl=header + b'\n{"answer": "I10"}\n'))


def safetensors(metadata: dict[str, str]) -> bytes:
    header = json.dumps({"__metadata__": metadata, "w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}})
    return len(header).to_bytes(8, "little") + header.encode() + bytes(8)


# --- rows and prompts -----------------------------------------------------------------------------------------------


@attempt("note")
def prompts_as_texts(folder: Path) -> Rows:
    return Rows(["What is ICD-10?", f"Read this:\n{NOTE}"], name="prompt")


@attempt("note")
def prompts_as_chat_messages(folder: Path) -> Rows:
    return Rows([[{"role": "system", "content": "You are kind."}, {"role": "user", "content": REPORT}]], name="prompt")


@attempt("id column")
def rows_of_a_dataset(folder: Path) -> Rows:
    return Rows([{"k": np.int64(number)} for number in ADMISSIONS])


@attempt("marker")
def prompts_whose_dataset_is_marked(folder: Path) -> Rows:
    return Rows(["Sex: female\nAge: 71 years"], info=f"CliBench, diagnosis. {MIMIC_MARKER}", name="prompt")


@attempt("patient marker")
def a_dataset_that_says_it_is_patients(folder: Path) -> Rows:
    info = datasets.DatasetInfo(description=f"PATIENT DATA ({PATIENT_MARKER}).")
    return Rows(datasets.Dataset.from_list([{"dialogue": "我头疼三天了"}], info=info))


@attempt("patient marker")
def prompts_whose_dataset_is_patients(folder: Path) -> Rows:
    return Rows(["我头疼三天了，挂什么科？"], info=f"IOR-Bench, static. {PATIENT_MARKER}", name="prompt")


# --- what cannot be read --------------------------------------------------------------------------------------------


@attempt("unreadable")
def encrypted_zip(folder: Path) -> Path:
    content = bytearray(zip_bytes(x__txt=b"hidden"))
    content[6] |= 1  # the encryption bit of the local header
    content[content.rindex(b"PK\x01\x02") + 8] |= 1  # and of the central directory
    return write(folder / "x.zip", bytes(content))


@attempt("unreadable")
def torn_parquet(folder: Path) -> Path:
    return write(folder / "x.parquet", parquet_bytes(table())[:-100])


@attempt("unreadable")
def torn_gzip(folder: Path) -> Path:
    return write(folder / "x.gz", gzip.compress(os.urandom(5_000).hex().encode())[:-100])


@attempt("unreadable")
def a_pickle(folder: Path) -> Path:
    return write(folder / "x.pkl", pickle.dumps({"rows": [1, 2]}))


@attempt("unreadable")
def numpy_array_of_objects(folder: Path) -> Path:
    np.save(folder / "x.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    return folder / "x.npy"


@attempt("unreadable")
def an_unknown_binary(folder: Path) -> Path:
    return write(folder / "x.db", bytes(range(256)) * 10)


@attempt("unreadable")
def a_database(folder: Path) -> Path:
    return write(folder / "x.sqlite", b"SQLite format 3\x00" + bytes(4_000))


@attempt("unreadable")
def archives_all_the_way_down(folder: Path) -> Path:
    content = b"fine"
    for _ in range(10):
        content = gzip.compress(content)
    return write(folder / "x.gz", content)


@attempt("unreadable")
def a_link_to_nothing(folder: Path) -> Path:
    (folder / "gone.csv").symlink_to(folder / "nowhere")
    return folder


@attempt("unreadable")
def a_pipe(folder: Path) -> Path:
    os.mkfifo(folder / "pipe")
    return folder


@pytest.fixture(autouse=True)
def no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the guard opened a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.parametrize(("build", "rule"), ATTEMPTS)
def test_refused_without_quoting(build: Attempt, rule: str, tmp_path: Path) -> None:
    what = build(tmp_path)
    for target, consent in ((PUBLIC, None), (PUBLIC, CONSENT), (PRIVATE, None)):
        with pytest.raises(GuardError) as caught:
            check_may_leave(what, target, consent)
        message = str(caught.value)
        assert f"[{rule}]" in message
        assert "someone/some-data" in message
        assert not re.search(r"(?<!\d)[123]\d{7}(?!\d)", message), "an id is in the message"
        assert not any(word in message.lower() for word in SECRET_WORDS), "words of the note are in the message"
        assert caught.value.__cause__ is None
    assert caught.value.exit_code == 5


def test_there_are_attempts_enough() -> None:
    assert len(ATTEMPTS) >= 40


@pytest.mark.parametrize("names", ["as they are", "renamed"])
def test_the_real_demo_is_refused_table_by_table(mimic_demo: Path, tmp_path: Path, names: str) -> None:
    dictionaries = {"d_icd_diagnoses", "d_labitems"}  # no row of a patient
    tables = sorted(
        path for path in (mimic_demo / "hosp").glob("*.csv*") if path.name.split(".")[0] not in dictionaries
    )
    assert len(tables) == 9
    for path in tables:
        if names == "renamed":
            content = pyarrow.csv.read_csv(path)
            content = content.rename_columns([f"c{number}" for number in range(content.num_columns)])
            path = tmp_path / f"{path.name.split('.')[0]}.parquet"
            pq.write_table(content, path)
        with pytest.raises(GuardError, match=path.name):
            check_may_leave(path, PUBLIC)


def test_first_rows_of_the_real_demo_are_refused(mimic_demo: Path, tmp_path: Path) -> None:
    """A glimpse is enough: ten rows of a table, renamed, in each of several formats."""
    content = pyarrow.csv.read_csv(mimic_demo / "hosp" / "diagnoses_icd.csv.gz")
    rows = content.rename_columns(["w", "x", "y", "z", "v"]).take(list(range(0, 4_000, 400))).to_pylist()
    assert len({row["x"] for row in rows}) >= 5
    for name, text in {
        "x.jsonl": "".join(json.dumps(row) + "\n" for row in rows),
        "x.json": json.dumps(rows),
        "x.md": "".join(f"| {' | '.join(map(str, row.values()))} |\n" for row in rows),
        "x.yaml": "".join(f"- w: {row['w']}\n  x: {row['x']}\n" for row in rows),
        "x.py": f"ROWS = {rows!r}",
    }.items():
        with pytest.raises(GuardError, match="id column"):
            check_may_leave(write(tmp_path / name, text), PUBLIC)


def test_the_row_is_named() -> None:
    with pytest.raises(GuardError, match="prompt 1234: text in the form of MIMIC's notes"):
        check_may_leave(Rows(["fine"] * 1_234 + [NOTE] + ["fine"] * 5, name="prompt"), PUBLIC)


def test_each_file_is_named(tmp_path: Path) -> None:
    write(tmp_path / "a" / "one.txt", NOTE)
    write(tmp_path / "two.csv", csv_text())
    write(tmp_path / "bundle.zip", zip_bytes(**{"docs/three__txt": NOTE.encode()}))
    with pytest.raises(GuardError) as caught:
        check_may_leave(tmp_path, PUBLIC)
    for name in ("a/one.txt", "two.csv", "bundle.zip!docs/three.txt", "column 'a'", "200 distinct"):
        assert name in str(caught.value)
    assert "private repository" in str(caught.value)
