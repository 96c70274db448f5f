"""`load_dataset("ior-bench", …)`: the sample, built data and the authors' files, and never an old row."""

import csv
import io
import json
import math
import os
import shutil
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import clinical_evals  # noqa: F401 - makes the bare name known
from clinical_evals.assets import dataset_folder
from clinical_evals.datasets_hub.features import schema_of
from clinical_evals.datasets_hub.source import SOURCE_KEY
from clinical_evals.datasets_hub.write import write_parquet
from clinical_evals.errors import InputError, UnknownNameError
from clinical_evals.markers import PATIENT_MARKER, SYNTHETIC_MARKER

CONFIGS = ("static", "dynamic_h1", "dynamic_h2")
SAMPLE = {
    config: json.loads((dataset_folder("ior-bench") / "data" / config / "test.json").read_text(encoding="utf-8"))[
        "rows"
    ]
    for config in CONFIGS
}
every_config = pytest.mark.parametrize("config", CONFIGS)
datasets.disable_progress_bars()

# The authors' two files in the release's form: BOM, `lable`, quotes of every kind inside what is said.
STATIC_HEADER = ["年龄", "性别", "对话内容", "lable"]
SPOKEN: list[dict[str, str]] = [
    {"病人": "头'疼'，他说“没事”,\n真的"},
    {},
    {"医生": '多久了?"', "病人": "三天"},
    {"医生": "挂神经内科"},
]
STATIC = [
    ["34岁", "女", str(SPOKEN), "神经内科"],
    ["", "", json.dumps([{"病人": "牙疼"}, {"医生": "挂口腔科"}], ensure_ascii=False), "口腔科"],
]
STATIC_ROWS = [
    {
        "id": "static-0001",
        "age": 34.0,
        "sex": "female",
        "dialogue": [
            {"role": "patient", "content": "头'疼'，他说“没事”,\n真的"},
            {"role": "doctor", "content": '多久了?"'},
            {"role": "patient", "content": "三天"},
            {"role": "doctor", "content": "挂神经内科"},
        ],
        "department": "神经内科",
        "candidates": ["神经内科", "口腔科"],
    },
    {
        "id": "static-0002",
        "age": None,
        "sex": None,
        "dialogue": [{"role": "patient", "content": "牙疼"}, {"role": "doctor", "content": "挂口腔科"}],
        "department": "口腔科",
        "candidates": ["神经内科", "口腔科"],
    },
]
DYNAMIC_HEADER = ["年龄", "性别", "主诉", "现病史", "既往史", "个人史", "家族史", "hospital-1", "hospital-2"]
DYNAMIC = [
    ["6月", "男", "发热3天", '体温39"，家属称“烧糊涂了”', "体健", "足月产", "", "儿科", "儿科门诊"],
    ["66", "女", "胸闷", "", "", "", "", "心血管内科", "内科"],
]
# An invalid record of each file and the reason that must be given.
INVALID = {
    "static": ([["34", "女", "[{'路人': '您好'}]", "内科"]], "对话内容", "speaker '路人'"),
    "dynamic_h1": ([["三百岁", "女", "咳嗽", "", "", "", "", "呼吸内科", "内科"]], "年龄", "'三百岁' is not an age"),
    "dynamic_h2": ([["三百岁", "女", "咳嗽", "", "", "", "", "呼吸内科", "内科"]], "年龄", "'三百岁' is not an age"),
}


def authors(folder: Path, config: str, *more: Sequence[str]) -> Path:
    """The authors' file of a config with two good records, and more after them."""
    header, rows = (STATIC_HEADER, STATIC) if config == "static" else (DYNAMIC_HEADER, DYNAMIC)
    stream = io.StringIO(newline="")
    csv.writer(stream).writerows([header, *rows, *more])
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / ("final_static.csv" if config == "static" else "dynamic_final.csv")
    path.write_bytes(stream.getvalue().encode("utf-8-sig"))
    return path


