"""`clinical-evals compare`: several logs of one task on the same rows, each compared with the first.

All are scored by the same version and protocol, on the rows that all of them answered, and paired by patient (by case
where departments are asked for). Of dialogues the last turn is compared.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from clinical_evals.matching.matchers import PROTOCOL
from clinical_evals.scoring.false_discovery import benjamini_hochberg
from clinical_evals.scoring.hierarchy import scores
from clinical_evals.scoring.paired import detectable_differences, intervals, resample
from clinical_evals.scoring.sign_flip import sign_flip
from clinical_evals.tasks.names import PROTOCOL_VERSION, Task
from clinical_evals.tasks.scored.answered_rows import Matching
from clinical_evals.tasks.scored.comparable import check_logs, common_rows
from clinical_evals.tasks.scored.counted_rows import CountedRows, candidates_of, count_rows, read_result
from clinical_evals.tasks.scored.dialogue_results import DialogueResult
from clinical_evals.tasks.scored.results import Intervals, Result
from clinical_evals.tasks.variants import variant_of


class Compared(NamedTuple):
    """One score of a run, against the same of the first run."""

    value: float
    """How much higher it is, -1 to 1."""
    low: float
    high: float
    """The paired 95 % interval."""
    p: float
    """Of the sign-flip test, two-sided."""
    p_adjusted: float
    """By Benjamini and Hochberg, over all scores and runs of the comparison."""
    detectable: float | None
    """The smallest true difference that would be found in 80 % of such comparisons; None of a single patient."""


class ComparedRun(NamedTuple):
    """One log, on the rows that all logs answered."""

    log: Path
    task: Task
    about: str
    """The way of asking, in words."""
    rows_elsewhere: list[int]
    """Rows that it answered and another log did not: left out."""
    rows_left_out: int
    """Rows that the protocol does not count, since they predict no code (`official`)."""
    scores: dict[str, float]
    intervals: Intervals
    differences: dict[str, Compared] | None
    """None of the first run."""


class Comparison(NamedTuple):
    """The runs, the first being the one that the others are compared with."""

    protocol: str
    candidates: str | None
    """What titles texts were matched to, in all runs; None of referrals."""
    by_case: bool
    """Whether it is of referrals: each case is then a patient of its own."""
    rows: int
    """Rows that all runs answered."""
    patients: int
    exact: bool
    """Whether all p-values are exact; else those of some run are drawn."""
    runs: list[ComparedRun]

    def as_json(self) -> dict[str, Any]:
        """Everything, with paths as they were given."""
        return {
            "protocol": self.protocol,
            "protocol_version": PROTOCOL_VERSION,
            "candidates": self.candidates,
            "rows": self.rows,
            "patients": self.patients,
            "exact": self.exact,
            "runs": list(map(_run_as_json, self.runs)),
        }


def _run_as_json(run: ComparedRun) -> dict[str, Any]:
    found = run._asdict() | {"log": str(run.log), "task": run.task.name}
    if run.differences is not None:
        found["differences"] = {name: each._asdict() for name, each in run.differences.items()}
    return found


def compare_logs(
    logs: Sequence[Path], protocol: str = "standard", dictionary: Path | None = None, matcher: str = PROTOCOL
) -> Comparison:
    """Compare runs.

    Args:
        logs: the predictions.jsonl or transcripts.jsonl of at least two runs.
        protocol: "standard" or "official".
        dictionary: for "official": MIMIC's d_icd_diagnoses.
        matcher: for "standard": what turns texts into codes, a name of `matching.matchers`.

    Raises:
        ClinicalEvalsError: a log or the dictionary cannot be used, or the logs cannot be compared (`comparable`).
    """
    check_logs(logs)
    results = [read_result(log, protocol, Matching(dictionary, matcher)) for log in logs]
    common = common_rows(results)
    counted = [count_rows(result).on(common) for result in results]
    found = [_compare(counted[0], other) for other in counted[1:]]
    adjusted = iter(benjamini_hochberg([each.p for differences, _ in found for each in differences.values()]))
    differences = [
        {name: each._replace(p_adjusted=next(adjusted)) for name, each in of_run.items()} for of_run, _ in found
    ]
    runs = [_run(*each, common) for each in zip(results, counted, [None, *differences], strict=True)]
    patients = len({patient for each in counted for patient in each.run.groups})
    exact = all(exact for _, exact in found)
    candidates = candidates_of(results[0])
    return Comparison(protocol, candidates, counted[0].by_case, len(common), patients, exact, runs)


def _compare(first: CountedRows, other: CountedRows) -> tuple[dict[str, Compared], bool]:
    """The differences, not yet adjusted, and whether their p-values are exact."""
    resamples, test = resample(first.run, other.run), sign_flip(first.run, other.run)
    differences, detectable = intervals(resamples), detectable_differences(resamples)
    return {
        name: Compared(*differences[key], test.p_values[key], 1.0, detectable[key] if detectable else None)
        for name, key in first.keys().items()
    }, test.exact


def _run(
    result: Result, counted: CountedRows, differences: dict[str, Compared] | None, common: set[int]
) -> ComparedRun:
    of_run, bounds, keys = scores(counted.run.counts), counted.intervals(), counted.keys()
    return ComparedRun(
        result.log,
        result.task,
        _about(result),
        sorted({line["row"] for line in result.lines} - common),
        len(common) - len(counted.rows),
        {name: of_run[key] for name, key in keys.items()},
        {name: bounds[key] for name, key in keys.items()},
        differences,
    )


def _about(result: Result) -> str:
    if isinstance(result, DialogueResult):
        return f"the last of {len(result.turns)} turns"
    run = result.run()
    way = variant_of(run).said if result.task.system else result.task.strategy.replace("_", " ")
    tokens = run.get("settings", {}).get("answer_tokens")
    return f"{way}, answers of at most {tokens} tokens" if tokens else way
