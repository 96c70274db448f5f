"""An `evaluate` metric that looks at its rows before `evaluate` does.

`evaluate` picks the type of all rows by the first one, then casts: a text row among lists became a list of letters, a
list among texts its `repr`, and an unequal number of rows or no row at all ended in an error about something else.
Here every row is checked first, whichever way it comes, and the message names it. What a good row is, each kind of
metric says itself: `code_metric` and `department_metric`.
"""

import contextlib
import os
from collections.abc import Iterable, Sequence
from typing import Any

import evaluate

from clinical_evals.errors import InputError
from clinical_evals.matching.predictions import rows_in


class CheckedMetric(evaluate.Metric):  # type: ignore[misc]  # evaluate has no types
    """Predictions and references, one of each a row; `_compute` is the metric's own, `_check_rows` its kind's."""

    # Set by evaluate while a run is computed.
    filelocks: Any = None
    file_paths: Any = None

    _flags = frozenset({"intervals", "per_row"})
    """Inputs that are True or False: "no" would be taken for yes."""

    _rows = 0  # stored so far, to be scored by the next `compute`

    def _check_rows(
        self, rows: range, predictions: Sequence[Any], references: Sequence[Any]
    ) -> tuple[list[Any], list[Any]]:
        """Both columns as plain Python values that the features take as they are.

        Args:
            rows: the numbers of these rows among all that `compute` will score.
            predictions: as given, one for each of `rows`.
            references: as given, one for each of `rows`.

        Raises:
            InputError: names the first row that cannot be used.
        """
        raise NotImplementedError

    def _forget_rows(self) -> None:
        """Start anew: called after each `compute`, whether it gave scores or an error."""
        self._rows = 0

    def compute(
        self, *, predictions: Iterable[Any] | None = None, references: Iterable[Any] | None = None, **kwargs: Any
    ) -> dict[str, Any] | None:
        """Score the rows given here, or those added before; see the inputs below."""
        for flag in self._flags & kwargs.keys():
            if not isinstance(kwargs[flag], bool):
                raise InputError(f"{flag}={kwargs[flag]!r}: expected True or False.")
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
            self._forget_rows()
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
    ) -> tuple[list[Any], list[Any]]:
        given, gold = rows_in(predictions, "predictions"), rows_in(references, "references")
        if len(given) != len(gold):
            raise InputError(f"{len(given)} predictions but {len(gold)} references: give one of each for every row.")
        return self._check_rows(range(self._rows, self._rows + len(given)), given, gold)

    def _discard(self) -> None:
        """Let go of what a failed run had stored, so that the metric can be used again."""
        self.writer = self.data = self.buf_writer = None
        self.cache_file_name = self.filelock = self.selected_feature_format = None
        for lock, path in zip(self.filelocks or (), self.file_paths or (), strict=False):
            with contextlib.suppress(OSError):
                os.remove(path)
            lock.release()
        self.filelocks = self.file_paths = None
