"""The steps of an extraction, each stored once: an interrupted build goes on with the first that is not there.

WORK/identity.json   what the stages were made from; with another one they are made again
WORK/NAME.parquet    one file a stage (with Spark a folder), written aside and renamed
"""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clinical_evals.clibench.engines import Engine, parquet_files
from clinical_evals.write_aside import written_aside

if TYPE_CHECKING:
    import ibis.expr.types as ir


_ROWS = 20_000
"""Rows that are fetched at a time."""


class Stages:
    """The stored steps of one extraction.

    Args:
        work: their folder; it is emptied where it is of another extraction.
        identity: what decides the content of every stage.
        engine: reads MIMIC's tables: its stages are what is left of them, sorted.
        local: DuckDB, which makes the stages that follow from those; it may be the engine itself.
        say: is told which step is made, or was there.
    """

    def __init__(
        self, work: Path, identity: Mapping[str, Any], engine: Engine, local: Engine, say: Callable[[str], None]
    ) -> None:
        self.work, self.engine, self.local, self._say = work, engine, local, say
        self.resumed: list[str] = []
        """Stages that were there from an earlier run."""
        path = work / "identity.json"
        wanted = json.dumps(identity, indent=1, sort_keys=True, ensure_ascii=False)
        if path.is_file() and path.read_text(encoding="utf-8") == wanted:
            return
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        with written_aside(path) as aside:
            aside.write_text(wanted, encoding="utf-8")

    def read(self, name: str, make: "Callable[[], ir.Table]", what: str) -> "ir.Table":
        """The table of a stage that is read from MIMIC's own tables, made by the engine now or in an earlier run.

        Args:
            name: of the stage.
            make: the expression over what `engine.read` gives; it is asked for only when it must be run.
            what: what the step does, for whoever waits.
        """
        return self._stored(self.engine, name, make, what)

    def derive(self, name: str, make: "Callable[[], ir.Table]", what: str) -> "ir.Table":
        """The table of a stage that follows from other stages; see `read`."""
        return self._stored(self.local, name, make, what)

    def for_engine(self, name: str) -> "ir.Table":
        """A stage as the engine reads it, to be joined with MIMIC's own tables."""
        return self.engine.stored(self.path(name))

    def _stored(self, engine: Engine, name: str, make: "Callable[[], ir.Table]", what: str) -> "ir.Table":
        path = self.path(name)
        if path.exists():
            self.resumed.append(name)
        else:
            self._say(what)
            engine.store(make(), path)
        return self.local.stored(path)

    def path(self, name: str) -> Path:
        """Where a stage is stored."""
        return self.work / f"{name}.parquet"


class StageReader:
    """Reads stored stages with DuckDB, whichever engine made them.

    Args:
        stage: by name their Parquet files; a folder stands for those in it.
        memory: how much DuckDB may take.
        threads: how many it may run.
    """

    def __init__(self, stage: Mapping[str, Path], memory: str, threads: int) -> None:
        import duckdb

        self.stage = {name: f"stage_{name}" for name in stage}
        """By name the view of each stage in `connection`."""
        self.connection: Any = duckdb.connect(config={"memory_limit": memory, "threads": threads})
        for name, path in stage.items():
            self.connection.read_parquet(parquet_files(path)).create_view(self.stage[name])

    def rows(self, query: str) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, some at a time; {name} stands for the stage of that name."""
        cursor = self.connection.cursor()
        found = cursor.execute(query.format(**self.stage))
        while some := found.fetchmany(_ROWS):
            yield from some

    def close(self) -> None:
        """Let go of its memory."""
        self.connection.close()