def load(config: str, folder: Path | None = None, **more: Any) -> Any:
    return datasets.load_dataset(
        "ior-bench", config, split="test", **({} if folder is None else {"data_dir": str(folder)}), **more
    )


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty working directory with a misleading neighbour, and a cache of the test's own."""
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "notes.json").write_text('[{"other": 1}]')
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.delenv("IOR_BENCH_DIR", raising=False)


# The embedded sample


@every_config
@pytest.mark.parametrize("streaming", [False, True])
def test_by_name_with_all_columns_in_the_order_of_the_schema(config: str, streaming: bool) -> None:
    loaded = load(config, streaming=streaming)
    assert loaded.features == schema_of("ior-bench", config).features
    assert list(loaded) == SAMPLE[config]
    assert list(SAMPLE[config][0]) == list(loaded.features)


def test_static_is_the_default_and_names_and_splits_can_be_asked_for() -> None:
    assert list(datasets.load_dataset("ior-bench", split="test[3:5]")) == SAMPLE["static"][3:5]
    assert datasets.get_dataset_config_names("ior-bench") == list(CONFIGS)
    assert datasets.get_dataset_split_names("ior-bench", "dynamic_h2") == ["test"]


@every_config
def test_the_info_says_synthetic(config: str) -> None:
    assert load(config).info.description.startswith("SYNTHETIC")
    assert SYNTHETIC_MARKER in load(config).info.description


def test_null_ages_and_sexes_stay_null() -> None:
    for config in CONFIGS:
        loaded = load(config)
        assert (loaded["age"].count(None), loaded["sex"].count(None)) == ((2, 2) if config == "static" else (1, 1))


@every_config
def test_two_processes_give_the_same_rows(config: str) -> None:
    assert list(load(config, num_proc=2)) == SAMPLE[config]


def test_an_unknown_config_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown ior-bench config 'dynamic_h3'. Did you mean 'dynamic_h"):
        load("dynamic_h3")


def test_data_files_are_refused_with_the_way_out() -> None:
    with pytest.raises(InputError, match="ior-bench takes data_dir=FOLDER"):
        load("static", data_files="notes.json")


@every_config
def test_by_folder_path_through_the_card(tmp_path: Path, config: str) -> None:
    copied = Path(shutil.copytree(dataset_folder("ior-bench"), tmp_path / "copy" / "ior-bench"))
    loaded = datasets.load_dataset(str(copied), config, split="test")
    assert loaded.features == schema_of("ior-bench", config).features
    for found, expected in zip(loaded, SAMPLE[config], strict=True):
        # That way pandas reads the numbers, and may miss the last bit of a fraction: all else is equal to the letter.
        if expected["age"] is not None:
            assert math.isclose(found["age"], expected["age"], rel_tol=1e-15)
            found["age"] = expected["age"]
        assert found == expected
    path = copied / "data" / config / "test.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"female"', '"  male"'), encoding="utf-8")
    again = datasets.load_dataset(str(copied), config, split="test")
    assert "female" not in again["sex"], "an edited copy is never stale"


# The authors' files


@pytest.mark.parametrize("streaming", [False, True])
def test_the_authors_static_file(tmp_path: Path, streaming: bool) -> None:
    authors(tmp_path / "ior", "static")
    loaded = load("static", tmp_path / "ior", streaming=streaming)
    assert loaded.features == schema_of("ior-bench", "static").features
    assert list(loaded) == STATIC_ROWS


@pytest.mark.parametrize(
    ("config", "gold"), [("dynamic_h1", ["儿科", "心血管内科"]), ("dynamic_h2", ["儿科门诊", "内科"])]
)
def test_the_authors_dynamic_file_for_each_hospital(tmp_path: Path, config: str, gold: list[str]) -> None:
    authors(tmp_path / "ior", config)
    first, second = load(config, tmp_path / "ior")
    assert first == {
        "id": "dynamic-0001",
        "age": 0.5,
        "sex": "male",
        "chief_complaint": "发热3天",
        "history_of_present_illness": '体温39"，家属称“烧糊涂了”',
        "past_medical_history": "体健",
        "personal_history": "足月产",
        "family_history": "",
        "department": gold[0],
        "candidates": gold,
    }
    assert (second["id"], second["department"], second["candidates"]) == ("dynamic-0002", gold[1], gold)


