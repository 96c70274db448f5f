"""The tasks of this package, and every spelling in which they may be asked for. Imports nothing heavy."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from clinical_evals.errors import InputError, UnknownNameError

PROTOCOL_VERSION = "1"
"""Raised when a rule from an answer to its scores changes (protocol.md 2.5, 2.6 and 3): such scores are not
comparable. It counts for both protocols."""


class Task(NamedTuple):
    """One task."""

    benchmark: str
    config: str
    module: str
    """The module whose `TASKS_TABLE` holds it."""
    description: str
    dataset: str
    """The dataset that it asks."""
    subset: str
    """Its config of the dataset."""
    system: str = ""
    """The code system of its gold codes; empty where departments are asked for."""
    strategy: str = ""
    """Of the static task of IOR-Bench: a key of `ior_bench.prompts.STRATEGIES`."""

    @property
    def is_dialogue(self) -> bool:
        """Whether two models talk to each other in it."""
        return self.subset.startswith("dynamic_")

    @property
    def name(self) -> str:
        """How lighteval, logs and results spell it."""
        return f"{self.benchmark}:{self.config}"

    @property
    def slug(self) -> str:
        """The name as part of a path."""
        return f"{self.benchmark}_{self.config}"


TASKS = (
    *(
        Task(
            "clibench",
            config,
            "clinical_evals.tasks.clibench",
            f"{what}; micro P/R/F1 and macro F1 at {levels} levels",
            dataset="clibench",
            subset=config,
            system=system,
        )
        for config, system, what, levels in (
            ("diagnosis", "icd10cm", "discharge diagnoses of an admission as ICD-10-CM codes", "five"),
            ("procedure", "icd10pcs", "first procedures of an admission as ICD-10-PCS codes", "four"),
            ("lab_order", "loinc", "first lab orders of an admission as LOINC numbers", "four"),
            ("prescription", "atc", "first prescriptions of an admission as ATC codes", "five"),
        )
    ),
    *(
        Task(
            "ior_bench",
            f"static_{strategy}",
            "clinical_evals.tasks.ior_bench",
            f"the outpatient department that a finished Chinese dialogue leads to, {how}; accuracy",
            dataset="ior-bench",
            subset="static",
            strategy=strategy,
        )
        for strategy, how in (
            ("zero_shot", "asked outright"),
            ("few_shot", "after solved examples (--shots)"),
            ("majority_vote", "by the votes of five sampled answers"),
            ("cot", "with reasons before the conclusion"),
        )
    ),
    *(
        Task(
            "ior_bench",
            f"dynamic_{hospital}",
            "clinical_evals.tasks.dialogue.dialogue_tasks",
            f"the department that a dialogue with a simulated patient leads to, {which}; accuracy by turn",
            dataset="ior-bench",
            subset=f"dynamic_{hospital}",
        )
        for hospital, which in (("h1", "hospital 1 (tertiary)"), ("h2", "hospital 2 (secondary)"))
    ),
)
"""All tasks of this version."""

GROUPS = {
    "clibench": "the four decisions of CliBench",
    "ior_bench:static": "the four strategies, and the robustness over them",
    "ior_bench:dynamic": "the dialogues, for both hospitals",
}
"""Names that stand for several tasks, those whose names they begin."""

_SPELLING = re.compile(r"(?:custom\|)?(?P<name>[^|:]+(?:[|:][^|:]+)?)(?:\|(?P<shots>\d+))?")


def parse_tasks(text: str) -> list[Task]:
    """The tasks of a comma-separated list, in its order, each once.

    >>> [task.name for task in parse_tasks("clibench|diagnosis")]
    ['clibench:diagnosis']
    >>> parse_tasks("clibench:diagnosis|0, custom|clibench:diagnosis|0") == parse_tasks("clibench|diagnosis")
    True

    Raises:
        UnknownNameError: a name is none of ours; the nearest ones are named.
        InputError: nothing is asked for, or a number of examples other than 0.
    """
    asked = [part.strip() for part in text.split(",") if part.strip()]
    if not asked:
        raise InputError(f"no task in {text!r}. Known: {', '.join(known_names())}.")
    return list(dict.fromkeys(task for part in asked for task in _parse_task(part)))


def find_task(name: str) -> Task:
    """The one task of a name.

    Raises:
        UnknownNameError: the name is none of ours.
        InputError: the name stands for several tasks.
    """
    tasks = parse_tasks(name)
    if len(tasks) > 1:
        raise InputError(f"{name!r} stands for {len(tasks)} tasks, expected one of {', '.join(_names(tasks))}.")
    return tasks[0]


def known_names() -> list[str]:
    """All task names, as lighteval spells them."""
    return _names(TASKS)


def _parse_task(text: str) -> list[Task]:
    match = _SPELLING.fullmatch(text)
    # "clibench|0" is a benchmark and a number of examples, "clibench|diagnosis" is a task.
    name = match["name"].replace("|", ":").removesuffix(":0") if match else text
    asked = name.lower().replace("-", "_")
    found = [
        task
        for task in TASKS
        if asked in (task.name, task.benchmark) or (asked in GROUPS and task.name.startswith(f"{asked}_"))
    ]
    if not found:
        raise UnknownNameError("task", name, [*known_names(), *GROUPS], "`clinical-evals tasks` says what each is.")
    if match and int(match["shots"] or 0):
        few_shot = [task.name for task in found if task.strategy == "few_shot"]
        way = f"give --shots {match['shots']} with {few_shot[0]!r}" if few_shot else f"write {found[0].name!r}"
        raise InputError(
            f"{text!r} asks lighteval for {match['shots']} examples in the prompt; the tasks bring their own: {way}."
        )
    return found


def _names(tasks: Iterable[Task]) -> list[str]:
    return [task.name for task in tasks]
