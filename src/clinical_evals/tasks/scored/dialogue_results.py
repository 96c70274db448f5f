"""A run of dialogues, scored: IOR-Bench's dynamic task (protocol.md 1.3).

The scores of a run are those of the last turn, where the doctor has heard everything; `turns` of the summary has those
of each turn, from 0 as the paper counts. Simulator statistics are defined in `ior_bench.simulator`.

A dialogue that broke off, since a model's answer failed, is left out and named under `standard`; under `official` it
stays, and each referral that it lacks is wrong (protocol.md 3). One of which a log simply has too few answers, since
the run was stopped or a line is gone, is in no score: `rows_unfinished` names it.

What is said in a turn is cut to `ior_bench.dialogue.LONGEST_TURN` characters, and the statistics of what was said are
of that; `turns_cut` has the number of turns to which this happened.

Seconds differ from run to run, so they are printed (`dialogue_tables`) and stand in neither file.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.ior_bench.dialogue import is_cut
from clinical_evals.scoring.department import accuracy_by_department, confusion_pairs
from clinical_evals.scoring.turns import FirstRight, TurnScore, best_turn, score_turns, turns_to_first_right
from clinical_evals.tasks.dialogue.dialogue_log import TRANSCRIPTS
from clinical_evals.tasks.dialogue.dialogue_played import Played
from clinical_evals.tasks.dialogue.referred_dialogues import refer_dialogues
from clinical_evals.tasks.names import Task
from clinical_evals.tasks.prediction_log import Kind, Line
from clinical_evals.tasks.scored.results import Result

ROLES = {"patient": "patient", "questioner": "question", "referrer": "refer"}
"""The roles of the models, and the step of the log in which each is asked."""


class RoleUse(NamedTuple):
    """What the answers of one role took."""

    answers: int
    input_tokens: int
    output_tokens: int
    cut_off: int
    """Answers that were cut at their token limit."""
    seconds: float
    """Of computing; those of a batch are shared out evenly among its answers in the log."""


@dataclass(frozen=True)
class DialogueResult(Result):
    """Accuracy by turn and what was said.

    `scored` is a `referred_dialogues.ReferredDialogues`; `lines` has one line a dialogue, its tokens summed.
    """

    turns: list[TurnScore]
    broken_off: list[int]
    """Rows of the dialogues that broke off."""
    unfinished: list[int] = field(default_factory=list, kw_only=True)
    """Rows of the dialogues that have not ended in the log."""
    kind: ClassVar[Kind] = TRANSCRIPTS

    @property
    def protocol(self) -> str:
        """Which protocol scored it."""
        return str(self.scored.protocol)

    @property
    def best_turn(self) -> TurnScore:
        """The turn of the highest accuracy; of equals the earliest."""
        return best_turn(self.turns)

    @property
    def first_right(self) -> FirstRight:
        """How soon the dialogues lead to the right department."""
        return turns_to_first_right(self.scored.by_turn())

    def use(self, role: str) -> RoleUse:
        """What the answers of a role took.

        Args:
            role: one of `ROLES`.
        """
        lines = self.scored.lines_of(ROLES[role])
        return RoleUse(
            len(lines),
            sum(line["input_tokens"] for line in lines),
            sum(line["output_tokens"] for line in lines),
            sum(line["finish"] == "length" for line in lines),
            float(sum(line["seconds"] for line in lines)),
        )

    def served(self) -> dict[str, list[Line]]:
        """What an endpoint said of its answers, of the doctor and of the patient."""
        found: dict[str, list[Line]] = {}
        for line in (line for step in ROLES.values() for line in self.scored.lines_of(step)):
            if "served" in line:
                found.setdefault(line["who"], []).append(line["served"])
        return found

    def tokens(self) -> tuple[int, int]:
        """Tokens read and written; the log has an endpoint's own count as that of the answer."""
        uses = [self.use(role) for role in ROLES]
        return sum(use.input_tokens for use in uses), sum(use.output_tokens for use in uses)

    def turns_cut(self) -> dict[str, int]:
        """Of doctor and patient the turns of which `LONGEST_TURN` characters were kept."""
        steps = {"doctor": "question", "patient": "patient"}
        return {who: sum(is_cut(line["text"]) for line in self.scored.lines_of(step)) for who, step in steps.items()}

    def about(self) -> dict[str, Any]:
        """How many departments there were to choose from, and how many turns a dialogue has."""
        return {"candidates": max(len(line["candidates"]) for line in self.lines), "turns_played": len(self.turns)}

    def details(self) -> dict[str, Any]:
        """Turns, what was said, tokens by role, and departments and confusions at the last turn."""
        patient = self.scored.patient()
        by_department = {
            name: {**counts._asdict(), "accuracy": counts.accuracy, "f1": counts.f1}
            for name, counts in accuracy_by_department(self.scored.outcomes).items()
        }
        return {
            "turns": [_turn_as_json(turn) for turn in self.turns],
            "best_turn": self.best_turn.turn,
            "first_right": self.first_right._asdict(),
            "patient": patient._asdict() | {"leak_rate": patient.leak_rate, "break_rate": patient.break_rate},
            "questions": self.scored.questions()._asdict(),
            "turns_cut": self.turns_cut(),
            "tokens": {role: _without_seconds(self.use(role)) for role in ROLES},
            "rows_broken_off": self.broken_off,
            "rows_unfinished": self.unfinished,
            "by_department": by_department,
            "confusion": [list(pair) for pair in confusion_pairs(self.scored.outcomes)],
        }

    def scored_lines(self) -> list[dict[str, Any]]:
        """One object a dialogue, with its turns: what was said, and what became of each referral."""
        return [each.as_json() for each in self.scored.dialogues]


