"""`load_dataset("clibench", …)`: by name and by folder, sample and built data, and never an old row."""

import json
import math
import os
import shutil
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
from clinical_evals.errors import InputError, UnknownNameError

FEATURES = schema_of("clibench", "diagnosis").features
SAMPLE = json.loads((dataset_folder("clibench") / "data/diagnosis/test.json").read_text(encoding="utf-8"))["rows"]
datasets.disable_progress_bars()


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty working directory with a misleading neighbour, and a cache of the test's own."""
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "notes.json").write_text('[{"other": 1}]')
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.delenv("CLIBENCH_DIR", raising=False)


def same_rows(loaded: Any, expected: list[dict[str, Any]]) -> bool:
    return list(loaded) == expected


def write_json(folder: Path, rows: list[dict[str, Any]], **head: Any) -> Path:
    path = folder / "diagnosis" / "test.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**head, "rows": rows}), encoding="utf-8")
    return path


def write_parquet(folder: Path, rows: list[dict[str, Any]], split: str = "test", source: bytes = b"") -> Path:
    path = folder / "diagnosis" / f"{split}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.Table.from_pylist(rows, schema=FEATURES.arrow_schema)
    table = table.replace_schema_metadata({SOURCE_KEY: source} if source else None)
    pq.write_table(table, path, row_group_size=1)
    return path


# The embedded sample


def test_by_name_with_all_columns_in_the_order_of_the_schema() -> None:
    loaded = datasets.load_dataset("clibench", "diagnosis")
    assert {split: rows.num_rows for split, rows in loaded.items()} == {"test": 40, "train": 12}
    assert loaded["test"].features == FEATURES
    assert same_rows(loaded["test"], SAMPLE)


def test_streaming_gives_the_same_rows() -> None:
    assert same_rows(datasets.load_dataset("clibench", "diagnosis", split="test", streaming=True), SAMPLE)


def test_slices_of_a_split_and_the_default_config() -> None:
    assert same_rows(datasets.load_dataset("clibench", split="test[3:5]"), SAMPLE[3:5])


def test_names_and_splits_can_be_asked_for() -> None:
    assert datasets.get_dataset_config_names("clibench") == ["diagnosis", "procedure", "lab_order", "prescription"]
    assert datasets.get_dataset_split_names("clibench", "diagnosis") == ["test", "train"]


@pytest.mark.parametrize(
    ("config", "rows"),
    [("procedure", (25, 5)), ("lab_order", (40, 12)), ("prescription", (40, 12))],
)
@pytest.mark.parametrize("streaming", [False, True])
def test_the_other_three_configs_by_name(config: str, rows: tuple[int, int], streaming: bool) -> None:
    loaded = datasets.load_dataset("clibench", config, streaming=streaming)
    assert loaded["test"].features == FEATURES
    assert [len(list(loaded[split])) for split in ("test", "train")] == list(rows)
    for split in ("test", "train"):
        path = dataset_folder("clibench") / f"data/{config}/{split}.json"
        assert same_rows(loaded[split], json.loads(path.read_text(encoding="utf-8"))["rows"])
    assert datasets.get_dataset_split_names("clibench", config) == ["test", "train"]
    assert datasets.load_dataset_builder("clibench", config).info.description.startswith("SYNTHETIC")


def test_the_info_says_synthetic() -> None:
    info = datasets.load_dataset_builder("clibench", "diagnosis").info
    assert info.description.startswith("SYNTHETIC")
    assert datasets.load_dataset("clibench", split="train").info.description.startswith("SYNTHETIC")


def test_other_names_go_where_they_went_before(tmp_path: Path) -> None:
    path = write_json(tmp_path / "built", SAMPLE[:1])
    assert datasets.load_dataset("json", data_files=str(path), field="rows", split="train").num_rows == 1
    with pytest.raises((datasets.exceptions.DatasetNotFoundError, ConnectionError, FileNotFoundError)):
        datasets.load_dataset("clibenches")


def test_an_unknown_config_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"'diagnoses'.*Did you mean 'diagnosis'"):
        datasets.load_dataset("clibench", "diagnoses")


def test_data_files_are_refused_with_the_way_out() -> None:
    with pytest.raises(InputError, match="data_dir=FOLDER"):
        datasets.load_dataset("clibench", "diagnosis", data_files="notes.json")


# By folder


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    return Path(shutil.copytree(dataset_folder("clibench"), tmp_path / "copy" / "clibench"))


def test_by_folder_path_through_the_card(copied: Path) -> None:
    loaded = datasets.load_dataset(str(copied), "diagnosis", split="test")
    assert loaded.features == FEATURES
    assert loaded.info.description.startswith("SYNTHETIC")
    # That way pandas reads the numbers, and may miss the last bit of a fraction: all else is equal to the letter.
    for found, expected in zip(loaded, SAMPLE, strict=True):
        for lab, wanted in zip(found["lab_results"], expected["lab_results"], strict=True):
            if lab["valuenum"] is not None:
                assert math.isclose(lab["valuenum"], wanted["valuenum"], rel_tol=1e-15)
                lab["valuenum"] = wanted["valuenum"]
        assert found == expected


