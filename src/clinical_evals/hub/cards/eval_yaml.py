"""eval.yaml: what makes a dataset of ours a benchmark on the Hub, and the ids by which results name its tasks.

Source: the Hub's documentation "Evaluation Results" (https://huggingface.co/docs/hub/eval-results): `name`,
`description` and `tasks` with an `id` each; `config` and `split` where they are not the defaults.
"""

from collections.abc import Iterator
from typing import Any

import yaml

from clinical_evals.datasets_hub.features import SCHEMAS
from clinical_evals.hub.cards.facts import DatasetFacts

CODE_SCORES = tuple(f"{measure}_{level}" for level in ("average", "full") for measure in ("precision", "recall", "f1"))
"""The scores of CliBench that `.eval_results` hold, in percent."""
STRATEGIES = ("zero_shot", "few_shot", "majority_vote", "cot")
"""The ways in which the static task of IOR-Bench is asked."""

_HEAD = """\
# Makes this dataset a benchmark on the Hub: models' .eval_results/*.yaml then fill one leaderboard a task.
# Written by `python -m clinical_evals.hub.cards`: edit the facts there.
# From the Hub's documentation of evaluation results: name, description, tasks[].id, config and split.
# ASSUMED, since the Hub validates the file only when it is pushed:
# - evaluation_framework is left out. The documentation lists it, but takes only names from a list of the Hub's own,
#   and neither clinical-evals nor lighteval was on it; once it is, add the line here. Files without it were accepted.
# - values are in percent, as the .eval_results files of clinical-evals have them; the Hub has no field that says so.
# - the description may span lines, and the tasks need no field_spec, solvers or scorers (those are inspect-ai's).
# The dataset must also be put on the Hub's list of benchmarks, which is asked for by hand.
"""


def task_id(task: str, score: str) -> str:
    """How a score of a task is named in eval.yaml and in `.eval_results`."""
    return f"{task}_{score}"


def eval_yaml(facts: DatasetFacts) -> str:
    """The content of eval.yaml."""
    content = {
        "name": facts.title,
        "description": (
            f"{facts.about} {facts.paper.sentence}. The rows in this repository are a synthetic sample, to try the "
            "benchmark: scores on them are not comparable with published ones. Scores are in percent."
        ),
        "tasks": list(_tasks(facts.name)),
    }
    return _HEAD + yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110)


def _tasks(dataset: str) -> Iterator[dict[str, Any]]:
    for config in SCHEMAS[dataset]:
        if dataset == "clibench":
            ids = [task_id(config, score) for score in CODE_SCORES]
        elif config == "static":
            ids = [task_id(f"static_{strategy}", "accuracy") for strategy in STRATEGIES]
        else:
            ids = [task_id(config, "accuracy")]
        yield from ({"id": each, "config": config, "split": "test"} for each in ids)
