"""Referrals: the answers to each row become one department, by a single answer or by vote; kept in this process."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from clinical_evals.ior_bench.department import Extraction, is_right
from clinical_evals.ior_bench.scorer import score_answers
from clinical_evals.ior_bench.static import vote
from clinical_evals.scoring.department import Outcome, score_outcomes


class ReferredRow(NamedTuple):
    """The answers to one prompt, with the gold department; `row` is its place in the split."""

    row: int
    answers: tuple[str, ...]
    """All that vote; where nothing is voted, the one that is scored."""
    gold: str
    candidates: tuple[str, ...]


class Referred(NamedTuple):
    """What the rows of a run became."""

    outcomes: list[Outcome]
    """One for each row, in the order given."""
    extractions: list[tuple[Extraction, ...]]
    """For each row what each of its answers names."""
    protocol: str

    def scores(self) -> dict[str, float]:
        """The scores of `scoring.department.score_outcomes`."""
        return score_outcomes(self.outcomes)


def referred_row(line: dict[str, Any], votes: bool) -> ReferredRow:
    """The row of a log line.

    Args:
        line: of a prediction log.
        votes: whether all answers vote; else the first is scored.
    """
    answers = line["answers"] if votes else line["answers"][:1]
    return ReferredRow(line["row"], tuple(answers), line["gold"][0], tuple(line["candidates"]))


@lru_cache(maxsize=32)
def refer_rows(rows: tuple[ReferredRow, ...], protocol: str = "standard") -> Referred:
    """Score rows, in the order given; asking again for the same rows costs nothing."""
    flat = [(answer, row.gold, row.candidates) for row in rows for answer in row.answers]
    scored = score_answers(
        [answer for answer, _, _ in flat], [gold for _, gold, _ in flat], [names for _, _, names in flat], protocol
    )
    outcomes, extractions = [], []
    start = 0
    for row in rows:
        end = start + len(row.answers)
        outcomes.append(_outcome(row, scored.outcomes[start:end], protocol))
        extractions.append(tuple(scored.extractions[start:end]))
        start = end
    return Referred(outcomes, extractions, protocol)


def _outcome(row: ReferredRow, answers: Sequence[Outcome], protocol: str) -> Outcome:
    if len(answers) == 1:
        return answers[0]
    winner = vote([answer.predicted for answer in answers], protocol)
    # Ambiguous as the answer that the department is taken from.
    ambiguous = answers[winner.voter].ambiguous
    return Outcome(row.gold, winner.department, is_right(winner.department, row.gold, protocol), ambiguous)
