"""Built data on the disk: FOLDER/CONFIG/test.parquet with the mark of its source, as the builders read it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from clinical_evals.datasets_hub.columns import Schema
from clinical_evals.datasets_hub.source import SOURCE_KEY
from clinical_evals.errors import InputError
from clinical_evals.write_aside import written_aside


def write_parquet(rows: Sequence[dict[str, Any]], schema: Schema, path: Path, source: str) -> None:
    """Write one split: aside first, then renamed, so that a file is there whole or as it was before.

    Args:
        rows: with the columns of the schema.
        schema: of the config.
        path: the file; its folder is made if need be.
        source: one of the marks of `clinical_evals.markers`.

    Raises:
        InputError: the folder cannot be written to.
    """
    table = pa.Table.from_pylist(list(rows), schema=schema.features.arrow_schema)
    metadata = dict(table.schema.metadata or {}) | {SOURCE_KEY: source.encode()}
    _write_aside(path, lambda aside: pq.write_table(table.replace_schema_metadata(metadata), aside))


def write_report(text: str, path: Path) -> None:
    """Write what was read, left out and why, in the same way: reasons quote cells, so it is as private as the rows.

    Raises:
        InputError: the folder cannot be written to.
    """
    _write_aside(path, lambda aside: aside.write_text(text, encoding="utf-8"))


def _write_aside(path: Path, write: Callable[[Path], object]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with written_aside(path) as aside:
            write(aside)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"{path} cannot be written ({reason}). Give another --out FOLDER.") from error
