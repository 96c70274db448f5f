"""The papers' tables as they are printed; this package carries them as data."""

import csv
from pathlib import Path

PUBLISHED = Path(__file__).parent / "published"
"""The folder of the tables."""
TASKS = ("diagnosis", "procedure", "lab_order", "prescription")
"""The tasks of CliBench, in the order of its tables."""


def published_candidates() -> dict[str, tuple[int | None, ...]]:
    """CliBench's Table 7: how many candidates each task has at level 1 to 5; None where it has no such level."""
    table = PUBLISHED / "clibench_table7_candidates.csv"
    rows = {row.pop("task"): row for row in csv.DictReader(table.read_text(encoding="utf-8").splitlines())}
    return {task: tuple(int(cell) if cell else None for cell in rows[task].values()) for task in TASKS}
