"""What is printed of one task asked in several ways, in the layouts of CliBench's Tables 5 and 8."""

from pathlib import Path

from clinical_evals.clibench.statistics_tables import read_published_kept
from clinical_evals.published_table import read_published
from clinical_evals.ruled_table import ruled
from clinical_evals.scoring.hierarchy import AVERAGE
from clinical_evals.tasks.scored.results import Intervals
from clinical_evals.tasks.scored.studies import Study, Way, study_file

_MEASURES = ("precision", "recall", "f1")
_ABLATION, _CONTEXT = "clibench_table5_ablation.csv", "clibench_table8_context.csv"


def format_study(study: Study, published: Path | None = None) -> str:
    """Table with head and remarks.

    Args:
        study: the ways, compared.
        published: the folder of the papers' tables; theirs is of the diagnosis task, and stands below ours.
    """
    theirs = published if study.task.config == "diagnosis" else None
    what = "what a context keeps, and costs" if study.of_contexts else "what each part of the prompt is worth"
    parts = [
        f"{study.task.name}, {study.rows} rows, {study.protocol} protocol: {what}",
        _contexts(study, theirs) if study.of_contexts else _ablation(study, theirs),
    ]
    if study.rows < study.most_rows:
        parts.append(f"over the {study.rows} of {study.most_rows} rows that all of them answered")
    parts += [f"{_said(study, way)}: {way.log}" for way in study.ways]
    parts.append(f"with all levels: {study.ways[0].log.parents[2] / study_file(study)}")
    return "\n".join(parts)


def _said(study: Study, way: Way) -> str:
    return f"context {way.variant.context:,}" if study.of_contexts else way.variant.name


def _leaf(study: Study) -> str:
    """What the finest level is called: of labs under the official protocol it is no code."""
    names = [key.removeprefix("f1_") for key in study.ways[0].scores if key.startswith("f1_")]
    return "full" if "full" in names else names[-2]


# Table 5


def _ablation(study: Study, published: Path | None) -> str:
    theirs = _read_published(published / _ABLATION) if published is not None else []
    first = "micro scores in %, 95 % by patient; then differences, paired"
    tables = []
    for level in (_leaf(study), AVERAGE):
        keys = [f"{measure}_{level}" for measure in _MEASURES]
        rows = [[way.variant.name, *_points(way, study.intervals, keys)] for way in study.ways]
        rows += [[name, *(cells[key] for key in keys)] for name, cells in theirs]
        tables.append(ruled([[first, *(f"{name} {level}" for name in ("precision", "recall", "F1"))]], rows, False))
    return "\n\n".join(tables)


def _points(way: Way, intervals: Intervals, keys: list[str]) -> list[str]:
    if way.differences is None:
        return [_cell(way.scores[key], *intervals[key]) for key in keys]
    return [_cell(*way.differences[key], signed=True) for key in keys]


def _read_published(path: Path) -> list[tuple[str, dict[str, str]]]:
    """Table 5: the first row is absolute, the others are differences from it."""
    columns = [f"{measure}_{level}" for level in ("full", AVERAGE) for measure in _MEASURES]
    rows = []
    for row in read_published(path, ("segments", *columns)):
        whole = row.cells["segments"] == "full"
        name = "published (GPT-3.5 turbo): whole prompt" if whole else f"published: {row.cells['segments']}"
        rows.append((name, {key: f"{row.number(key):{'.2f' if whole else '+.2f'}}" for key in columns}))
    return rows


# Table 8


def _contexts(study: Study, published: Path | None) -> str:
    head = ["max context", "cut", "mean %", "median %", "minimum %", "F1 average", "difference (paired, 95 %)"]
    rows = []
    for way in reversed(study.ways):  # shortest first, as in the paper
        kept = [f"{100 * way.kept[name]:.2f}" for name in ("mean", "median", "min")]
        difference = _cell(*way.differences["f1_average"], signed=True) if way.differences else "-"
        f1 = f"{100 * way.scores['f1_average']:.2f}"
        rows.append([f"{way.variant.context:,}", f"{way.prompts_cut} of {study.rows}", *kept, f1, difference])
    if published is not None:
        rows += [
            [
                f"{row.max_context:,} ({row.model}, published)",
                "-",
                *(f"{share:.2f}" for share in row[3:]),
                "-",
                "-",
            ]
            for row in sorted(read_published_kept(published / _CONTEXT), key=lambda row: row.max_context)
        ]
    return ruled([head], rows, last_apart=False)


def _cell(value: float, low: float, high: float, signed: bool = False) -> str:
    if signed:
        return f"{100 * value:+.2f} [{100 * low:+.2f}, {100 * high:+.2f}]"
    return f"{100 * value:.2f} [{100 * low:.2f}, {100 * high:.2f}]"
