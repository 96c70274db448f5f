"""CliBench's Table 7 beside the releases in use, as text and as JSON."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from clinical_evals.report.candidate_counts import Counted, Uncounted
from clinical_evals.report.candidate_reasons import Difference, differences
from clinical_evals.report.published_tables import TASKS, published_candidates
from clinical_evals.ruled_table import ruled

_HEAD = ("task", "candidates", "level1", "level2", "level3", "level4", "level5")
_TITLE = "Candidates at each level: CliBench, Table 7, as published, and in the releases in use"


def format_candidates(rows: Sequence[Counted | Uncounted]) -> str:
    """The table, what is missing for it, and why cells differ.

    Args:
        rows: what `count_candidates` counted.
    """
    published = published_candidates()
    cells = [line for task in TASKS for line in _table_lines(task, published[task], rows)]
    parts = [f"{_TITLE}\n\n{ruled([_HEAD], cells, last_apart=False, texts=2)}"]
    if absent := [row for row in rows if isinstance(row, Uncounted)]:
        parts.append("\n".join(["Not counted:", *(f"{row.task}: {row.missing}" for row in absent)]))
    parts += [_explained(row, published[row.task]) for row in rows if isinstance(row, Counted)]
    return "\n\n".join(parts)


def _table_lines(
    task: str, published: Sequence[int | None], rows: Sequence[Counted | Uncounted]
) -> Iterator[list[str]]:
    yield [task, "published", *_numbers(published)]
    for row in rows:
        if row.task != task:
            continue
        if isinstance(row, Counted):
            yield ["", row.source, *_numbers(row.counts)]
        else:
            yield ["", "not counted, see below", *_numbers(())]


def _numbers(counts: Sequence[int | None]) -> list[str]:
    padded = [*counts, *[None] * (5 - len(counts))]
    return ["" if count is None else f"{count:,}" for count in padded]


def _explained(row: Counted, published: Sequence[int | None]) -> str:
    lines = [f"{row.task}, {row.source}:"]
    found = differences(row, published)
    for why, group in groupby(found, key=lambda difference: difference.why):
        lines.append(f"  {', '.join(map(_said, group))}: {why}")
    same = [f"level{level}" for level in range(1, len(row.counts) + 1) if level not in {one.level for one in found}]
    if same:
        lines.append(f"  {', '.join(same)}: as published")
    return "\n".join([*lines, *([f"  {row.note}"] if row.note else [])])


def _said(difference: Difference) -> str:
    printed = "" if difference.published is None else f" (published {difference.published:,})"
    return f"level{difference.level} {difference.here:,}{printed}"


def candidates_as_json(rows: Sequence[Counted | Uncounted]) -> dict[str, Any]:
    """The same for programs: by task the published row, the counted ones with their differences, and what is missing.

    Args:
        rows: what `count_candidates` counted.
    """
    published = published_candidates()
    return {
        task: {
            "published": list(published[task]),
            "counted": [
                {
                    "source": row.source,
                    "kind": row.kind,
                    "counts": list(row.counts),
                    "note": row.note,
                    "differences": [one._asdict() for one in differences(row, published[task])],
                }
                for row in rows
                if isinstance(row, Counted) and row.task == task
            ],
            "missing": next((row.missing for row in rows if isinstance(row, Uncounted) and row.task == task), None),
        }
        for task in TASKS
    }
