"""What lies beside built data: a gated card with the mark, and Croissant that other people's code reads."""

import hashlib
import json
import logging
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from built_folders import BUILT, MARKS, built_clibench, sample_rows, write_split
from datasets.info import DatasetInfosDict
from huggingface_hub import DatasetCard

from clinical_evals.datasets_hub.features import schema_of
from clinical_evals.errors import GuardError
from clinical_evals.hub.cards.built_card import write_ior_bench_card
from clinical_evals.hub.cards.facts import CANARY
from clinical_evals.hub.guard import check_may_leave
from clinical_evals.hub.target import Target
from clinical_evals.markers import PATIENT_MARKER

every_dataset = pytest.mark.parametrize("name", BUILT)


@every_dataset
def test_the_card_is_gated_and_marked(tmp_path: Path, name: str) -> None:
    data = DatasetCard.load(BUILT[name](tmp_path / "out") / "README.md").data
    assert MARKS[name] in data.tags
    assert "synthetic" not in data.tags
    assert data.license == "other"
    assert data.license_name
    assert data.extra_gated_prompt
    assert set(data.extra_gated_fields.values()) == {"text", "checkbox"}


@every_dataset
def test_the_hub_finds_features_splits_and_files(tmp_path: Path, name: str) -> None:
    out = BUILT[name](tmp_path / "out")
    data = DatasetCard.load(out / "README.md").data
    for config, info in DatasetInfosDict.from_dataset_card_data(data).items():
        assert info.features == schema_of(name, config).features
        assert {split.num_examples for split in info.splits.values()} == {3}
    files = [entry["path"] for config in data.configs for entry in config["data_files"]]
    assert sorted(files) == sorted(path.relative_to(out).as_posix() for path in out.rglob("*.parquet"))


@every_dataset
def test_the_text_says_what_is_asked_of_data_about_people(tmp_path: Path, name: str) -> None:
    text = DatasetCard.load(BUILT[name](tmp_path / "out") / "README.md").text
    for part in ("## Data statement", "## Limits", "## Licence", "## Citation", CANARY, MARKS[name]):
        assert part in text
    assert ("www.loinc.org" in text or "http://loinc.org" in text) == (name == "clibench")
    assert "$" not in text, "every place is filled"


@every_dataset
def test_neither_card_nor_croissant_may_go_to_a_public_place(tmp_path: Path, name: str) -> None:
    out = BUILT[name](tmp_path / "out")
    for file in ("README.md", "croissant.json"):
        with pytest.raises(GuardError):
            check_may_leave(out / file, Target("hub-public", "someone/some-data"))


def test_a_second_config_comes_into_the_same_card(tmp_path: Path) -> None:
    for count, config in enumerate(("static", "dynamic_h2"), 1):
        write_split(tmp_path, "ior-bench", config, "test", PATIENT_MARKER)
        write_ior_bench_card(tmp_path)
        assert len(DatasetCard.load(tmp_path / "README.md").data.configs) == count


def test_the_same_data_give_the_same_bytes(tmp_path: Path) -> None:
    one, two = (built_clibench(tmp_path / name) for name in ("one", "two"))
    for file in ("README.md", "croissant.json"):
        assert (one / file).read_bytes() == (two / file).read_bytes()


@every_dataset
def test_croissant_has_digest_type_unit_and_nullability(tmp_path: Path, name: str) -> None:
    out = BUILT[name](tmp_path / "out")
    found = json.loads((out / "croissant.json").read_text(encoding="utf-8"))
    for file in found["distribution"]:
        assert file["sha256"] == hashlib.sha256((out / file["contentUrl"]).read_bytes()).hexdigest()
    fields = {field["@id"]: field for records in found["recordSet"] for field in records["field"]}
    record = "static_test" if name == "ior-bench" else "diagnosis_test"
    age = fields[f"{record}/age"]
    assert "unit: years" in age["description"]
    assert ("may be null" in age["description"]) == (name == "ior-bench")
    assert age["dataType"] == {"ior-bench": "sc:Float", "clibench": "sc:Integer"}[name]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # mlcroissant's own
@every_dataset
def test_mlcroissant_reads_the_rows(tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture) -> None:
    mlcroissant = pytest.importorskip("mlcroissant", reason="mlcroissant is not installed")
    out = BUILT[name](tmp_path / "out")
    with caplog.at_level(logging.WARNING):
        dataset = mlcroissant.Dataset(jsonld=os.fspath(out / "croissant.json"))
    assert not dataset.metadata.ctx.issues.errors
    config = "static" if name == "ior-bench" else "diagnosis"
    records = list(dataset.records(record_set=f"{config}_test"))
    expected = sample_rows(name, config)[:3]
    assert [_plain(record, f"{config}_test/") for record in records] == expected


def _plain(value: Any, prefix: str) -> Any:
    """A record as a row: names without the record set and field that they lie in, text decoded, NaN as null."""
    if isinstance(value, dict):
        return {name.removeprefix(prefix): _plain(each, f"{name}/") for name, each in value.items()}
    if isinstance(value, list | np.ndarray):
        return [_plain(each, prefix) for each in value]
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, float) and math.isnan(value):
        return None
    return value
