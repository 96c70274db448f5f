"""`clinical-evals eval BACKEND`: lighteval's pipeline over our tasks, with our truncation, log and intervals.

What an output folder holds afterwards:

    results/, details/                        lighteval's own, as usual
    TASK/MODEL-RUN/predictions.jsonl          the log of answers, appended as they come (see `prediction_log`)
    TASK/MODEL-RUN/scored.jsonl, summary.json what each answer became, and the scores (see `results`); those of the
                                              official protocol are in scored.official.jsonl, summary.official.json

RUN is a hash of everything that decides the answers: another model, prompt version or setting is another folder, and
so is another backend.
"""

import importlib.metadata
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clinical_evals.errors import ClinicalEvalsError, InputError, ResourceMissingError
from clinical_evals.ontology import get_system
from clinical_evals.tasks.benchmark import Plan, PromptOptions, benchmark_of
from clinical_evals.tasks.models.backends import BACKENDS
from clinical_evals.tasks.models.model_args import ModelRequest, build_config, parse_model_args
from clinical_evals.tasks.names import PROTOCOL_VERSION, Task, parse_tasks
from clinical_evals.tasks.options import (
    Options,
    check_fit,
    check_numbers,
    check_place,
    check_samples,
    check_split,
    check_writable,
    find_room,
    matching_of,
)
from clinical_evals.tasks.prediction_log import hash_json
from clinical_evals.tasks.scored.answered_rows import Matching, protocols_of
from clinical_evals.tasks.scored.results import Result
from clinical_evals.tasks.scored.robustness import find_robustness, write_robustness
from clinical_evals.tasks.scored.scoring_runs import check_scoring, score_run
from clinical_evals.tasks.scored.studies import find_studies, write_study
from clinical_evals.tasks.variants import Variant, tasks_of, variants_of
from clinical_evals.truncation import Room
from clinical_evals.version import __version__

if TYPE_CHECKING:
    from lighteval.models.abstract_model import ModelConfig

    from clinical_evals.tasks.dialogue.dialogue_tasks import Player
    from clinical_evals.tasks.logged_model import LoggedModel, Run
    from clinical_evals.tasks.models.generation import Generator

_LIBRARIES = ("lighteval", "transformers", "torch", "datasets")


def evaluate(options: Options) -> list[Result]:
    """Run the tasks and score them. The cheap checks come first, then the model is loaded.

    Returns:
        For each task, in the order asked for, one result for each way of asking (see `variants`) and protocol; in the
        other processes of a data-parallel run nothing.

    Raises:
        ClinicalEvalsError: something given cannot be used, or the run cannot go on; the message says what helps.
    """
    tasks = parse_tasks(options.tasks)
    check_numbers(options)
    check_fit(options, tasks)
    contexts = options.contexts or ((options.context,) if options.context else ())
    ways = {variant: tasks_of(variant, tasks) for variant in variants_of(options.without, contexts, tasks)}
    options = options._replace(context=max(contexts, default=None))
    check_place(options.output_dir)
    request = _parse_model(options)
    check_samples(options, request, tasks)
    protocols = protocols_of(options.protocol, matching_of(options))
    check_scoring(tasks, protocols, matching_of(options))
    check_split(options, tasks)
    config = build_config(request)
    backend = BACKENDS[options.backend]
    backend.check(config)
    check_writable(options.output_dir)
    identity = _identify(options.backend, config)

    from clinical_evals.tasks.dialogue.dialogue_tasks import Player, play_tasks
    from clinical_evals.tasks.lighteval_session import lighteval_session

    asked, talks = _divided(tasks)
    patient_options = _patient_options(options)
    patient_config = _check_patient(patient_options) if talks and patient_options else None
    if patient_options and (patient_options.backend, patient_config) == (options.backend, config):
        patient_options = patient_config = None  # the same model in both roles is loaded once
    with lighteval_session():
        plans = {
            variant: _plan([task for task in of if task in asked], options, request, variant)
            for variant, of in ways.items()
        }
        consent = _ask_guard(
            tasks, backend.sends_to(config), patient_options, patient_config, options.dua_consent, options.split
        )
        generator = _load_model(config, options)
        versions = _versions(tasks, generator)
        about = {"versions": versions, **backend.about, **consent}
        results: list[Result] = []
        if talks:  # first: lighteval's pipeline frees the model when it ends
            doctor = Player(request.name, generator, identity, options.seed)
            patient = _patient(doctor, patient_options, patient_config)
            of_patient = BACKENDS[(patient_options or options).backend].about
            all_versions = versions | dict(patient.generator.versions)
            results += play_tasks(
                talks, doctor, patient, options, {**about, **of_patient, "versions": all_versions}, protocols
            )
        if asked:
            results += _ask(plans, options, request, identity, generator, about, protocols)
    for protocol in protocols:
        if robustness := find_robustness(results, protocol):
            write_robustness(robustness, results, options.output_dir)
    for study in find_studies(results):
        write_study(study, options.output_dir)
    order = [task.name for task in tasks]
    return sorted(results, key=lambda result: order.index(result.task.name))


