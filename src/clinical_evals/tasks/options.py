"""What `clinical-evals eval` was asked, and the checks that need no model."""

import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.matching.matchers import PROTOCOL
from clinical_evals.tasks.models.model_args import ModelRequest
from clinical_evals.tasks.names import Task
from clinical_evals.tasks.scored.answered_rows import Matching
from clinical_evals.truncation import Room

if TYPE_CHECKING:
    from clinical_evals.tasks.models.generation import Generator
    from clinical_evals.tasks.prediction_log import Line


class Options(NamedTuple):
    """What was asked; the command line's help says what each is."""

    model_args: str
    tasks: str
    output_dir: Path = Path("runs")
    max_samples: int | None = None
    batch_size: int | None = None
    context: int | None = None
    answer_tokens: int | None = None
    seed: int = 0
    samples: int | None = None
    """Answers to each prompt; None: one, of a majority vote five."""
    protocol: str = "standard"
    """One of `matching.protocols.PROTOCOLS`, or "both"."""
    dictionary: Path | None = None
    """For "official": MIMIC's table of the titles."""
    matcher: str = PROTOCOL
    """For "standard": what turns texts into codes, a name of `matching.matchers`."""
    backend: str = "accelerate"
    """One of `backends.BACKENDS`."""
    shots: int | None = None
    """Examples in few-shot prompts; None: three."""
    temperature: float | None = None
    """At which the answers of a majority vote are sampled; None: as MODEL_ARGS say, else 0.7."""
    probe_turns: bool = False
    """Whether a static dialogue is also asked after each earlier turn."""
    dua_consent: str | None = None
    """"NAME, DATE": the data use agreement covers sending prompts to another machine."""
    patient_model: str | None = None
    """MODEL_ARGS of the model that plays the patients; None: the model under test does."""
    patient_backend: str | None = None
    """Its backend; None: that of the model under test."""
    turns: int | None = None
    """Turns of the patient in a dialogue; None: six."""
    concurrency: int | None = None
    """Requests to an endpoint at a time; None: as MODEL_ARGS say, else eight."""
    max_tokens: int | None = None
    """The most that the requests to an endpoint may take in this run, prompts and answers together."""
    max_cost: float | None = None
    """The most that they may cost, by the prices in MODEL_ARGS."""
    without: tuple[tuple[str, ...], ...] = ()
    """For each further run the segments that CliBench's prompts leave out in it; see `variants`."""
    contexts: tuple[int, ...] = ()
    """Several contexts, to be compared; `context` is then not looked at."""
    split: str = "test"
    """The split that is asked: "train" only to sample answers for preferences, or to see what training did."""
    watch: "Callable[[Line], None] | None" = None
    """Is told each answer of a dialogue as it comes; see `dialogue_run.DialogueRun`."""


def matching_of(options: Options) -> Matching:
    """What the protocols are to match with."""
    return Matching(options.dictionary, options.matcher)


def check_numbers(options: Options) -> None:
    """Look at the counts that were given.

    Raises:
        InputError: one is below 1.
    """
    for flag, value in (
        ("--max-samples", options.max_samples),
        ("--batch-size", options.batch_size),
        ("--context", options.context),
        ("--answer-tokens", options.answer_tokens),
        ("--samples", options.samples),
        ("--shots", options.shots),
        ("--turns", options.turns),
        ("--concurrency", options.concurrency),
        ("--max-tokens", options.max_tokens),
    ):
        if value is not None and value < 1:
            raise InputError(f"{flag} {value}: expected a whole number of at least 1, or leave it out.")
    if options.temperature is not None and not 0 < options.temperature < float("inf"):
        raise InputError(f"--temperature {options.temperature}: expected a number above 0, e.g. 0.7.")
    if options.max_cost is not None and not 0 < options.max_cost < float("inf"):
        raise InputError(f"--max-cost {options.max_cost}: expected a number above 0, or leave it out.")
    of_endpoint = (options.concurrency, options.max_tokens, options.max_cost)
    asked = "endpoint" in (options.backend, options.patient_backend)
    if not asked and any(value is not None for value in of_endpoint):
        raise InputError(
            "--concurrency, --max-tokens and --max-cost are for `eval endpoint`, or a patient with --patient-backend "
            "endpoint. Leave them out."
        )


