"""CliBench's Tables 2 and 8: ours beside the published figures, as rows and as text.

The published figures are read from a CSV that the caller names, as printed: counts and means of codes in Table 2,
percent in Table 8.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from clinical_evals.clibench.statistics import KeptStatistics, SplitStatistics
from clinical_evals.published_table import read_published
from clinical_evals.ruled_table import ruled

METRICS = {
    "unique visits": "visits",
    "unique patients": "patients",
    "unique codes": "codes",
    "max codes per visit": "max_codes",
    "mean codes per visit": "mean_codes",
}
"""The rows of Table 2 and the field of `SplitStatistics` that holds each."""

COLUMNS = {"test": "evaluation", "train": "training"}
"""What Table 2 calls our splits."""

KEPT = ("kept_mean", "kept_median", "kept_min")
"""The columns of Table 8, in percent."""

_NONE = "-"
_STATISTICS_HEAD = ("task", "metric", "evaluation", "published", "training", "published")
_KEPT_HEAD = ("model", "max context", "prompts", "mean %", "median %", "minimum %")

Figures = Mapping[tuple[str, str, str], float]
"""Table 2's cells by task, metric and column."""


class StatisticsRow(NamedTuple):
    """One row of Table 2; None where a split was not built or is empty, or the figure is not published."""

    task: str
    metric: str
    """A key of `METRICS`."""
    evaluation: float | None
    published_evaluation: float | None
    training: float | None
    published_training: float | None


class KeptRow(NamedTuple):
    """One row of Table 8, in percent."""

    model: str
    max_context: int
    """Tokens."""
    prompts: int | None
    """None in the published table."""
    kept_mean: float
    kept_median: float
    kept_min: float


def read_published_statistics(path: Path) -> Figures:
    """Table 2 as printed.

    Args:
        path: a CSV with the columns task, metric, evaluation and training.

    Raises:
        InputError: the file cannot be read, or a column or a number is missing.
    """
    return {
        (row.cells["task"], row.cells["metric"], column): row.number(column)
        for row in read_published(path, ("task", "metric", *COLUMNS.values()))
        for column in COLUMNS.values()
    }


def read_published_kept(path: Path) -> list[KeptRow]:
    """Table 8 as printed.

    Args:
        path: a CSV with the columns model, max_context, kept_mean, kept_median and kept_min.

    Raises:
        InputError: the file cannot be read, or a column or a number is missing.
    """
    return [
        KeptRow(
            row.cells["model"],
            int(row.number("max_context")),
            None,
            *(row.number(column) for column in KEPT),
        )
        for row in read_published(path, ("model", "max_context", *KEPT))
    ]


def statistics_rows(counted: Mapping[tuple[str, str], SplitStatistics], published: Figures) -> list[StatisticsRow]:
    """Table 2, ours beside the published: five rows a task, tasks in the order of `counted`.

    Args:
        counted: by task and split, test or train.
        published: see `read_published_statistics`.
    """

    def ours(task: str, split: str, metric: str) -> float | None:
        found = counted.get((task, split))
        return None if found is None else getattr(found, METRICS[metric])

    return [
        StatisticsRow(
            task,
            metric,
            ours(task, "test", metric),
            published.get((task, metric, COLUMNS["test"])),
            ours(task, "train", metric),
            published.get((task, metric, COLUMNS["train"])),
        )
        for task in dict.fromkeys(task for task, _ in counted)
        for metric in METRICS
    ]


def kept_row(model: str, max_context: int, kept: KeptStatistics) -> KeptRow:
    """A row of Table 8 of our own.

    Args:
        model: its name.
        max_context: tokens it was given for prompt and answer.
        kept: see `clinical_evals.clibench.statistics.summarise_kept`.
    """
    return KeptRow(model, max_context, kept.prompts, 100 * kept.mean, 100 * kept.median, 100 * kept.minimum)


def format_statistics(rows: Iterable[StatisticsRow]) -> str:
    """Table 2 as text; means with two decimals as in the paper, counts whole, `-` where there is no figure."""
    return _in_columns(
        _STATISTICS_HEAD,
        [(row.task, row.metric, *(_shown(cell, row.metric.startswith("mean")) for cell in row[2:])) for row in rows],
        texts=2,
    )


def format_kept(ours: Iterable[KeptRow], published: Iterable[KeptRow]) -> str:
    """Table 8 as text, percent with two decimals: first our rows, then the published ones, which are named so."""
    rows = [*ours, *(row._replace(model=f"{row.model} (published)") for row in published)]
    return _in_columns(
        _KEPT_HEAD,
        [
            (row.model, _shown(row.max_context), _shown(row.prompts), *(_shown(cell, True) for cell in row[3:]))
            for row in rows
        ],
        texts=1,
    )


def _shown(cell: float | None, decimals: bool = False) -> str:
    if cell is None:
        return _NONE
    return f"{cell:,.2f}" if decimals else f"{cell:,.0f}"


def _in_columns(head: tuple[str, ...], rows: Sequence[tuple[str, ...]], texts: int) -> str:
    return ruled([head], rows, last_apart=False, texts=texts)
