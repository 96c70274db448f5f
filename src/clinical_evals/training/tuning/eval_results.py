"""Results of a tuned model as the Hub reads them: entries of `.eval_results/*.yaml`, and the model-index of a card."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import yaml

from clinical_evals.tasks.names import PROTOCOL_VERSION
from clinical_evals.tasks.scored.comparison import ComparedRun, Comparison

if TYPE_CHECKING:
    from huggingface_hub import EvalResult

DATASET_ID = "clinical-evals/clibench"
"""The benchmark's dataset on the Hub."""
FILE = ".eval_results/clibench.yaml"


def eval_results_yaml(comparison: Comparison, task: str) -> str:
    """The content of `.eval_results/clibench.yaml`: scores in percent, with their intervals in the notes.

    Args:
        comparison: of the base model and the tuned one, which stands last.
        task: the config of the dataset.
    """
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

    run = comparison.runs[-1]
    entries = [
        EvalResultEntry(
            dataset_id=DATASET_ID, task_id=f"{task}_{name}", value=value, notes=_note(comparison, run, name)
        )
        for name, value in _percent(run)
    ]
    return yaml.safe_dump(eval_result_entries_to_yaml(entries), sort_keys=False, allow_unicode=True, width=120)


def model_index(comparison: Comparison, task: str, title: str) -> "list[EvalResult]":
    """The same for the card's model-index.

    Args:
        comparison: see `eval_results_yaml`.
        task: the config of the dataset.
        title: of the task.
    """
    from huggingface_hub import EvalResult

    run = comparison.runs[-1]
    return [
        EvalResult(
            task_type="text-generation",
            task_name=title,
            dataset_type=DATASET_ID,
            dataset_name="CliBench",
            dataset_config=task,
            dataset_split="test",
            metric_type="hier_icd_f1",
            metric_name=name,
            metric_value=value,
            metric_args={"protocol": comparison.protocol, "protocol_version": PROTOCOL_VERSION},
        )
        for name, value in _percent(run)
    ]


def _percent(run: ComparedRun) -> Iterator[tuple[str, float]]:
    for name, value in run.scores.items():
        yield name, round(100 * value, 2)


def _note(comparison: Comparison, run: ComparedRun, name: str) -> str:
    low, high = run.intervals[name]
    said: dict[str, Any] = {"rows": comparison.rows, "patients": comparison.patients}
    counts = ", ".join(f"{value} {what}" for what, value in said.items())
    return (
        f"{comparison.protocol} protocol {PROTOCOL_VERSION}; 95 % interval by patient {100 * low:.2f} to "
        f"{100 * high:.2f}; {counts}"
    )