def check_fit(options: Options, tasks: Sequence[Task]) -> None:
    """Look whether each option has a task that it is for.

    Raises:
        InputError: one has none.
    """
    strategies = {task.strategy for task in tasks}
    talks = any(task.is_dialogue for task in tasks)
    if options.split != "test" and any(task.benchmark != "clibench" for task in tasks):
        names = ", ".join(task.name for task in tasks if task.benchmark != "clibench")
        raise InputError(f"--split {options.split} is for the tasks of clibench; {names} has a test split only.")
    if options.patient_backend and not options.patient_model:
        raise InputError("--patient-backend is that of --patient-model, which is missing.")
    for flag, given, fits, hint in (
        ("--shots", options.shots, "few_shot" in strategies, "ior_bench|static_few_shot"),
        ("--temperature", options.temperature, "majority_vote" in strategies, "ior_bench|static_majority_vote"),
        ("--probe-turns", options.probe_turns or None, strategies != {""}, "ior_bench|static_zero_shot"),
        ("--turns", options.turns, talks, "ior_bench|dynamic_h1"),
        ("--patient-model", options.patient_model, talks, "ior_bench|dynamic_h1"),
    ):
        if given is not None and not fits:
            names = ", ".join(task.name for task in tasks)
            more = " Other tasks sample at the temperature in MODEL_ARGS." if flag == "--temperature" else ""
            raise InputError(f'{flag} is for other tasks, such as "{hint}"; {names} cannot use it.{more}')


def check_split(options: Options, tasks: Sequence[Task]) -> None:
    """Look whether the data has the split that is to be asked; every dataset has a test split.

    Raises:
        InputError: it has not.
    """
    if options.split == "test":
        return
    from datasets import get_dataset_split_names

    for task in tasks:
        splits = get_dataset_split_names(task.dataset, task.subset)
        if options.split not in splits:
            raise InputError(
                f"--split {options.split}: the data of {task.name} has only {', '.join(splits)}. CLIBENCH_DIR names "
                "the folder of other data."
            )


def check_samples(options: Options, request: ModelRequest, tasks: Sequence[Task]) -> None:
    """Several answers a prompt need a temperature: without one they would all be the same.

    Raises:
        InputError: there is none.
    """
    asked = options.samples or 1
    if options.samples and (talking := [task.name for task in tasks if task.is_dialogue]):
        raise InputError(f"--samples is for other tasks: a step of {talking[0]} has one answer. Leave it out.")
    greedy = [task.name for task in tasks if task.strategy != "majority_vote"]
    if asked > 1 and greedy and not request.temperature:
        raise InputError(
            f"--samples {asked}: without a temperature all {asked} answers of {greedy[0]} to a prompt are the same. "
            'Give one: "model_name=…,generation_parameters={temperature:0.7}"'
        )
    if asked == 1 and options.samples and len(greedy) < len(tasks):
        raise InputError("--samples 1: one answer is no majority vote. Give at least 2, or leave it out (5).")


_UNWRITABLE = "the output folder {folder} cannot be written to ({why}). Name another one: --output-dir FOLDER"
_LEAST_ROOM = 65_536
"""Bytes that are tried: on a full disk an empty file can still be made."""


def check_place(folder: Path) -> None:
    """Look whether an output folder could be made, without making it: a run that is refused leaves nothing behind.

    Raises:
        InputError: a file is in the way, or its place may not be written to.
    """
    place = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        why = "Permission denied" if place.is_dir() else f"{place} is a file"
        raise InputError(_UNWRITABLE.format(folder=folder, why=why))


def check_writable(folder: Path) -> None:
    """Make the output folder and try to write into it, before any work is done.

    Raises:
        InputError: it cannot be made or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder) as file:
            file.write(bytes(_LEAST_ROOM))
            file.flush()
    except OSError as error:
        raise InputError(_UNWRITABLE.format(folder=folder, why=error.strerror or error)) from error


def find_room(generator: "Generator", options: Options, request: ModelRequest, answer_tokens: int) -> Room:
    """How many tokens prompt and answer may have together, and how many of them the answer gets.

    Args:
        generator: the model.
        options: may say both.
        request: may say how long answers are.
        answer_tokens: of the task, where nobody says.

    Raises:
        InputError: the model cannot read so much, or the answer leaves nothing for the prompt.
    """
    reserved = options.answer_tokens or request.answer_tokens or answer_tokens
    own = generator.max_length
    context = options.context or own
    if context > own:
        raise InputError(
            f"--context {context}: {request.name} reads at most {own} tokens. Give at most {own}, or leave it out."
        )
    if context <= reserved:
        raise InputError(
            f"a context of {context} tokens leaves nothing for the prompt beside {reserved} tokens reserved for the "
            "answer. "
            "Give a longer --context, or fewer --answer-tokens."
        )
    return Room(context, reserved)
