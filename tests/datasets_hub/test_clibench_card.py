"""The card says what the data are: schema, SHA-256, counts, licence and the notices."""

import hashlib
import shutil
from pathlib import Path

import pytest
import yaml
from datasets import Features

from clinical_evals.assets import dataset_folder
from clinical_evals.datasets_hub.card import read_card, refresh_card
from clinical_evals.datasets_hub.features import COLUMNS, LAB_COLUMNS, clibench_features, columns_table

FOLDER = dataset_folder("clibench")
METADATA, TEXT = read_card(FOLDER)


def test_the_card_fits_schema_and_data() -> None:
    fresh = yaml.safe_load(refresh_card(FOLDER).split("---\n", 2)[1])
    for metadata in (fresh, METADATA):
        for info in metadata["dataset_info"]:
            info.pop("dataset_size")  # bytes in Arrow: they differ a little from one pyarrow to the next
            [split.pop("num_bytes") for split in info["splits"]]
    assert fresh == METADATA, "run: python -m clinical_evals.datasets_hub.card datasets/clibench"
    assert columns_table() in TEXT


def test_each_configs_description_holds_the_digest_of_its_data() -> None:
    # Worked out here by hand: names and SHA-256 of the files, in the order of the splits.
    lines = "".join(
        f"{split}.json\0{hashlib.sha256((FOLDER / 'data/diagnosis' / f'{split}.json').read_bytes()).hexdigest()}\n"
        for split in ("test", "train")
    )
    expected = hashlib.sha256(lines.encode()).hexdigest()
    (config,) = METADATA["configs"]
    assert config["description"].endswith(f"SHA-256 of the data: {expected}")
    assert METADATA["dataset_info"][0]["description"] == config["description"]


def test_an_edit_of_the_data_changes_the_card(tmp_path: Path) -> None:
    copy = Path(shutil.copytree(FOLDER, tmp_path / "clibench"))
    data = copy / "data/diagnosis/train.json"
    data.write_text(data.read_text(encoding="utf-8").replace("Medicaid", "Medicare"), encoding="utf-8")
    assert refresh_card(copy) != refresh_card(FOLDER)


def test_the_metadata_is_what_the_hub_asks_for() -> None:
    assert Features._from_yaml_list(METADATA["dataset_info"][0]["features"]) == clibench_features()
    assert METADATA["license"] == "apache-2.0"
    assert METADATA["language"] == ["en"]
    assert METADATA["size_categories"] == ["n<1K"]
    assert {"pretty_name", "tags", "task_categories"} <= METADATA.keys()
    assert METADATA["configs"][0]["description"].startswith("SYNTHETIC")


def test_the_text_says_synthetic_and_carries_the_notice_of_loinc() -> None:
    assert "**SYNTHETIC.**" in TEXT
    assert "This material contains content from LOINC (http://loinc.org)." in TEXT
    assert "under the license at http://loinc.org/license" in TEXT.replace("\n> ", " ")


@pytest.mark.parametrize("column", [*COLUMNS, *LAB_COLUMNS], ids=lambda column: column.name)
def test_every_column_has_a_meaning(column: object) -> None:
    assert len(column.meaning) > 4  # type: ignore[attr-defined]
