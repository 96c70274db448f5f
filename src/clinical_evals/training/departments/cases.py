"""The rows that are classified: the static dialogues of `ior-bench`, without their last doctor turn."""

from collections.abc import Sequence
from typing import NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.ior_bench.department import extract_department
from clinical_evals.ior_bench.prompts import render_dialogue
from clinical_evals.ior_bench.static import Turn, seen_turns


class Case(NamedTuple):
    """One dialogue."""

    id: str
    turns: list[Turn]
    """What is seen: never the doctor turn that names the department (`static.seen_turns`)."""
    department: str

    @property
    def text(self) -> str:
        """The whole dialogue, one turn a line, as prompts show it."""
        return render_dialogue(self.turns)


class Cases(NamedTuple):
    """All dialogues of a data set, and what is known of it."""

    rows: list[Case]
    candidates: list[str]
    """The departments to choose from, which are the classes, in the order of the data."""
    mark: str
    """Whose data it is: one of `clinical_evals.markers`."""
    sha256: str
    """Of the rows."""


def load_cases(folder: str | None) -> Cases:
    """The dialogues of the authors' files, of built data or of the embedded sample.

    Args:
        folder: as `load_dataset("ior-bench", data_dir=…)` takes it; None: IOR_BENCH_DIR, else the sample.

    Raises:
        InputError: the data cannot be used; see also `make_cases`.
    """
    from datasets import load_dataset
    from datasets.exceptions import DatasetGenerationError

    from clinical_evals.datasets_hub.source import mark_in
    from clinical_evals.tasks.prediction_log import hash_json

    try:
        data = load_dataset("ior-bench", "static", data_dir=folder, split="test")
    except DatasetGenerationError as error:
        if isinstance(error.__cause__, InputError):
            raise error.__cause__ from error
        raise
    rows = data.to_list()
    cases, candidates = make_cases(rows)
    return Cases(cases, candidates, mark_in(data.info.description), hash_json(rows))


def make_cases(rows: Sequence[dict[str, object]]) -> tuple[list[Case], list[str]]:
    """Rows of the data set as cases, and the departments to choose from.

    Raises:
        InputError: no rows, two with the same id, or with other candidates; a department that is not among them; a
            dialogue in which the patient says nothing; fewer than two departments.
    """
    if not rows:
        raise InputError("ior-bench, static has no rows: there is nothing to train on.")
    candidates = list(rows[0]["candidates"])  # type: ignore[call-overload]  # a Dataset gives rows by number
    found: dict[str, Case] = {}
    for place, row in enumerate(rows):
        where = f"row {place} of ior-bench, static (id {row['id']!r})"
        if row["id"] in found:
            raise InputError(f"{where}: another row has the same id; the split is drawn by ids. Give each its own.")
        if row["candidates"] != candidates:
            raise InputError(f"{where}: its departments to choose from are not those of row 0. Build the data anew.")
        if row["department"] not in candidates:
            raise InputError(f"{where}: the department {row['department']!r} is none of its candidates.")
        turns = seen_turns(row["dialogue"], where)  # type: ignore[arg-type]  # turns, as the features say
        found[str(row["id"])] = Case(str(row["id"]), turns, str(row["department"]))
    if len({case.department for case in found.values()}) < 2:
        raise InputError(
            f"all {len(rows)} rows of ior-bench, static are {rows[0]['department']!r}: a classifier needs at least "
            "two departments. Give data with more of them."
        )
    for name in candidates:
        if extract_department(name, candidates).department != name:
            raise InputError(f"the department {name!r} is not read as itself by the scorer: rename it in the data.")
    return list(found.values()), candidates
