"""What is printed of a task that asked for codes: scores by level, and in words how the answers were understood."""

from collections.abc import Sequence

from clinical_evals.matching.dictionary import DICTIONARIES
from clinical_evals.ontology import get_system
from clinical_evals.ruled_table import ruled
from clinical_evals.tasks.scored.code_results import CodeResult
from clinical_evals.tasks.scored.results import Intervals


def format_codes(result: CodeResult) -> list[str]:
    """Head, table and remarks of a result."""
    return [
        f"{result.protocol} protocol (micro scores in %, 95 % interval by patient)",
        _format_table_of(result),
        format_diagnostics(result.scored.diagnostics),
        format_matcher(result),
        format_own_titles(result.scored.diagnostics, result.task.system),
    ]


def format_both_codes(standard: CodeResult, official: CodeResult) -> list[str]:
    """The same for a task that both protocols scored: side by side, the official scores without intervals."""
    return [
        "both protocols (micro scores in %; standard with 95 % interval by patient)",
        format_side_by_side(standard, official),
        f"standard: {format_diagnostics(standard.scored.diagnostics)}",
        f"official: {format_diagnostics(official.scored.diagnostics)}",
        format_matcher(standard),
        format_own_titles(official.scored.diagnostics, official.task.system),
    ]


def format_matcher(result: CodeResult) -> str:
    """What texts were matched with, where it is not what the protocols say; else nothing."""
    return say_matcher(result.task.system, result.protocol, result.scored.info["candidates"])


def say_matcher(system_name: str, protocol: str, candidates: str) -> str:
    """The same for what a result says of its candidates (`CodeResult.about`)."""
    system = get_system(system_name)
    if protocol != "standard" or candidates == f"titles of {system.name} {system.release}":
        return ""
    return f"matched with: {candidates}; not to be compared with other matchers' numbers"


def _format_table_of(result: CodeResult) -> str:
    return format_table(result.scored.scores(), result.intervals, result.scored.counts.levels)


def format_own_titles(diagnostics: dict[str, float], system: str) -> str:
    """That the official protocol had no dictionary of MIMIC, and which one it would be; else nothing."""
    if not diagnostics.get("own_titles"):
        return ""
    if system == "loinc":
        return (
            "official: our own titles and LOINC numbers stand in for MIMIC's itemids, which the published tables "
            "used; levels are counted from the root"
        )
    return (
        "official: our own titles stand in for MIMIC's dictionary, which the published tables used; "
        f"--dictionary {DICTIONARIES[system]} gives it"
    )


def format_table(scores: dict[str, float], intervals: Intervals, levels: Sequence[str]) -> str:
    """Levels × precision, recall, F1 and macro F1 in percent, each with its interval."""
    measures = ("precision", "recall", "f1", "macro_f1")
    head = ["level", "precision", "recall", "F1", "macro F1"]
    rows = [
        [level, *(_cell(scores, intervals, f"{measure}_{level}") for measure in measures)]
        for level in (*levels, "average")
    ]
    return ruled([head], rows)


def format_side_by_side(standard: CodeResult, official: CodeResult) -> str:
    """Levels × precision, recall and F1 in percent: standard with intervals, beside it official without."""
    if standard.scored.counts.levels != official.scored.counts.levels:  # of labs and drugs: each has its own
        return "\n\n".join(f"{each.protocol}\n{_format_table_of(each)}" for each in (standard, official))
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
    return ruled(heads, rows)


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


def _cell(scores: dict[str, float], intervals: Intervals, key: str) -> str:
    low, high = intervals[key]
    return f"{100 * scores[key]:5.2f} [{100 * low:.2f}, {100 * high:.2f}]"
