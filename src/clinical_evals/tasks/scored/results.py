"""What a scored run writes beside its prediction log, whatever it asked for.

`scored.jsonl` has a header and one line a row in the order of the split: the answer, what became of it, gold and
prediction. `summary.json` has scores, their 95 % intervals, diagnostics, tokens and kept shares. Neither holds times
or paths, so an interrupted and resumed run ends with the same bytes as any other. What the official protocol gives is
in files of its own, `scored.official.jsonl` and `summary.official.json`.

What is scored is in `code_results` and `department_results`.
"""

import json
import statistics
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from clinical_evals.tasks.names import PROTOCOL_VERSION, Task
from clinical_evals.tasks.prediction_log import PREDICTIONS, Kind, Line, read_header
from clinical_evals.write_aside import written_aside

Intervals = dict[str, tuple[float, float]]


class MissingRow(NamedTuple):
    """A prompt that an endpoint did not answer."""

    row: int
    why: str
    turn: int | None = None
    """Of a dialogue: after which turn it was asked."""

    def __str__(self) -> str:
        turn = "" if self.turn is None else f", turn {self.turn}"
        return f"row {self.row}{turn}: {self.why}"


@dataclass(frozen=True)
class Result(ABC):
    """What one task gave by one protocol."""

    task: Task
    log: Path
    """The prediction log."""
    resumed: int
    """How many prompts had been answered before."""
    lines: list[Line]
    """The rows' log lines, by row."""
    scored: Any
    """What the answers became; its `scores()` are those of the run."""
    intervals: Intervals
    unanswered: tuple[MissingRow, ...] = field(default=(), kw_only=True)
    """What was asked and not answered: no part of any score, but for dialogues that `official` counts as wrong."""
    kind: ClassVar[Kind] = PREDICTIONS
    """Of the log."""

    def run(self) -> dict[str, Any]:
        """What the header of the log says of how it was run; nothing where it says nothing."""
        run = read_header(self.log, self.kind).get("run")
        return run if isinstance(run, dict) else {}

    @property
    @abstractmethod
    def protocol(self) -> str:
        """Which protocol scored it."""

    @abstractmethod
    def about(self) -> dict[str, Any]:
        """What its scores depend on beside the answers, as JSON."""

    @abstractmethod
    def details(self) -> dict[str, Any]:
        """What the summary says beyond scores and intervals, as JSON."""

    def served(self) -> dict[str, list[Line]]:
        """What an endpoint said of its answers (`generation.Served`), by who answered; empty of models that ran here.

        The key is "doctor" or "patient" in dialogues, else "".
        """
        found = [each for line in self.lines for each in line.get("served", ())]
        return {"": found} if found else {}

    def tokens(self) -> tuple[int, int]:
        """Tokens read and written, of all answers: as an endpoint reports them where one answered, else our count."""
        written = sum(sum(line["output_tokens"]) for line in self.lines)
        served = self.served().get("")
        return sum(each["prompt_tokens"] for each in served or ()) or _read(self.lines), written

    @abstractmethod
    def scored_lines(self) -> list[dict[str, Any]]:
        """One object a row: what was answered and what became of it."""

    def header(self) -> dict[str, Any]:
        """Task, protocol and what else decides the scores."""
        return {
            "task": self.task.name,
            "protocol": self.protocol,
            "protocol_version": PROTOCOL_VERSION,
            **self.about(),
        }


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
    write_json(scored, [result.header(), *result.scored_lines()])
    write_json(summary, [summarise(result)], indent=2)


def summarise(result: Result) -> dict[str, Any]:
    """Scores with intervals, diagnostics, tokens and kept shares of a run, as JSON."""
    lines = result.lines
    return result.header() | {
        "rows": len(lines),
        "scores": result.scored.scores(),
        "intervals": result.intervals,
        **result.details(),
        "input_tokens": _read(lines),
        "output_tokens": sum(sum(line["output_tokens"]) for line in lines),
        **_served(result),
        **({"missing": [row._asdict() for row in result.unanswered]} if result.unanswered else {}),
        "answers_cut_off": sum(line["finish"].count("length") for line in lines),
        "prompts_cut": sum(line["kept_prompt"] < 1 for line in lines),
        "kept_prompt": _spread([line["kept_prompt"] for line in lines]),
        "kept_long": _spread([line["kept_long"] for line in lines]),
    }


def is_same_scoring(result: Result, summary: object) -> bool:
    """Whether a summary is of the same task, protocol, version, release, candidates and number of rows."""
    expected = result.header() | {"rows": len(result.lines)}
    return isinstance(summary, dict) and {key: summary.get(key) for key in expected} == expected


def write_json(path: Path, values: Sequence[Any], indent: int | None = None) -> None:
    """Write values one below the other, aside first: the file is whole or not there."""
    text = "".join(json.dumps(value, ensure_ascii=False, indent=indent) + "\n" for value in values)
    with written_aside(path, alone=True) as aside:
        aside.write_text(text, encoding="utf-8")


def name_missing(missing: Sequence[MissingRow], most: int = 5) -> str:
    """The first of them with their reasons, the others by number alone."""
    named = "; ".join(map(str, missing[:most]))
    others = ", ".join(str(each.row) for each in missing[most:])
    return f"{named}; and rows {others}" if others else named


def _read(lines: Sequence[Line]) -> int:
    return sum(line["input_tokens"] for line in lines)


def _served(result: Result) -> dict[str, Any]:
    """Tokens as an endpoint reported them, of its own answers alone, and what they cost; nothing of local models."""
    by_who = result.served()
    served = [each for of_who in by_who.values() for each in of_who]
    if not served:
        return {}
    costs = [each["cost"] for each in served]
    return {
        "served": {
            **({"answers_of": {who: len(each) for who, each in by_who.items()}} if "" not in by_who else {}),
            "prompt_tokens": sum(each["prompt_tokens"] for each in served),
            "answer_tokens": sum(each["answer_tokens"] for each in served),
            "answers_with_estimated_tokens": sum(each["estimated"] for each in served),
            "cost": None if None in costs else round(sum(costs), 6),
            "models": sorted({each["model"] for each in served}),
        }
    }


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {"mean": statistics.fmean(values), "median": statistics.median(values), "min": min(values)}
