"""The cards say what the data are: schema, SHA-256, counts, licence and the notices."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from datasets import Features

from clinical_evals.assets import dataset_folder
from clinical_evals.datasets_hub.columns import Column
from clinical_evals.datasets_hub.features import SCHEMAS, schema_of
from clinical_evals.datasets_hub.names import DATASETS
from clinical_evals.errors import InputError, UnknownNameError
from clinical_evals.hub.cards.facts import CANARY
from clinical_evals.hub.cards.sample_card import sample_card
from clinical_evals.markers import MIMIC_MARKER


def read_card(folder: Path) -> tuple[dict[str, Any], str]:
    """Metadata and text."""
    _, head, text = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(head), text


CARDS = {name: read_card(dataset_folder(name)) for name in DATASETS}
LANGUAGES = {"clibench": "en", "ior-bench": "zh"}
SPLITS = {"clibench": ("test", "train"), "ior-bench": ("test",)}
# A change of one value of the data, by dataset.
EDITS = {
    "clibench": ("diagnosis/train.json", "Medicaid", "Medicare"),
    "ior-bench": ("dynamic_h2/test.json", '"sex": "female"', '"sex": "male"'),
}
SAMPLED = {
    name: [config for config in schemas if (dataset_folder(name) / "data" / config).is_dir()]
    for name, schemas in SCHEMAS.items()
}
"""The configs that the embedded samples have; a card is of these."""
CONFIGS = [(name, config) for name, configs in SAMPLED.items() for config in configs]
every_dataset = pytest.mark.parametrize("name", DATASETS)
every_config = pytest.mark.parametrize(("name", "config"), CONFIGS)


def of_config(name: str, part: str, config: str) -> dict[str, Any]:
    (found,) = [entry for entry in CARDS[name][0][part] if entry["config_name"] == config]
    return found


def test_every_dataset_has_schemas() -> None:
    assert SCHEMAS.keys() == DATASETS.keys()
    assert SAMPLED == {
        "clibench": ["diagnosis", "procedure", "lab_order", "prescription"],
        "ior-bench": ["static", "dynamic_h1", "dynamic_h2"],
    }


@every_dataset
def test_the_card_fits_schema_and_data(name: str) -> None:
    _, head, text = sample_card(dataset_folder(name)).split("---\n", 2)
    fresh = yaml.safe_load(head)
    written = yaml.safe_load(yaml.safe_dump(CARDS[name][0]))  # a copy
    assert text == CARDS[name][1], "run: python -m clinical_evals.hub.cards datasets"
    for metadata in (fresh, written):
        for info in metadata["dataset_info"]:
            info.pop("dataset_size")  # bytes in Arrow: they differ a little from one pyarrow to the next
            [split.pop("num_bytes") for split in info["splits"]]
    assert fresh == written, "run: python -m clinical_evals.hub.cards datasets"
    assert [info["config_name"] for info in written["dataset_info"]] == SAMPLED[name]


@every_config
def test_the_text_shows_the_columns_of_every_config(name: str, config: str) -> None:
    assert f"\n{schema_of(name, config).table()}\n" in CARDS[name][1]


@every_config
def test_each_configs_description_holds_the_digest_of_its_data(name: str, config: str) -> None:
    # Worked out here by hand: names and SHA-256 of the files, in the order of the splits.
    folder = dataset_folder(name) / "data" / config
    lines = "".join(
        f"{split}.json\0{hashlib.sha256((folder / f'{split}.json').read_bytes()).hexdigest()}\n"
        for split in SPLITS[name]
    )
    expected = hashlib.sha256(lines.encode()).hexdigest()
    description = of_config(name, "configs", config)["description"]
    assert description.startswith("SYNTHETIC")
    assert description.endswith(f"SHA-256 of the data: {expected}")
    assert of_config(name, "dataset_info", config)["description"] == description


@every_dataset
def test_an_edit_of_the_data_changes_the_card(tmp_path: Path, name: str) -> None:
    folder = dataset_folder(name)
    copy = Path(shutil.copytree(folder, tmp_path / name))
    file, old, new = EDITS[name]
    text = (copy / "data" / file).read_text(encoding="utf-8")
    assert old in text
    assert sample_card(copy) == sample_card(folder)
    (copy / "data" / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    assert sample_card(copy) != sample_card(folder)


@every_config
def test_features_and_rows_are_what_the_hub_asks_for(name: str, config: str) -> None:
    info = of_config(name, "dataset_info", config)
    assert Features._from_yaml_list(info["features"]) == schema_of(name, config).features
    assert [split["name"] for split in info["splits"]] == list(SPLITS[name])


@every_dataset
def test_the_metadata_is_what_the_hub_asks_for(name: str) -> None:
    metadata = CARDS[name][0]
    assert metadata["license"] == "apache-2.0"
    assert metadata["language"] == [LANGUAGES[name]]
    assert metadata["size_categories"] == ["n<1K"]
    assert {"pretty_name", "tags", "task_categories"} <= metadata.keys()


@every_dataset
def test_the_text_says_synthetic(name: str) -> None:
    assert "**SYNTHETIC.**" in CARDS[name][1]
    assert f'load_dataset("{name}", "' in CARDS[name][1]


@every_config
def test_the_canary_of_the_card_is_that_of_the_data(name: str, config: str) -> None:
    for path in (dataset_folder(name) / "data" / config).iterdir():
        assert CANARY in json.loads(path.read_text(encoding="utf-8"))["canary"]
    assert f"`{CANARY}`" in CARDS[name][1]


@every_dataset
def test_real_rows_get_no_card_that_says_synthetic(tmp_path: Path, name: str) -> None:
    copy = Path(shutil.copytree(dataset_folder(name), tmp_path / name))
    path = copy / "data" / EDITS[name][0]
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("clinical-evals:synthetic", MIMIC_MARKER, 1), encoding="utf-8")
    with pytest.raises(InputError, match=f"{path.name} does not say that its rows are synthetic"):
        sample_card(copy)


def test_clibench_carries_the_notice_of_loinc() -> None:
    text = CARDS["clibench"][1]
    assert "This material contains content from LOINC (http://loinc.org)." in text
    assert "under the license at http://loinc.org/license" in text.replace("\n> ", " ")


def test_clibench_carries_the_notices_of_atc_and_icd10pcs() -> None:
    text = CARDS["clibench"][1].replace("\n> ", " ").replace("\n", " ")
    assert "© WHO Collaborating Centre for Drug Statistics Methodology" in text
    assert "ICD-10-PCS codes and titles are works of the US government" in text


def test_clibench_counts_its_rows_and_codes_in_the_text() -> None:
    for config in SCHEMAS["clibench"]:
        for split in SPLITS["clibench"]:
            path = dataset_folder("clibench") / "data" / config / f"{split}.json"
            sizes = [len(row["codes"]) for row in json.loads(path.read_text(encoding="utf-8"))["rows"]]
            line = f"| `{config}` | `{split}` | {len(sizes)} | {min(sizes)}–{max(sizes)} |"
            assert line in CARDS["clibench"][1]


def test_ior_bench_counts_its_rows_in_the_text() -> None:
    text = CARDS["ior-bench"][1]
    for config in SCHEMAS["ior-bench"]:
        (split,) = of_config("ior-bench", "dataset_info", config)["splits"]
        assert f"| `{config}` | {split['num_examples']}" in text


COLUMNS = [
    (config, column)
    for name, config in CONFIGS
    for columns in (schema_of(name, config).columns, *(inner for _, inner in schema_of(name, config).inner))
    for column in columns
]


@pytest.mark.parametrize(("config", "column"), COLUMNS, ids=[f"{config}-{column.name}" for config, column in COLUMNS])
def test_every_column_has_a_meaning(config: str, column: Column) -> None:
    assert len(column.meaning) >= 2  # 主诉 (chief complaint) says it in two


def test_unknown_configs_and_datasets(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"'dynamic'. Did you mean 'dynamic_h"):
        schema_of("ior-bench", "dynamic")
    with pytest.raises(UnknownNameError, match=r"unknown dataset 'clinbench'. Did you mean 'clibench'"):
        sample_card(tmp_path / "clinbench")
