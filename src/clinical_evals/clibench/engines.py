"""What runs the extraction's expressions: DuckDB on one machine, or Spark. The expressions are the same (Ibis).

Every column is read as text, so that codes keep their leading zeros, and cast where a number or a time is needed.
"""

import contextlib
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from clinical_evals.clibench.mimic_files import Source
from clinical_evals.errors import InputError, ResourceMissingError, RunError

if TYPE_CHECKING:
    import ibis.expr.types as ir

ENGINES = ("duckdb", "spark")
_LONGEST_LINE = 16 * 2**20
"""Bytes of one record: a discharge note has some ten thousand."""


class Engine(Protocol):
    """Reads tables of MIMIC and writes what expressions over them give."""

    name: str
    threads: int

    def read(self, source: Source, columns: Sequence[str]) -> "ir.Table":
        """The columns of a table as text, in the order given; an empty text is null."""

    def stored(self, path: Path) -> "ir.Table":
        """What `store` wrote."""

    def store(self, table: "ir.Table", path: Path) -> None:
        """Write a table as Parquet, aside first: `path` is there whole, or not there.

        Raises:
            InputError: a file that is read is cut off or damaged.
            RunError: the disk is full, or the engine failed.
        """

    def batches(self, table: "ir.Table", rows: int) -> Iterator[Any]:
        """The Arrow record batches of a table, one after the other, in no order.

        Args:
            table: an expression.
            rows: about how many in one of them.

        Raises:
            InputError, RunError: see `store`.
        """

    def close(self) -> None:
        """Let go of its memory and its files."""


def open_engine(name: str, work: Path, memory: str = "3GB", threads: int | None = None) -> Engine:
    """An engine of `ENGINES`.

    Args:
        name: "duckdb" or "spark".
        work: a folder for what does not fit into memory.
        memory: how much DuckDB takes before it spills into `work`; Spark's own settings decide for Spark.
        threads: None: one a core, and for DuckDB one more, as one waits for what is unzipped.

    Raises:
        ResourceMissingError: the packages of the extra are not installed; for Spark also no Java.
    """
    try:
        import ibis  # noqa: F401 - the error of a missing extra comes here
    except ImportError as error:
        raise ResourceMissingError(
            "building CliBench needs Ibis and DuckDB: pip install 'clinical-evals[mimic]'"
        ) from error
    if threads is not None and threads < 1:
        raise InputError(f"--threads {threads}: expected a whole number of at least 1, or leave it out.")
    if not re.fullmatch(r"\d+(\.\d+)? ?[KMGT]i?B", memory):
        raise InputError(f"--memory {memory}: expected a number and a unit, as 3GB or 800MB.")
    cores = os.cpu_count() or 1
    if name == "spark":
        from clinical_evals.clibench.spark_engine import SparkEngine

        return SparkEngine(threads or cores)
    return DuckDBEngine(work, memory, threads or cores + 1)


def parquet_files(path: Path) -> list[str]:
    """The files of a stored stage: itself, or of a folder those in it."""
    return [str(file) for file in sorted(path.glob("*.parquet"))] if path.is_dir() else [str(path)]


