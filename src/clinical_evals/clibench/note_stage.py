"""The notes of an extraction: read in a stream, cut to what is known at admission, and stored (protocol.md 2.2)."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, NamedTuple

from tqdm import tqdm

from clinical_evals.clibench.notes import admission_record
from clinical_evals.clibench.stages import Stages
from clinical_evals.write_aside import written_aside

if TYPE_CHECKING:
    import ibis.expr.types as ir

_BATCH = 500
"""Notes in one piece of work."""
_MANY = 4000
"""Notes from which other processes help: below that their start takes longer."""
_COLUMNS = ("hadm_id", "note_seq", "note_id")


class Cut(NamedTuple):
    """What was cut out of the notes, over all of them."""

    notes: int
    characters: int
    """Without white space, as are all others."""
    kept: int
    """Those that are known at admission."""
    dropped: dict[str, tuple[int, int]]
    """By reason in how many places a part was dropped, and how many characters."""


def store_notes(stages: Stages, notes: "ir.Table", say: Any, workers: int | None = None) -> "ir.Table":
    """The stage `notes`: of every discharge note what is known at admission.

    Args:
        stages: where it is stored; beside it `notes_cut`, how much of what was dropped.
        notes: from `mimic.read_notes`.
        say: is told what is being done.
        workers: processes; None: one a core.
    """
    import ibis

    if not stages.path("notes").exists():
        say("cutting the discharge notes to what is known at admission")
        unsorted = stages.work / "notes_unsorted.parquet"
        cut = _filter(stages, notes, unsorted, workers or os.cpu_count() or 1)
        rows = [{"reason": name, "places": places, "characters": size} for name, (places, size) in cut.dropped.items()]
        about = [{"reason": "", "places": cut.notes, "characters": cut.characters}]
        kept = [{"reason": "kept", "places": cut.notes, "characters": cut.kept}]
        schema = ibis.schema({"reason": "string", "places": "int64", "characters": "int64"})
        stages.derive("notes_cut", lambda: ibis.memtable([*about, *kept, *rows], schema=schema), "counting them")
        filtered = stages.local.stored(unsorted)
        stages.local.store(filtered.order_by(*_COLUMNS, "text"), stages.path("notes"))
        unsorted.unlink()
    return stages.local.stored(stages.path("notes"))


def read_cut(stages: Stages) -> Cut:
    """What the stage dropped, in this run or an earlier one."""
    rows = stages.local.stored(stages.path("notes_cut")).to_pyarrow().to_pylist()
    whole, kept, *dropped = rows
    return Cut(
        whole["places"],
        whole["characters"],
        kept["characters"],
        {row["reason"]: (row["places"], row["characters"]) for row in dropped},
    )


def _filter(stages: Stages, notes: "ir.Table", path: Any, workers: int) -> Cut:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema(
        [("hadm_id", pa.int64()), ("note_seq", pa.int64()), ("note_id", pa.string()), ("text", pa.string())]
    )
    number = size = kept = 0
    places: Counter[str] = Counter()
    characters: Counter[str] = Counter()
    with (
        written_aside(path, alone=True) as aside,
        pq.ParquetWriter(aside, schema, compression="zstd") as writer,
        tqdm(desc="notes", unit="note", mininterval=2, disable=None) as bar,
    ):
        for batch, (records, dropped) in _cut_all(_batches(stages, notes), workers):
            columns = [batch.column(name) for name in _COLUMNS]
            writer.write_batch(pa.record_batch([*columns, pa.array(records, pa.string())], schema=schema))
            number += batch.num_rows
            bar.update(batch.num_rows)
            size += sum(map(_letters, batch.column("text").to_pylist()))
            kept += sum(map(_letters, records))
            for reason, length in dropped:
                places[reason] += 1
                characters[reason] += length
    return Cut(number, size, kept, {name: (places[name], characters[name]) for name in sorted(places)})


def _batches(stages: Stages, notes: "ir.Table") -> Iterator[Any]:
    for batch in stages.engine.batches(notes, _BATCH):
        yield from (batch.slice(start, _BATCH) for start in range(0, batch.num_rows, _BATCH))


def _cut_all(batches: Iterator[Any], workers: int) -> Iterator[tuple[Any, tuple[list[str], list[tuple[str, int]]]]]:
    """Each batch with the records of its notes, in order; few notes are cut here, many in several processes."""
    first = list(islice(batches, -(-_MANY // _BATCH)))
    if workers < 2 or sum(batch.num_rows for batch in first) < _MANY:
        for batch in (*first, *batches):
            yield batch, cut_notes(batch.column("text").to_pylist())
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        waiting: list[tuple[Any, Any]] = []
        for batch in (*first, *batches):
            waiting.append((batch, pool.submit(cut_notes, batch.column("text").to_pylist())))
            if len(waiting) > 2 * workers:
                done, future = waiting.pop(0)
                yield done, future.result()
        for done, future in waiting:
            yield done, future.result()


def cut_notes(texts: Sequence[str]) -> tuple[list[str], list[tuple[str, int]]]:
    """The records of some notes, and why parts were dropped, each with its characters.

    The reasons are ours and few; the headings are text of the notes, and stay in them.
    """
    found = [admission_record(text) for text in texts]
    return [note.record for note in found], [(part.reason, part.characters) for note in found for part in note.dropped]


def _letters(text: str) -> int:
    return len("".join(text.split()))
