"""What is printed of a task that asked for departments: accuracy, its rates, by turn too, and the robustness row."""

from collections.abc import Sequence

from clinical_evals.ior_bench.prompts import STRATEGIES
from clinical_evals.ior_bench.shots import describe_shots
from clinical_evals.ruled_table import ruled
from clinical_evals.scoring.department import as_printed, confusion_pairs
from clinical_evals.tasks.scored.department_results import DepartmentResult
from clinical_evals.tasks.scored.robustness import Robustness

MOST_CONFUSED = 5
_RATES = ("no_answer_rate", "ambiguous_rate", "macro_f1")
_HEAD = ["protocol", "accuracy", "no answer", "ambiguous", "macro F1"]


def format_departments(result: DepartmentResult) -> list[str]:
    """Head, table and remarks of a result."""
    return [
        f"{result.protocol} protocol (in %, 95 % interval by case)",
        ruled([_HEAD], [_row(result)], last_apart=False),
        *_remarks(result),
    ]


def format_both_departments(standard: DepartmentResult, official: DepartmentResult) -> list[str]:
    """The same for a task that both protocols scored."""
    return [
        "both protocols (in %, 95 % interval by case)",
        ruled([_HEAD], [_row(standard), _row(official)], last_apart=False),
        *_remarks(standard),
    ]


def format_robustness(found: Robustness) -> str:
    """The row of the paper's Table 2, and on how many rows the strategies agree."""
    heads = [*(name.replace("_", " ") for name in STRATEGIES), "mean ± SD", "all agree"]
    spread = f"{_percent(found.mean)} ± {_percent(found.sd)}"
    row = [*(_percent(found.accuracy[name]) for name in STRATEGIES), spread, f"{found.agree} of {found.rows} rows"]
    title = f"robustness over the four strategies, {found.protocol} protocol (accuracy in %, population SD)"
    if found.rows < found.most_rows:
        title += f",\nall on the {found.rows} rows that the few-shot examples leave, of {found.most_rows}"
    return f"{title}\n{ruled([heads], [row], last_apart=False)}"


def _row(result: DepartmentResult) -> list[str]:
    scores = result.scored.scores()
    low, high = result.intervals["accuracy"]
    accuracy = f"{_percent(scores['accuracy'])} [{_percent(low)}, {_percent(high)}]"
    return [result.protocol, accuracy, *(_percent(scores[key]) if key in scores else "-" for key in _RATES)]


def _remarks(result: DepartmentResult) -> list[str]:
    shots = describe_shots(result.shots) if result.shots else ""
    return [_format_candidates(result), shots, _format_confusions(result), _format_turns(result)]


def _format_candidates(result: DepartmentResult) -> str:
    return f"{result.about()['candidates']} departments to choose from"


def _format_confusions(result: DepartmentResult) -> str:
    pairs = confusion_pairs(result.scored.outcomes, MOST_CONFUSED)
    shown = [f"{gold} → {named or 'no answer'} ({rows})" for gold, named, rows in pairs]
    return f"most frequent errors: {', '.join(shown)}" if shown else ""


def _format_turns(result: DepartmentResult) -> str:
    if not result.turns:
        return ""
    heads = ["turn", "dialogues", "accuracy", "of all dialogues so far"]
    rows: Sequence[Sequence[str]] = [
        [
            str(each.turn),
            str(each.rows),
            f"{_percent(each.accuracy)} [{_percent(each.low)}, {_percent(each.high)}]",
            _percent(each.accuracy_so_far),
        ]
        for each in result.turns
    ]
    return "after each turn of the patient:\n" + ruled([heads], rows, last_apart=False)


def _percent(value: float) -> str:
    return as_printed(100 * value)
