"""From a prediction log to scores: the files beside the log, and the tables that are printed.

`scored.jsonl` has a header and one line a row in the order of the split: the answer, what each of its items became,
gold and predicted codes. `summary.json` has scores, their 95 % intervals, diagnostics, tokens and kept shares. Neither
holds times or paths, so an interrupted and resumed run ends with the same bytes as any other.
"""

import json
import os
import statistics
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from clinical_evals.matching.scorer import ResolvedAnswer, ResolvedItem, Scored
from clinical_evals.ontology import get_system
from clinical_evals.scoring.intervals import bootstrap
from clinical_evals.tasks.names import PROTOCOL_VERSION, Task
from clinical_evals.tasks.prediction_log import Line

Intervals = dict[str, tuple[float, float]]


class Result(NamedTuple):
    """What one task gave."""

    task: Task
    log: Path
    """The prediction log."""
    resumed: int
    """How many rows had been answered before."""
    lines: list[Line]
    """The rows' log lines, by row."""
    scored: Scored
    intervals: Intervals


def score_run(task: Task, log: Path, resumed: int, lines: Sequence[Line]) -> Result:
    """Score the rows of a log, and write `scored.jsonl` and `summary.json` beside it."""
    from clinical_evals.tasks.metrics import AnsweredRow, score_rows

    lines = sorted(lines, key=lambda line: int(line["row"]))
    rows = tuple(AnsweredRow(line["row"], line["answers"][0], tuple(line["gold"])) for line in lines)
    scored = score_rows(rows, "icd10cm")
    intervals = bootstrap(scored.counts, scored.of_scored_rows([line["subject_id"] for line in lines]))
    result = Result(task, log, resumed, lines, scored, intervals)
    _write(log.with_name("scored.jsonl"), [_header(task), *map(_scored_line, lines, scored.answers)])
    _write(log.with_name("summary.json"), [summarise(result)], indent=2)
    return result


def summarise(result: Result) -> dict[str, Any]:
    """Scores with intervals, diagnostics, tokens and kept shares of a run, as JSON."""
    lines = result.lines
    return _header(result.task) | {
        "rows": len(lines),
        "scores": result.scored.scores(),
        "intervals": result.intervals,
        "input_tokens": sum(line["input_tokens"] for line in lines),
        "output_tokens": sum(sum(line["output_tokens"]) for line in lines),
        "answers_cut_off": sum("length" in line["finish"] for line in lines),
        "prompts_cut": sum(line["kept_prompt"] < 1 for line in lines),
        "kept_prompt": _spread([line["kept_prompt"] for line in lines]),
        "kept_long": _spread([line["kept_long"] for line in lines]),
    }


def format_result(result: Result) -> str:
    """Everything that is printed after a task: table, diagnostics, tokens, where the log is."""
    summary = summarise(result)
    done = f"{result.resumed} of {len(result.lines)} rows were already answered in the log." if result.resumed else ""
    return "\n".join(
        part
        for part in (
            f"{result.task.name}, {len(result.lines)} rows (micro scores in %, 95 % interval by patient)",
            format_table(result.scored.scores(), result.intervals, result.scored.counts.levels),
            format_diagnostics(result.scored.diagnostics),
            _format_tokens(summary),
            done,
            f"prediction log: {result.log} (beside it scored.jsonl and summary.json)",
        )
        if part
    )


def format_table(scores: dict[str, float], intervals: Intervals, levels: Sequence[str]) -> str:
    """Levels × precision, recall, F1 and macro F1 in percent, each with its interval."""
    measures = ("precision", "recall", "f1", "macro_f1")
    head = ["level", "precision", "recall", "F1", "macro F1"]
    rows = [
        [level, *(_cell(scores, intervals, f"{measure}_{level}") for measure in measures)]
        for level in (*levels, "average")
    ]
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    text = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in (head, *rows)
    ]
    rule = "-" * max(map(len, text))
    return "\n".join([text[0], rule, *text[1:-1], rule, text[-1]])