@every_config
def test_the_environment_names_the_folder_and_data_dir_goes_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config: str
) -> None:
    authors(tmp_path / "ior", config)
    write_parquet(SAMPLE[config][:1], schema_of("ior-bench", config), tmp_path / "built" / config / "test.parquet", "")
    monkeypatch.setenv("IOR_BENCH_DIR", str(tmp_path / "ior"))
    assert load(config).num_rows == 2
    assert list(load(config, tmp_path / "built")) == SAMPLE[config][:1]
    monkeypatch.setenv("IOR_BENCH_DIR", "")
    assert list(load(config)) == SAMPLE[config]


@every_config
def test_a_record_that_cannot_be_used_stops_with_file_line_and_reason(tmp_path: Path, config: str) -> None:
    more, column, reason = INVALID[config]
    path = authors(tmp_path / "ior", config, *more)
    with pytest.raises(InputError) as caught:
        load(config, tmp_path / "ior")
    # Header and two records; one cell of final_static.csv has a line break in it, written as \n: four lines.
    assert str(caught.value).startswith(f"{path}, line 4: column {column!r}: ")
    assert reason in str(caught.value)
    assert "skip_invalid=True" in str(caught.value)


@every_config
def test_skip_invalid_counts_and_lists_in_a_warning_and_in_the_description(tmp_path: Path, config: str) -> None:
    more, column, reason = INVALID[config]
    path = authors(tmp_path / "ior", config, *more)
    with pytest.warns(UserWarning, match="1 records left out") as seen:
        loaded = load(config, tmp_path / "ior", skip_invalid=True)
    assert loaded.num_rows == 2
    (said,) = [str(each.message) for each in seen if "left out" in str(each.message)]
    for text in (said, loaded.info.description):
        assert "2 rows, 2 departments occur, 2 candidates" in text
        assert f"{path}, line 4: column {column!r}: " in text
        assert reason in text
    # Again, from the cache: the description still says so.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = load(config, tmp_path / "ior", skip_invalid=True)
    assert reason in again.info.description
    with pytest.raises(InputError, match="line 4"):
        load(config, tmp_path / "ior")


@every_config
def test_the_authors_rows_are_patient_data(tmp_path: Path, config: str) -> None:
    authors(tmp_path / "ior", config)
    description = load(config, tmp_path / "ior").info.description
    assert description.startswith("PATIENT DATA")
    assert PATIENT_MARKER in description
    assert SYNTHETIC_MARKER not in description


@every_config
def test_an_edited_file_of_the_authors_is_never_stale(tmp_path: Path, config: str) -> None:
    path = authors(tmp_path / "ior", config)
    assert "male" not in [row["sex"] for row in load(config, tmp_path / "ior")][1:]
    before = path.stat()
    raw = path.read_bytes()
    changed = raw.replace("女".encode(), "男".encode())
    assert changed != raw
    path.write_bytes(changed)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # same size, same times
    assert path.stat().st_size == before.st_size
    assert "female" not in [row["sex"] for row in load(config, tmp_path / "ior")]


def test_an_edited_file_that_the_environment_names_is_never_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without any option `datasets` shares one config among all builders: nothing that was read may stay in it.
    path = authors(tmp_path / "ior", "static")
    monkeypatch.setenv("IOR_BENCH_DIR", str(tmp_path / "ior"))
    assert load("static")["sex"] == ["female", None]
    path.write_bytes(path.read_bytes().replace("女".encode(), "男".encode()))
    assert load("static")["sex"] == ["male", None]
    authors(tmp_path / "other", "static", ["7", "女", STATIC[1][2], "口腔科"])
    assert load("static", tmp_path / "other")["age"] == [34.0, None, 7.0]


def test_two_processes_read_the_authors_files_too(tmp_path: Path) -> None:
    authors(tmp_path / "ior", "static")
    assert list(load("static", tmp_path / "ior", num_proc=2)) == STATIC_ROWS


