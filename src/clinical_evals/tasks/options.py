"""What `clinical-evals eval` was asked, and the checks that need no model."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.tasks.model_args import ModelRequest
from clinical_evals.tasks.names import Task
from clinical_evals.truncation import Room

if TYPE_CHECKING:
    from clinical_evals.tasks.generation import Generator


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
    """One of `matching.scorer.PROTOCOLS`, or "both"."""
    dictionary: Path | None = None
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
    ):
        if value is not None and value < 1:
            raise InputError(f"{flag} {value}: expected a whole number of at least 1, or leave it out.")
    if options.temperature is not None and not 0 < options.temperature < float("inf"):
        raise InputError(f"--temperature {options.temperature}: expected a number above 0, e.g. 0.7.")


def check_fit(options: Options, tasks: Sequence[Task]) -> None:
    """Look whether each option has a task that it is for.

    Raises:
        InputError: one has none.
    """
    strategies = {task.strategy for task in tasks}
    for flag, given, fits, hint in (
        ("--shots", options.shots, "few_shot" in strategies, "ior_bench|static_few_shot"),
        ("--temperature", options.temperature, "majority_vote" in strategies, "ior_bench|static_majority_vote"),
        ("--probe-turns", options.probe_turns or None, strategies != {""}, "ior_bench|static_zero_shot"),
    ):
        if given is not None and not fits:
            names = ", ".join(task.name for task in tasks)
            more = " Other tasks sample at the temperature in MODEL_ARGS." if flag == "--temperature" else ""
            raise InputError(f'{flag} is for other tasks, such as "{hint}"; {names} cannot use it.{more}')


def check_samples(options: Options, request: ModelRequest, tasks: Sequence[Task]) -> None:
    """Several answers a prompt need a temperature: without one they would all be the same.

    Raises:
        InputError: there is none.
    """
    asked = options.samples or 1
    greedy = [task.name for task in tasks if task.strategy != "majority_vote"]
    if asked > 1 and greedy and not request.temperature:
        raise InputError(
            f"--samples {asked}: without a temperature all {asked} answers of {greedy[0]} to a prompt are the same. "
            'Give one: "model_name=…,generation_parameters={temperature:0.7}"'
        )
    if asked == 1 and options.samples and len(greedy) < len(tasks):
        raise InputError("--samples 1: one answer is no majority vote. Give at least 2, or leave it out (5).")


def check_writable(folder: Path) -> None:
    """Make the output folder and try to write into it, before any work is done.

    Raises:
        InputError: it cannot be made or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(
            f"the output folder {folder} cannot be written to ({error.strerror or error}). Name another one: "
            "--output-dir FOLDER"
        ) from error


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
