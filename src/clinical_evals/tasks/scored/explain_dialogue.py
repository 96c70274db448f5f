"""One dialogue of a transcript log, as it unfolded."""

from pathlib import Path

from clinical_evals.errors import InputError
from clinical_evals.ior_bench.dialogue_prompts import GREETING
from clinical_evals.ior_bench.scorer import score_answers
from clinical_evals.tasks.dialogue.dialogue_played import Played, read_played
from clinical_evals.tasks.logged_rows import task_of
from clinical_evals.tasks.scored.explain_text import printable


def explain_dialogue(log: Path, row: int, protocol: str = "standard") -> str:
    """What was said, and after each answer of the patient the referral, which no one in the dialogue sees.

    Args:
        log: the transcripts.jsonl of a run.
        row: its place in the split; a dialogue that has not ended is shown as far as it went.
        protocol: by which referrals are read.

    Raises:
        InputError: no such dialogue; those of the log are named.
    """
    header, played, unfinished = read_played(log)
    every = sorted([*played, *unfinished], key=lambda each: each.row)
    if not every:
        raise InputError(f"{log} has no answers yet. {_AGAIN}")
    found = next((each for each in every if each.row == row), None)
    if found is None:
        known = ", ".join(str(each.row) for each in every[:20])
        raise InputError(f"--row {row}: {log} has the dialogues {known}{' and more' if len(every) > 20 else ''}.")
    title = f"# {task_of(header, log).name}, row {row}, {protocol} protocol"
    end = [f"(this dialogue has not ended, and is in no score. {_AGAIN})"] if found in unfinished else []
    return "\n".join([title, "", *format_dialogue(found, protocol), *end])


_AGAIN = "Run the same `clinical-evals eval` again: it goes on from what is in the log."
MOST_SHOWN = 120
"""Characters of a referral that are shown."""


def format_dialogue(played: Played, protocol: str = "standard") -> list[str]:
    """The lines of a dialogue."""
    gold, candidates = played.case["department"], played.case["candidates"]
    answers = [line["text"] for line in played.lines if line["step"] == "refer"]
    scored = score_answers(answers, [gold] * len(answers), candidates, protocol).outcomes if answers else []
    outcomes = iter(scored)
    shown = [f"case {played.case['id']}, gold {gold}", f"doctor:  {GREETING}"]
    said = []
    for line in played.lines:
        if line["step"] == "refer":
            outcome = next(outcomes)
            verdict = "right" if outcome.right else "wrong"
            read = f"{outcome.predicted or 'no answer'}, {verdict}"
            said.append(f"    [turn {line['turn']}: {read}; referrer: {_short(line['text'])}]")
        else:
            said.append(f"{line['who'] + ':':<8} {printable(line['said'])}")
    broke_off = [f"(broke off: {printable(str(played.missing))})"] if played.missing else []
    return [*shown, *said, *broke_off]


def _short(answer: str) -> str:
    """The beginning and the end of a referral in one line: the conclusion mostly stands at the end."""
    words = printable(" ".join(answer.split())) or "(no text)"
    half = MOST_SHOWN // 2
    return words if len(words) <= MOST_SHOWN else f"{words[:half]} … {words[-half:]}"