class DuckDBEngine:
    """One process of DuckDB, which spills to the disk what does not fit into its memory."""

    name = "duckdb"

    def __init__(self, work: Path, memory: str, threads: int) -> None:
        import ibis

        self.threads = threads
        self._spill = work / "spill"
        self._connection: Any = ibis.duckdb.connect(
            threads=threads,
            memory_limit=memory,
            temp_directory=str(self._spill),
            preserve_insertion_order=False,  # every stored table is sorted; it saves memory
        )
        if sys.stderr.isatty():
            self._connection.raw_sql("SET enable_progress_bar = true")

    def read(self, source: Source, columns: Sequence[str]) -> "ir.Table":
        """See `Engine`."""
        if source.format == "parquet":
            return as_text(self._connection.read_parquet(str(source.path)), columns)
        table = self._connection.read_csv(
            str(source.path),
            auto_detect=False,
            header=True,
            columns=dict.fromkeys(source.columns, "VARCHAR"),
            delim=",",
            quote='"',
            escape='"',
            nullstr="",
            max_line_size=_LONGEST_LINE,
            buffer_size=2 * _LONGEST_LINE,  # not the many times as much that DuckDB takes: each is read by one thread
        )
        # Empty fields are null already: most columns need nothing, and there may be a billion of their values.
        return table.select(**{name: _text(table[name], name) if name in CODES else table[name] for name in columns})

    def stored(self, path: Path) -> "ir.Table":
        """See `Engine`."""
        return self._connection.read_parquet(parquet_files(path))

    def store(self, table: "ir.Table", path: Path) -> None:
        """See `Engine`."""
        aside = path.with_name(f".{path.name}.part")
        with self.errors(path):
            self._connection.to_parquet(table, str(aside), compression="snappy")
            aside.replace(path)

    def batches(self, table: "ir.Table", rows: int) -> Iterator[Any]:
        """See `Engine`."""
        with self.errors(None):
            # Not Ibis' own to_pyarrow_batches: it calls a method that DuckDB 2.0 no longer has.
            yield from self._connection.con.sql(self._connection.compile(table)).to_arrow_reader(rows)

    def close(self) -> None:
        """See `Engine`."""
        self._connection.disconnect()
        shutil.rmtree(self._spill, ignore_errors=True)

    @contextlib.contextmanager
    def errors(self, path: Path | None) -> Iterator[None]:
        """DuckDB's errors as ours."""
        import duckdb

        try:
            yield
        except (duckdb.InvalidInputException, duckdb.ConversionException) as error:
            raise InputError(f"a table cannot be read: {_first_lines(error)}") from error
        except duckdb.IOException as error:
            if "GZIP" in str(error) or "gzip" in str(error):
                raise InputError(f"a gzip file is cut off or damaged: {_first_lines(error)}") from error
            raise RunError(f"{path or 'a table'} cannot be written or read: {_first_lines(error)}") from error
        except duckdb.OutOfMemoryException as error:
            raise RunError(
                f"DuckDB's memory does not suffice: give more by --memory, or fewer --threads ({error})"[:400]
            ) from error
        except (duckdb.Error, OSError) as error:
            raise RunError(f"{path or 'the query'}: DuckDB stopped: {_first_lines(error)}") from error


_SAYS = re.compile(r"CSV Error on Line: \d+|Expected Number of Columns: \d+ Found: \d+|[Mm]aximum line size[^.\n]*")


def _first_lines(error: Exception) -> str:
    """Without the query, without DuckDB's advice, and without the line of the table, which has patients in it."""
    text = str(error)
    if "Original Line" in text or "CSV Error" in text:
        named = re.search(r"file ?=? ?'?([^\s'\"]+\.csv(?:\.gz)?)", text)
        said = "; ".join(_SAYS.findall(text)) or text.partition("\n")[0]
        return f"{named[1] if named else 'a CSV file'}: {said}. It may be cut off, or not UTF-8: download it again"
    return text.partition("\n\nLINE ")[0].strip()[:600]


IDS = frozenset({"subject_id", "hadm_id", "seq_num", "itemid", "labevent_id", "note_seq", "icd_version"})


CODES = frozenset({"icd_code", "icd_version", "ndc", "gsn", "curr_service", "careunit"})
"""Columns that are freed of white space around them; a number or a time is read with it."""


def as_text(table: "ir.Table", columns: Sequence[str]) -> "ir.Table":
    """Columns of any table as text; empty is null.

    A whole number that was stored as a float (an id in a column with gaps) is written as the whole number.
    """
    return table.select(**{name: _text(table[name], name) for name in columns})


def _text(column: Any, name: str) -> Any:
    kind = column.type()
    if kind.is_floating() and name in IDS:
        column = column.cast("int64")
    text = column if kind.is_string() else column.cast("string")
    return (text.strip() if name in CODES else text).nullif("")
