"""What `clinical-evals eval accelerate` was asked, and the checks that need no model."""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from clinical_evals.clibench.truncation import RESERVED_OUTPUT, Room
from clinical_evals.errors import InputError
from clinical_evals.tasks.model_args import ModelRequest

if TYPE_CHECKING:
    from clinical_evals.tasks.generation import QuietModel


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
    samples: int = 1
    protocol: str = "standard"
    """One of `matching.scorer.PROTOCOLS`, or "both"."""
    dictionary: Path | None = None


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
    ):
        if value is not None and value < 1:
            raise InputError(f"{flag} {value}: expected a whole number of at least 1, or leave it out.")


def check_samples(options: Options, request: ModelRequest) -> None:
    """Several answers a prompt need a temperature: without one they would all be the same.

    Raises:
        InputError: there is none.
    """
    if options.samples > 1 and not request.values["generation_parameters"].get("temperature"):
        raise InputError(
            f"--samples {options.samples}: without a temperature all {options.samples} answers to a prompt are the "
            'same. Give one: "model_name=…,generation_parameters={temperature:0.7}"'
        )


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


def find_room(model: "QuietModel", options: Options, request: ModelRequest) -> Room:
    """How many tokens prompt and answer may have together, and how many of them the answer gets.

    Raises:
        InputError: the model cannot read so much, or the answer leaves nothing for the prompt.
    """
    reserved = options.answer_tokens or request.answer_tokens or RESERVED_OUTPUT
    own = int(model.max_length)
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
