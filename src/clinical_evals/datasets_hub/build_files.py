"""The Parquet files of a build of CliBench, and what of the answers stands in their records."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tqdm import tqdm

from clinical_evals.clibench.draws import Split
from clinical_evals.clibench.notes import find_leaks
from clinical_evals.clibench.rows import Rows
from clinical_evals.datasets_hub.features import schema_of
from clinical_evals.datasets_hub.source import SOURCE_KEY
from clinical_evals.markers import MIMIC_MARKER
from clinical_evals.ontology import CodeSystem
from clinical_evals.write_aside import written_aside

CROISSANT = "croissant.json"
"""What machines read of a build; like its card and build.json it is not among the files that build.json lists."""


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, read piece by piece."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def write_task(task: str, split: Split, rows: Rows, system: CodeSystem, data: Path) -> dict[str, Any]:
    """Write the splits of a task.

    Args:
        task: one of `gold.TASKS`.
        split: who is in which.
        rows: put together.
        system: of the gold.
        data: the folder of all tasks.

    Returns:
        What build.json says of the task: the draw, and of each split its rows, statistics and leakage.
    """
    (data / task).mkdir()
    about: dict[str, Any] = {"draw": split.drawn.summary(), "splits": {}}
    for name, ids in split.ids().items():
        leaks = _Leaks()
        path = data / task / f"{name}.parquet"
        with tqdm(desc=f"{task} {name}", total=len(ids), unit="row", mininterval=2, disable=None) as bar:
            written = _write_rows(path, task, leaks.watch(rows.batches(task, ids, system)), bar)
        about["splits"][name] = {
            "rows": written,
            "statistics": split.statistics[name]._asdict(),
            "leakage": leaks.about(),
        }
    return about


def _write_rows(path: Path, task: str, tables: Iterable[Any], bar: "tqdm[Any]") -> int:
    import pyarrow.parquet as pq
    from datasets.table import table_cast

    schema = schema_of("clibench", task).features.arrow_schema
    schema = schema.with_metadata((schema.metadata or {}) | {SOURCE_KEY: MIMIC_MARKER.encode()})
    written = 0
    with written_aside(path) as aside, pq.ParquetWriter(aside, schema, compression="zstd") as writer:
        for table in tables:
            writer.write_table(table_cast(table, schema).replace_schema_metadata(schema.metadata))
            written += table.num_rows
            bar.update(table.num_rows)
    return written


class _Leaks:
    """What of the answer stands in the records of a split: headings that should have gone, and gold titles."""

    def __init__(self) -> None:
        self.rows = self.with_headings = self.with_titles = 0
        self.headings: Counter[str] = Counter()
        self.titles = 0

    def watch(self, tables: Iterable[Any]) -> Iterator[Any]:
        """The tables as they are, each looked at."""
        for table in tables:
            for record, titles in zip(table["record"].to_pylist(), table["titles"].to_pylist(), strict=True):
                found = find_leaks(record, titles)
                self.rows += 1
                self.with_headings += bool(found.forbidden_headings)
                self.with_titles += bool(found.titles)
                self.headings.update(found.forbidden_headings)
                self.titles += len(found.titles)
            yield table

    def about(self) -> dict[str, Any]:
        """The counts; a gold title in a record need not be a leak (a known diabetic has diabetes)."""
        return {
            "rows_with_a_forbidden_heading": self.with_headings,
            "forbidden_headings": dict(sorted(self.headings.items())),
            "rows_with_a_gold_title": self.with_titles,
            "gold_titles": self.titles,
        }
