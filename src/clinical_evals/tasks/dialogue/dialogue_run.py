"""Dialogues of the dynamic task, played in batches by any two models, or one in both roles (protocol.md 1.3).

As many dialogues as a model answers together are played side by side: every step of theirs is one batch (two models
may take batches of different sizes). When they have ended the next ones begin. A batch is decided by the rows alone,
not by what was answered before, so that a resumed run computes the batches of a whole one.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.ior_bench.department import check_candidates
from clinical_evals.ior_bench.dialogue import TURNS, Step
from clinical_evals.ior_bench.dialogue_prompts import DIALOGUE_PROMPT_VERSION
from clinical_evals.tasks.dialogue.dialogue_group import DialogueGroup, GivenUp
from clinical_evals.tasks.dialogue.dialogue_played import Played, steps_of
from clinical_evals.tasks.models.generation import Generator
from clinical_evals.tasks.prediction_log import Line, PredictionLog, hash_row
from clinical_evals.tasks.progress import Progress

ANSWER_TOKENS: Mapping[Step, int] = {"patient": 128, "refer": 64, "question": 128}
"""The most tokens of an answer, unless the user says otherwise."""


class Side(NamedTuple):
    """The model of one side."""

    about: Mapping[str, Any]
    """What decides its answers, as JSON: which weights, which settings."""
    context: int
    """How many tokens it may read and write together."""


class DialogueRun(NamedTuple):
    """One task on two models: where its log is, and what decides the answers."""

    path: Path
    task: str
    """Its name, as `names.Task.name` has it."""
    doctor: Side
    patient: Side
    turns: int = TURNS
    answer_tokens: Mapping[Step, int] = ANSWER_TOKENS
    watch: Callable[[Line], None] | None = None
    """Is told each answer when it is taken, in the order of the steps and in each of the rows; decides nothing."""

    @property
    def identity(self) -> dict[str, Any]:
        """What the log is known by: everything that decides the answers; see `PredictionLog`."""
        return {
            "task": self.task,
            "split": "test",
            "prompt": DIALOGUE_PROMPT_VERSION,
            "turns": self.turns,
            "answer_tokens": dict(self.answer_tokens),
            "doctor": {**self.doctor.about, "context": self.doctor.context},
            "patient": {**self.patient.about, "context": self.patient.context},
        }

    def where(self, row: int, case: Mapping[str, Any]) -> str:
        """How a case is named in an error."""
        return f"row {row} of {self.task} (case {case['id']!r})"


class PlayedRun(NamedTuple):
    """The dialogues of a run."""

    played: list[Played]
    """One a case, in their order; one that broke off has the lines up to there."""

    @property
    def missing(self) -> dict[int, str]:
        """By row why a dialogue broke off: an endpoint gave no answer. It goes on when the run is repeated."""
        return {each.row: each.missing.why for each in self.played if each.missing}


def play(
    cases: Sequence[Mapping[str, Any]],
    doctor: Generator,
    patient: Generator,
    run: DialogueRun,
    log: PredictionLog,
    rows: Sequence[int] | None = None,
) -> PlayedRun:
    """Play the dialogues of all cases; what is in the log is not asked again.

    Args:
        cases: rows of `dynamic_h1` or `dynamic_h2`, in the order of the split.
        doctor: the model under test, questioner and referrer.
        patient: plays the patients; may be the same object.
        run: what was asked.
        log: from `open_transcripts(run.path, run.identity, …)`; stays open.
        rows: the place of each case in the split; None: the cases are the whole split.

    Returns:
        One dialogue a case, in their order; their lines have the row's number now.

    Raises:
        InputError: a case cannot be played, a template knows no conversations, or a prompt does not fit.
        RunError: a model failed, an endpoint's budget is spent, or it gives no answer any more. What was answered
            before is in the log.
    """
    numbered = list(zip(range(len(cases)) if rows is None else rows, cases, strict=True))
    for row, case in numbered:
        _check_case(case, run.where(row, case))
    for generator in (doctor, patient):
        generator.chat.check_conversation()
        generator.wait_for_everyone()  # all processes must have read the same log before one writes
    size = max(doctor.rows_at_once, patient.rows_at_once)
    missing = len(cases) * len(steps_of(run.turns)) - _answered(cases, log)
    played: list[Played] = []
    given_up = GivenUp(run.path)
    tokens = max(run.answer_tokens.values())
    with Progress(max(missing, 0), tokens, show=doctor.is_main, unit="answer") as progress:
        for start in range(0, len(cases), size):
            played += DialogueGroup(
                numbered[start : start + size], doctor, patient, run, log, progress, given_up
            ).play()
    return PlayedRun(played)


def _answered(cases: Sequence[Mapping[str, Any]], log: PredictionLog) -> int:
    """How many answers to these cases a log has."""
    asked = {hash_row(case) for case in cases}
    return len({
        (line["data_sha256"], line["turn"], line["step"])
        for line in log.rows.values()
        if line["data_sha256"] in asked and "missing" not in line
    })  # fmt: skip


def _check_case(case: Mapping[str, Any], where: str) -> None:
    check_candidates(case["candidates"], where)
    if case["department"] not in case["candidates"]:
        raise InputError(f"{where}: the department {case['department']!r} is none of its candidates.")
