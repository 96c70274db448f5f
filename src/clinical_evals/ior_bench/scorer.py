"""Answers in, outcomes out: the one way from an answer's text to a referral that metric, tasks and reports share.

Source: protocol.md 1.2 (the rules) and 3 (the `official` protocol). What an answer names is read by `department`, what
follows from it is counted by `scoring.department`.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from difflib import get_close_matches
from typing import Any, NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.ior_bench.department import (
    Extraction,
    check_candidates,
    extract_department,
    extract_official,
    is_right,
)
from clinical_evals.matching.predictions import kind_of, rows_in
from clinical_evals.matching.protocols import check_protocol
from clinical_evals.scoring.department import Outcome, score_outcomes

_DEPARTMENTS = "give departments=[...]: the names to choose from, one list for all rows or one list for each row"


class Scored(NamedTuple):
    """What scoring a run gives; every number is computed from `outcomes`."""

    outcomes: list[Outcome]
    """One for each row, in the order given: no row is ever left out."""
    extractions: list[Extraction]
    """What each answer names. Under `official` the one candidate that its rule finds."""
    protocol: str
    not_offered: int
    """Rows whose gold department is not among those to choose from; only `official` lets such rows in."""

    def scores(self) -> dict[str, float]:
        """The scores of `scoring.department.score_outcomes`; under `official` also `not_offered`, a number of rows."""
        extra = {"not_offered": float(self.not_offered)} if self.protocol == "official" else {}
        return score_outcomes(self.outcomes) | extra


def score_answers(
    predictions: Iterable[str],
    references: Iterable[str],
    departments: Iterable[str] | Iterable[Sequence[str]] | None,
    protocol: str = "standard",
) -> Scored:
    """Read the department out of every answer and compare it with the gold one.

    Under `standard` a row is right if the department named is the gold one. Under `official`, the released rule, it is
    right if the gold name is a substring of the first candidate, in list order, that occurs anywhere in the answer; an
    answer with no candidate in it gives the empty text, an `Outcome` without a department.

    The released script offers only departments with at least three rows, yet scores every row. So `official` takes
    rows whose gold department is not offered, and counts them; under `standard` such a row is an error.

    Args:
        predictions: the answers; a model that gave no answer gave the text "".
        references: the gold department of each row, spelled as in its list.
        departments: the names to choose from: one list for all rows, or one list for each row. Their order decides
            under `official`.
        protocol: one of `matching.protocols.PROTOCOLS`.

    Raises:
        InputError: lengths that differ; no rows; an answer or gold department that is not text (the row is named); a
            gold department that its list does not have; no departments, or a list of them that `check_candidates`
            refuses.
        UnknownNameError: no such protocol.
    """
    check_protocol(protocol)
    given, gold = rows_in(predictions, "predictions"), rows_in(references, "references")
    if len(given) != len(gold):
        raise InputError(f"{len(given)} predictions but {len(gold)} references: give one of each for every row.")
    if not given:
        raise InputError("no rows to score: predictions and references are empty.")
    answers = [check_answer(answer, f"predictions[{row}]") for row, answer in enumerate(given)]
    labels = [check_label(label, f"references[{row}]") for row, label in enumerate(gold)]
    choices = _choices(departments, len(answers))
    offered = [label in names for label, names in zip(labels, choices, strict=True)]
    if protocol == "standard" and not all(offered):
        row = offered.index(False)
        raise InputError(_not_offered(row, labels[row], choices[row]))
    extractions = [_extract(answer, names, protocol) for answer, names in zip(answers, choices, strict=True)]
    outcomes = [_outcome(label, found, protocol) for label, found in zip(labels, extractions, strict=True)]
    return Scored(outcomes, extractions, protocol, offered.count(False))


def check_answer(answer: object, where: str) -> str:
    """One answer as text.

    Raises:
        InputError: it is something else, or holds half a character (a lone surrogate), which no file can hold.
    """
    if not isinstance(answer, str):
        raise InputError(f'{where} is {kind_of(answer)}, expected an answer as text (where a model gave none: "").')
    return _whole(answer, where)


def check_label(label: object, where: str) -> str:
    """One gold department as text.

    Raises:
        InputError: it is something else, or empty.
    """
    if not isinstance(label, str) or not label.strip():
        raise InputError(f"{where} is {kind_of(label)}, expected the name of one department as text, e.g. '消化内科'.")
    return _whole(label, where)


def _choices(departments: object, rows: int) -> list[tuple[str, ...]]:
    """The checked list of each row; a list that rows share is checked once."""
    if departments is None:
        raise InputError(f"departments is missing: {_DEPARTMENTS}.")
    lists = _listed(departments, "departments", _DEPARTMENTS)
    if not lists or isinstance(lists[0], str):
        names = _names(lists, "departments")
        check_candidates(names, "departments")
        return [names] * rows
    checked = set()
    choices = []
    for row, given in enumerate(lists):
        where = f"departments[{row}]"
        names = _names(
            _listed(given, where, "expected the list of departments of that row, as in departments[0]"), where
        )
        if names not in checked:
            check_candidates(names, where)
            checked.add(names)
        choices.append(names)
    if len(choices) != rows:
        raise InputError(f"{len(choices)} lists of departments but {rows} rows: give one list for all, or one a row.")
    return choices


def _listed(value: object, where: str, wanted: str) -> list[Any]:
    # The order of a set differs between processes, and the first candidate found wins under `official`.
    unordered = isinstance(value, Mapping | Set) or hasattr(value, "columns")
    if unordered or isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise InputError(f"{where} is {kind_of(value)}, not a list: {wanted}.")
    return list(value)


def _names(names: Sequence[object], where: str) -> tuple[str, ...]:
    for place, name in enumerate(names):
        if not isinstance(name, str):
            raise InputError(f"{where}[{place}] is {kind_of(name)}, expected the name of a department as text.")
    return tuple(map(str, names))


def _extract(answer: str, names: tuple[str, ...], protocol: str) -> Extraction:
    if protocol == "standard":
        return extract_department(answer, names)
    name = extract_official(answer, names)
    return Extraction(name or None, (name,) if name else ())


def _outcome(label: str, found: Extraction, protocol: str) -> Outcome:
    ambiguous = found.ambiguous if protocol == "standard" else None
    return Outcome(label, found.department, is_right(found.department, label, protocol), ambiguous)


def _not_offered(row: int, label: str, names: Sequence[str]) -> str:
    near = get_close_matches(label, names, n=3, cutoff=0.4)
    meant = f"Did you mean {' or '.join(map(repr, near))}? " if near else ""
    return (
        f"references[{row}] is {label!r}, which is none of the {len(names)} departments of that row. {meant}"
        "Spell it as in the list, or add it to the list."
    )


def _whole(text: str, where: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{where} holds half a character ({text[error.start]!r}) at place {error.start}: decode the text anew."
        ) from error
    return str(text)