def _divided(tasks: Sequence[Task]) -> tuple[list[Task], list[Task]]:
    """Tasks of one prompt, and dialogues."""
    return [task for task in tasks if not task.is_dialogue], [task for task in tasks if task.is_dialogue]


def _ask(
    plans: "Mapping[Variant, Mapping[Task, Plan]]",
    options: Options,
    request: ModelRequest,
    identity: Mapping[str, Any],
    generator: "Generator",
    about: Mapping[str, Any],
    protocols: Sequence[str],
) -> list[Result]:
    """The tasks of one prompt, through lighteval's pipeline, once for each way of asking.

    Nothing in the other processes of a data-parallel run.
    """
    from clinical_evals.tasks.logged_model import LoggedModel

    runs = {  # all of them first: a context that the model does not have is said before anything is asked
        variant: {
            f"{task.name}|0": _run(task, plan, generator, identity, options._replace(context=variant.context), request)
            for task, plan in of.items()
        }
        for variant, of in plans.items()
    }
    results: list[Result] = []
    for place, (variant, of) in enumerate(plans.items(), 1):
        if len(plans) > 1 and generator.is_main:
            without = [task.name for task in next(iter(plans.values())) if task not in of]
            left = f" (the prompts of {', '.join(without)} do not show that)" if without else ""
            print(f"{place} of {len(plans)}: {variant.said}{left}", file=sys.stderr, flush=True)
        logged = LoggedModel(generator, runs[variant], about, keep=place < len(plans))
        _run_pipeline(of, options, logged)
        if generator.is_main:
            results += _score(of, logged, protocols, matching_of(options))
    return results


def _score(tasks: Iterable[Task], logged: "LoggedModel", protocols: Sequence[str], matching: Matching) -> list[Result]:
    return [
        score_run(
            task,
            logged.runs[key].path,
            logged.resumed[key],
            logged.lines[key],
            protocol,
            matching,
            logged.missing.get(key, ()),
        )
        for task, key in ((task, f"{task.name}|0") for task in tasks)
        for protocol in protocols
    ]


# The model that plays the patients


def _patient_options(options: Options) -> Options | None:
    """What was asked of a patient model of its own."""
    if options.patient_model is None:
        return None
    backend = options.patient_backend or options.backend
    other = options._replace(model_args=options.patient_model, backend=backend)
    return other if backend == "endpoint" else other._replace(concurrency=None, max_tokens=None, max_cost=None)


def _check_patient(options: Options) -> "ModelConfig":
    try:
        config = build_config(_parse_model(options))
        BACKENDS[options.backend].check(config)
    except (InputError, ResourceMissingError) as error:  # of two models, which one
        raise type(error)(f"--patient-model: {error}") from error
    return config


def _patient(
    doctor: "Player",
    patient_options: Options | None,
    config: "ModelConfig | None",
) -> "Player":
    """The model that plays the patients."""
    if patient_options is None or config is None:
        return doctor
    from clinical_evals.tasks.dialogue.dialogue_tasks import Player

    identity = _identify(patient_options.backend, config)
    return Player(str(config.model_name), _load_model(config, patient_options), identity, patient_options.seed)


def _parse_model(options: Options) -> ModelRequest:
    limits = {
        "concurrency": options.concurrency,
        "budget_tokens": options.max_tokens,
        "budget_cost": options.max_cost,
    }
    endpoint = limits if options.backend == "endpoint" else {}
    context = {"context": options.context} if options.backend == "endpoint" else {}
    return parse_model_args(options.model_args, options.batch_size, options.backend, endpoint, context)


def _plan(tasks: Sequence[Task], options: Options, request: ModelRequest, variant: Variant) -> dict[Task, Plan]:
    asked = PromptOptions(
        samples=options.samples or 0,
        temperature=options.temperature or request.temperature,
        shots=options.shots,
        probe_turns=options.probe_turns,
        without=variant.without,
    )
    return {task: benchmark_of(task).plan(task, asked) for task in tasks}