@pytest.mark.parametrize("config", ["procedure", "lab_order", "prescription"])
def test_the_other_three_configs_by_folder_path(copied: Path, config: str) -> None:
    # These rows have no laboratory results, so no fraction that pandas could miss.
    expected = json.loads((copied / f"data/{config}/test.json").read_text(encoding="utf-8"))["rows"]
    loaded = datasets.load_dataset(str(copied), config, split="test")
    assert loaded.features == FEATURES
    assert same_rows(loaded, expected)


def test_by_folder_path_streaming(copied: Path) -> None:
    rows = datasets.load_dataset(str(copied), "diagnosis", split="train", streaming=True)
    assert [len(row["codes"]) for row in rows] == [
        len(row["codes"]) for row in datasets.load_dataset("clibench", split="train")
    ]


def edit_in_secret(path: Path, old: str, new: str) -> None:
    """Change a file without changing its size or times."""
    assert len(old) == len(new)
    before = path.stat()
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size


def test_an_edited_copy_loaded_by_path_is_never_stale(copied: Path) -> None:
    first = datasets.load_dataset(str(copied), "diagnosis", split="test")[0]
    edit_in_secret(copied / "data/diagnosis/test.json", '"Medicare"', '"Medicaid"')
    again = datasets.load_dataset(str(copied), "diagnosis", split="test")[0]
    assert (first["insurance"], again["insurance"]) == ("Medicare", "Medicaid")


def test_two_copies_with_other_data_are_two_datasets(copied: Path, tmp_path: Path) -> None:
    datasets.load_dataset(str(copied), "diagnosis", split="test")
    other = Path(shutil.copytree(copied, tmp_path / "other" / "clibench"))
    edit_in_secret(other / "data/diagnosis/test.json", '"Medicare"', '"Medicaid"')
    assert datasets.load_dataset(str(other), "diagnosis", split="test")[0]["insurance"] == "Medicaid"


# Built data


@pytest.mark.parametrize("streaming", [False, True])
def test_parquet_through_data_dir(tmp_path: Path, streaming: bool) -> None:
    write_parquet(tmp_path / "built", SAMPLE[5:8])
    write_parquet(tmp_path / "built", SAMPLE[8:9], split="train")
    loaded = datasets.load_dataset("clibench", "diagnosis", data_dir=str(tmp_path / "built"), streaming=streaming)
    assert same_rows(loaded["test"], SAMPLE[5:8])
    assert same_rows(loaded["train"], SAMPLE[8:9])


def test_parquet_through_the_environment_and_data_dir_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_parquet(tmp_path / "one", SAMPLE[:1])
    write_parquet(tmp_path / "two", SAMPLE[1:2])
    monkeypatch.setenv("CLIBENCH_DIR", str(tmp_path / "one"))
    assert same_rows(datasets.load_dataset("clibench", split="test"), SAMPLE[:1])
    assert same_rows(datasets.load_dataset("clibench", split="test", data_dir=str(tmp_path / "two")), SAMPLE[1:2])
    monkeypatch.setenv("CLIBENCH_DIR", "")
    assert datasets.load_dataset("clibench", split="test").num_rows == 40


def test_parquet_columns_in_another_order_or_type_are_brought_to_the_schema(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "built", SAMPLE[:2])
    table = pq.read_table(path)
    table = table.set_column(table.column_names.index("age"), "age", table["age"].cast(pa.int16()))
    pq.write_table(table.select(sorted(table.column_names)), path)
    loaded = datasets.load_dataset("clibench", split="test", data_dir=str(tmp_path / "built"))
    assert loaded.features == FEATURES
    assert same_rows(loaded, SAMPLE[:2])


@pytest.mark.parametrize(
    ("source", "start"),
    [
        (b"", "MIMIC-DERIVED"),
        (b"clinical-evals:mimic-derived", "MIMIC-DERIVED"),
        (b"clinical-evals:synthetic", "SYNTHETIC"),
    ],
)
def test_built_data_is_taken_for_mimics_unless_it_says_otherwise(tmp_path: Path, source: bytes, start: str) -> None:
    write_parquet(tmp_path / "built", SAMPLE[:1], source=source)
    loaded = datasets.load_dataset("clibench", split="test", data_dir=str(tmp_path / "built"))
    assert loaded.info.description.startswith(start)


