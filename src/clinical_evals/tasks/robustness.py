"""The robustness row: one model under several prompting strategies (protocol.md 1.2; the paper's Table 2)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from clinical_evals.ior_bench.prompts import STRATEGIES
from clinical_evals.scoring.department import agreement, mean_and_sd
from clinical_evals.tasks.department_results import DepartmentResult
from clinical_evals.tasks.names import PROTOCOL_VERSION
from clinical_evals.tasks.results import Result, write_json


class Robustness(NamedTuple):
    """How much the accuracy depends on the way of asking."""

    protocol: str
    accuracy: dict[str, float]
    """By strategy, 0-1; each over the rows that it was asked."""
    mean: float
    sd: float
    """Mean and population standard deviation (ddof 0) of the accuracies."""
    agree: int
    """Rows on which all strategies name the same department, right or wrong."""
    rows: int
    """Rows that all strategies were asked."""


def find_robustness(results: Sequence[Result], protocol: str) -> Robustness | None:
    """The robustness over the results of one protocol; None unless all four strategies are among them."""
    by_strategy = {
        result.task.strategy: result
        for result in results
        if isinstance(result, DepartmentResult) and result.protocol == protocol and result.task.strategy
    }
    if set(by_strategy) != set(STRATEGIES):
        return None
    ordered = [by_strategy[name] for name in STRATEGIES]
    accuracy = {name: result.scored.scores()["accuracy"] for name, result in zip(STRATEGIES, ordered, strict=True)}
    mean, sd = mean_and_sd(list(accuracy.values()))
    predictions = [result.predictions for result in ordered]
    # A few-shot run with more examples than are written is scored on the held-out part only.
    rows = sorted(set.intersection(*(set(each) for each in predictions)))
    return Robustness(
        protocol, accuracy, mean, sd, agreement([[each[row] for row in rows] for each in predictions]), len(rows)
    )


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