def _ask_guard(
    tasks: Sequence[Task],
    address: str,
    patient: Options | None,
    patient_config: "ModelConfig | None",
    consent: str | None,
    split: str,
) -> dict[str, str]:
    """Whether the rows of the tasks may be sent where the models are; what the log's header says of it.

    Raises:
        GuardError: they may not.
        InputError: consent where nothing is sent.
    """
    from datasets import load_dataset

    from clinical_evals.hub.guard import check_may_leave
    from clinical_evals.hub.inspection import Rows
    from clinical_evals.hub.target import Target

    to = {address: list(tasks)}
    if patient is not None and patient_config is not None:
        talks = _divided(tasks)[1]
        other = BACKENDS[patient.backend].sends_to(patient_config)
        to[other] = list(dict.fromkeys([*to.get(other, ()), *talks]))
    to.pop("", None)
    if not to:
        if consent is not None:
            raise InputError("--dua-consent: nothing leaves this machine in this run. Leave it out.")
        return {}
    statements = []
    places = dict.fromkeys((where, task.dataset, task.subset) for where, sent in to.items() for task in sent)
    for where, dataset, subset in places:
        rows = load_dataset(dataset, subset, split=split)
        asked = Rows(rows, rows.info.description or "", f"{dataset} {subset} row")
        statements.append(check_may_leave(asked, Target("endpoint", where), consent).statement)
    return {"consent": "; ".join(dict.fromkeys(filter(None, statements)))} if any(statements) else {}


def _identify(backend: str, config: "ModelConfig") -> dict[str, Any]:
    return BACKENDS[backend].identify(config)


def _load_model(config: "ModelConfig", options: Options) -> "Generator":
    import datasets
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()
    datasets.disable_progress_bars()
    try:
        return BACKENDS[options.backend].load(config, options.seed)
    except ClinicalEvalsError:
        raise
    except Exception as error:  # whatever the files of a model may cause in three libraries
        raise InputError(f"the model {config.model_name} cannot be loaded: {type(error).__name__}: {error}") from error


def _settings(generator: "Generator", room: Room, plan: Plan, options: Options) -> dict[str, Any]:
    """What beside model and prompt decides the answers. The batch size is not among them: it decides the speed."""
    generation = generator.config.generation_parameters.model_dump(exclude_none=True)
    if plan.temperature is not None:
        generation["temperature"] = plan.temperature
    return {
        "context": room.context,
        "answer_tokens": room.reserved,
        **generator.settings,
        "generation": generation,
        "seed": options.seed if generation.get("temperature") else None,
        "samples": plan.samples,
        "chat_template": generator.chat.use_chat_template,
        "special_tokens": generator.chat.add_special_tokens,
    }


def _run(
    task: Task,
    plan: Plan,
    generator: "Generator",
    identity: Mapping[str, Any],
    options: Options,
    request: ModelRequest,
) -> "Run":
    from clinical_evals.tasks.logged_model import Run

    room = find_room(generator, options, request, plan.answer_tokens)
    run = {
        "task": task.name,
        "split": options.split,
        "prompt": benchmark_of(task).PROMPT_VERSION,
        "model": dict(identity),
        "settings": _settings(generator, room, plan, options),
        **plan.about,
    }
    slug = re.sub(r"[^A-Za-z0-9._-]+", "_", Path(request.name).name or "model")
    path = options.output_dir / task.slug / f"{slug}-{hash_json(run)[:12]}" / "predictions.jsonl"
    return Run(path, run, room, plan.samples, plan.temperature)


def _versions(tasks: Sequence[Task], generator: "Generator") -> dict[str, str]:
    """For the header of a log: what its answers were made with, and what they can be scored with."""
    versions = {"clinical-evals": __version__, "protocol": PROTOCOL_VERSION}
    versions |= {system: get_system(system).release for system in sorted({task.system for task in tasks} - {""})}
    versions |= {name: importlib.metadata.version(name) for name in _LIBRARIES}
    return versions | dict(generator.versions)


def _run_pipeline(
    plans: Mapping[Task, Plan],
    options: Options,
    model: "LoggedModel",
) -> None:
    from lighteval.logging.evaluation_tracker import EvaluationTracker
    from lighteval.pipeline import ParallelismManager, Pipeline, PipelineParameters

    from clinical_evals.datasets_hub.source import mark_in
    from clinical_evals.tasks.lighteval_session import whole_prompt_tasks

    pipeline = Pipeline(
        tasks=",".join(model.runs),
        pipeline_parameters=PipelineParameters(
            launcher_type=ParallelismManager[BACKENDS[options.backend].launcher],
            custom_tasks_directory=whole_prompt_tasks(
                plans, protocols_of(options.protocol)[0], matching_of(options), options.split
            ),
            max_samples=options.max_samples,
            bootstrap_iters=0,  # no standard errors: lighteval's own are about 32 times too small
        ),
        evaluation_tracker=EvaluationTracker(output_dir=str(options.output_dir), save_details=True),
        model=model,
    )
    model.sources = {
        name: mark_in(task.dataset[options.split].info.description or "") for name, task in pipeline.tasks_dict.items()
    }
    pipeline.evaluate()
    pipeline.save_and_push_results()
