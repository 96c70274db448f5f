"""The `evaluate` metric of referrals: an answer and a department a row, and what it gives back."""

from collections.abc import Sequence
from typing import Any

from clinical_evals.datasets_hub.checked_metric import CheckedMetric
from clinical_evals.ior_bench.scorer import Scored, check_answer, check_label
from clinical_evals.scoring.department import accuracy_by_department, accuracy_interval, confusion_pairs


class DepartmentMetric(CheckedMetric):
    """Predictions as text, references as the name of one department."""

    def _check_rows(
        self, rows: range, predictions: Sequence[Any], references: Sequence[Any]
    ) -> tuple[list[Any], list[Any]]:
        answers = [check_answer(value, f"predictions[{row}]") for row, value in zip(rows, predictions, strict=True)]
        labels = [check_label(value, f"references[{row}]") for row, value in zip(rows, references, strict=True)]
        return answers, labels


def result_of(scored: Scored, per_row: bool = False) -> dict[str, Any]:
    """Everything that the metric gives: plain numbers, texts, lists and dicts, as JSON takes them.

    Args:
        scored: what `score_answers` gave.
        per_row: whether to add `per_row`, the `rows_of` the run.

    Returns:
        The scores of the run (floats), `accuracy_low` and `accuracy_high` (95 %), `by_department` (a dict for each
        department that occurs as gold or as predicted; its `accuracy` is None where no row is of it) and `confusion`
        (lists of gold, predicted or None, number of rows).
    """
    low, high = accuracy_interval(scored.outcomes)
    result: dict[str, Any] = scored.scores() | {"accuracy_low": low, "accuracy_high": high}
    result["by_department"] = {
        name: {"accuracy": counts.accuracy, "f1": counts.f1, **counts._asdict()}
        for name, counts in accuracy_by_department(scored.outcomes).items()
    }
    result["confusion"] = [list(pair) for pair in confusion_pairs(scored.outcomes)]
    if per_row:
        result["per_row"] = rows_of(scored)
    return result


def rows_of(scored: Scored) -> list[dict[str, Any]]:
    """What became of each row, in the order given.

    Returns:
        For each row `predicted` (the department that the answer names, None: none), `right`, `ambiguous` (None under
        `official`) and `mentions` (the departments that the answer recommends, in its order).
    """
    return [
        {
            "predicted": outcome.predicted,
            "right": outcome.right,
            "ambiguous": outcome.ambiguous,
            "mentions": list(found.mentions),
        }
        for outcome, found in zip(scored.outcomes, scored.extractions, strict=True)
    ]
