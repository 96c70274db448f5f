"""Where the tables of a MIMIC-IV download are, and whether they are what they should be, before any of them is read.

A table is `hosp/NAME` or `note/NAME` with the suffix .csv, .csv.gz or .parquet; all may be mixed. Source of the
layout: PhysioNet's mimiciv 2.2 and 3.1 and mimic-iv-note 2.2.
"""

import csv
import gzip
import io
import re
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from clinical_evals.errors import InputError, ResourceMissingError

SUFFIXES = (".csv", ".csv.gz", ".parquet")
_OTHER_MODULES = {
    "icustays": "the ICU module (icu/)",
    "chartevents": "the ICU module (icu/)",
    "edstays": "MIMIC-IV-ED (ed/)",
    "triage": "MIMIC-IV-ED (ed/)",
    "discharge": "MIMIC-IV-Note (note/), which --notes takes",
    "radiology": "MIMIC-IV-Note (note/), which --notes takes",
}


class TableSpec(NamedTuple):
    """A table of MIMIC and the columns of it that are read."""

    name: str
    columns: tuple[str, ...]
    loss: str = ""
    """What is missing from the result without it; empty where nothing can be built without it."""


HOSP = (
    TableSpec(
        "admissions",
        (
            "subject_id", "hadm_id", "admittime", "dischtime", "admission_type", "admission_location", "insurance",
            "language", "marital_status", "race",
        ),
    ),
    TableSpec("patients", ("subject_id", "gender", "anchor_age", "anchor_year")),
    TableSpec("diagnoses_icd", ("subject_id", "hadm_id", "seq_num", "icd_code", "icd_version")),
    TableSpec("procedures_icd", ("hadm_id", "seq_num", "chartdate", "icd_code", "icd_version"), "the task procedure"),
    TableSpec(
        "labevents",
        (
            "labevent_id", "hadm_id", "itemid", "charttime", "value", "valuenum", "valueuom", "ref_range_lower",
            "ref_range_upper", "flag",
        ),
        "the task lab_order, and the lab results of diagnosis",
    ),
    TableSpec("d_labitems", ("itemid", "label", "fluid", "category"), "the names of lab items"),
    TableSpec("prescriptions", ("hadm_id", "starttime", "drug", "gsn", "ndc"), "the task prescription"),
    TableSpec("services", ("hadm_id", "curr_service"), "services, and the draw by service"),
    TableSpec("transfers", ("hadm_id", "careunit"), "care units, and the draw by care unit"),
)  # fmt: skip
NOTES = (
    TableSpec("discharge", ("note_id", "hadm_id", "note_type", "note_seq", "text")),
    TableSpec(
        "radiology", ("note_id", "hadm_id", "note_type", "note_seq", "text"), "the radiology reports of diagnosis"
    ),
)


class Source(NamedTuple):
    """One table that is there."""

    name: str
    path: Path
    columns: tuple[str, ...]
    """All that the file has, in its order."""

    @property
    def format(self) -> str:
        """ "parquet" or "csv"."""
        return "parquet" if self.path.suffix == ".parquet" else "csv"


class MimicFiles(NamedTuple):
    """The tables of a download, with the release that they are of."""

    tables: Mapping[str, Source]
    lost: Mapping[str, str]
    """By name of an optional table that is not there, what is missing from the result."""
    version: str
    """"2.2", "3.1", …, or "2.x" and "3.x" where only the content tells."""
    version_by: str
    """What told it."""

    def has(self, name: str) -> bool:
        """Whether a table is there."""
        return name in self.tables


def find_files(mimic: Path, notes: Path) -> MimicFiles:
    """The tables of MIMIC-IV and MIMIC-IV-Note.

    Args:
        mimic: the folder that holds `hosp/`, or `hosp` itself.
        notes: the folder that holds `note/`, or `note` itself.

    Raises:
        InputError: one error for all that is wrong: folders that are something else, required tables that are missing,
            tables that are there twice, columns that are missing.
        ResourceMissingError: a Parquet file, but pyarrow is not installed.
    """
    problems: list[str] = []
    tables: dict[str, Source] = {}
    lost: dict[str, str] = {}
    for folder, subfolder, specs, flag in ((mimic, "hosp", HOSP, "--mimic"), (notes, "note", NOTES, "--notes")):
        place = _module(folder, subfolder, specs, flag, problems)
        if place is None:
            continue
        for spec in specs:
            found = [path for suffix in SUFFIXES if (path := place / f"{spec.name}{suffix}").is_file()]
            if len(found) > 1:
                problems.append(f"{place} has {' and '.join(path.name for path in found)}: keep one of them")
            elif found:
                _read_header(spec, found[0], tables, problems)
            elif odd := _no_file(place, spec):
                problems.append(f"{odd} is no file that can be read (a folder, or a link to nothing)")
            elif spec.loss:
                lost[spec.name] = spec.loss
            else:
                problems.append(f"{place} has no {spec.name} ({', '.join(SUFFIXES)}), and nothing is built without it")
    if problems:
        raise InputError("; ".join(problems) + ".")
    version, by = _version(mimic, tables)
    return MimicFiles(tables, lost, version, by)


