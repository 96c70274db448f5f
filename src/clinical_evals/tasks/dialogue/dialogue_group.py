"""Dialogues that are played side by side: each of their steps is asked for in batches, logged, and taken.

What was answered in an earlier process comes from the log. A dialogue without an answer rests, the others go on.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from lighteval.tasks.requests import Doc

from clinical_evals.errors import RunError
from clinical_evals.ior_bench.dialogue import Dialogue, Step, next_step, take
from clinical_evals.tasks.dialogue.dialogue_context import show
from clinical_evals.tasks.dialogue.dialogue_log import Place, Shown, missing_line, step_key, step_line
from clinical_evals.tasks.dialogue.dialogue_played import Played, steps_of
from clinical_evals.tasks.logged_model import GIVE_UP
from clinical_evals.tasks.models.generation import Generator, Missing, Output, Remembers
from clinical_evals.tasks.prediction_log import Line, PredictionLog, hash_row
from clinical_evals.tasks.progress import Progress
from clinical_evals.tasks.scored.results import MissingRow
from clinical_evals.truncation import Room

if TYPE_CHECKING:
    from clinical_evals.tasks.dialogue.dialogue_run import DialogueRun


class GivenUp:
    """Ends a run where one side's endpoint is down, whatever the other's does."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self.in_succession: Counter[int] = Counter()
        """By generator the prompts without an answer since it gave the last one."""

    def check(self, generator: Generator, answered: int, missing: Sequence[Missing]) -> None:
        """Look at what came of a batch."""
        in_succession = 0 if answered else self.in_succession[id(generator)] + len(missing)
        self.in_succession[id(generator)] = in_succession
        if in_succession >= GIVE_UP:
            raise RunError(
                f"{in_succession} prompts in succession were not answered, the last because of: "
                f"{missing[-1].why}. All answers are in {self.log}: the same command again goes on there."
            )


class _Asked(NamedTuple):
    """One dialogue's next step."""

    key: str
    place: Place
    shown: Shown


class DialogueGroup:
    """Dialogues that are played side by side.

    Args:
        rows: for each its place in the split, and its case.
        doctor: questioner and referrer.
        patient: may be the same object.
        run: what was asked.
        log: open; the answers that it has are taken from it.
        progress: is told of each answer.
        given_up: is told of each batch.
    """

    def __init__(
        self,
        rows: Sequence[tuple[int, Mapping[str, Any]]],
        doctor: Generator,
        patient: Generator,
        run: "DialogueRun",
        log: PredictionLog,
        progress: Progress,
        given_up: GivenUp,
    ) -> None:
        self.rows, self.doctor, self.patient = rows, doctor, patient
        self.run, self.log, self.progress, self.given_up = run, log, progress, given_up
        self.data = {row: hash_row(case) for row, case in rows}
        self.dialogues = {row: Dialogue(case) for row, case in rows}
        self.lines: dict[int, list[Line]] = {row: [] for row, _ in rows}
        self.unread: dict[int, list[list[Doc]]] = {id(doctor): [], id(patient): []}
        """By generator the batches that it answered in an earlier process."""
        self.missing: dict[int, MissingRow] = {}
        """By row why a dialogue could not go on."""

    def play(self) -> list[Played]:
        """Ask for every step of every dialogue; see `dialogue_run.play`."""
        remembering = {id(each): each for each in (self.doctor, self.patient) if isinstance(each, Remembers)}.values()
        for generator in remembering:
            generator.begin_dialogues()
        try:
            for turn, step in steps_of(self.run.turns):
                self._play_step(turn, step)
        finally:
            for generator in remembering:
                generator.end_dialogues()
        return [Played(row, case, self.lines[row], self.missing.get(row)) for row, case in self.rows]

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
        shown = show(step, dialogue, generator.chat, room, self.run.where(row, dialogue.case))
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
        answers = [_with_role(found, one) for one, found in zip(asked, answers, strict=True)]
        seconds = (monotonic() - started) / len(asked)
        pairs = list(zip(asked, answers, strict=True))
        lines = [self._line(one, found, seconds) for one, found in pairs if not isinstance(found, Missing)]
        missing = [(one, found) for one, found in pairs if isinstance(found, Missing)]
        # What ends the run was not asked to the end: such a dialogue is as one that was killed.
        failed = [self._missing_line(one, found.why) for one, found in missing if not found.ends_run]
        if generator.is_main:
            self.log.append([*lines, *failed])
        else:
            self.log.rows |= {line["key"]: line for line in lines}
        self.progress.finish_rows(len(lines))
        self._break_off(missing)
        self.given_up.check(generator, len(lines), [found for _, found in missing])

    def _break_off(self, missing: Sequence[tuple[_Asked, Missing]]) -> None:
        """Let the dialogues without an answer rest; raises where the run has no point any more."""
        for one, found in missing:
            if found.ends_run:
                raise found.ends_run
            self.missing[one.place.row] = MissingRow(one.place.row, found.why, one.place.turn)

    def _missing_line(self, one: _Asked, why: str) -> Line:
        row = one.place.row
        return missing_line(one.key, one.place, self.dialogues[row].case, self.data[row], why)

    def _line(self, one: _Asked, answers: Sequence[Output], seconds: float) -> Line:
        row, _, step = one.place
        dialogue = self.dialogues[row]
        if len(answers) != 1:
            where = self.run.where(row, dialogue.case)
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
        if self.run.watch and self.doctor.is_main:
            self.run.watch(line)

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
            specific={"who": _role(one.place)},
        )


def _with_role(found: list[Output] | Missing, one: _Asked) -> list[Output] | Missing:
    """Where there is no answer, whose it would have been: doctor and patient may be at two addresses."""
    return found._replace(why=f"{_role(one.place)}: {found.why}") if isinstance(found, Missing) else found


def _role(place: Place) -> str:
    return "patient" if place.step == "patient" else "doctor"


def _cut(asked: Sequence[_Asked], size: int) -> Iterator[Sequence[_Asked]]:
    return (asked[start : start + size] for start in range(0, len(asked), size))
