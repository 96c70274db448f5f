"""The YAML and the parts of a card that follow from its data: configs, features, splits, sizes, SHA-256.

A folder loaded by path is cached by its card, not by its data: so each config's description holds a SHA-256 of its
files, and a card that does not fit its data fails a test.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from clinical_evals.datasets_hub.columns import Schema
from clinical_evals.datasets_hub.features import SCHEMAS
from clinical_evals.datasets_hub.source import describe
from clinical_evals.datasets_hub.split_files import content_digest, find_split_files, read_tables, source_of
from clinical_evals.errors import InputError
from clinical_evals.hub.cards.facts import DatasetFacts, Made
from clinical_evals.hub.cards.vocabulary import size_category


class ConfigData(NamedTuple):
    """The files of one config and what a card needs of them."""

    config: str
    schema: Schema
    files: dict[str, Path]
    """By split."""
    rows: dict[str, int]
    """By split."""
    bytes: dict[str, int]
    """By split, as Arrow tables in memory."""
    description: str
    """What the rows are, and the SHA-256 of the files."""


def read_configs(data: Path, dataset: str) -> list[ConfigData]:
    """The configs that a folder holds as CONFIG/SPLIT.parquet or .json, in the order of the schemas.

    Raises:
        InputError: there is none, or its files cannot be used.
    """
    found = [_read(data, config, dataset) for config in SCHEMAS[dataset] if (data / config).is_dir()]
    if not found:
        raise InputError(f"{data} holds no {dataset} data: expected one of {', '.join(SCHEMAS[dataset])} in it.")
    return found


def data_metadata(configs: list[ConfigData], card_folder: Path) -> dict[str, Any]:
    """`configs` and `dataset_info`; the paths are as seen from the card's folder."""
    return {
        "configs": [_config_entry(each, card_folder) for each in configs],
        "dataset_info": [_info_entry(each) for each in configs],
    }


def descriptive_metadata(
    facts: DatasetFacts, made: Made, pretty_name: str, configs: list[ConfigData]
) -> dict[str, Any]:
    """What stands before `configs`: name, licence, language, size, kinds of task, tags."""
    named = {"license_name": made.licence_name, "license_link": made.licence_link}
    return {
        "pretty_name": pretty_name,
        "license": made.licence,
        **{key: value for key, value in named.items() if value},
        "language": list(facts.languages),
        "size_categories": [size_category(max(sum(each.rows.values()) for each in configs))],
        "task_categories": list(facts.task_categories),
        "tags": [*facts.tags, *made.tags],
    }


def put_together(metadata: Mapping[str, Any], text: str) -> str:
    """A whole card."""
    head = yaml.safe_dump(dict(metadata), sort_keys=False, allow_unicode=True, width=120)
    return f"---\n{head}---\n{text}"


def _read(data: Path, config: str, dataset: str) -> ConfigData:
    files = find_split_files(data, config, dataset)
    about = describe(dataset, {source_of(path) for path in files.values()})
    schema = SCHEMAS[dataset][config]
    rows, sizes = {}, {}
    for split, path in files.items():
        rows[split], sizes[split] = _measure(path, schema)
    description = f"{about} SHA-256 of the data: {content_digest(files.values())}"
    return ConfigData(config, schema, files, rows, sizes, description)


def _measure(path: Path, schema: Schema) -> tuple[int, int]:
    """Rows and bytes in memory. Of Parquet from its footer alone: a build is larger than memory may be."""
    if path.suffix == ".parquet":
        meta = pq.read_metadata(path)
        return meta.num_rows, sum(meta.row_group(number).total_byte_size for number in range(meta.num_row_groups))
    table = pa.concat_tables(read_tables(path, schema))
    return table.num_rows, table.nbytes


def _config_entry(data: ConfigData, card_folder: Path) -> dict[str, Any]:
    suffixes = {path.suffix for path in data.files.values()}
    return {
        "config_name": data.config,
        "description": data.description,
        **({"field": "rows"} if suffixes == {".json"} else {}),
        "data_files": [
            {"split": split, "path": path.relative_to(card_folder).as_posix()} for split, path in data.files.items()
        ],
    }


def _info_entry(data: ConfigData) -> dict[str, Any]:
    return {
        "config_name": data.config,
        "description": data.description,
        "features": data.schema.features._to_yaml_list(),
        "splits": [
            {"name": split, "num_bytes": data.bytes[split], "num_examples": rows} for split, rows in data.rows.items()
        ],
        "download_size": sum(path.stat().st_size for path in data.files.values()),
        "dataset_size": sum(data.bytes.values()),
    }
