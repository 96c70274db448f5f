"""`clinical-evals explain`: one row of a prediction log, from the prompt to its scores."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from clinical_evals.errors import InputError
from clinical_evals.matching.matcher import Match
from clinical_evals.matching.matchers import PROTOCOL
from clinical_evals.matching.resolved import ResolvedAnswer
from clinical_evals.matching.scorer import Scored
from clinical_evals.ontology import CodeSystem, get_system
from clinical_evals.scoring.rows import row_scores
from clinical_evals.tasks.dialogue.dialogue_log import TRANSCRIPTS
from clinical_evals.tasks.logged_rows import read_rows
from clinical_evals.tasks.names import Task
from clinical_evals.tasks.prediction_log import Line, is_kind
from clinical_evals.tasks.scored.answered_rows import AnsweredRow, Matching, protocols_of, score_rows
from clinical_evals.tasks.scored.code_tables import format_own_titles, say_matcher
from clinical_evals.tasks.scored.explain_dialogue import explain_dialogue
from clinical_evals.tasks.scored.explain_referral import explain_referral
from clinical_evals.tasks.scored.explain_text import format_prompt, format_raw, printable
from clinical_evals.tasks.scored.scoring_runs import check_scoring


def explain(
    log: Path, row: int, protocol: str = "standard", dictionary: Path | None = None, matcher: str = PROTOCOL
) -> str:
    """Everything that is known of one row: prompt, answer, items, gold codes, scores, tokens.

    Args:
        log: the predictions.jsonl of a run.
        row: its number in the split, as `scored.jsonl` has it.
        protocol: "standard" or "official".
        dictionary: for "official": MIMIC's d_icd_diagnoses.
        matcher: for "standard": what turns texts into codes, a name of `matching.matchers`.

    Raises:
        InputError: no such row; the rows of the log are named. Also see `rescore.read_rows`.
    """
    matching = Matching(dictionary, matcher)
    protocols_of(protocol, matching)
    if is_kind(log, TRANSCRIPTS):
        return explain_dialogue(log, row, protocol)
    rows = read_rows(log)
    line = next((line for line in rows.lines if line["row"] == row), None)
    if line is None:
        known = ", ".join(str(line["row"]) for line in rows.lines[:20])
        more = f" and {len(rows.lines) - 20} more" if len(rows.lines) > 20 else ""
        raise InputError(f"--row {row}: {log} has the rows {known}{more}.")
    check_scoring([rows.task], (protocol,), matching)
    title = f"# {rows.task.name}, row {row}, {protocol} protocol"
    if not rows.task.system:
        of_row = [line for line in rows.lines if line["row"] == row]
        return "\n\n".join([title, *explain_referral(rows.task, of_row, protocol)])
    return "\n\n".join([title, *_explain_codes(rows.task, line, protocol, matching)])


def _explain_codes(task: Task, line: Line, protocol: str, matching: Matching) -> list[str]:
    answered = AnsweredRow(line["row"], line["answers"][0], tuple(line["gold"]))
    scored = score_rows((answered,), task.system, protocol, matching)
    system = get_system(task.system)
    line = line | {"gold": system.require(line["gold"], f"row {line['row']}")}
    parts = [
        format_prompt(line),
        *(format_raw(number, line, number == 0) for number in range(len(line["answers"]))),
        f"[items]\n{format_answer(line, scored.answers[0], system, protocol)}",
        f"[gold]\n{format_gold(line['gold'], scored.answers[0].codes, system)}",
        f"[scores]\n{_format_scores(scored)}",
    ]
    parts += [
        say_matcher(task.system, protocol, scored.info["candidates"]),
        format_own_titles(scored.diagnostics, task.system),
    ]
    return [part for part in parts if part]


def format_answer(line: Line, answer: ResolvedAnswer, system: CodeSystem, protocol: str = "standard") -> str:
    """One answer, and what each of its distinct items became."""
    predicted, gold = set(answer.codes), set(line["gold"])
    shown = [
        f"row {line['row']}: {len(gold)} gold codes, {len(predicted)} predicted, {len(gold & predicted)} of them "
        "exactly right"
    ]
    for item, times in Counter(answer.items).items():
        became = [
            f"{match.code} {_title(match.code, system)}{_mark(match.code, gold)} [{_how(match)}]"
            for match in item.matches
        ]
        became += [f"{printable(code)} [no code of the release: wrong]" for code in item.invalid]
        codes = "; ".join(text + _times(often) for text, often in Counter(became).items())
        text = _short(" ".join(printable(item.text).split())) or "(codes alone)"
        shown.append(f"  {text}{_times(times, '   ')}\n    -> {codes or 'unmatched: no prediction'}")
    if not answer.items:
        shown.append(f"  (an empty answer: {_BECOMES[protocol]})")
    elif not predicted:
        shown.append(f"  (nothing is predicted: {_BECOMES[protocol]})")
    return "\n".join(shown)


def format_gold(gold: Sequence[str], predicted: Sequence[str], system: CodeSystem) -> str:
    """Each gold code with its title, and the levels at which the prediction has its ancestor."""
    paths = [system.path(code) for code in predicted if system.normalize(code) == code]
    found = [{path[level] for path in paths} for level in range(len(system.levels))]
    shown = []
    for code in gold:
        ancestors = zip(system.levels, system.path(code), found, strict=True)
        at = [level for level, ancestor, seen in ancestors if ancestor in seen]
        shown.append(f"  {code} {system.title(code)}\n    found at: {', '.join(at) or 'no level'}")
    return "\n".join(shown)


_BECOMES = {
    "standard": "it counts as an empty prediction",
    "official": "the row is left out",
}


def _format_scores(scored: Scored) -> str:
    if not scored.scored_rows:
        return "  none: the official protocol leaves out a row that predicts nothing"
    (scores,) = row_scores(scored.counts)
    width = max(map(len, scored.counts.levels))
    shown = [f"  {'level':<{width}}  precision  recall      F1"]
    for level in (*scored.counts.levels, "average"):
        values = (100 * scores[f"{measure}_{level}"] for measure in ("precision", "recall", "f1"))
        precision, recall, f1 = (f"{value:.2f}" for value in values)
        shown.append(f"  {level:<{width}}  {precision:>9}  {recall:>6}  {f1:>6}")
    return "\n".join(shown)


def _title(code: str, system: CodeSystem) -> str:
    """Of a code of the release its title; what MIMIC's own tables give may be an ICD-9 code or a number of theirs."""
    return system.title(code) if system.normalize(code) == code else "(not of the release)"


def _times(times: int, space: str = " ") -> str:
    return f"{space}({times} times)" if times > 1 else ""


def _mark(code: str, gold: set[str]) -> str:
    return " (in the gold)" if code in gold else ""


def _how(match: Match) -> str:
    if match.how != "embedding":
        return str(match.how)
    said = [f"embedding, similarity {match.similarity:.2f}"]
    said += [f"confidence {match.confidence:.2f}"] if match.confidence is not None else []
    said += [f"next {match.runner_up}"] if match.runner_up is not None else []
    return ", ".join(said)


def _short(text: str, width: int = 90) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