# Built data, and what cannot be told apart


@every_config
@pytest.mark.parametrize(
    ("source", "start"), [("", "PATIENT DATA"), (PATIENT_MARKER, "PATIENT DATA"), (SYNTHETIC_MARKER, "SYNTHETIC")]
)
def test_built_data_are_patients_unless_they_say_otherwise(
    tmp_path: Path, config: str, source: str, start: str
) -> None:
    path = tmp_path / "built" / config / "test.parquet"
    write_parquet(SAMPLE[config][2:5], schema_of("ior-bench", config), path, source)
    assert (pq.read_schema(path).metadata or {})[SOURCE_KEY] == source.encode()
    loaded = load(config, tmp_path / "built")
    assert list(loaded) == SAMPLE[config][2:5]
    assert loaded.info.description.startswith(start)


@every_config
def test_a_folder_with_the_authors_and_built_data_is_refused(tmp_path: Path, config: str) -> None:
    path = authors(tmp_path / "both", config)
    write_parquet(SAMPLE[config][:1], schema_of("ior-bench", config), tmp_path / "both" / config / "test.parquet", "")
    with pytest.raises(InputError, match=rf"holds the authors' {path.name} and built data in {config}/: which is"):
        load(config, tmp_path / "both")


def test_the_authors_file_of_another_config_is_no_matter(tmp_path: Path) -> None:
    authors(tmp_path / "both", "dynamic_h1")
    schema = schema_of("ior-bench", "static")
    write_parquet(SAMPLE["static"][:1], schema, tmp_path / "both" / "static" / "test.parquet", "")
    assert load("static", tmp_path / "both").num_rows == 1
    assert load("dynamic_h2", tmp_path / "both").num_rows == 2


def test_skip_invalid_is_refused_for_built_data_and_the_sample(tmp_path: Path) -> None:
    schema = schema_of("ior-bench", "static")
    write_parquet(SAMPLE["static"][:1], schema, tmp_path / "built" / "static" / "test.parquet", "")
    for folder in (tmp_path / "built", None):
        with pytest.raises(InputError, match="skip_invalid is for the authors' files"):
            load("static", folder, skip_invalid=True)


@every_config
def test_a_folder_with_neither_names_both_ways(tmp_path: Path, config: str) -> None:
    file = "final_static.csv" if config == "static" else "dynamic_final.csv"
    with pytest.raises(InputError, match=rf"holds notes.json. Expected .*{config}/test.parquet.* authors' {file} in"):
        load(config, tmp_path / "here")
    with pytest.raises(InputError, match=rf"it is not a folder.* authors' {file} in"):
        load(config, tmp_path / "nowhere")


@pytest.mark.parametrize(("column", "value"), [("department", None), ("candidates", None), ("id", None)])
def test_a_null_where_none_may_be_is_named(tmp_path: Path, column: str, value: None) -> None:
    schema = schema_of("ior-bench", "dynamic_h1")
    rows = [SAMPLE["dynamic_h1"][0], SAMPLE["dynamic_h1"][1] | {column: value}]
    write_parquet(rows, schema, tmp_path / "built" / "dynamic_h1" / "test.parquet", PATIENT_MARKER)
    with pytest.raises(datasets.exceptions.DatasetGenerationError) as caught:
        load("dynamic_h1", tmp_path / "built")
    assert isinstance(caught.value.__cause__, InputError)
    assert f"test.parquet, row 1: column {column!r} is null" in str(caught.value.__cause__)


def test_columns_of_another_config_are_named(tmp_path: Path) -> None:
    path = tmp_path / "built" / "static" / "test.parquet"
    path.parent.mkdir(parents=True)
    features = schema_of("ior-bench", "dynamic_h1").features
    pq.write_table(pa.Table.from_pylist(SAMPLE["dynamic_h1"][:1], schema=features.arrow_schema), path)
    with pytest.raises(InputError, match=r"missing: dialogue; unknown: chief_complaint, history_of_present_illness"):
        load("static", tmp_path / "built")