def score_dialogues(
    task: Task,
    log: Path,
    resumed: int,
    played: Sequence[Played],
    protocol: str = "standard",
    unfinished: Sequence[Played] = (),
) -> DialogueResult:
    """Score dialogues by one protocol; intervals are over cases, by bootstrap, Wilson's at the edges.

    Args:
        task: of the dialogues.
        log: their transcripts.
        resumed: how many dialogues had been finished before.
        played: the dialogues, in any order; one that a failed call broke off with the lines it has. The longest says
            how many turns a dialogue has, so one must have come to its end.
        protocol: "standard" or "official".
        unfinished: the dialogues of the log that have not ended: in no score, by neither protocol.

    Raises:
        InputError: no dialogue came to its end, or a gold department is not offered (`standard`).
        UnknownNameError: no such protocol.
    """
    ordered = sorted(played, key=lambda each: each.row)
    turns = 1 + max((line["turn"] for each in ordered for line in each.lines), default=-1)
    broken_off = [each.row for each in ordered if each.missing or _referrals(each) < turns]
    kept = ordered if protocol == "official" else [each for each in ordered if each.row not in set(broken_off)]
    if not turns or len(broken_off) == len(ordered):
        raise InputError(f"{log}: no dialogue to score: {_why_none(ordered, unfinished)}")
    scored = refer_dialogues(kept, turns, protocol)
    by_turn = score_turns(scored.by_turn())
    lines = [each.sum_up() for each in scored.dialogues]
    intervals = {"accuracy": (by_turn[-1].low, by_turn[-1].high)}
    unanswered = tuple(each.missing for each in ordered if each.missing)
    return DialogueResult(
        task,
        log,
        resumed,
        lines,
        scored,
        intervals,
        by_turn,
        broken_off,
        unanswered=unanswered,
        unfinished=[each.row for each in unfinished],
    )


def _why_none(broken_off: Sequence[Played], unfinished: Sequence[Played]) -> str:
    again = "Run the same `clinical-evals eval` again: it goes on from what is in the log."
    found = []
    if unfinished:
        answers = sum(len(each.lines) for each in unfinished)
        found.append(f"it has {answers} answers of {len(unfinished)} dialogues that have not ended")
    if broken_off:
        found.append(f"each of {len(broken_off)} {'others ' if unfinished else ''}broke off")
    return f"{', and '.join(found) or 'it has no answers yet'}. {again}"


def _referrals(played: Played) -> int:
    return len({line["turn"] for line in played.lines if line["step"] == "refer"})


def _turn_as_json(score: TurnScore) -> dict[str, Any]:
    return score._asdict() | {"gain": score.gain._asdict() if score.gain else None}


def _without_seconds(use: RoleUse) -> dict[str, int]:
    return {name: value for name, value in use._asdict().items() if name != "seconds"}
