"""A run that asked for departments, scored: IOR-Bench (protocol.md 1.2).

Every row counts. Where the dialogue was also probed after earlier turns (`--probe-turns`), the scores are those of the
whole dialogue, and `turns` has those of each turn.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from clinical_evals.ior_bench.prompts import STRATEGIES
from clinical_evals.scoring.department import (
    Outcome,
    accuracy_by_department,
    accuracy_interval,
    confusion_pairs,
)
from clinical_evals.tasks.dialogue.answered_dialogues import refer_rows, referred_row
from clinical_evals.tasks.names import Task
from clinical_evals.tasks.prediction_log import Line, read_header
from clinical_evals.tasks.scored.answered_rows import AS_PROTOCOLS_SAY, Matching
from clinical_evals.tasks.scored.results import Result

_COPIED = (
    "key", "row", "case_id", "answers", "finish", "input_tokens", "output_tokens", "kept_prompt", "kept_long",
)  # fmt: skip


class TurnScore(NamedTuple):
    """The referrals that were asked for after one turn of the patient."""

    turn: int
    """From 0."""
    rows: int
    """Dialogues that have this turn."""
    accuracy: float
    """Over these."""
    low: float
    high: float
    """The 95 % interval of `accuracy`."""
    accuracy_so_far: float
    """Over all rows: a dialogue that has ended keeps its last referral. Comparable from turn to turn."""


@dataclass(frozen=True)
class DepartmentResult(Result):
    """Accuracy, and what else there is to say of referrals; `scored` is an `answered_dialogues.Referred`."""

    turns: list[TurnScore] = field(default_factory=list)
    shots: Mapping[str, Any] | None = None
    """See `ior_bench.shots.Shots.about`; None where prompts have no examples."""

    @property
    def protocol(self) -> str:
        """Which protocol scored it."""
        return str(self.scored.protocol)

    @property
    def predictions(self) -> dict[int, str | None]:
        """The department that each row was referred to."""
        return {line["row"]: outcome.predicted for line, outcome in zip(self.lines, self.scored.outcomes, strict=True)}

    @property
    def votes(self) -> bool:
        """Whether the department of a row is voted by several answers."""
        return STRATEGIES[self.task.strategy].votes > 1

    def about(self) -> dict[str, Any]:
        """How many departments there were to choose from, and how many examples were shown."""
        shots = {"shots": dict(self.shots)} if self.shots else {}
        return {"candidates": max(len(line["candidates"]) for line in self.lines), **shots}

    def details(self) -> dict[str, Any]:
        """Accuracy by department, confusions, and accuracy by turn where turns were probed."""
        by_department = {
            name: {**counts._asdict(), "accuracy": counts.accuracy, "f1": counts.f1}
            for name, counts in accuracy_by_department(self.scored.outcomes).items()
        }
        confusion = [list(pair) for pair in confusion_pairs(self.scored.outcomes)]
        turns = {"turns": [turn._asdict() for turn in self.turns]} if self.turns else {}
        return {"by_department": by_department, "confusion": confusion, **turns}

    def scored_lines(self) -> list[dict[str, Any]]:
        """Answers, what each of them names, and the referral of each row."""
        rows = zip(self.lines, self.scored.outcomes, self.scored.extractions, strict=True)
        return [
            {name: line[name] for name in _COPIED}
            | {
                "named": [list(each.mentions) for each in extractions],
                "gold": outcome.gold,
                "predicted": outcome.predicted,
                "right": outcome.right,
                "ambiguous": outcome.ambiguous,
            }
            for line, outcome, extractions in rows
        ]


def score_departments(
    task: Task, log: Path, resumed: int, lines: Sequence[Line], protocol: str, _: Matching = AS_PROTOCOLS_SAY
) -> DepartmentResult:
    """Score the rows of a log by one protocol; the interval is over cases, by bootstrap, Wilson's at the edges."""
    last = sorted((line for line in lines if is_last(line)), key=lambda line: int(line["row"]))
    scored = _refer(task, last, protocol)
    intervals = {"accuracy": accuracy_interval(scored.outcomes)}
    turns = _score_turns(task, lines, last, protocol)
    shots = read_header(log)["run"].get("shots")
    return DepartmentResult(task, log, resumed, last, scored, intervals, turns, shots)


def is_last(line: Line) -> bool:
    """Whether the line's prompt has the whole dialogue."""
    return bool(line["turn"] + 1 == line["turns"])


def _refer(task: Task, lines: Sequence[Line], protocol: str) -> Any:
    votes = STRATEGIES[task.strategy].votes > 1
    return refer_rows(tuple(referred_row(line, votes) for line in lines), protocol)


def _score_turns(task: Task, lines: Sequence[Line], last: Sequence[Line], protocol: str) -> list[TurnScore]:
    """The scores of each turn, over the rows of which every turn was probed; none where no earlier turn was."""
    probed: dict[int, list[Line]] = {line["row"]: [] for line in last}
    for line in sorted(lines, key=lambda line: int(line["turn"])):
        if line["row"] in probed:
            probed[line["row"]].append(line)
    whole = [of_row for of_row in probed.values() if len(of_row) == of_row[-1]["turns"]]
    outcomes: list[list[Outcome]] = [_refer(task, of_row, protocol).outcomes for of_row in whole]
    longest = max(map(len, outcomes), default=0)
    if longest < 2:
        return []
    scores = []
    for turn in range(longest):
        here = [of_row[turn] for of_row in outcomes if turn < len(of_row)]
        so_far = [of_row[min(turn, len(of_row) - 1)] for of_row in outcomes]
        low, high = accuracy_interval(here)
        scores.append(TurnScore(turn, len(here), _accuracy(here), low, high, _accuracy(so_far)))
    return scores


def _accuracy(outcomes: Sequence[Outcome]) -> float:
    return sum(outcome.right for outcome in outcomes) / len(outcomes)
