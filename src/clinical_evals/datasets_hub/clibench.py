"""`load_dataset("clibench", "diagnosis")`: decisions on hospital admissions (CliBench, arXiv 2406.09923).

    import clinical_evals
    from datasets import load_dataset
    load_dataset("clibench", "diagnosis", split="test")                  # the embedded sample: synthetic
    load_dataset("clibench", "diagnosis", data_dir="data/clibench")      # what `clinical-evals build clibench` wrote

Without `data_dir` the environment variable CLIBENCH_DIR names the folder of built data; without that, too, the rows
are those of the embedded sample. A folder holds CONFIG/SPLIT.parquet (or .json), see `split_files`.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
from datasets.builder import Key

from clinical_evals.assets import dataset_folder
from clinical_evals.datasets_hub.features import REQUIRED, clibench_features
from clinical_evals.datasets_hub.names import code_digest
from clinical_evals.datasets_hub.source import describe, licence
from clinical_evals.datasets_hub.split_files import (
    check_columns,
    content_digest,
    find_split_files,
    read_tables,
    source_of,
)
from clinical_evals.errors import InputError, UnknownNameError

DIRECTORY_VARIABLE = "CLIBENCH_DIR"


class CliBenchConfig(datasets.BuilderConfig):  # type: ignore[misc]  # datasets has no types
    """One task of CliBench; its cache key is the content of its files, so that edited data is never served stale."""

    def folder(self) -> Path:
        """`data_dir`, else CLIBENCH_DIR, else the embedded sample."""
        named = self.data_dir or os.environ.get(DIRECTORY_VARIABLE)
        return Path(named).expanduser().resolve() if named else dataset_folder("clibench") / "data"

    def files(self) -> dict[str, Path]:
        """The file of each split.

        Raises:
            InputError: the folder is not one of built data.
        """
        return find_split_files(self.folder(), self.name)

    def create_config_id(self, config_kwargs: dict[str, Any], custom_features: datasets.Features | None = None) -> str:
        """Name and content: two folders with the same files share one cache, an edited file never does."""
        if config_kwargs.get("data_files") is not None:
            raise InputError("clibench takes data_dir=FOLDER (with CONFIG/SPLIT.parquet in it), not data_files=.")
        others = {key: value for key, value in config_kwargs.items() if key not in ("data_dir", "data_files")}
        plain: str = super().create_config_id(others, custom_features)
        return f"{plain}-{content_digest(self.files().values())[:16]}"


class CliBench(datasets.ArrowBasedBuilder):  # type: ignore[misc]  # datasets has no types
    """The builder behind the bare name `clibench`."""

    BUILDER_CONFIG_CLASS = CliBenchConfig
    BUILDER_CONFIGS = (
        CliBenchConfig(name="diagnosis", version="1.0.0", description="ICD-10-CM billing codes of the admission"),
    )
    DEFAULT_CONFIG_NAME = "diagnosis"

    def __init__(self, *args: Any, hash: str | None = None, **kwargs: Any) -> None:
        super().__init__(*args, hash=hash or code_digest(), **kwargs)

    def _create_builder_config(self, config_name: str | None = None, **kwargs: Any) -> tuple[CliBenchConfig, str]:
        if config_name is not None and config_name not in self.builder_configs:
            raise UnknownNameError("clibench config", config_name, self.builder_configs)
        config: tuple[CliBenchConfig, str] = super()._create_builder_config(config_name, **kwargs)
        return config

    def _info(self) -> datasets.DatasetInfo:
        sources = {source_of(path) for path in self.config.files().values()}
        return datasets.DatasetInfo(
            description=describe(sources), features=clibench_features(), license=licence(sources)
        )

    def _split_generators(self, dl_manager: Any) -> list[datasets.SplitGenerator]:
        files = self.config.files()
        for path in files.values():
            check_columns(path, clibench_features())
        return [
            datasets.SplitGenerator(name=split, gen_kwargs={"files": [str(path)]}) for split, path in files.items()
        ]

    def _generate_tables(self, files: list[str]) -> Iterator[tuple[Key, pa.Table]]:
        for shard, path in enumerate(files):
            for batch, table in enumerate(read_tables(Path(path), clibench_features(), REQUIRED)):
                yield Key(shard, batch), table
