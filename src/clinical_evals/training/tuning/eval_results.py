"""Results of a tuned model as the Hub reads them: entries of `.eval_results/*.yaml`, and the model-index of a card."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import yaml

from clinical_evals.hub.cards.dataset_facts import CLIBENCH
from clinical_evals.hub.cards.eval_yaml import task_id
from clinical_evals.markers import MIMIC_MARKER, PATIENT_MARKER, SYNTHETIC_MARKER
from clinical_evals.tasks.names import PROTOCOL_VERSION
from clinical_evals.tasks.scored.comparison import ComparedRun, Comparison

if TYPE_CHECKING:
    from huggingface_hub import EvalResult

DATASET_ID = CLIBENCH.repository
"""The benchmark's dataset on the Hub."""
FILE = ".eval_results/clibench.yaml"
ROWS_SAID = {
    MIMIC_MARKER: "admissions of MIMIC-IV",
    PATIENT_MARKER: "the user's own patients",
    SYNTHETIC_MARKER: "the synthetic sample: not comparable with published results",
}
"""By the mark of the rows that were asked. In words: scores may be published, and the mark would hold them back."""


def eval_results_yaml(comparison: Comparison, task: str, rows: str) -> str:
    """The content of `.eval_results/clibench.yaml`: scores in percent, with their intervals in the notes.

    Args:
        comparison: of the base model and the tuned one, which stands last.
        task: the config of the dataset.
        rows: what was asked, as a key of `ROWS_SAID`.
    """
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

    run = comparison.runs[-1]
    entries = [
        EvalResultEntry(
            dataset_id=DATASET_ID, task_id=task_id(task, name), value=value, notes=_note(comparison, run, name, rows)
        )
        for name, value in _percent(run)
    ]
    return yaml.safe_dump(eval_result_entries_to_yaml(entries), sort_keys=False, allow_unicode=True, width=120)


def model_index(comparison: Comparison, task: str, title: str, rows: str) -> "list[EvalResult]":
    """The same for the card's model-index.

    Args:
        comparison: see `eval_results_yaml`.
        task: the config of the dataset.
        title: of the task.
        rows: what was asked, as a key of `ROWS_SAID`.
    """
    from huggingface_hub import EvalResult

    run = comparison.runs[-1]
    return [
        EvalResult(
            task_type="text-generation",
            task_name=title,
            dataset_type=DATASET_ID,
            dataset_name=f"CliBench ({ROWS_SAID[rows]})",
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


def _note(comparison: Comparison, run: ComparedRun, name: str, rows: str) -> str:
    low, high = run.intervals[name]
    return (
        f"{comparison.protocol} protocol {PROTOCOL_VERSION}; 95 % interval by patient {100 * low:.2f} to "
        f"{100 * high:.2f}; {comparison.rows} rows of {comparison.patients} patients; {ROWS_SAID[rows]}"
    )
