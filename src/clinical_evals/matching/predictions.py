"""Predictions and references as they are given, checked before anything reads them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from clinical_evals.errors import InputError

Prediction = str | Sequence[str]


def rows_in(column: object, name: str) -> list[Any]:
    """The rows of a column of predictions or references.

    Raises:
        InputError: it is None, one text, or a whole table (which would give the names of its columns).
    """
    if column is None or isinstance(column, str | bytes) or not isinstance(column, Iterable):
        kind = "None" if column is None else type(column).__name__
        raise InputError(f"{name} is {kind}, expected one entry for each row, in a list.")
    if isinstance(column, Mapping) or hasattr(column, "columns"):
        raise InputError(f"{name} is a whole table ({type(column).__name__}), expected one column of it.")
    return list(column)


def check_predictions(predictions: Iterable[Prediction]) -> list[Prediction]:
    """The predictions, all text or all lists of text.

    Raises:
        InputError: names the first row that is neither, or that differs from the first row.
    """
    rows = rows_in(predictions, "predictions")
    for row, prediction in enumerate(rows):
        where = f"predictions[{row}]"
        if not isinstance(prediction, str):
            check_codes(prediction, where, or_text=" or text")
        if isinstance(prediction, str) != isinstance(rows[0], str):
            kinds = ("text", "a list of codes") if isinstance(prediction, str) else ("a list of codes", "text")
            raise InputError(f"{where} is {kinds[0]}, but predictions[0] is {kinds[1]}: give all rows the same way.")
    return rows


def check_codes(codes: object, where: str, or_text: str = "") -> None:
    """Raises InputError, naming `where`, for what is no list of codes as text."""
    if isinstance(codes, str | bytes | Mapping) or not isinstance(codes, Iterable):
        raise InputError(f"{where} is {kind_of(codes)}, expected a list of codes{or_text}, e.g. ['E11.9', 'I10'].")
    for place, code in enumerate(codes):
        if not isinstance(code, str):
            raise InputError(f"{where}[{place}] is {kind_of(code)}, expected a code as text, e.g. 'E11.9'.")


def kind_of(value: object) -> str:
    """What a value is, for a message: its type and the beginning of it."""
    if value is None:
        return "None"
    shown = repr(value)
    return f"{type(value).__name__} {shown if len(shown) <= 60 else shown[:57] + '...'}"
