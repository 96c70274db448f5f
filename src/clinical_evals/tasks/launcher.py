"""`clinical-evals eval accelerate`: lighteval's pipeline over our tasks, with our truncation, log and intervals.

What an output folder holds afterwards:

    results/, details/                        lighteval's own, as usual
    TASK/MODEL-RUN/predictions.jsonl          the log of answers, appended as they come (see `prediction_log`)
    TASK/MODEL-RUN/scored.jsonl, summary.json what each answer became, and the scores (see `results`)

RUN is a hash of everything that decides the answers: another model, prompt version or setting is another folder.
"""

import importlib.metadata
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from clinical_evals.clibench.prompts import PROMPT_VERSION
from clinical_evals.clibench.truncation import RESERVED_OUTPUT, Room
from clinical_evals.errors import ClinicalEvalsError, InputError
from clinical_evals.markers import MIMIC_MARKER, SYNTHETIC_MARKER
from clinical_evals.tasks.model_args import ModelRequest, build_config, parse_model_args
from clinical_evals.tasks.model_files import identify_model
from clinical_evals.tasks.names import Task, parse_tasks
from clinical_evals.tasks.prediction_log import hash_json
from clinical_evals.tasks.results import Result, score_run
from clinical_evals.version import __version__

if TYPE_CHECKING:
    from lighteval.models.transformers.transformers_model import TransformersModelConfig

    from clinical_evals.tasks.chat import ChatPrompt
    from clinical_evals.tasks.generation import Generator, QuietModel
    from clinical_evals.tasks.logged_model import LoggedModel, Run

_LIBRARIES = ("lighteval", "transformers", "torch", "datasets")


class Options(NamedTuple):
    """What `clinical-evals eval accelerate` was asked; the command line's help says what each is."""

    model_args: str
    tasks: str
    output_dir: Path = Path("runs")
    max_samples: int | None = None
    batch_size: int | None = None
    context: int | None = None
    answer_tokens: int | None = None
    seed: int = 0


def evaluate(options: Options) -> list[Result]:
    """Run the tasks and score them. The cheap checks come first, then the model is loaded.

    Returns:
        One result a task, in the order asked for; in the other processes of a data-parallel run nothing.

    Raises:
        ClinicalEvalsError: something given cannot be used, or the run cannot go on; the message says what helps.
    """
    tasks = parse_tasks(options.tasks)
    _check_numbers(options)
    check_writable(options.output_dir)
    request = parse_model_args(options.model_args, options.batch_size)
    identity = _identify(request)

    from clinical_evals.tasks.lighteval_session import lighteval_session

    with lighteval_session():
        model = _load_model(build_config(request), options)
        chat, generator = _wrap(model, options.seed)
        room = find_room(model, options, request)
        settings = _settings(model, chat, room, options.seed)
        runs = {f"{task.name}|0": _run(task, request, identity, settings, options.output_dir) for task in tasks}
        logged = _run_pipeline(tasks, options, generator, chat, room, runs)
    if not generator.is_main:
        return []
    return [
        score_run(task, runs[f"{task.name}|0"].path, logged.resumed[f"{task.name}|0"], logged.lines[f"{task.name}|0"])
        for task in tasks
    ]


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


def _check_numbers(options: Options) -> None:
    for flag, value in (
        ("--max-samples", options.max_samples),
        ("--batch-size", options.batch_size),
        ("--context", options.context),
        ("--answer-tokens", options.answer_tokens),
    ):
        if value is not None and value < 1:
            raise InputError(f"{flag} {value}: expected a whole number of at least 1, or leave it out.")


def _identify(request: ModelRequest) -> dict[str, Any]:
    tokenizer = request.values.get("tokenizer")
    identity: dict[str, Any] = {"weights": identify_model(request.name, request.revision)}
    return identity | ({"tokenizer": identify_model(str(tokenizer), request.revision)} if tokenizer else {})


def _load_model(config: "TransformersModelConfig", options: Options) -> "QuietModel":
    import datasets
    from transformers.utils import logging as transformers_logging

    from clinical_evals.tasks.generation import QuietModel

    transformers_logging.disable_progress_bar()
    datasets.disable_progress_bars()
    try:
        return QuietModel(config)
    except ClinicalEvalsError:
        raise
    except Exception as error:  # whatever the files of a model may cause in three libraries
        raise InputError(f"the model {config.model_name} cannot be loaded: {type(error).__name__}: {error}") from error


def _wrap(model: "QuietModel", seed: int) -> tuple["ChatPrompt", "Generator"]:
    from clinical_evals.tasks.chat import ChatPrompt
    from clinical_evals.tasks.generation import Generator

    given = model.config.add_special_tokens if "add_special_tokens" in model.config.model_fields_set else None
    chat = ChatPrompt(model.tokenizer, model.use_chat_template, given)
    return chat, Generator(model, chat.add_special_tokens, seed)


def _settings(model: "QuietModel", chat: "ChatPrompt", room: Room, seed: int) -> dict[str, Any]:
    """What beside model and prompt decides the answers. The batch size is not among them: it only decides the "
    "speed."""
    generation = model.config.generation_parameters.model_dump(exclude_none=True)
    return {
        "context": room.context,
        "answer_tokens": room.reserved,
        "dtype": str(model.model.dtype).removeprefix("torch."),
        "generation": generation,
        "seed": seed if generation.get("temperature") else None,
        "chat_template": chat.use_chat_template,
        "special_tokens": chat.add_special_tokens,
    }


def _run(
    task: Task, request: ModelRequest, identity: Mapping[str, Any], settings: Mapping[str, Any], output_dir: Path
) -> "Run":
    from clinical_evals.tasks.logged_model import Run

    run = {
        "task": task.name,
        "split": "test",
        "prompt": PROMPT_VERSION,
        "model": dict(identity),
        "settings": dict(settings),
    }
    slug = re.sub(r"[^A-Za-z0-9._-]+", "_", Path(request.name).name or "model")
    return Run(output_dir / task.slug / f"{slug}-{hash_json(run)[:12]}" / "predictions.jsonl", run)


def _source(dataset: Any) -> str:
    """The mark of where a dataset's rows come from: synthetic only where it says so, else treated as MIMIC's."""
    return SYNTHETIC_MARKER if SYNTHETIC_MARKER in (dataset["test"].info.description or "") else MIMIC_MARKER


def _run_pipeline(
    tasks: Sequence[Task],
    options: Options,
    generator: "Generator",
    chat: "ChatPrompt",
    room: Room,
    runs: Mapping[str, "Run"],
) -> "LoggedModel":
    from lighteval.logging.evaluation_tracker import EvaluationTracker
    from lighteval.pipeline import ParallelismManager, Pipeline, PipelineParameters

    from clinical_evals.tasks.lighteval_session import whole_prompt_tasks
    from clinical_evals.tasks.logged_model import LoggedModel

    versions = {"clinical-evals": __version__} | {name: importlib.metadata.version(name) for name in _LIBRARIES}
    model = LoggedModel(generator, chat, room, runs, {"versions": versions})
    pipeline = Pipeline(
        tasks=",".join(runs),
        pipeline_parameters=PipelineParameters(
            launcher_type=ParallelismManager.ACCELERATE,
            custom_tasks_directory=whole_prompt_tasks(tasks),
            max_samples=options.max_samples,
        ),
        evaluation_tracker=EvaluationTracker(output_dir=str(options.output_dir), save_details=True),
        model=model,
    )
    model.sources = {name: _source(task.dataset) for name, task in pipeline.tasks_dict.items()}
    pipeline.evaluate()
    pipeline.save_and_push_results()
    return model
