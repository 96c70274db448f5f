"""A folder of training rows: train.parquet, a card that says where they come from, and build.json with the counts.

`load_dataset(FOLDER)` and TRL's `dataset_name: FOLDER` read it. The mark of the rows' source stands in the Parquet
file, in the card and in build.json, so that the guard knows each of them. The card holds a SHA-256 of the rows, too:
`datasets` keys a local folder by its name and card, and would otherwise give old rows after a new build.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import yaml

from clinical_evals.datasets_hub.source import SOURCE_KEY, describe, licence, mark_in
from clinical_evals.errors import InputError
from clinical_evals.json_file import read_object
from clinical_evals.markers import MIMIC_MARKER, PATIENT_MARKER, SYNTHETIC_MARKER
from clinical_evals.write_aside import written_aside

ROWS, CARD, ABOUT = "train.parquet", "README.md", "build.json"
DIGEST_OF = "SHA-256 of the data:"
"""Stands in each card."""
BATCH = 512
"""Rows that are written together."""

Record = Mapping[str, Any]
Columns = Mapping[str, Literal["messages", "int", "float"]]
"""By name what is in a column; messages have a role and a content."""


def write_rows(
    out: Path,
    records: Iterable[Record],
    columns: Columns,
    title: str,
    source: str,
    about: Callable[[], dict[str, Any]],
    beside: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """Write the folder; each of its files is there whole or as it was before.

    Args:
        out: the folder; it is made if need be.
        records: the rows, taken one after the other: they need not fit into memory.
        columns: of the rows.
        title: of the card.
        source: the mark of `clinical_evals.markers` that the rows carry.
        about: what was counted and chosen, for build.json and card; asked when all rows are written.
        beside: further files, by name their text.

    Returns:
        What build.json says.

    Raises:
        InputError: the folder cannot be written to, or what making a record raises; nothing is then written.
    """
    try:
        with _new_folder(out), written_aside(out / ROWS) as aside:
            _write_parquet(records, columns, source, aside)
            with aside.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
            said = {"source": source, "sha256": digest, **about()}
        shown = json.dumps(said, indent=2, ensure_ascii=False)
        for name, text in {**beside, ABOUT: f"{shown}\n", CARD: _card(title, source, digest, said)}.items():
            with written_aside(out / name) as aside:
                aside.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{out} cannot be written ({error.strerror or error}). Give another --out FOLDER.") from error
    return said


@contextmanager
def _new_folder(out: Path) -> Iterator[None]:
    """Make the folder; where the block fails, it goes again if nothing is in it."""
    out.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        with suppress(OSError):
            out.rmdir()
        raise


def _write_parquet(records: Iterable[Record], columns: Columns, source: str, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    message = pa.struct([("role", pa.string()), ("content", pa.string())])
    kinds = {"messages": pa.list_(message), "int": pa.int64(), "float": pa.float64()}
    schema = pa.schema([(name, kinds[kind]) for name, kind in columns.items()], {SOURCE_KEY: source.encode()})
    rest = iter(records)
    with pq.ParquetWriter(path, schema) as writer:
        while batch := list(islice(rest, BATCH)):
            writer.write_table(pa.Table.from_pylist(list(map(dict, batch)), schema=schema))


def read_source(folder: Path) -> str:
    """The mark of the rows of such a folder; rows that say nothing of their source are taken for MIMIC's.

    Looked at are build.json and the Parquet files of the folder itself and of its `data`, nothing else below it.

    Raises:
        InputError: it is not a folder of training rows; what was expected is said.
    """
    files = sorted(path for part in (folder, folder / "data") for path in part.glob("*.parquet") if path.is_file())
    if not files:
        there = ", ".join(sorted(path.name for path in folder.iterdir())[:8]) if folder.is_dir() else "no folder"
        raise InputError(
            f"{folder} is not a folder of training rows: expected {ROWS} and {ABOUT}, as `clinical-evals build sft` "
            f"and `build preferences` write them, found {there or 'nothing'}."
        )
    return _mark_of(folder, files)


def read_loaded_source(folder: Path) -> str:
    """The same of a folder that `datasets` has loaded: every Parquet file below it counts, as it does there."""
    return _mark_of(folder, sorted(folder.rglob("*.parquet")))


def _mark_of(folder: Path, files: Iterable[Path]) -> str:
    marks = set(map(mark_in, [str(read_about(folder).get("source")), *map(_mark_of_parquet, files)]))
    return next(mark for mark in (MIMIC_MARKER, PATIENT_MARKER, SYNTHETIC_MARKER) if mark in marks)


def read_about(folder: Path) -> dict[str, Any]:
    """What build.json says; nothing where there is none.

    Raises:
        InputError: it is no JSON object.
    """
    path = folder / ABOUT
    if not path.is_file():
        return {}
    return read_object(path)


def _mark_of_parquet(path: Path) -> str:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_schema(path).metadata or {}
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(f"{path} is not a readable Parquet file: {error}") from error
    return bytes(metadata.get(SOURCE_KEY, b"")).decode(errors="replace")


def _card(title: str, source: str, digest: str, about: Mapping[str, Any]) -> str:
    said = _describe(source)
    head = {
        "license": "apache-2.0" if source == SYNTHETIC_MARKER else "other",
        **({} if source == SYNTHETIC_MARKER else {"license_name": licence("clibench", {source})}),
        "language": ["en"],
        "tags": ["clibench", "trl", *([] if source == PATIENT_MARKER else ["medical"]), source],
        "configs": [
            {
                "config_name": "default",
                "description": f"{said} {DIGEST_OF} {digest}",
                "data_files": [{"split": "train", "path": ROWS}],
            }
        ],
    }
    shown = yaml.safe_dump(head, sort_keys=False, allow_unicode=True, width=120)
    lines = "\n".join(f"| {name.replace('_', ' ')} | {value} |" for name, value in about.items() if name != "source")
    return f"---\n{shown}---\n# {title}\n\n**{said}**\n\n| | |\n|---|---|\n{lines}\n"


def _describe(source: str) -> str:
    if source == PATIENT_MARKER:
        return describe("ior-bench", {source})
    return describe("clibench", {source})
