"""Played dialogues, turn by turn: what each referral names, and how the two sides spoke (protocol.md 1.3)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from clinical_evals.ior_bench.department import Extraction
from clinical_evals.ior_bench.scorer import score_answers
from clinical_evals.ior_bench.simulator import (
    PatientStatistics,
    PatientTurn,
    QuestionStatistics,
    count_questions,
    patient_statistics,
    question_statistics,
    read_patient_turn,
)
from clinical_evals.scoring.department import Outcome, score_outcomes
from clinical_evals.scoring.turns import first_right
from clinical_evals.tasks.dialogue.dialogue_played import Played
from clinical_evals.tasks.prediction_log import Line


class ReferredDialogue(NamedTuple):
    """One dialogue and what became of it."""

    played: Played
    outcomes: tuple[Outcome, ...]
    """One a turn."""
    extractions: tuple[Extraction, ...]
    """What the referral of each turn names."""
    patient: tuple[PatientTurn, ...]
    """What each turn of the patient shows."""

    def lines_of(self, step: str) -> list[Line]:
        """The log lines of a step, turn by turn."""
        return [line for line in self.played.lines if line["step"] == step]

    def sum_up(self) -> Line:
        """The dialogue as one line, with the fields of a prediction log's: tokens are those of all answers."""
        lines, case = self.played.lines, self.played.case
        # What a model is shown may lack the oldest questions and answers.
        kept = min((line["kept"] for line in lines), default=1.0)
        served = [line["served"] for line in lines if "served" in line]  # of an endpoint only
        return {
            "row": self.played.row,
            "case_id": case["id"],
            "answers": [line["text"] for line in self.lines_of("refer")[-1:]],
            "finish": [line["finish"] for line in lines],
            "gold": [case["department"]],
            "candidates": list(case["candidates"]),
            "input_tokens": sum(line["input_tokens"] for line in lines),
            "output_tokens": [line["output_tokens"] for line in lines],
            "kept_prompt": kept,
            "kept_long": kept,
            **({"served": served} if served else {}),
        }

    def as_json(self) -> dict[str, Any]:
        """What was said and what became of each referral; without times."""
        last = self.outcomes[-1]
        return {
            "row": self.played.row,
            "case_id": self.played.case["id"],
            "gold": last.gold,
            "predicted": last.predicted,
            "right": last.right,
            "ambiguous": last.ambiguous,
            "first_right": first_right(self.outcomes),
            "turns": [self._turn_as_json(turn) for turn in range(len(self.outcomes))],
        }

    def _turn_as_json(self, turn: int) -> dict[str, Any]:
        """One turn; what is missing since a call failed, or since the last turn has no question, is null."""
        steps = {line["step"]: line for line in self.played.lines if line["turn"] == turn}
        shows = self.patient[turn] if turn < len(self.patient) else None
        question = steps["question"]["said"] if "question" in steps else None
        outcome = self.outcomes[turn]
        return {
            "turn": turn,
            "patient": steps["patient"]["said"] if shows else None,
            "departments_named": list(shows.departments) if shows else None,
            "asks": shows.asks if shows else None,
            "speaks_as_doctor": shows.speaks_as_doctor if shows else None,
            "referral": steps["refer"]["text"] if "refer" in steps else None,
            "named": list(self.extractions[turn].mentions),
            "predicted": outcome.predicted,
            "right": outcome.right,
            "ambiguous": outcome.ambiguous,
            "question": question,
            "questions": None if question is None else count_questions(question),
        }


class ReferredDialogues(NamedTuple):
    """What the dialogues of a run became."""

    dialogues: list[ReferredDialogue]
    """In the order given."""
    protocol: str

    @property
    def outcomes(self) -> list[Outcome]:
        """Those of the last turn, one a dialogue."""
        return [each.outcomes[-1] for each in self.dialogues]

    def by_turn(self) -> list[list[Outcome]]:
        """For each turn the outcomes of all dialogues."""
        return [list(turn) for turn in zip(*(each.outcomes for each in self.dialogues), strict=True)]

    def scores(self) -> dict[str, float]:
        """The scores of the last turn: those of `scoring.department.score_outcomes`."""
        return score_outcomes(self.outcomes)

    def lines_of(self, step: str) -> list[Line]:
        """The log lines of a step, of all dialogues."""
        return [line for each in self.dialogues for line in each.lines_of(step)]

    def patient(self) -> PatientStatistics:
        """How the simulated patient spoke."""
        turns = [(turn, each.played.case["department"]) for each in self.dialogues for turn in each.patient]
        return patient_statistics([turn for turn, _ in turns], [gold for _, gold in turns])

    def questions(self) -> QuestionStatistics:
        """How the questioner asked."""
        return question_statistics([line["said"] for line in self.lines_of("question")])


def refer_dialogues(played: Sequence[Played], turns: int, protocol: str = "standard") -> ReferredDialogues:
    """Read every referral of every dialogue; one that is missing names nothing and is wrong.

    Args:
        played: the dialogues; one that a failed call broke off has fewer lines, maybe none.
        turns: of a dialogue.
        protocol: "standard" or "official".

    Raises:
        InputError: a gold department is not offered (`standard`).
        UnknownNameError: no such protocol.
    """
    answered = [(each, line) for each in played for line in each.lines if line["step"] == "refer"]
    found: dict[tuple[int, int], tuple[Outcome, Extraction]] = {}
    if answered:
        scored = score_answers(
            [line["text"] for _, line in answered],
            [each.case["department"] for each, _ in answered],
            [each.case["candidates"] for each, _ in answered],
            protocol,
        )
        places = [(each.row, line["turn"]) for each, line in answered]
        found = dict(zip(places, zip(scored.outcomes, scored.extractions, strict=True), strict=True))
    dialogues = []
    for each in played:
        missing = Outcome(each.case["department"], None, False, False if protocol == "standard" else None)
        of_turns = [found.get((each.row, turn), (missing, Extraction(None, ()))) for turn in range(turns)]
        outcomes, extractions = zip(*of_turns, strict=True)
        dialogues.append(ReferredDialogue(each, outcomes, extractions, _read_patient(each)))
    return ReferredDialogues(dialogues, protocol)


def _read_patient(played: Played) -> tuple[PatientTurn, ...]:
    candidates = played.case["candidates"]
    lines = [line for line in played.lines if line["step"] == "patient"]
    return tuple(read_patient_turn(line["said"], line["text"], candidates) for line in lines)
