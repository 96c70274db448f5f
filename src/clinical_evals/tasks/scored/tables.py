"""What is printed after a task: its scores as a table, tokens, and where the log is."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from clinical_evals.errors import ClinicalEvalsError
from clinical_evals.tasks.scored.code_results import CodeResult
from clinical_evals.tasks.scored.code_tables import format_both_codes, format_codes
from clinical_evals.tasks.scored.department_results import DepartmentResult
from clinical_evals.tasks.scored.department_tables import (
    format_both_departments,
    format_departments,
    format_robustness,
)
from clinical_evals.tasks.scored.dialogue_results import DialogueResult
from clinical_evals.tasks.scored.dialogue_tables import format_both_dialogues, format_dialogues
from clinical_evals.tasks.scored.results import Result, files_of, name_missing, summarise
from clinical_evals.tasks.scored.robustness import find_robustness
from clinical_evals.tasks.scored.studies import find_studies
from clinical_evals.tasks.scored.study_tables import format_study


def format_results(results: Sequence[Result], files: str = "", published: Path | None = None) -> str:
    """All results: of a task that both protocols scored, one table with both.

    Of a task that was asked in several ways the first is shown whole, the others as they differ from it.

    Args:
        results: those of one task stand together.
        files: what is said of the files instead of where they lie beside the log.
        published: the folder of the papers' tables, to stand beside ours.
    """
    parts = []
    for _, group in groupby(results, key=lambda result: result.task):
        of_task = list(group)
        one, *other = [result for result in of_task if result.log == of_task[0].log]
        parts.append(format_both(one, other[0], files) if other else format_result(one, files))
        parts += [format_study(study, published) for study in find_studies(of_task)]
    for protocol in dict.fromkeys(result.protocol for result in results):
        if robustness := find_robustness(results, protocol):
            parts.append(format_robustness(robustness))
    return "\n\n".join(parts)


def format_result(result: Result, files: str = "") -> str:
    """Everything that is printed after a task: table, diagnostics, tokens, where the log is."""
    match result:
        case CodeResult():
            head, *parts = format_codes(result)
        case DepartmentResult():
            head, *parts = format_departments(result)
        case DialogueResult():
            head, *parts = format_dialogues(result)
        case _:
            raise TypeError(type(result))
    return _lines(f"{_title(result)}, {head}", *parts, *_about_the_log([result], files))


def format_both(standard: Result, official: Result, files: str = "") -> str:
    """The same for a task that both protocols scored."""
    match standard, official:
        case CodeResult(), CodeResult():
            head, *parts = format_both_codes(standard, official)
        case DepartmentResult(), DepartmentResult():
            head, *parts = format_both_departments(standard, official)
        case DialogueResult(), DialogueResult():
            head, *parts = format_both_dialogues(standard, official)
        case _:
            raise TypeError(type(standard))
    return _lines(f"{_title(standard, official)}, {head}", *parts, *_about_the_log([standard, official], files))


def _title(result: Result, official: Result | None = None) -> str:
    rows, others = len(result.lines), len((official or result).lines)
    # What broke off is left out of standard alone.
    way = f" {result.variant().name}" if isinstance(result, CodeResult) and result.variant().without else ""
    return f"{result.task.name}{way}, {rows} rows" + (f" (official: {others})" if official and others != rows else "")


def _lines(*parts: str) -> str:
    return "\n".join(part for part in parts if part)


def _about_the_log(results: Sequence[Result], files: str) -> list[str]:
    result = results[0]
    samples = max(len(line["answers"]) for line in result.lines)
    names = [name for each in results for name in files_of(each)]
    beside = files or f"beside it {', '.join(names[:-1])} and {names[-1]}"
    return [
        _format_tokens(result),
        *_format_models(result),
        _format_samples(result, samples) if samples > 1 else "",
        _format_missing(result),
        f"{result.resumed} of {len(result.lines)} rows were already answered in the log." if result.resumed else "",
        f"prediction log: {result.log} ({beside})",
    ]


def _format_samples(result: Result, samples: int) -> str:
    if isinstance(result, DepartmentResult) and result.votes:
        return f"{samples} answers to each prompt, sampled; all vote"
    return f"{samples} answers to each prompt are in the log; the first is scored"


def _format_tokens(result: Result) -> str:
    summary = summarise(result)
    read, written = result.tokens()
    text = f"tokens: {read:,} read, {written:,} written"
    if served := summary.get("served"):
        text += f" ({_format_counted_by(result, served['answers_with_estimated_tokens'])})"
        text += f", cost {served['cost']:.4f}" if served["cost"] is not None else ""
    if summary["answers_cut_off"]:
        text += f"; {summary['answers_cut_off']} answers were cut at their token limit"
    if summary["prompts_cut"]:
        kept, long = summary["kept_prompt"], summary["kept_long"]
        text += f"\n{summary['prompts_cut']} prompts were cut: kept of the whole prompt {_percent(kept)}, "
        text += f"of the long segments {_percent(long)}"
    return text


def _format_counted_by(result: Result, estimated: int) -> str:
    """Whose count of the tokens it is."""
    others = _local_roles(result)
    if not others:
        return f"estimated for {estimated} answers" if estimated else "as the endpoint reports"
    theirs = " and ".join(f"of the {who}" for who in result.served())
    text = f"{theirs} as the endpoint reports{f', estimated for {estimated} answers' if estimated else ''}"
    return f"{text}, of the {' and the '.join(others)} counted here"


def _local_roles(result: Result) -> list[str]:
    """The sides of a dialogue that no endpoint plays."""
    return [who for who in ("doctor", "patient") if who not in result.served()] * isinstance(result, DialogueResult)


def _format_models(result: Result) -> list[str]:
    """Where an endpoint gives its model another name than it was asked for: it may be a dated version, or another."""
    said = []
    for who, answers in result.served().items():
        asked = _asked_name(result, who)
        others = sorted({each["model"] for each in answers} - {"", asked})
        if asked and others:
            of_whom = f" of the {who}" if who else ""
            said.append(f"the endpoint{of_whom} names the model {', '.join(others)} (asked for: {asked})")
    return said


def _asked_name(result: Result, who: str) -> str:
    """The model that the header of the log names, if it does."""
    try:
        run = result.run()
        return str((run[who] if who else run)["model"]["name"])
    except (OSError, ClinicalEvalsError, KeyError, TypeError):
        return ""


def _format_missing(result: Result) -> str:
    if not result.unanswered:
        return ""
    # Of dialogues the remarks say what becomes of them: it depends on the protocol.
    fate = "" if isinstance(result, DialogueResult) else ", not in any score"
    return (
        f"{len(result.unanswered)} missing{fate}: {name_missing(result.unanswered)}. The same command asks for them "
        "again."
    )


def _percent(spread: dict[str, float]) -> str:
    return f"{100 * spread['mean']:.1f} % (median {100 * spread['median']:.1f}, minimum {100 * spread['min']:.1f})"
