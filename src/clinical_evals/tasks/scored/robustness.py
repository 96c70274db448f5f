"""The robustness row: one model under several prompting strategies (protocol.md 1.2; the paper's Table 2)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from clinical_evals.ior_bench.prompts import STRATEGIES
from clinical_evals.scoring.department import Outcome, agreement, mean_and_sd
from clinical_evals.tasks.names import PROTOCOL_VERSION
from clinical_evals.tasks.scored.department_results import DepartmentResult
from clinical_evals.tasks.scored.results import Result, write_json


class Robustness(NamedTuple):
    """How much the accuracy depends on the way of asking."""

    protocol: str
    accuracy: dict[str, float]
    """By strategy, 0-1; over the rows that all strategies were asked."""
    mean: float
    sd: float
    """Mean and population standard deviation (ddof 0) of the accuracies."""
    agree: int
    """Rows on which all strategies name the same department, right or wrong."""
    rows: int
    """Rows that all strategies were asked."""
    most_rows: int
    """Rows that some strategy was asked; more than `rows` where examples were taken from the rows."""


def find_robustness(results: Sequence[Result], protocol: str) -> Robustness | None:
    """The robustness over the results of one protocol; None unless all four strategies are among them."""
    by_strategy = {
        result.task.strategy: result
        for result in results
        if isinstance(result, DepartmentResult) and result.protocol == protocol and result.task.strategy
    }
    if set(by_strategy) != set(STRATEGIES):
        return None
    outcomes = {name: _by_row(by_strategy[name]) for name in STRATEGIES}
    # A few-shot run whose examples are rows is scored on the held-out part: the others are then compared on it, too.
    rows = sorted(set.intersection(*map(set, outcomes.values())))
    if not rows:
        return None
    accuracy = {name: sum(of[row].right for row in rows) / len(rows) for name, of in outcomes.items()}
    mean, sd = mean_and_sd(list(accuracy.values()))
    agree = agreement([[of[row].predicted for row in rows] for of in outcomes.values()])
    return Robustness(protocol, accuracy, mean, sd, agree, len(rows), max(map(len, outcomes.values())))


def _by_row(result: DepartmentResult) -> dict[int, Outcome]:
    return {line["row"]: outcome for line, outcome in zip(result.lines, result.scored.outcomes, strict=True)}


def write_robustness(found: Robustness, results: Sequence[Result], folder: Path) -> Path:
    """Write it as JSON, named by what it is made of, with the logs that it comes from; returns the file's path."""
    logs = {
        result.task.name: result.log.relative_to(folder).as_posix()
        for result in results
        if isinstance(result, DepartmentResult) and result.protocol == found.protocol
    }
    value: dict[str, Any] = {"protocol_version": PROTOCOL_VERSION, **found._asdict(), "logs": logs}
    mark = "" if found.protocol == "standard" else f".{found.protocol}"
    model = results[0].log.parent.name.rpartition("-")[0]
    path = folder / f"ior_bench_static_robustness-{model}{mark}.json"
    write_json(path, [value], indent=2)
    return path
