"""Folders as `clinical-evals build clibench` writes them, of rows of the sample."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from datasets import load_dataset

import clinical_evals  # noqa: F401  # the bare names
from clinical_evals.datasets_hub.source import SOURCE_KEY


def built(
    tmp_path: Path, rows: list[dict[str, Any]], source: str, splits: tuple[str, ...] = ("test", "train")
) -> Path:
    """A folder of built data whose train split holds these rows."""
    schema = load_dataset("clibench", "diagnosis", split="train").data.table.schema
    folder = tmp_path / "built"
    (folder / "diagnosis").mkdir(parents=True)
    for split in splits:
        table = pa.Table.from_pylist(rows if split == "train" else sample_rows(1), schema=schema)
        pq.write_table(table.replace_schema_metadata({SOURCE_KEY: source}), folder / "diagnosis" / f"{split}.parquet")
    return folder


def sample_rows(number: int) -> list[dict[str, Any]]:
    return load_dataset("clibench", "diagnosis", split="train").select(range(number)).to_list()
