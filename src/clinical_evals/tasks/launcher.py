"""`clinical-evals eval accelerate`: lighteval's pipeline over our tasks, with our truncation, log and intervals.

What an output folder holds afterwards:

    results/, details/                        lighteval's own, as usual
    TASK/MODEL-RUN/predictions.jsonl          the log of answers, appended as they come (see `prediction_log`)
    TASK/MODEL-RUN/scored.jsonl, summary.json what each answer became, and the scores (see `results`); those of the
                                              official protocol are in scored.official.jsonl, summary.official.json

RUN is a hash of everything that decides the answers: another model, prompt version or setting is another folder.
"""

import importlib.metadata
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clinical_evals.clibench.prompts import PROMPT_VERSION
from clinical_evals.clibench.truncation import Room
from clinical_evals.errors import ClinicalEvalsError, InputError
from clinical_evals.markers import MIMIC_MARKER, SYNTHETIC_MARKER
from clinical_evals.tasks.answered_rows import find_scorer, protocols_of
from clinical_evals.tasks.model_args import ModelRequest, build_config, parse_model_args
from clinical_evals.tasks.model_files import identify_model
from clinical_evals.tasks.names import Task, parse_tasks
from clinical_evals.tasks.options import Options, check_numbers, check_samples, check_writable, find_room
from clinical_evals.tasks.prediction_log import hash_json
from clinical_evals.tasks.results import Result, score_run
from clinical_evals.version import __version__

if TYPE_CHECKING:
    from lighteval.models.transformers.transformers_model import TransformersModelConfig

    from clinical_evals.tasks.chat import ChatPrompt
    from clinical_evals.tasks.generation import Generator, QuietModel
    from clinical_evals.tasks.logged_model import LoggedModel, Run

_LIBRARIES = ("lighteval", "transformers", "torch", "datasets")


def evaluate(options: Options) -> list[Result]:
    """Run the tasks and score them. The cheap checks come first, then the model is loaded.

    Returns:
        For each task, in the order asked for, one result a protocol; in the other processes of a data-parallel run
        nothing.

    Raises:
        ClinicalEvalsError: something given cannot be used, or the run cannot go on; the message says what helps.
    """
    tasks = parse_tasks(options.tasks)
    check_numbers(options)
    check_writable(options.output_dir)
    request = parse_model_args(options.model_args, options.batch_size)
    check_samples(options, request)
    protocols = _check_protocols(tasks, options)
    identity = _identify(request)

    from clinical_evals.tasks.lighteval_session import lighteval_session

    with lighteval_session():
        model = _load_model(build_config(request), options)
        chat, generator = _wrap(model, options.seed)
        room = find_room(model, options, request)
        settings = _settings(model, chat, room, options)
        runs = {f"{task.name}|0": _run(task, request, identity, settings, options.output_dir) for task in tasks}
        logged = _run_pipeline(tasks, options, generator, chat, room, runs)
    if not generator.is_main:
        return []
    done = [(task, f"{task.name}|0") for task in tasks]
    return [
        score_run(task, runs[key].path, logged.resumed[key], logged.lines[key], protocol, options.dictionary)
        for task, key in done
        for protocol in protocols
    ]


def _check_protocols(tasks: Sequence[Task], options: Options) -> tuple[str, ...]:
    protocols = protocols_of(options.protocol, options.dictionary)
    if protocols != ("standard",):  # which has nothing that could be wrong
        for system in {task.system for task in tasks}:
            for protocol in protocols:
                find_scorer(system, protocol, options.dictionary)
    return protocols


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


def _settings(model: "QuietModel", chat: "ChatPrompt", room: Room, options: Options) -> dict[str, Any]:
    """What beside model and prompt decides the answers. The batch size is not among them: it decides the speed."""
    generation = model.config.generation_parameters.model_dump(exclude_none=True)
    return {
        "context": room.context,
        "answer_tokens": room.reserved,
        "dtype": str(model.model.dtype).removeprefix("torch."),
        "generation": generation,
        "seed": options.seed if generation.get("temperature") else None,
        "samples": options.samples,
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
    model = LoggedModel(generator, chat, room, runs, {"versions": versions}, options.samples)
    pipeline = Pipeline(
        tasks=",".join(runs),
        pipeline_parameters=PipelineParameters(
            launcher_type=ParallelismManager.ACCELERATE,
            custom_tasks_directory=whole_prompt_tasks(tasks, protocols_of(options.protocol)[0], options.dictionary),
            max_samples=options.max_samples,
        ),
        evaluation_tracker=EvaluationTracker(output_dir=str(options.output_dir), save_details=True),
        model=model,
    )
    model.sources = {name: _source(task.dataset) for name, task in pipeline.tasks_dict.items()}
    pipeline.evaluate()
    pipeline.save_and_push_results()
    return model
