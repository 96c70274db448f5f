"""One dialogue of a transcript log, as it unfolded."""

from collections.abc import Sequence
from pathlib import Path

from clinical_evals.errors import InputError
from clinical_evals.ior_bench.dialogue_prompts import GREETING
from clinical_evals.ior_bench.scorer import score_answers
from clinical_evals.tasks.dialogue_played import Played, read_played
from clinical_evals.tasks.explain_text import printable
from clinical_evals.tasks.logged_rows import task_of


def explain_dialogue(log: Path, row: int, protocol: str = "standard") -> str:
    """What was said, and after each answer of the patient the referral, which no one in the dialogue sees.

    Args:
        log: the transcripts.jsonl of a run.
        row: its place in the split.
        protocol: by which referrals are read.

    Raises:
        InputError: no such dialogue; those of the log are named.
    """
    header, played, _ = read_played(log)
    found = next((each for each in played if each.row == row), None)
    if found is None:
        known = ", ".join(str(each.row) for each in played[:20])
        raise InputError(f"--row {row}: {log} has the dialogues {known}{' and more' if len(played) > 20 else ''}.")
    title = f"# {task_of(header, log).name}, row {row}, {protocol} protocol"
    return "\n".join([title, "", *format_dialogue(found, protocol)])


def format_dialogue(played: Played, protocol: str = "standard") -> list[str]:
    """The lines of a dialogue."""
    gold, candidates = played.case["department"], played.case["candidates"]
    answers = [line["text"] for line in played.lines if line["step"] == "refer"]
    scored = score_answers(answers, [gold] * len(answers), candidates, protocol).outcomes if answers else []
    outcomes = iter(scored)
    shown: Sequence[str] = [f"case {played.case['id']}, gold {gold}", f"doctor:  {GREETING}"]
    said = []
    for line in played.lines:
        if line["step"] == "refer":
            outcome = next(outcomes)
            verdict = "right" if outcome.right else "wrong"
            said.append(f"    [turn {line['turn']}: {outcome.predicted or 'no answer'}, {verdict}]")
        else:
            said.append(f"{line['who'] + ':':<8} {printable(line['said'])}")
    broke_off = [f"(broke off: {printable(str(played.missing))})"] if played.missing else []
    return [*shown, *said, *broke_off]