def format_diagnostics(diagnostics: dict[str, float]) -> str:
    """One line: how the answers' items were understood."""
    shares = ", ".join(
        f"{100 * diagnostics[f'share_{how}']:.1f} % {label}"
        for how, label in (
            ("code", "from codes"),
            ("title", "exact titles"),
            ("embedding", "embeddings"),
            ("unmatched", "unmatched"),
        )
    )
    counts = f"{diagnostics['invalid_codes']:.0f} invalid codes, {diagnostics['empty_answers']:.0f} empty answers"
    return f"{diagnostics['items']:.0f} items: {shares}; {counts}"


def format_answer(line: Line, answer: ResolvedAnswer) -> str:
    """One answer, and what each of its distinct items became."""
    system = get_system("icd10cm")
    predicted, gold = set(answer.codes), set(line["gold"])
    shown = [
        f"row {line['row']}: {len(gold)} gold codes, {len(predicted)} predicted, {len(gold & predicted)} of them "
        "exactly right"
    ]
    for item, times in Counter(answer.items).items():
        became = [
            f"{match.code} {system.title(match.code)}{_mark(match.code, gold)} [{_how(match)}]"
            for match in item.matches
        ]
        became += [f"{code} [no code of the release: wrong]" for code in item.invalid]
        text = (_short(item.text) or "(codes alone)") + (f"   ({times} times)" if times > 1 else "")
        shown.append(f"  {text}\n    -> {'; '.join(became) or 'unmatched: no prediction'}")
    return "\n".join(shown if answer.items else [*shown, "  (an empty answer: it counts as such)"])


def _mark(code: str, gold: set[str]) -> str:
    return " (in the gold)" if code in gold else ""


def _how(match: Any) -> str:
    return f"embedding, similarity {match.similarity:.2f}" if match.how == "embedding" else str(match.how)


def _short(text: str, width: int = 90) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _cell(scores: dict[str, float], intervals: Intervals, key: str) -> str:
    low, high = intervals[key]
    return f"{100 * scores[key]:5.2f} [{100 * low:.2f}, {100 * high:.2f}]"


def _format_tokens(summary: dict[str, Any]) -> str:
    text = f"tokens: {summary['input_tokens']:,} read, {summary['output_tokens']:,} written"
    if summary["answers_cut_off"]:
        text += f"; {summary['answers_cut_off']} answers were cut at their token limit"
    if summary["prompts_cut"]:
        kept, long = summary["kept_prompt"], summary["kept_long"]
        text += f"\n{summary['prompts_cut']} prompts were cut: kept of the whole prompt {_percent(kept)}, "
        text += f"of the long segments {_percent(long)}"
    return text


def _percent(spread: dict[str, float]) -> str:
    return f"{100 * spread['mean']:.1f} % (median {100 * spread['median']:.1f}, minimum {100 * spread['min']:.1f})"


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {"mean": statistics.fmean(values), "median": statistics.median(values), "min": min(values)}


def _header(task: Task) -> dict[str, Any]:
    system = get_system("icd10cm")
    return {
        "task": task.name,
        "protocol": "standard",
        "protocol_version": PROTOCOL_VERSION,
        "system": system.name,
        "release": system.release,
    }


def _scored_line(line: Line, answer: ResolvedAnswer) -> dict[str, Any]:
    copied = (
        "key",
        "row",
        "subject_id",
        "answers",
        "finish",
        "input_tokens",
        "output_tokens",
        "kept_prompt",
        "kept_long",
        "gold",
    )
    return {name: line[name] for name in copied} | {
        "predicted": list(answer.codes),
        "items": [_item(item) for item in answer.items],
    }


def _item(item: ResolvedItem) -> dict[str, Any]:
    # Six digits: sums in another order on another machine do not change the file.
    matches = [match._asdict() | {"similarity": round(float(match.similarity), 6)} for match in item.matches]
    return {"text": item.text, "how": item.how, "matches": matches, "invalid": list(item.invalid)}


def _write(path: Path, values: Sequence[Any], indent: int | None = None) -> None:
    text = "".join(json.dumps(value, ensure_ascii=False, indent=indent) + "\n" for value in values)
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)
