"""From the rows of a prediction log to scores, and the files with them beside the log.

`scored.jsonl` has a header and one line a row in the order of the split: the answer, what each of its items became,
gold and predicted codes. `summary.json` has scores, their 95 % intervals, diagnostics, tokens and kept shares. Neither
holds times or paths, so an interrupted and resumed run ends with the same bytes as any other. What the official
protocol gives is in files of its own, `scored.official.jsonl` and `summary.official.json`.

Of several answers to a prompt the first is scored, by both protocols; the others stay in the log.
"""

import json
import os
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from clinical_evals.matching.resolved import ResolvedAnswer, ResolvedItem
from clinical_evals.matching.scorer import Scored
from clinical_evals.ontology import get_system
from clinical_evals.scoring.intervals import bootstrap
from clinical_evals.tasks.answered_rows import AnsweredRow, score_rows
from clinical_evals.tasks.names import PROTOCOL_VERSION, Task
from clinical_evals.tasks.prediction_log import Line

Intervals = dict[str, tuple[float, float]]

_COPIED = (
    "key", "row", "subject_id", "answers", "finish", "input_tokens", "output_tokens", "kept_prompt", "kept_long",
    "gold",
)  # fmt: skip


class Result(NamedTuple):
    """What one task gave by one protocol."""

    task: Task
    log: Path
    """The prediction log."""
    resumed: int
    """How many rows had been answered before."""
    lines: list[Line]
    """The rows' log lines, by row."""
    scored: Scored
    intervals: Intervals

    @property
    def protocol(self) -> str:
        """Which protocol scored it."""
        return self.scored.info["protocol"]


def score_run(
    task: Task,
    log: Path,
    resumed: int,
    lines: Sequence[Line],
    protocol: str = "standard",
    dictionary: Path | None = None,
) -> Result:
    """Score the rows of a log, and write the two files beside it."""
    result = score_lines(task, log, resumed, lines, protocol, dictionary)
    write_files(result)
    return result


def score_lines(
    task: Task, log: Path, resumed: int, lines: Sequence[Line], protocol: str, dictionary: Path | None = None
) -> Result:
    """Score the rows of a log by one protocol; the intervals are over the patients of the rows that it counts."""
    lines = sorted(lines, key=lambda line: int(line["row"]))
    rows = tuple(AnsweredRow(line["row"], line["answers"][0], tuple(line["gold"])) for line in lines)
    scored = score_rows(rows, task.system, protocol, dictionary)
    intervals = bootstrap(scored.counts, scored.of_scored_rows([line["subject_id"] for line in lines]))
    return Result(task, log, resumed, lines, scored, intervals)


def file_names(protocol: str) -> tuple[str, str]:
    """What the two files of a protocol are called: scored rows and summary."""
    mark = "" if protocol == "standard" else f".{protocol}"
    return f"scored{mark}.jsonl", f"summary{mark}.json"


def files_of(result: Result) -> tuple[str, str]:
    """What the two files of a result are called: a few rows do not take the names of a larger run's."""
    names = file_names(result.protocol)
    try:
        there = json.loads(result.log.with_name(names[1]).read_text(encoding="utf-8"))["rows"]
    except (OSError, ValueError, KeyError, TypeError):
        return names
    rows = len(result.lines)
    if not isinstance(there, int) or there <= rows:
        return names
    scored, summary = (name.rsplit(".", 1) for name in names)
    return f"{scored[0]}.{rows}-rows.{scored[1]}", f"{summary[0]}.{rows}-rows.{summary[1]}"


def write_files(result: Result) -> None:
    """Write the two files beside the log."""
    scored, summary = (result.log.with_name(name) for name in files_of(result))
    write_json(scored, [_header(result), *map(_scored_line, result.lines, result.scored.answers)])
    write_json(summary, [summarise(result)], indent=2)


def summarise(result: Result) -> dict[str, Any]:
    """Scores with intervals, diagnostics, tokens and kept shares of a run, as JSON."""
    lines = result.lines
    return _header(result) | {
        "rows": len(lines),
        "scores": result.scored.scores(),
        "intervals": result.intervals,
        "input_tokens": sum(line["input_tokens"] for line in lines),
        "output_tokens": sum(sum(line["output_tokens"]) for line in lines),
        "answers_cut_off": sum(line["finish"].count("length") for line in lines),
        "prompts_cut": sum(line["kept_prompt"] < 1 for line in lines),
        "kept_prompt": _spread([line["kept_prompt"] for line in lines]),
        "kept_long": _spread([line["kept_long"] for line in lines]),
    }


def is_same_scoring(result: Result, summary: object) -> bool:
    """Whether a summary is of the same task, protocol, version, release, candidates and number of rows."""
    expected = _header(result) | {"rows": len(result.lines)}
    return isinstance(summary, dict) and {key: summary.get(key) for key in expected} == expected


def write_json(path: Path, values: Sequence[Any], indent: int | None = None) -> None:
    """Write values one below the other, aside first: the file is whole or not there."""
    text = "".join(json.dumps(value, ensure_ascii=False, indent=indent) + "\n" for value in values)
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {"mean": statistics.fmean(values), "median": statistics.median(values), "min": min(values)}


def _header(result: Result) -> dict[str, Any]:
    system = get_system(result.task.system)
    return {
        "task": result.task.name,
        "protocol": result.protocol,
        "protocol_version": PROTOCOL_VERSION,
        "system": system.name,
        "release": system.release,
        "candidates": result.scored.info["candidates"],
    }


def _scored_line(line: Line, answer: ResolvedAnswer) -> dict[str, Any]:
    return {name: line[name] for name in _COPIED} | {
        "predicted": list(answer.codes),
        "items": [_item(item) for item in answer.items],
    }


def _item(item: ResolvedItem) -> dict[str, Any]:
    # Six digits: sums in another order on another machine do not change the file.
    matches = [match._asdict() | {"similarity": round(float(match.similarity), 6)} for match in item.matches]
    return {"text": item.text, "how": item.how, "matches": matches, "invalid": list(item.invalid)}
