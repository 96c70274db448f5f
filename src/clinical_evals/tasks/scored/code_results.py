"""A run that asked for codes, scored: CliBench (protocol.md 2.5 and 2.6).

Of several answers to a prompt the first is scored, by both protocols; the others stay in the log.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clinical_evals.matching.resolved import ResolvedAnswer, ResolvedItem
from clinical_evals.ontology import get_system
from clinical_evals.scoring.intervals import bootstrap
from clinical_evals.tasks.names import Task
from clinical_evals.tasks.prediction_log import Line
from clinical_evals.tasks.scored.answered_rows import AS_PROTOCOLS_SAY, AnsweredRow, Matching, score_rows
from clinical_evals.tasks.scored.results import Result
from clinical_evals.tasks.variants import Variant, variant_of

_COPIED = (
    "key", "row", "subject_id", "answers", "finish", "input_tokens", "output_tokens", "kept_prompt", "kept_long",
    "gold",
)  # fmt: skip


class CodeResult(Result):
    """Codes at every level of their hierarchy; `scored` is a `matching.scorer.Scored`."""

    @property
    def protocol(self) -> str:
        """Which protocol scored it."""
        return str(self.scored.info["protocol"])

    def about(self) -> dict[str, Any]:
        """Code system, release, and the titles that answers were matched to."""
        system = get_system(self.task.system)
        return {"system": system.name, "release": system.release, "candidates": self.scored.info["candidates"]}

    def details(self) -> dict[str, Any]:
        """What the prompts left out, if anything."""
        without = self.variant().without
        return {"without": list(without)} if without else {}

    def variant(self) -> Variant:
        """The way of asking, as the header of the log says it."""
        return variant_of(self.run())

    def scored_lines(self) -> list[dict[str, Any]]:
        """Answer, items, gold and predicted codes of each row."""
        return list(map(_scored_line, self.lines, self.scored.answers))


def score_codes(
    task: Task, log: Path, resumed: int, lines: Sequence[Line], protocol: str, matching: Matching = AS_PROTOCOLS_SAY
) -> CodeResult:
    """Score the rows of a log by one protocol; the intervals are over the patients of the rows that it counts."""
    lines = sorted(lines, key=lambda line: int(line["row"]))
    rows = tuple(AnsweredRow(line["row"], line["answers"][0], tuple(line["gold"])) for line in lines)
    scored = score_rows(rows, task.system, protocol, matching)
    intervals = bootstrap(scored.counts, scored.of_scored_rows([line["subject_id"] for line in lines]))
    return CodeResult(task, log, resumed, lines, scored, intervals)


def _scored_line(line: Line, answer: ResolvedAnswer) -> dict[str, Any]:
    return {name: line[name] for name in _COPIED} | {
        "predicted": list(answer.codes),
        "items": [_item(item) for item in answer.items],
    }


def _item(item: ResolvedItem) -> dict[str, Any]:
    # Six digits: sums in another order on another machine do not change the file.
    matches = [
        match._asdict() | {"similarity": _rounded(match.similarity), "confidence": _rounded(match.confidence)}
        for match in item.matches
    ]
    return {"text": item.text, "how": item.how, "matches": matches, "invalid": list(item.invalid)}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(float(value), 6)
