"""Accuracy by the number of training rows, beside the paper's Table 4: CSV and figure."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from clinical_evals.published_table import read_published
from clinical_evals.report.published_tables import PUBLISHED
from clinical_evals.training.departments.figures import drawn
from clinical_evals.training.departments.run import NGRAMS, Finished, Named
from clinical_evals.training.departments.scored import score_of
from clinical_evals.write_aside import written_aside

_TABLE = PUBLISHED / "ior_table4_scaling.csv"


class Point(NamedTuple):
    """One accuracy of a curve, in percent."""

    curve: str
    rows: int
    """Training rows, or examples in the prompt."""
    seed: int | None
    accuracy: float
    low: float | None
    high: float | None
    """The 95 % interval; None where none is published."""


def published_points() -> list[Point]:
    """The two curves of Table 4, as printed; they have no intervals.

    Raises:
        InputError: the table cannot be read.
    """
    rows = read_published(_TABLE, ("model", "setting", "examples", "accuracy"))
    return [
        Point(
            f"{row.cells['model']}, {row.cells['setting']} (published)",
            int(row.number("examples")),
            None,
            row.number("accuracy"),
            None,
            None,
        )
        for row in rows
    ]


def measured_points(run: Finished) -> list[Point]:
    """The points of a run: subsets, and all training rows as the last."""
    found = [*run.scaling, *(each for each in run.classifiers if each.seed is not None or each.name == NGRAMS)]
    return [_point(each) for each in found]


def _point(each: Named) -> Point:
    score = score_of(each.outcomes)
    accuracy, low, high = (100 * value for value in score[:3])
    return Point(each.name, each.size, each.seed, accuracy, low, high)


def write_scaling_csv(path: Path, points: Sequence[Point]) -> None:
    """One point a row; what is published has neither seed nor interval."""
    with written_aside(path, alone=True) as aside, aside.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(Point._fields)
        writer.writerows(["" if value is None else value for value in point] for point in points)


def draw_scaling(path: Path, points: Sequence[Point], title: str) -> None:
    """Curves over the number of rows; several seeds give their mean, intervals of one seed a band."""
    with drawn(path, (7.0, 4.5)) as axes:
        for name in dict.fromkeys(point.curve for point in points):
            curve = [point for point in points if point.curve == name]
            sizes = sorted({point.rows for point in curve})
            at = [[point for point in curve if point.rows == size] for size in sizes]
            means = [sum(point.accuracy for point in each) / len(each) for each in at]
            published = curve[0].low is None
            (line,) = axes.plot(sizes, means, "--" if published else "o-", label=name, markersize=4)
            if not published and all(len(each) == 1 for each in at):
                bounds = [(each[0].low, each[0].high) for each in at]
                axes.fill_between(sizes, *zip(*bounds, strict=True), color=line.get_color(), alpha=0.15)
        axes.set_xscale("log")
        ticks = sorted({point.rows for point in points})
        axes.set_xticks(ticks, list(map(str, ticks)), fontsize=7, rotation=45)
        axes.minorticks_off()
        axes.set_xlabel("training rows, or examples in the prompt")
        axes.set_ylabel("accuracy (%)")
        axes.set_title(title, fontsize=9)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=7)