def test_one_mimic_split_makes_the_whole_mimics(tmp_path: Path) -> None:
    write_parquet(tmp_path / "built", SAMPLE[:1], source=b"clinical-evals:synthetic")
    write_parquet(tmp_path / "built", SAMPLE[1:2], split="train")
    info = datasets.load_dataset_builder("clibench", data_dir=str(tmp_path / "built")).info
    assert info.description.startswith("MIMIC-DERIVED")


def test_edited_built_data_is_never_stale(tmp_path: Path) -> None:
    path = write_json(tmp_path / "built", SAMPLE[:1])
    load = {"path": "clibench", "split": "test", "data_dir": str(tmp_path / "built")}
    assert datasets.load_dataset(**load)[0]["insurance"] == "Medicare"
    edit_in_secret(path, '"Medicare"', '"Medicaid"')
    assert datasets.load_dataset(**load)[0]["insurance"] == "Medicaid"


def test_the_same_data_elsewhere_is_found_in_the_cache(tmp_path: Path) -> None:
    write_parquet(tmp_path / "one", SAMPLE[:1])
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    builders = [datasets.load_dataset_builder("clibench", data_dir=str(tmp_path / name)) for name in ("one", "two")]
    assert builders[0].cache_dir == builders[1].cache_dir


def test_the_builder_class_can_be_used_directly(tmp_path: Path) -> None:
    from clinical_evals.datasets_hub.clibench import CliBench

    builder = CliBench(config_name="diagnosis", cache_dir=str(tmp_path / "own"))
    assert builder.cache_dir.endswith(builder.hash)
    builder.download_and_prepare()
    assert same_rows(builder.as_dataset("test"), SAMPLE)


# What cannot be used


def test_a_folder_without_built_data_says_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"it holds notes.json. Expected .*diagnosis/test.parquet"):
        datasets.load_dataset("clibench", "diagnosis", data_dir=str(tmp_path / "here"))
    with pytest.raises(InputError, match="it is not a folder"):
        datasets.load_dataset("clibench", "diagnosis", data_dir=str(tmp_path / "nowhere"))


def test_a_folder_with_only_the_train_split_is_refused(tmp_path: Path) -> None:
    write_parquet(tmp_path / "built", SAMPLE[:1], split="train")
    with pytest.raises(InputError, match=r"no test split in .* it holds train.parquet"):
        datasets.load_dataset("clibench", data_dir=str(tmp_path / "built"))


def test_a_split_in_both_formats_is_refused(tmp_path: Path) -> None:
    write_parquet(tmp_path / "built", SAMPLE[:1])
    write_json(tmp_path / "built", SAMPLE[:1])
    with pytest.raises(InputError, match=r"has test.parquet and test.json: remove one"):
        datasets.load_dataset("clibench", data_dir=str(tmp_path / "built"))


@pytest.mark.parametrize("broken", ["test.json", "test.parquet"])
def test_an_unreadable_file_is_named(tmp_path: Path, broken: str) -> None:
    path = tmp_path / "built" / "diagnosis" / broken
    path.parent.mkdir(parents=True)
    path.write_text("{")
    with pytest.raises(InputError, match=f"{broken} is not"):
        datasets.load_dataset("clibench", data_dir=str(tmp_path / "built"))


def test_missing_and_unknown_columns_are_named(tmp_path: Path) -> None:
    row = {("sex" if key == "gender" else key): value for key, value in SAMPLE[0].items()}
    write_json(tmp_path / "built", [SAMPLE[1], row])
    with pytest.raises(InputError, match=r"row 1: .*missing: gender; unknown: sex"):
        datasets.load_dataset("clibench", data_dir=str(tmp_path / "built"))


def test_an_unknown_key_of_a_lab_result_is_named(tmp_path: Path) -> None:
    row = json.loads(json.dumps(SAMPLE[0]))
    row["lab_results"][2]["comment"] = "hemolysed"
    write_json(tmp_path / "built", [row])
    with pytest.raises(InputError, match=r"row 0, lab_results\[2\]: .*unknown: comment"):
        datasets.load_dataset("clibench", data_dir=str(tmp_path / "built"))


def the_reason(folder: Path) -> str:
    with pytest.raises(datasets.exceptions.DatasetGenerationError) as caught:
        datasets.load_dataset("clibench", data_dir=str(folder))
    assert isinstance(caught.value.__cause__, InputError)
    return str(caught.value.__cause__)


def test_a_null_where_none_may_be_is_named_with_its_row(tmp_path: Path) -> None:
    write_parquet(tmp_path / "built", [SAMPLE[0], SAMPLE[1] | {"record": None}])
    assert "row 1: column 'record' is null" in the_reason(tmp_path / "built")


def test_a_value_of_another_type_is_refused(tmp_path: Path) -> None:
    write_json(tmp_path / "built", [SAMPLE[0] | {"age": "seventy"}])
    assert "seventy" in the_reason(tmp_path / "built")
