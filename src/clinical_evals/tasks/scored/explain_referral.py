"""One row of a run that asked for a department, from the prompt to the verdict."""

from collections.abc import Sequence

from clinical_evals.ior_bench.department import Extraction
from clinical_evals.ior_bench.prompts import STRATEGIES
from clinical_evals.scoring.department import Outcome
from clinical_evals.tasks.dialogue.answered_dialogues import refer_rows, referred_row
from clinical_evals.tasks.names import Task
from clinical_evals.tasks.prediction_log import Line
from clinical_evals.tasks.scored.explain_text import format_prompt, format_raw


def explain_referral(task: Task, lines: Sequence[Line], protocol: str) -> list[str]:
    """Prompt, answers, what each names, gold, and whether it is right; by turn where turns were probed.

    Args:
        task: of the log.
        lines: of the row, by turn.
        protocol: "standard" or "official".
    """
    votes = STRATEGIES[task.strategy].votes > 1
    referred = refer_rows(tuple(referred_row(line, votes) for line in lines), protocol)
    last = lines[-1]
    parts = [
        f"[case] {last['case_id']}; {len(last['candidates'])} departments to choose from",
        format_prompt(last),
        *(format_raw(number, last, votes or number == 0) for number in range(len(last["answers"]))),
        "[named]\n" + "\n".join(map(_format_named, referred.extractions[-1])),
        f"[verdict]\n  {_format_verdict(referred.outcomes[-1])}",
    ]
    if len(lines) > 1:
        turns = (
            f"  turn {line['turn']}: {_format_verdict(outcome)}"
            for line, outcome in zip(lines, referred.outcomes, strict=True)
        )
        parts.append("[turns]\n" + "\n".join(turns))
    return parts


def _format_named(found: Extraction) -> str:
    if found.department is None:
        return "  no department of the list"
    others = [name for name in found.mentions if name != found.department]
    return f"  {found.department}" + (f" (ambiguous: also {', '.join(others)})" if others else "")


def _format_verdict(outcome: Outcome) -> str:
    verdict = "right" if outcome.right else "wrong"
    return f"{outcome.predicted or 'no answer'}: {verdict}; gold {outcome.gold}"
