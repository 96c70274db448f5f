"""The `evaluate` metrics of codes: rows of text or of lists of codes, and what they give back."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from clinical_evals.datasets_hub.checked_metric import CheckedMetric
from clinical_evals.errors import InputError
from clinical_evals.matching.predictions import check_codes
from clinical_evals.matching.scorer import Scored
from clinical_evals.scoring.intervals import bootstrap
from clinical_evals.scoring.rows import row_keys, row_scores


class CodeMetric(CheckedMetric):
    """Predictions as text or as lists of codes, references as lists of codes."""

    _kind = ""  # "text" or "a list of codes", once a row has come

    def _check_rows(
        self, rows: range, predictions: Sequence[Any], references: Sequence[Any]
    ) -> tuple[list[Any], list[Any]]:
        checked = [_prediction(value, f"predictions[{row}]") for row, value in zip(rows, predictions, strict=True)]
        codes = [_codes(value, f"references[{row}]") for row, value in zip(rows, references, strict=True)]
        kinds = ["text" if isinstance(prediction, str) else "a list of codes" for prediction in checked]
        first = self._kind or next(iter(kinds), "")
        for row, kind in zip(rows, kinds, strict=True):
            if kind != first:
                raise InputError(
                    f"predictions[{row}] is {kind}, but the rows before are {first}: give all rows the same way."
                )
        self._kind = first
        return checked, codes

    def _forget_rows(self) -> None:
        super()._forget_rows()
        self._kind = ""


def flat_scores(
    scored: Scored, intervals: bool = False, groups: Iterable[Hashable] | None = None, per_row: bool = False
) -> dict[str, Any]:
    """The scores and diagnostics of a run; with `intervals` also NAME_low and NAME_high of each score (95 %).

    Args:
        scored: what `CodeScorer.score` gave.
        intervals: whether to draw patients 1,000 times (see `scoring.intervals.bootstrap`).
        groups: the patient of every row; None takes each row for a patient of its own.
        per_row: whether to add `per_row`, the `rows_of` the run; everything else is a float.

    Raises:
        InputError: `groups` without `intervals`, or not one for each row.
    """
    result: dict[str, Any] = scored.scores()
    patients = None if groups is None else list(groups)
    if patients is not None and not intervals:
        raise InputError("groups are the patients that intervals are drawn over: give intervals=True with them.")
    if patients is not None and len(patients) != len(scored.answers):
        raise InputError(f"{len(patients)} groups but {len(scored.answers)} rows: give the patient of every row.")
    if intervals:
        drawn = bootstrap(scored.counts, None if patients is None else scored.of_scored_rows(patients))
        for name, (low, high) in drawn.items():
            result[f"{name}_low"], result[f"{name}_high"] = low, high
    if per_row:
        result["per_row"] = rows_of(scored)
    return result


def rows_of(scored: Scored) -> list[dict[str, Any]]:
    """What each row given predicts and scores, in the order given.

    Returns:
        For each row `predicted` (its distinct codes, sorted), `invalid` (those of its codes that the release does not
        have), `items` (how many were found in the answer), `scored` (False where the official protocol leaves the row
        out), and the scores of `scoring.rows.row_scores`: floats in 0-1, None in a row that is left out.
    """
    found = row_scores(scored.counts)
    nothing: dict[str, float | None] = dict.fromkeys(row_keys(scored.counts.levels))
    by_row = dict(zip(scored.scored_rows, found, strict=True))
    return [
        {
            "predicted": list(answer.codes),
            "invalid": sorted(answer.invalid),
            "items": len(answer.items),
            "scored": row in by_row,
            **by_row.get(row, nothing),
        }
        for row, answer in enumerate(scored.answers)
    ]


def _prediction(value: Any, where: str) -> str | list[str]:
    return str(value) if isinstance(value, str) else _codes(value, where, " or text")


def _codes(value: Any, where: str, or_text: str = "") -> list[str]:
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        value = list(value)
    elif isinstance(value, Mapping):
        raise InputError(f"{where} is a mapping with the keys {list(value)[:5]}, expected a list of codes{or_text}.")
    check_codes(value, where, or_text)
    return [str(code) for code in value]
