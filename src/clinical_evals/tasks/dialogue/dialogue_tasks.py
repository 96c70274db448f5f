"""The dynamic tasks of a run of the launcher: two models, their dialogues, and the results (protocol.md 1.3).

What an output folder holds afterwards, beside that of other tasks:

    TASK/DOCTOR-with-PATIENT-RUN/transcripts.jsonl   one line an answer of a model, appended as they come
    TASK/DOCTOR-with-PATIENT-RUN/scored.jsonl, summary.json (and with .official)
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from clinical_evals.datasets_hub.source import mark_in
from clinical_evals.errors import InputError, RunError
from clinical_evals.ior_bench.dialogue import TURNS, Step
from clinical_evals.ior_bench.static import order_rows
from clinical_evals.tasks.dialogue.dialogue_log import open_transcripts
from clinical_evals.tasks.dialogue.dialogue_played import Played
from clinical_evals.tasks.dialogue.dialogue_run import ANSWER_TOKENS, DialogueRun, Side, play
from clinical_evals.tasks.logged_model import MOST_MISSING
from clinical_evals.tasks.names import Task
from clinical_evals.tasks.options import Options
from clinical_evals.tasks.prediction_log import hash_json
from clinical_evals.tasks.scored.dialogue_results import score_dialogues
from clinical_evals.tasks.scored.results import Result, name_missing, write_files

if TYPE_CHECKING:
    from clinical_evals.tasks.models.generation import Generator


class Player(NamedTuple):
    """A model that plays a side."""

    name: str
    generator: "Generator"
    identity: Mapping[str, Any]
    """Which weights, or which address."""
    seed: int

    def side(self, context: int | None) -> Side:
        """What decides its answers, and how much it reads.

        Raises:
            InputError: the model cannot read so much.
        """
        own = self.generator.max_length
        if context is not None and context > own:
            raise InputError(
                f"--context {context}: {self.name} reads at most {own} tokens. Give at most {own}, or leave it out."
            )
        generation = self.generator.config.generation_parameters.model_dump(exclude_none=True)
        about = {
            "model": dict(self.identity),
            **self.generator.settings,
            "generation": generation,
            "seed": self.seed if generation.get("temperature") else None,
            "chat_template": self.generator.chat.use_chat_template,
        }
        return Side(about, context or own)


def play_tasks(
    tasks: Sequence[Task],
    doctor: Player,
    patient: Player,
    options: Options,
    about: Mapping[str, Any],
    protocols: Sequence[str],
) -> list[Result]:
    """Play the dialogues of each task and score them.

    Args:
        tasks: dynamic ones.
        doctor: the model under test.
        patient: plays the patients; may have the same generator.
        options: what was asked.
        about: more for the header of each log.
        protocols: by which they are scored.

    Returns:
        For each task one result a protocol; nothing in the other processes of a data-parallel run.

    Raises:
        ClinicalEvalsError: see `dialogue_run.play`; also too many dialogues without an end. What was said is saved.
    """
    _share_budget(doctor.generator, patient.generator)
    results: list[Result] = []
    for task in tasks:
        results += _play_task(task, doctor, patient, options, about, protocols)
    # None ends before all is written: one that fails when it ends takes the others with it.
    doctor.generator.wait_for_everyone()
    return results


def _share_budget(doctor: "Generator", patient: "Generator") -> None:
    """Two endpoints spend one budget: it is the command's."""
    from clinical_evals.tasks.models.endpoint_generator import EndpointGenerator

    if patient is not doctor and isinstance(doctor, EndpointGenerator) and isinstance(patient, EndpointGenerator):
        patient.budget.share(doctor.budget)


def _play_task(
    task: Task,
    doctor: Player,
    patient: Player,
    options: Options,
    about: Mapping[str, Any],
    protocols: Sequence[str],
) -> list[Result]:
    from datasets import load_dataset

    rows = load_dataset(task.dataset, task.subset, split="test")
    places = choose_places([row["id"] for row in rows], options.max_samples)
    run = _run(task, doctor, patient, options)
    head = {"source": mark_in(rows.info.description or ""), **about}
    log = open_transcripts(run.path, run.identity, head, write=doctor.generator.is_main)
    try:
        before = dict(log.rows)
        done = play([rows[place] for place in places], doctor.generator, patient.generator, run, log, places)
    finally:
        log.close()
    if not doctor.generator.is_main:
        return []
    resumed = sum(not each.missing and all(line["key"] in before for line in each.lines) for each in done.played)
    _check_missing(task, done.played, run.path)
    results: list[Result] = []
    for protocol in protocols:
        result = score_dialogues(task, run.path, resumed, done.played, protocol)
        write_files(result)
        results.append(result)
    return results


def choose_cases(rows: Sequence[dict[str, Any]], number: int | None) -> list[dict[str, Any]]:
    """All rows, or so many of them in a seeded order, each in its place."""
    return [rows[place] for place in choose_places([row["id"] for row in rows], number)]


def choose_places(ids: Sequence[str], number: int | None) -> list[int]:
    """The places in the split of all rows, or of so many of them in a seeded order: fewer are among more.

    >>> set(choose_places(["a", "b", "c", "d"], 2)) < set(choose_places(["a", "b", "c", "d"], 3))
    True
    """
    return sorted(order_rows(ids)[:number])


def _run(task: Task, doctor: Player, patient: Player, options: Options) -> DialogueRun:
    tokens: dict[Step, int] = dict(ANSWER_TOKENS)
    if options.answer_tokens:
        tokens = dict.fromkeys(tokens, options.answer_tokens)
    sides = doctor.side(options.context), patient.side(options.context)
    turns = options.turns or TURNS
    run = DialogueRun(Path(), task.name, *sides, turns, tokens, options.watch)
    names = (re.sub(r"[^A-Za-z0-9._-]+", "_", Path(each.name).name or "model") for each in (doctor, patient))
    folder = f"{'-with-'.join(names)}-{hash_json(run.identity)[:12]}"
    return run._replace(path=options.output_dir / task.slug / folder / "transcripts.jsonl")


def _check_missing(task: Task, played: Sequence[Played], log: Path) -> None:
    missing = [each.missing for each in played if each.missing]
    if len(missing) > MOST_MISSING * len(played):
        raise RunError(
            f"{task.name}: {len(missing)} of {len(played)} dialogues came to no end, more than {MOST_MISSING:.0%}, so "
            f"there is no score. {name_missing(missing)}. What was said is saved in {log}: the same command goes on "
            "from there."
        )
