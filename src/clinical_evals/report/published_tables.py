"""The papers' tables as they are printed; this package carries them as data."""

from pathlib import Path

from clinical_evals.published_table import read_published

PUBLISHED = Path(__file__).parent / "published"
"""The folder of the tables."""
TASKS = ("diagnosis", "procedure", "lab_order", "prescription")
"""The tasks of CliBench, in the order of its tables."""


def published_candidates() -> dict[str, tuple[int | None, ...]]:
    """CliBench's Table 7: how many candidates each task has at level 1 to 5; None where it has no such level."""
    found = {row.cells["task"]: row for row in read_published(PUBLISHED / "clibench_table7_candidates.csv", ("task",))}
    return {
        task: tuple(int(row.number(level)) if cell else None for level, cell in row.cells.items() if level != "task")
        for task, row in ((task, found[task]) for task in TASKS)
    }
