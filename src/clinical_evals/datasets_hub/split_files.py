"""The files of a built dataset, `FOLDER/CONFIG/SPLIT.parquet` or `.json`, read into Arrow tables of one schema.

A JSON file is one object: `canary`, `notice` and `source` (text), then `rows`, one row a line, so that a change of one
row is a change of one line. A Parquet file states its source in its metadata, see `source`.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from datasets.table import table_cast

from clinical_evals.datasets_hub.columns import Schema
from clinical_evals.datasets_hub.source import SOURCE_KEY
from clinical_evals.errors import InputError

SPLITS = ("test", "train")
_SUFFIXES = (".parquet", ".json")
_BATCH_ROWS = 512


def find_split_files(folder: Path, config: str, dataset: str) -> dict[str, Path]:
    """The file of each split of a config.

    Raises:
        InputError: the folder or its `test` split is missing, or a split is there in both formats.
    """
    expected = f"{folder}/{config}/test.parquet (or .json), and train beside it if there is one"
    if not (folder / config).is_dir():
        there = "it is not a folder" if not folder.is_dir() else f"it holds {_listing(folder)}"
        raise InputError(f"no {dataset} data for config {config!r} in {folder}: {there}. Expected {expected}.")
    files: dict[str, Path] = {}
    for split in SPLITS:
        found = [path for suffix in _SUFFIXES if (path := folder / config / f"{split}{suffix}").is_file()]
        if len(found) > 1:
            raise InputError(f"{folder / config} has {found[0].name} and {found[1].name}: remove one of them.")
        if found:
            files[split] = found[0]
    if "test" not in files:
        raise InputError(
            f"no test split in {folder / config}: it holds {_listing(folder / config)}. Expected {expected}."
        )
    return files


def content_digest(files: Iterable[Path]) -> str:
    """SHA-256 over names and bytes of files, in the order given: neither place nor time of a file counts."""
    digest = hashlib.sha256()
    for path in files:
        with path.open("rb") as stream:
            digest.update(f"{path.name}\0{hashlib.file_digest(stream, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()


def source_of(path: Path) -> str:
    """The mark by which a file states where its rows come from, or "" where it states nothing.

    Raises:
        InputError: see `read_tables`.
    """
    if path.suffix == ".json":
        return str(_read_json(path).get("source", ""))
    metadata = _open_parquet(path).schema_arrow.metadata or {}
    return bytes(metadata.get(SOURCE_KEY, b"")).decode()


def read_tables(path: Path, schema: Schema) -> Iterator[pa.Table]:
    """The rows of one file in batches, cast to the schema.

    Raises:
        InputError: the file cannot be read, a column is missing or of another type, or a column is null that may not
            be (the file, row and column are named).
    """
    first = 0
    features = schema.features
    for raw in _raw_tables(path, features):
        table = _cast(raw, path, features)
        for column in schema.required:
            if table[column].null_count:
                row = first + table[column].is_null().index(True).as_py()
                raise InputError(f"{path}, row {row}: column {column!r} is null, expected {features[column]}.")
        first += table.num_rows
        yield table


def check_columns(path: Path, schema: Schema) -> None:
    """Refuse a file whose columns are not those of the schema, before anything is read from it.

    Raises:
        InputError: names the columns that are missing or unknown.
    """
    features = schema.features
    if path.suffix == ".json":
        for row, record in enumerate(_read_json(path)["rows"]):
            _compare_record(record, features, f"{path}, row {row}")
    else:
        _compare(_open_parquet(path).schema_arrow.names, features, str(path))


def _compare_record(record: object, features: Mapping[str, Any], where: str) -> None:
    """A JSON record by its keys, inside lists of records too: Arrow would drop an unknown key without a word."""
    values: Mapping[str, Any] = record if isinstance(record, dict) else {}
    _compare(list(values), features, where)
    for name, feature in features.items():
        inner = getattr(feature, "feature", None)
        if isinstance(inner, dict):
            for place, item in enumerate(values[name] or ()):
                _compare_record(item, inner, f"{where}, {name}[{place}]")


def _compare(names: list[str], features: Mapping[str, Any], where: str) -> None:
    missing, unknown = (
        [name for name in features if name not in names],
        [name for name in names if name not in features],
    )
    if missing or unknown:
        found = f"missing: {', '.join(missing) or 'none'}; unknown: {', '.join(unknown) or 'none'}"
        raise InputError(
            f"{where}: the columns are not those of this config ({found}). Expected {', '.join(features)}."
        )


def _raw_tables(path: Path, features: Any) -> Iterator[pa.Table]:
    if path.suffix == ".json":
        try:
            yield pa.Table.from_pylist(_read_json(path)["rows"], schema=features.arrow_schema)
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise InputError(f"{path}: a value has another type than its column in the card. {error}") from error
        return
    for batch in _open_parquet(path).iter_batches(_BATCH_ROWS, columns=list(features)):
        yield pa.Table.from_batches([batch])


def _cast(table: pa.Table, path: Path, features: Any) -> pa.Table:
    try:
        return table_cast(table.select(list(features)), features.arrow_schema)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, TypeError, ValueError) as error:
        raise InputError(f"{path}: the columns have other types than those of this config. {error}") from error


def _read_json(path: Path) -> Mapping[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is not readable JSON: {error}") from error
    if not isinstance(content, dict) or not isinstance(content.get("rows"), list):
        raise InputError(f'{path}: expected one JSON object with "rows", a list of objects.')
    return content


def _open_parquet(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(f"{path} is not a readable Parquet file: {error}") from error


def _listing(folder: Path) -> str:
    names = sorted(path.name for path in folder.iterdir())
    return ", ".join(names[:8]) + (", …" if len(names) > 8 else "") if names else "nothing"
