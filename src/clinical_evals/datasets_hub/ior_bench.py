"""`load_dataset("ior-bench", "dynamic_h2")`: outpatient referral in Chinese (IOR-Bench, arXiv 2503.08292).

    import clinical_evals
    from datasets import load_dataset
    load_dataset("ior-bench", "static", split="test")                  # the embedded sample: synthetic
    load_dataset("ior-bench", "dynamic_h1", data_dir="ior")            # the authors' CSV files, as released
    load_dataset("ior-bench", "static", data_dir="data/our-hospital")  # what `clinical-evals build ior-bench` wrote

Without `data_dir` the environment variable IOR_BENCH_DIR names the folder; without that, too, the rows are those of
the embedded sample. A record of the authors' files that cannot be used is an error; with `skip_invalid=True` it is
left out, and a warning and the dataset's description count and list what was.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
from datasets.builder import Key

from clinical_evals.datasets_hub.built_data import BuiltConfig, BuiltData, configs_of
from clinical_evals.datasets_hub.features import schema_of
from clinical_evals.datasets_hub.source import describe, licence
from clinical_evals.errors import InputError
from clinical_evals.ior_bench.authors_files import authors_file, has_authors_files, read_authors
from clinical_evals.ior_bench.data import Read
from clinical_evals.ior_bench.reading_report import report_of
from clinical_evals.markers import PATIENT_MARKER


@dataclass
class IorBenchConfig(BuiltConfig):
    """The finished dialogues, or the records with the departments of one hospital."""

    DATASET = "ior-bench"
    DIRECTORY_VARIABLE = "IOR_BENCH_DIR"

    skip_invalid: bool = False
    """Whether records of the authors' files that cannot be used are left out (and listed) instead of an error."""

    @property
    def is_authors(self) -> bool:
        """Whether the rows come from the authors' files."""
        return has_authors_files(self.folder(), self.name)

    def files(self) -> dict[str, Path]:
        """The authors' file of the config, or that of built data.

        Raises:
            InputError: the folder holds neither, or both.
        """
        folder = self.folder()
        if not self.is_authors:
            try:
                files = super().files()
            except InputError as error:
                raise InputError(f"{error} Or the authors' {authors_file(self.name)} in {folder}.") from error
            if self.skip_invalid:
                raise InputError("skip_invalid is for the authors' files; built data has been read with or without.")
            return files
        if (folder / self.name).is_dir():
            raise InputError(
                f"{folder} holds the authors' {authors_file(self.name)} and built data in {self.name}/: which is "
                "meant? Move one of them elsewhere."
            )
        return {"test": folder / authors_file(self.name)}


class IorBench(BuiltData):
    """The builder behind the bare name `ior-bench`."""

    BUILDER_CONFIG_CLASS = IorBenchConfig
    BUILDER_CONFIGS = configs_of(
        IorBenchConfig,
        static="a finished dialogue; which department does its last doctor turn name?",
        dynamic_h1="a medical record, for a simulated patient; departments of hospital 1 (tertiary)",
        dynamic_h2="the same records; departments of hospital 2 (secondary)",
    )
    DEFAULT_CONFIG_NAME = "static"

    @cached_property
    def _read(self) -> Read:
        """The rows of the authors' file; kept here, as a config may be shared by all builders of a process."""
        return read_authors(self.config.folder(), self.config.name, self.config.skip_invalid)

    def _info(self) -> datasets.DatasetInfo:
        if not self.config.is_authors:
            return super()._info()
        report = report_of(self._read)
        return datasets.DatasetInfo(
            description="\n".join([describe("ior-bench", {PATIENT_MARKER}), *report]),
            features=schema_of("ior-bench", self.config.name).features,
            license=licence("ior-bench", {PATIENT_MARKER}),
        )

    def _split_generators(self, dl_manager: Any) -> list[datasets.SplitGenerator]:
        if not self.config.is_authors:
            return super()._split_generators(dl_manager)
        read = self._read
        if read.skipped:
            warnings.warn("\n".join(report_of(read)), stacklevel=2)
        return [datasets.SplitGenerator(name="test", gen_kwargs={"files": [str(self.config.files()["test"])]})]

    def _generate_tables(self, files: list[str]) -> Iterator[tuple[Key, pa.Table]]:
        if not self.config.is_authors:
            yield from super()._generate_tables(files)
            return
        features = schema_of("ior-bench", self.config.name).features
        yield Key(0, 0), pa.Table.from_pylist(self._read.rows, schema=features.arrow_schema)