def _module(folder: Path, subfolder: str, specs: Sequence[TableSpec], flag: str, problems: list[str]) -> Path | None:
    if not folder.is_dir():
        found = "is a file" if folder.exists() else "does not exist"
        problems.append(f"{flag} {folder} {found}, expected the folder that holds {subfolder}/")
        return None
    if (folder / subfolder).is_dir():
        return folder / subfolder
    names = {path.name.split(".")[0] for path in folder.iterdir()}
    if names & {spec.name for spec in specs}:
        return folder
    other = next((what for name, what in _OTHER_MODULES.items() if name in names), "")
    held = f"is {other}" if other else f"holds {', '.join(sorted(names)[:8]) or 'nothing'}"
    problems.append(f"{flag} {folder} {held}, expected the folder that holds {subfolder}/, or {subfolder} itself")
    return None


def _no_file(place: Path, spec: TableSpec) -> Path | None:
    paths = (place / f"{spec.name}{suffix}" for suffix in SUFFIXES)
    return next((path for path in paths if path.exists() or path.is_symlink()), None)


def _read_header(spec: TableSpec, path: Path, tables: dict[str, Source], problems: list[str]) -> None:
    try:
        columns = read_columns(path)
    except InputError as error:
        problems.append(str(error).rstrip("."))
        return
    missing = [column for column in spec.columns if column not in columns]
    if missing and len(columns) == 1 and (";" in columns[0] or "\t" in columns[0]):
        problems.append(f"{path}: its columns are not separated by commas: {columns[0][:100]}")
        return
    if "" in columns:
        problems.append(f"{path}: column {columns.index('') + 1} has no name (a table saved with its index?)")
        return
    if missing:
        problems.append(f"{path}: no column {', '.join(missing)}; it has {', '.join(columns)[:300]}")
        return
    tables[spec.name] = Source(spec.name, path, columns)


def read_columns(path: Path) -> tuple[str, ...]:
    """The names of a table's columns, from its first line or its Parquet schema.

    Raises:
        InputError: the file cannot be read, is empty, cut off at once, a web page, or of another encoding.
        ResourceMissingError: a Parquet file, but pyarrow is not installed.
    """
    if path.suffix == ".parquet":
        return _parquet_columns(path)
    try:
        line = _first_line(path)
    except (OSError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path} cannot be read ({error}): copy or download it again.") from error
    if line[:200].lstrip().lower().startswith((b"<!doctype html", b"<html", b"<head")):
        raise InputError(f"{path} is a web page, not a table: log in to PhysioNet and download it again.")
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: its first line is not UTF-8 ({error}): download it again.") from error
    columns = tuple(name.strip() for name in next(csv.reader(io.StringIO(text)), []))
    if not columns:
        raise InputError(f"{path} is empty, expected a table with a header.")
    repeated = sorted({name for name in columns if columns.count(name) > 1})
    if repeated:
        raise InputError(f"{path}: the column {', '.join(repeated)} is there twice.")
    return columns


def _first_line(path: Path) -> bytes:
    with path.open("rb") as stream:
        zipped = stream.read(2) == b"\x1f\x8b"
    if zipped != path.name.endswith(".gz"):
        what = "gzip data" if zipped else "no gzip data"
        raise InputError(
            f"{path} is {what}, which its name does not say: rename it ({'.csv.gz' if zipped else '.csv'})."
        )
    with gzip.open(path, "rb") if zipped else path.open("rb") as stream:
        return stream.readline(1 << 20)


def _parquet_columns(path: Path) -> tuple[str, ...]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise ResourceMissingError(f"{path}: reading Parquet needs pyarrow: pip install pyarrow") from error
    try:
        schema = pq.read_schema(path)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: the Parquet file is cut off or damaged ({error}): copy it again.") from error
    for column in ("icd_code", "ndc", "gsn"):
        if column in schema.names and not _is_text(schema.field(column).type):
            raise InputError(
                f"{path}: column {column} is {schema.field(column).type}, expected text: codes that are stored as "
                "numbers have lost their leading zeros. Make the Parquet file again with every column as text."
            )
    return tuple(schema.names)


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return _is_text(kind.value_type)
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view"


_IN_PATH = re.compile(r"(?<![\d.])([123]\.\d)(?![\d.])")


def _version(mimic: Path, tables: Mapping[str, Source]) -> tuple[str, str]:
    """The release: as the path says (…/mimiciv/3.1/hosp), else by what changed with 3.0."""
    for part in reversed(mimic.resolve().parts[-3:]):
        if found := _IN_PATH.search(part):
            return found[1], f"its folder {part}"
    sample = _some_text(tables["patients"].path)
    if "2020 - 2022" in sample:
        return "3.x", "the years 2020 - 2022 in patients"
    return "2.x", "no years after 2019 in patients"


def _some_text(path: Path) -> str:
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        if "anchor_year_group" not in pq.read_schema(path).names:
            return ""
        groups = pq.read_table(path, columns=["anchor_year_group"]).column(0).unique().to_pylist()
        return " ".join(str(group) for group in groups)
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
            return stream.read(1 << 22).decode("utf-8", "replace")
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: the gzip file is cut off or damaged ({error}): download it again.") from error
