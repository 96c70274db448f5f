"""Dialogues of the dynamic task, played in batches by any two models, or one in both roles (protocol.md 1.3).

As many dialogues as a model answers together are played side by side: every step of theirs is one batch (two models
may take batches of different sizes). When they have ended the next ones begin. A batch is decided by the rows alone,
not by what was answered before, so that a resumed run computes the batches of a whole one.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from lighteval.tasks.requests import Doc

from clinical_evals.errors import InputError, RunError
from clinical_evals.ior_bench.department import check_candidates
from clinical_evals.ior_bench.dialogue import TURNS, Dialogue, Step, next_step, take
from clinical_evals.ior_bench.dialogue_prompts import DIALOGUE_PROMPT_VERSION
from clinical_evals.tasks.dialogue_context import show
from clinical_evals.tasks.dialogue_log import Place, Shown, step_key, step_line
from clinical_evals.tasks.dialogue_played import Played, steps_of
from clinical_evals.tasks.generation import Generator, Missing, Output, Remembers
from clinical_evals.tasks.prediction_log import Line, PredictionLog, hash_row
from clinical_evals.tasks.progress import Progress
from clinical_evals.truncation import Room

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


class PlayedRun(NamedTuple):
    """The dialogues of a run."""

    played: list[Played]
    """Those that came to their end, by row."""
    missing: dict[int, str]
    """By row why a dialogue did not: an endpoint gave no answer. It goes on from there when the run is repeated."""


def play(
    cases: Sequence[Mapping[str, Any]], doctor: Generator, patient: Generator, run: DialogueRun, log: PredictionLog
) -> PlayedRun:
    """Play the dialogues of all cases; what is in the log is not asked again.

    Args:
        cases: rows of `dynamic_h1` or `dynamic_h2`, in the order of the split.
        doctor: the model under test, questioner and referrer.
        patient: plays the patients; may be the same object.
        run: what was asked.
        log: from `open_transcripts(run.path, run.identity, …)`; stays open.

    Returns:
        One dialogue a case, in their order, but for those that lack an answer; their lines have the row's number now.

    Raises:
        InputError: a case cannot be played, a template knows no conversations, or a prompt does not fit.
        RunError: a model failed, or an endpoint's budget is spent. What was answered before is in the log.
    """
    for row, case in enumerate(cases):
        _check_case(case, _where(run, row, case))
    for generator in (doctor, patient):
        generator.chat.check_conversation()
        generator.wait_for_everyone()  # all processes must have read the same log before one writes
    numbered = list(enumerate(cases))
    size = max(doctor.rows_at_once, patient.rows_at_once)
    missing = len(cases) * len(steps_of(run.turns)) - _answered(cases, log)
    done = PlayedRun([], {})
    with Progress(max(missing, 0), max(run.answer_tokens.values()), show=doctor.is_main) as progress:
        for start in range(0, len(cases), size):
            group = _Group(numbered[start : start + size], doctor, patient, run, log, progress)
            done.played.extend(group.play())
            done.missing.update(group.missing)
    return done


class _Asked(NamedTuple):
    """One dialogue's next step."""

    key: str
    place: Place
    shown: Shown


