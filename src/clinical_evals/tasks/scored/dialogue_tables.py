"""What is printed of a run of dialogues: a table with the turns as rows, and what was said (protocol.md 1.3)."""

from collections.abc import Sequence

from clinical_evals.ior_bench.dialogue import LONGEST_TURN
from clinical_evals.ior_bench.simulator import MOST_QUESTIONS
from clinical_evals.ruled_table import ruled
from clinical_evals.scoring.department import as_printed, confusion_pairs
from clinical_evals.scoring.turns import TurnScore
from clinical_evals.tasks.scored.department_tables import MOST_CONFUSED
from clinical_evals.tasks.scored.dialogue_results import ROLES, DialogueResult

_HEAD = ["turn", "accuracy", "gain", "no answer", "ambiguous"]
MOST_NAMED = 10
"""Rows of dialogues without an end that are named; the summary has all."""


def format_dialogues(result: DialogueResult) -> list[str]:
    """Head, table and remarks of a result."""
    rows = [[str(score.turn), *_cells(score)] for score in result.turns]
    return [
        f"{result.protocol} protocol (in %, 95 % intervals by case)",
        ruled([_HEAD], rows, last_apart=False),
        *_remarks(result, "what they lack is wrong" if result.protocol == "official" else "left out"),
    ]


def format_both_dialogues(standard: DialogueResult, official: DialogueResult) -> list[str]:
    """The same for a task that both protocols scored; the remarks are those of `standard`."""
    rows = [
        [str(one.turn), *_cells(one), _accuracy(other), _rate(other.no_answer_rate)]
        for one, other in zip(standard.turns, official.turns, strict=True)
    ]
    return [
        "both protocols (in %, 95 % intervals by case)",
        ruled([[*_HEAD, "official accuracy", "no answer"]], rows, last_apart=False),
        *_remarks(standard, "left out of standard; under official what they lack is wrong"),
    ]


def _cells(score: TurnScore) -> list[str]:
    gain = score.gain
    shown = f"{_signed(gain.value)} [{_signed(gain.low)}, {_signed(gain.high)}]" if gain else "-"
    return [_accuracy(score), shown, _rate(score.no_answer_rate), _rate(score.ambiguous_rate)]


def _remarks(result: DialogueResult, fate: str) -> Sequence[str]:
    return [
        _format_last_turn(result),
        _format_best_turn(result),
        _format_questions(result),
        _format_patient(result),
        _format_confusions(result),
        _format_turns_cut(result),
        _format_broken_off(result, fate),
        _format_unfinished(result),
        _format_use(result),
    ]


def _format_last_turn(result: DialogueResult) -> str:
    macro = _percent(result.scored.scores()["macro_f1"])
    return f"{result.about()['candidates']} departments to choose from; macro F1 at the last turn {macro}"


def _format_best_turn(result: DialogueResult) -> str:
    best, first = result.best_turn, result.first_right
    text = f"best turn: {best.turn} ({_percent(best.accuracy)}); first correct referral "
    if first.mean is None:
        return f"{text}never, in none of {first.never} dialogues"
    return f"{text}after {as_printed(first.mean)} turns (turn 0 is the first), never in {first.never} dialogues"


def _format_questions(result: DialogueResult) -> str:
    asked = result.scored.questions()
    if not asked.turns:
        return ""
    a_turn = as_printed(asked.questions / asked.turns)
    return (
        f"doctor: {asked.questions} questions in {asked.turns} turns ({a_turn} a turn); {asked.too_many} turns with "
        f"more than {MOST_QUESTIONS}, {asked.none} with none"
    )


def _format_patient(result: DialogueResult) -> str:
    found = result.scored.patient()
    length = "-" if found.sentence_length is None else as_printed(found.sentence_length, 1)
    return (
        f"patient: {length} characters a sentence; {found.turns} turns, {found.silent} of them silent\n"
        f"  leaks: {_rate(found.leak_rate)} (names a department in {found.leaks}, the right one in "
        f"{found.gold_leaks})\n"
        f"  breaks: {_rate(found.break_rate)} (asks in {found.asks}, speaks as a doctor in {found.doctor_speech})"
    )


def _format_confusions(result: DialogueResult) -> str:
    pairs = confusion_pairs(result.scored.outcomes, MOST_CONFUSED)
    shown = [f"{gold} → {named or 'no answer'} ({rows})" for gold, named, rows in pairs]
    return f"most frequent errors at the last turn: {', '.join(shown)}" if shown else ""


def _format_broken_off(result: DialogueResult, fate: str) -> str:
    if not result.broken_off:
        return ""
    return f"{len(result.broken_off)} dialogues broke off ({fate}): {name_rows(result.broken_off)}"


def _format_unfinished(result: DialogueResult) -> str:
    rows = result.unfinished
    return f"{len(rows)} dialogues have not ended in the log (in no score): {name_rows(rows)}" if rows else ""


def name_rows(rows: Sequence[int]) -> str:
    """The first of some rows by their numbers.

    >>> name_rows([3, 5])
    'rows 3, 5'
    """
    return f"rows {', '.join(map(str, rows[:MOST_NAMED]))}{', …' if len(rows) > MOST_NAMED else ''}"


def _format_turns_cut(result: DialogueResult) -> str:
    cut = result.turns_cut()
    if not any(cut.values()):
        return ""
    return (
        f"longer than {LONGEST_TURN} characters, and cut to them: {cut['patient']} turns of the patient, "
        f"{cut['doctor']} of the doctor; the other side and the numbers above see what was kept"
    )


def _format_use(result: DialogueResult) -> str:
    heads = ["role", "answers", "tokens read", "written", "cut off", "seconds"]
    rows = []
    for role in ROLES:
        use = result.use(role)
        tokens = [f"{use.input_tokens:,}", f"{use.output_tokens:,}"]
        rows.append([role, str(use.answers), *tokens, str(use.cut_off), f"{use.seconds:,.1f}"])
    return ruled([heads], rows, last_apart=False)


def _accuracy(score: TurnScore) -> str:
    return f"{_percent(score.accuracy)} [{_percent(score.low)}, {_percent(score.high)}]"


def _rate(value: float | None) -> str:
    return "-" if value is None else _percent(value)


def _percent(value: float) -> str:
    return as_printed(100 * value)


def _signed(value: float) -> str:
    shown = _percent(value)
    return f"+{shown}" if value > 0 and float(shown) else shown.replace("-0.00", "0.00")
