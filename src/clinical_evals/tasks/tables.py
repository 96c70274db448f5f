"""What is printed after a task: scores as tables, and in words how the answers were understood."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from clinical_evals.tasks.results import Intervals, Result, files_of, summarise

OWN_TITLES = (
    "official: our own titles stand in for MIMIC's dictionary, which the published tables used; "
    "--dictionary d_icd_diagnoses.csv.gz gives it"
)


def format_results(results: Sequence[Result], files: str = "") -> str:
    """All results: of a task that both protocols scored, one table with both.

    Args:
        results: those of one task stand together.
        files: what is said of the files instead of where they lie beside the log.
    """
    parts = []
    for _, of_task in groupby(results, key=lambda result: result.log):
        one, *other = of_task
        parts.append(format_both(one, other[0], files) if other else format_result(one, files))
    return "\n\n".join(parts)


def format_result(result: Result, files: str = "") -> str:
    """Everything that is printed after a task: table, diagnostics, tokens, where the log is."""
    counts = result.scored.counts
    return _lines(
        f"{_title(result)}, {result.protocol} protocol (micro scores in %, 95 % interval by patient)",
        format_table(result.scored.scores(), result.intervals, counts.levels),
        format_diagnostics(result.scored.diagnostics),
        OWN_TITLES if result.scored.diagnostics.get("own_titles") else "",
        *_about_the_log([result], files),
    )


def format_both(standard: Result, official: Result, files: str = "") -> str:
    """The same for a task that both protocols scored: side by side, the official scores without intervals."""
    return _lines(
        f"{_title(standard)}, both protocols (micro scores in %; standard with 95 % interval by patient)",
        format_side_by_side(standard, official),
        f"standard: {format_diagnostics(standard.scored.diagnostics)}",
        f"official: {format_diagnostics(official.scored.diagnostics)}",
        OWN_TITLES if official.scored.diagnostics["own_titles"] else "",
        *_about_the_log([standard, official], files),
    )


def format_table(scores: dict[str, float], intervals: Intervals, levels: Sequence[str]) -> str:
    """Levels × precision, recall, F1 and macro F1 in percent, each with its interval."""
    measures = ("precision", "recall", "f1", "macro_f1")
    head = ["level", "precision", "recall", "F1", "macro F1"]
    rows = [
        [level, *(_cell(scores, intervals, f"{measure}_{level}") for measure in measures)]
        for level in (*levels, "average")
    ]
    return _ruled([head], rows)


def format_side_by_side(standard: Result, official: Result) -> str:
    """Levels × precision, recall and F1 in percent: standard with intervals, beside it official without."""
    measures = ("precision", "recall", "f1")
    heads = [["", "standard", "", "", "official", "", ""], ["level", *("precision", "recall", "F1") * 2]]
    ours, theirs = standard.scored.scores(), official.scored.scores()
    rows = [
        [
            level,
            *(_cell(ours, standard.intervals, f"{measure}_{level}") for measure in measures),
            *(f"{100 * theirs[f'{measure}_{level}']:5.2f}" for measure in measures),
        ]
        for level in (*standard.scored.counts.levels, "average")
    ]
    return _ruled(heads, rows)


def format_diagnostics(diagnostics: dict[str, float]) -> str:
    """One line: how the answers' items were understood, and what became of answers without any."""
    shares = ", ".join(
        f"{100 * diagnostics[f'share_{how}']:.1f} % {label}"
        for how, label in (
            ("code", "from codes"),
            ("title", "exact titles"),
            ("embedding", "embeddings"),
            ("unmatched", "unmatched"),
        )
    )
    empty = f"{diagnostics['empty_answers']:.0f}"
    if "rows_left_out" in diagnostics:
        left_out = f"{diagnostics['rows_left_out']:.0f} of {diagnostics['rows']:.0f}"
        empty = f"rows_left_out {left_out}: they predict nothing (empty answers: {empty})"
    else:
        empty += " empty answers"
    return f"{diagnostics['items']:.0f} items: {shares}; {diagnostics['invalid_codes']:.0f} invalid codes, {empty}"


def _title(result: Result) -> str:
    return f"{result.task.name}, {len(result.lines)} rows"


def _lines(*parts: str) -> str:
    return "\n".join(part for part in parts if part)


def _about_the_log(results: Sequence[Result], files: str) -> list[str]:
    result = results[0]
    samples = max(len(line["answers"]) for line in result.lines)
    names = [name for each in results for name in files_of(each)]
    beside = files or f"beside it {', '.join(names[:-1])} and {names[-1]}"
    return [
        _format_tokens(summarise(result)),
        f"{samples} answers to each prompt are in the log; the first is scored" if samples > 1 else "",
        f"{result.resumed} of {len(result.lines)} rows were already answered in the log." if result.resumed else "",
        f"prediction log: {result.log} ({beside})",
    ]


def _ruled(heads: Sequence[Sequence[str]], rows: Sequence[Sequence[str]]) -> str:
    """Columns of equal width, with a rule below the head and above the last row."""
    widths = [max(map(len, column)) for column in zip(*heads, *rows, strict=True)]
    text = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (*heads, *rows)
    ]
    rule = "-" * max(map(len, text))
    return "\n".join([*text[: len(heads)], rule, *text[len(heads) : -1], rule, text[-1]])


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
