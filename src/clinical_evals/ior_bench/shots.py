"""The examples of few-shot prompts, and which rows are scored with them (protocol.md 1.2, few-shot)."""

from collections.abc import Mapping, Sequence
from typing import Any

from clinical_evals.errors import InputError
from clinical_evals.ior_bench.examples import written_examples
from clinical_evals.ior_bench.prompts import SHOTS, Example
from clinical_evals.ior_bench.static import Split, seen_turns, split_rows


class Shots:
    """The examples of few-shot prompts, and which rows are scored with them.

    Up to as many as are written for the hospital's departments: these, and all rows are scored. More, or a hospital of
    which too few departments are among the written ones: rows of the dataset itself, which are then never scored.
    """

    def __init__(self, number: int, rows: Sequence[dict[str, Any]]) -> None:
        self.number = number
        self.written = written_examples(rows[0]["candidates"])[:number]
        self.split: Split | None = None
        if number > SHOTS or len(self.written) < number:
            self.written = []
            self.split = split_rows([row["id"] for row in rows])
            if number > len(self.split.train) or not self.split.held_out:
                raise InputError(
                    f"--shots {number}: of {len(rows)} rows {len(self.split.held_out)} are held out and scored, which "
                    f"leaves {len(self.split.train)} to take examples from. Give at most that many."
                )
        self.examples = self.written or self._of_rows(rows)
        self.scored = frozenset(self.split.held_out) if self.split else frozenset(range(len(rows)))

    @property
    def about(self) -> dict[str, Any]:
        """How many examples, and where they come from; for the log."""
        source = "rows" if self.split else "written"
        sizes = {"rows": len(self.split.train), "held_out": len(self.split.held_out)} if self.split else {}
        return {"number": self.number, "source": source, **sizes}

    def _of_rows(self, rows: Sequence[dict[str, Any]]) -> list[Example]:
        assert self.split is not None
        chosen = [rows[row] for row in self.split.train[: self.number]]
        return [Example(seen_turns(row["dialogue"], f"row {row['id']}"), row["department"]) for row in chosen]


def describe_shots(about: Mapping[str, Any]) -> str:
    """What `Shots.about` says, for the user to read."""
    if about["source"] == "written":
        return f"{about['number']} written examples in each prompt; all rows are scored"
    return (
        f"{about['number']} examples in each prompt, the first of {about['rows']} rows (seeded) that are never "
        f"scored; scored on the {about['held_out']} held out"
    )
