"""The confusion matrix of a run, as CSV and as a figure."""

import csv
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from clinical_evals.scoring.department import Outcome
from clinical_evals.training.departments.figures import drawn, is_drawable
from clinical_evals.write_aside import written_aside


def confusion_matrix(outcomes: Sequence[Outcome], departments: Sequence[str]) -> list[list[int]]:
    """How often each department (column) was named for each gold one (row).

    Args:
        outcomes: of a classifier, which always names a department.
        departments: rows and columns, in order.
    """
    counts = Counter((outcome.gold, outcome.predicted) for outcome in outcomes)
    return [[counts[gold, named] for named in departments] for gold in departments]


def write_confusion_csv(path: Path, outcomes: Sequence[Outcome], departments: Sequence[str]) -> None:
    """One gold department a row: its number, its name, and how often each department was named, by number."""
    with written_aside(path, alone=True) as aside, aside.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["number", "gold", *range(1, len(departments) + 1)])
        for number, (gold, row) in enumerate(
            zip(departments, confusion_matrix(outcomes, departments), strict=True), start=1
        ):
            writer.writerow([number, _as_text(gold), *row])


def draw_confusion(path: Path, outcomes: Sequence[Outcome], departments: Sequence[str], title: str) -> None:
    """The matrix as PNG; shades are shares of the row.

    Departments are written out where matplotlib finds a font that has their characters, else they stand by their
    number in the CSV.
    """
    matrix = confusion_matrix(outcomes, departments)
    shares = [[cell / max(sum(row), 1) for cell in row] for row in matrix]
    size = max(4.0, 0.42 * len(departments) + 1.5)
    with drawn(path, (size, size), "".join(departments)) as axes:
        axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
        labels = list(departments) if is_drawable("".join(departments)) else list(map(str, range(1, len(matrix) + 1)))
        axes.set_xticks(range(len(labels)), labels, rotation=90, fontsize=7)
        axes.set_yticks(range(len(labels)), labels, fontsize=7)
        for place, row in enumerate(matrix):
            for column, cell in enumerate(row):
                if cell:
                    shade = "white" if shares[place][column] > 0.5 else "black"
                    axes.text(column, place, str(cell), ha="center", va="center", fontsize=6, color=shade)
        numbers = "" if labels == list(departments) else " (numbers: confusion.csv)"
        axes.set_xlabel(f"named{numbers}")
        axes.set_ylabel(f"gold{numbers}")
        axes.set_title(title, fontsize=9)


def _as_text(name: str) -> str:
    """A name that no spreadsheet takes for a formula."""
    return f"'{name}" if name[:1] in ("=", "+", "-", "@") else name
