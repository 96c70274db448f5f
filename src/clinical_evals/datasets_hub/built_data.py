"""What our builders share: rows from `FOLDER/CONFIG/SPLIT.parquet` or `.json` (see `split_files`).

`data_dir` names the folder; without it an environment variable of the dataset does; without that, too, the rows are
those of the embedded sample. The cache key is the content of the files: two folders with the same files share one
cache, an edited file is never served stale.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
from datasets.builder import Key

from clinical_evals.assets import dataset_folder
from clinical_evals.datasets_hub.features import SCHEMAS, schema_of
from clinical_evals.datasets_hub.names import code_digest
from clinical_evals.datasets_hub.source import describe, licence
from clinical_evals.datasets_hub.split_files import (
    check_columns,
    content_digest,
    find_split_files,
    read_tables,
    source_of,
)
from clinical_evals.errors import InputError


class BuiltConfig(datasets.BuilderConfig):  # type: ignore[misc]  # datasets has no types
    """One config; a subclass names its dataset and the environment variable of its folder."""

    DATASET = ""
    DIRECTORY_VARIABLE = ""

    def folder(self) -> Path:
        """`data_dir`, else the folder of the environment variable, else the embedded sample."""
        named = self.data_dir or os.environ.get(self.DIRECTORY_VARIABLE)
        return Path(named).expanduser().resolve() if named else dataset_folder(self.DATASET) / "data"

    def files(self) -> dict[str, Path]:
        """The file of each split.

        Raises:
            InputError: the folder is not one of built data.
        """
        folder = self.folder()
        if folder == dataset_folder(self.DATASET) / "data" and not (folder / self.name).is_dir():
            there = ", ".join(sorted(path.name for path in folder.iterdir() if path.is_dir()))
            raise InputError(
                f"the embedded sample of {self.DATASET} has no {self.name}, only {there}. Build it from the real "
                f"data, and name its folder by data_dir= or {self.DIRECTORY_VARIABLE}."
            )
        return find_split_files(folder, self.name, self.DATASET)

    def create_config_id(self, config_kwargs: dict[str, Any], custom_features: datasets.Features | None = None) -> str:
        """Name, options and content of the files."""
        if config_kwargs.get("data_files") is not None:
            raise InputError(
                f"{self.DATASET} takes data_dir=FOLDER (with CONFIG/SPLIT.parquet in it), not data_files=."
            )
        others = {key: value for key, value in config_kwargs.items() if key not in ("data_dir", "data_files")}
        plain: str = super().create_config_id(others, custom_features)
        return f"{plain}-{content_digest(self.files().values())[:16]}"


class BuiltData(datasets.ArrowBasedBuilder):  # type: ignore[misc]  # datasets has no types
    """A builder of such configs."""

    BUILDER_CONFIG_CLASS = BuiltConfig

    def __init__(self, *args: Any, hash: str | None = None, **kwargs: Any) -> None:
        super().__init__(*args, hash=hash or code_digest(), **kwargs)

    def _create_builder_config(self, config_name: str | None = None, **kwargs: Any) -> tuple[BuiltConfig, str]:
        if config_name is not None:
            schema_of(self.BUILDER_CONFIG_CLASS.DATASET, config_name)
        config: tuple[BuiltConfig, str] = super()._create_builder_config(config_name, **kwargs)
        return config

    def _info(self) -> datasets.DatasetInfo:
        sources = {source_of(path) for path in self.config.files().values()}
        features = schema_of(self.config.DATASET, self.config.name).features
        return datasets.DatasetInfo(
            description=describe(self.config.DATASET, sources),
            features=features,
            license=licence(self.config.DATASET, sources),
        )

    def _split_generators(self, dl_manager: Any) -> list[datasets.SplitGenerator]:
        files = self.config.files()
        for path in files.values():
            check_columns(path, schema_of(self.config.DATASET, self.config.name))
        return [
            datasets.SplitGenerator(name=split, gen_kwargs={"files": [str(path)]}) for split, path in files.items()
        ]

    def _generate_tables(self, files: list[str]) -> Iterator[tuple[Key, pa.Table]]:
        schema = schema_of(self.config.DATASET, self.config.name)
        for shard, path in enumerate(files):
            for batch, table in enumerate(read_tables(Path(path), schema)):
                yield Key(shard, batch), table


def configs_of(kind: type[BuiltConfig], **descriptions: str) -> list[BuiltConfig]:
    """The configs of a dataset by name and description; all that its schemas have."""
    assert set(descriptions) == set(SCHEMAS[kind.DATASET])
    return [kind(name=name, version="1.0.0", description=text) for name, text in descriptions.items()]
