"""Spark as the engine of an extraction: the same expressions, compiled by Ibis to Spark's SQL."""

import contextlib
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clinical_evals.clibench.engines import as_text
from clinical_evals.clibench.mimic_files import Source
from clinical_evals.errors import InputError, ResourceMissingError, RunError

if TYPE_CHECKING:
    import ibis.expr.types as ir


class SparkEngine:
    """A Spark session: that of this process if there is one, else a local one on all cores.

    A stage is a folder of Parquet files. MASTER and all other settings are Spark's own (spark-submit,
    spark-defaults.conf); the folder of the build must be one that all workers see.
    """

    name = "spark"

    def __init__(self, threads: int) -> None:
        self.threads = threads
        try:
            import ibis
            from pyspark.sql import SparkSession
        except ImportError as error:
            raise ResourceMissingError(
                "--engine spark needs PySpark and Java 17: pip install 'clinical-evals[spark]'"
            ) from error
        try:
            active = SparkSession.getActiveSession()
            self._own = active is None
            builder = SparkSession.builder.appName("clinical-evals")
            if _defaults().get("spark.master", "local[*]") == "local[*]":  # here: as many pieces as cores, not 200
                builder = builder.master(f"local[{threads}]").config("spark.sql.shuffle.partitions", threads)
                builder = builder.config("spark.default.parallelism", threads).config("spark.ui.enabled", "false")
            self._session: Any = active or (
                builder.config("spark.sql.session.timeZone", "UTC")
                .config("spark.sql.ansi.enabled", "false")
                .config("spark.ui.showConsoleProgress", "false")
                .getOrCreate()
            )
        except Exception as error:  # whatever Java says, as it says it
            raise ResourceMissingError(f"Spark does not start ({error}): it needs Java 17 (JAVA_HOME).") from error
        self._session.sparkContext.setLogLevel("ERROR")
        self._connection: Any = ibis.pyspark.connect(self._session)

    def read(self, source: Source, columns: Sequence[str]) -> "ir.Table":
        """See `engines.Engine`."""
        with self._errors(source.path):
            if source.format == "parquet":
                table = self._connection.read_parquet(_literal(source.path))
            else:
                table = self._connection.read_csv(
                    _literal(source.path), header=True, inferSchema=False, multiLine=source.name in _MULTILINE,
                    quote='"', escape='"', mode="FAILFAST",
                )  # fmt: skip
        return as_text(table, columns)

    def stored(self, path: Path) -> "ir.Table":
        """See `engines.Engine`."""
        with self._errors(path):
            return self._connection.read_parquet(_literal(path))

    def store(self, table: "ir.Table", path: Path) -> None:
        """See `engines.Engine`."""
        aside = path.with_name(f".{path.name}.part")
        with self._errors(path):
            shutil.rmtree(aside, ignore_errors=True)
            self._connection.to_parquet_dir(table, str(aside.absolute()))
            aside.rename(path)

    def batches(self, table: "ir.Table", rows: int) -> Iterator[Any]:
        """See `engines.Engine`."""
        with self._errors(None):
            yield from self._connection.to_pyarrow_batches(table, chunk_size=rows)

    def close(self) -> None:
        """See `engines.Engine`."""
        if self._own:
            self._session.stop()

    @contextlib.contextmanager
    def _errors(self, path: Path | None) -> Iterator[None]:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        try:
            yield
        except (PySparkException, Py4JError) as error:
            text = str(error)
            if any(sign in text for sign in ("EOFException", "ZipException", "MALFORMED", "Malformed", "UNEXPECTED")):
                raise InputError(f"a table is cut off or damaged: {text[:1000]}") from error
            raise RunError(f"{path or 'the query'}: Spark stopped: {text[:1000]}") from error
        except OSError as error:
            raise RunError(f"{path or 'a stage'} cannot be written: {error}") from error


def _literal(path: Path) -> str:
    """A path as Spark reads it, which takes brackets, braces and stars for patterns, and has no way to quote them."""
    whole = path.absolute()
    if signs := sorted(set("[]{}*?\\") & set(str(whole))):
        raise InputError(
            f"{whole}: Spark takes {' '.join(signs)} in a path for a pattern. Rename the folder, or link it "
            "(mount it) under another name, or build with --engine duckdb, which reads it as it is."
        )
    return str(whole)


_MULTILINE = frozenset({"discharge", "radiology"})
"""Tables whose fields have line breaks: Spark then reads a file in one piece."""


def _defaults() -> dict[str, str]:
    """What spark-submit, spark-defaults.conf and PYSPARK_SUBMIT_ARGS say."""
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()  # before Java runs, SparkConf knows nothing
    return dict(SparkConf().getAll())