class _Group:
    """Dialogues that are played side by side."""

    def __init__(
        self,
        rows: Sequence[tuple[int, Mapping[str, Any]]],
        doctor: Generator,
        patient: Generator,
        run: DialogueRun,
        log: PredictionLog,
        progress: Progress,
    ) -> None:
        self.rows, self.doctor, self.patient = rows, doctor, patient
        self.run, self.log, self.progress = run, log, progress
        self.data = {row: hash_row(case) for row, case in rows}
        self.dialogues = {row: Dialogue(case) for row, case in rows}
        self.lines: dict[int, list[Line]] = {row: [] for row, _ in rows}
        self.unread: dict[int, list[list[Doc]]] = {id(doctor): [], id(patient): []}
        """By generator the batches that it answered in an earlier process."""
        self.missing: dict[int, str] = {}
        """By row why a dialogue could not go on."""

    def play(self) -> list[Played]:
        remembering = {id(each): each for each in (self.doctor, self.patient) if isinstance(each, Remembers)}.values()
        for generator in remembering:
            generator.begin_dialogues()
        try:
            for turn, step in steps_of(self.run.turns):
                self._play_step(turn, step)
        finally:
            for generator in remembering:
                generator.end_dialogues()
        return [Played(row, case, self.lines[row]) for row, case in self.rows if row not in self.missing]

    def _play_step(self, turn: int, step: Step) -> None:
        generator = self.patient if step == "patient" else self.doctor
        asked = [self._ask(Place(row, turn, step), generator) for row, _ in self.rows if row not in self.missing]
        for batch in _cut(asked, generator.rows_at_once):
            missing = [one for one in batch if one.key not in self.log.rows]
            if missing:
                self._answer(missing, generator)
            else:
                self.unread[id(generator)].append([self._doc(one) for one in batch])
        for one in asked:
            if one.place.row not in self.missing:
                self._take(one)

    def _ask(self, place: Place, generator: Generator) -> _Asked:
        row, _, step = place
        dialogue = self.dialogues[row]
        if (turn := next_step(dialogue, self.run.turns)) != step:
            raise AssertionError(f"the step is {step}, of the dialogue {turn}")
        side = self.run.patient if step == "patient" else self.run.doctor
        room = Room(side.context, self.run.answer_tokens[step])
        shown = show(step, dialogue, generator.chat, room, _where(self.run, row, dialogue.case))
        return _Asked(step_key(self.run.identity, self.data[row], place, shown.prompt), place, shown)

    def _answer(self, asked: Sequence[_Asked], generator: Generator) -> None:
        """Have one batch answered and logged."""
        unread = self.unread[id(generator)]
        if isinstance(generator, Remembers):
            for docs in unread:
                generator.read(docs)
        unread.clear()
        started = monotonic()
        answers = generator.generate([self._doc(one) for one in asked], self.progress)
        seconds = (monotonic() - started) / len(asked)
        lines, ends_run = [], None
        for one, of_one in zip(asked, answers, strict=True):
            if isinstance(of_one, Missing):
                self.missing[one.place.row] = of_one.why
                ends_run = ends_run or of_one.ends_run
            else:
                lines.append(self._line(one, of_one, seconds))
        if lines and generator.is_main:
            self.log.append(lines)
        else:
            self.log.rows |= {line["key"]: line for line in lines}
        self.progress.finish_rows(len(lines))
        if ends_run:
            raise ends_run

    def _line(self, one: _Asked, answers: Sequence[Output], seconds: float) -> Line:
        row, _, step = one.place
        dialogue = self.dialogues[row]
        if len(answers) != 1:
            where = _where(self.run, row, dialogue.case)
            raise RunError(f"{where}: the model returned {len(answers)} answers to one prompt, expected 1.")
        line = step_line(one.key, one.place, dialogue.case, self.data[row], one.shown, answers[0], seconds)
        if step != "refer":
            line["said"] = take(step, dialogue, answers[0].text).spoken[-1].content
        return line

    def _take(self, one: _Asked) -> None:
        row, _, step = one.place
        line = self.log.rows[one.key] | {"row": row}  # rows may have moved since it was written
        self.dialogues[row] = take(step, self.dialogues[row], line["text"])
        self.lines[row].append(line)

    def _doc(self, one: _Asked) -> Doc:
        row, _, step = one.place
        return Doc(
            query=one.shown.prompt,
            choices=[self.dialogues[row].case["department"]],
            gold_index=0,
            task_name=self.run.task,
            id=str(row),
            generation_size=self.run.answer_tokens[step],
            num_samples=1,
            stop_sequences=[],  # without it None, on which lighteval fails when the model has no chat template
            specific={"who": "patient" if step == "patient" else "doctor"},
        )


def _cut(asked: Sequence[_Asked], size: int) -> Iterator[Sequence[_Asked]]:
    return (asked[start : start + size] for start in range(0, len(asked), size))


def _answered(cases: Sequence[Mapping[str, Any]], log: PredictionLog) -> int:
    """How many answers to these cases a log has."""
    asked = {hash_row(case) for case in cases}
    return len({
        (line["data_sha256"], line["turn"], line["step"])
        for line in log.rows.values()
        if line["data_sha256"] in asked
    })  # fmt: skip


def _check_case(case: Mapping[str, Any], where: str) -> None:
    check_candidates(case["candidates"], where)
    if case["department"] not in case["candidates"]:
        raise InputError(f"{where}: the department {case['department']!r} is none of its candidates.")


def _where(run: DialogueRun, row: int, case: Mapping[str, Any]) -> str:
    return f"row {row} of {run.task} (case {case['id']!r})"
