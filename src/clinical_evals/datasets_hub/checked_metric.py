"""An `evaluate` metric that looks at its rows before `evaluate` does.

`evaluate` picks the type of all rows by the first one, then casts: a text row among lists became a list of letters, a
list among texts its `repr`, and an unequal number of rows or no row at all ended in an error about something else.
Here every row is checked first, whichever way it comes, and the message names it.
"""

import contextlib
import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import evaluate

from clinical_evals.errors import InputError
from clinical_evals.matching.predictions import check_codes, rows_in
from clinical_evals.matching.scorer import Scored
from clinical_evals.scoring.intervals import bootstrap
from clinical_evals.scoring.rows import row_keys, row_scores


class CheckedMetric(evaluate.Metric):  # type: ignore[misc]  # evaluate has no types
    """Predictions as text or as lists of codes, references as lists of codes; `_compute` is the metric's own."""

    # Set by evaluate while a run is computed.
    filelocks: Any = None
    file_paths: Any = None

    _rows = 0
    _kind = ""  # "text" or "a list of codes", once a row has come

    def compute(
        self, *, predictions: Iterable[Any] | None = None, references: Iterable[Any] | None = None, **kwargs: Any
    ) -> dict[str, Any] | None:
        """Score the rows given here, or those added before; see the inputs below."""
        if predictions is None and references is None:
            if not self._rows:
                raise InputError("no rows to score: give predictions and references, or add some first.")
        else:
            predictions, references = self._checked(predictions, references)
            if not predictions and not self._rows:
                raise InputError("no rows to score: predictions and references are empty.")
            self._store(predictions, references)
        try:
            result: dict[str, Any] | None = super().compute(**kwargs)
        except BaseException:
            self._discard()
            raise
        finally:
            self._rows, self._kind = 0, ""
        return result

    def add_batch(
        self, *, predictions: Iterable[Any] | None = None, references: Iterable[Any] | None = None, **kwargs: Any
    ) -> None:
        """Add rows to be scored by `compute()`; see the inputs below."""
        if kwargs:
            raise InputError(f"unknown inputs: {', '.join(kwargs)}. Rows have predictions and references.")
        self._store(*self._checked(predictions, references))

    def add(self, *, prediction: Any = None, reference: Any = None, **kwargs: Any) -> None:
        """Add one row to be scored by `compute()`; see the inputs below."""
        predictions, references = kwargs.pop("predictions", prediction), kwargs.pop("references", reference)
        self.add_batch(predictions=[predictions], references=[references], **kwargs)

    def _store(self, predictions: Sequence[Any], references: Sequence[Any]) -> None:
        if predictions:
            super().add_batch(predictions=predictions, references=references)
            self._rows += len(predictions)

    def _checked(
        self, predictions: Iterable[Any] | None, references: Iterable[Any] | None
    ) -> tuple[list[str | list[str]], list[list[str]]]:
        """Both columns as lists of plain Python rows."""
        given, gold = rows_in(predictions, "predictions"), rows_in(references, "references")
        if len(given) != len(gold):
            raise InputError(f"{len(given)} predictions but {len(gold)} references: give one of each for every row.")
        rows = range(self._rows, self._rows + len(given))
        checked = [_prediction(value, f"predictions[{row}]") for row, value in zip(rows, given, strict=True)]
        codes = [_codes(value, f"references[{row}]") for row, value in zip(rows, gold, strict=True)]
        kinds = ["text" if isinstance(prediction, str) else "a list of codes" for prediction in checked]
        first = self._kind or next(iter(kinds), "")
        for row, kind in zip(rows, kinds, strict=True):
            if kind != first:
                raise InputError(
                    f"predictions[{row}] is {kind}, but the rows before are {first}: give all rows the same way."
                )
        self._kind = first
        return checked, codes

    def _discard(self) -> None:
        """Let go of what a failed run had stored, so that the metric can be used again."""
        self.writer = self.data = self.buf_writer = None
        self.cache_file_name = self.filelock = self.selected_feature_format = None
        for lock, path in zip(self.filelocks or (), self.file_paths or (), strict=False):
            with contextlib.suppress(OSError):
                os.remove(path)
            lock.release()
        self.filelocks = self.file_paths = None


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
