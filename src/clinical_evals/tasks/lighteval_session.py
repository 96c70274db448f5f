"""What of lighteval 0.13 is replaced while our launcher runs it, each with its reason; restored afterwards."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from types import ModuleType
from typing import Any

from clinical_evals.tasks.benchmark import Plan, benchmark_of
from clinical_evals.tasks.names import Task
from clinical_evals.tasks.scored.answered_rows import AS_PROTOCOLS_SAY, Matching


@contextmanager
def lighteval_session() -> Iterator[None]:
    """Within it lighteval knows only the tasks it is given, keeps no cache of answers and is quiet."""
    from lighteval.models.transformers import transformers_model
    from lighteval.tasks.registry import Registry

    from clinical_evals.tasks.logged_model import NoCache

    replaced: list[tuple[Any, str, Any]] = [
        # Its own tasks: slow to import, and offline one of them fails since it downloads when imported.
        (Registry, "_load_from_files", staticmethod(lambda *_: {})),
        (Registry, "_load_from_subdirs", staticmethod(lambda *_: {})),
        # A set of task names: another order in each process of a data-parallel run.
        (Registry, "_get_full_task_list_from_input_string", lambda _, tasks: tasks.split(",")),
        # The cache that returns old answers, and makes a folder inside a local model's.
        (transformers_model, "SampleCache", NoCache),
    ]
    originals = [(holder, name, vars(holder)[name]) for holder, name, _ in replaced]
    levels = {name: logging.getLogger(name).level for name in ("lighteval", "transformers")}
    try:
        for holder, name, value in replaced:
            setattr(holder, name, value)
        for name in levels:
            logging.getLogger(name).setLevel(logging.ERROR)
        yield
    finally:
        for holder, name, value in originals:
            setattr(holder, name, value)
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


def whole_prompt_tasks(
    plans: Mapping[Task, Plan], protocol: str = "standard", matching: Matching = AS_PROTOCOLS_SAY, split: str = "test"
) -> ModuleType:
    """A module for lighteval's registry: the tasks, with prompts that are cut later, by the model's own tokenizer.

    Args:
        plans: the tasks, and how each is asked.
        protocol: by which lighteval's scores are made.
        matching: with "official", MIMIC's matching of diagnoses.
        split: the split that is asked.
    """
    from clinical_evals.tasks.logged_model import packed

    module = ModuleType("clinical_evals_tasks")
    module.__dict__["TASKS_TABLE"] = [
        replace(
            config,
            prompt_function=packed(plan.prompt),
            metrics=[_metric(task, protocol, matching)],
            evaluation_splits=[split],
        )
        for task, plan in plans.items()
        for config in benchmark_of(task).TASKS_TABLE
        if config.name == task.name
    ]
    return module


def _metric(task: Task, protocol: str, matching: Matching) -> Any:
    from clinical_evals.ior_bench.prompts import STRATEGIES
    from clinical_evals.tasks.metrics import hierarchical_scores, referral_scores

    if task.system:
        return hierarchical_scores(task.system, protocol, matching)
    return referral_scores(STRATEGIES[task.strategy].votes > 1, protocol)
