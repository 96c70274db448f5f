"""Answers in, scores out: the one way from text to numbers that metric, tasks and reports share.

Source: protocol.md 2.5 (answers to codes) and 2.6 (scores).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.matching.answer import parse_answer
from clinical_evals.matching.matcher import Match, Matcher
from clinical_evals.ontology import CodeSystem, get_system
from clinical_evals.scoring.hierarchy import Counts, count, scores

Prediction = str | Sequence[str]


class ResolvedItem(NamedTuple):
    """One decision of an answer and the codes that it became."""

    text: str
    matches: tuple[Match, ...]
    """The codes of the release that the item stands for; empty: unmatched, or only invalid codes."""
    invalid: tuple[str, ...]
    """Codes that the release does not have: wrong predictions."""

    @property
    def how(self) -> str:
        """How the item was understood: code, title, embedding or unmatched."""
        if self.invalid or not self.matches:
            return "code" if self.invalid else "unmatched"
        return self.matches[0].how


class ResolvedAnswer(NamedTuple):
    """The items of one answer; no items is an empty answer, which is scored as such."""

    items: tuple[ResolvedItem, ...]

    @property
    def codes(self) -> tuple[str, ...]:
        """What the row predicts: distinct canonical and invalid codes, sorted."""
        valid = {match.code for item in self.items for match in item.matches}
        return tuple(sorted(valid.union(self.invalid)))

    @property
    def invalid(self) -> frozenset[str]:
        """The distinct invalid codes of the row."""
        return frozenset(code for item in self.items for code in item.invalid)


class Scored(NamedTuple):
    """What scoring a run gives; every number is computed from `counts`."""

    counts: Counts
    answers: list[ResolvedAnswer]
    diagnostics: dict[str, float]

    def scores(self) -> dict[str, float]:
        """The scores of `scoring.hierarchy.scores` (floats in 0-1) and the diagnostics, in one flat dict."""
        return scores(self.counts) | self.diagnostics


class CodeScorer:
    """Turns answers into codes of one system and scores them against gold codes.

    Args:
        system: the code system, as `clinical_evals.ontology.SYSTEMS` spells it.
        matcher: what turns an item's text into a code; by default all-MiniLM-L6-v2 over the official titles, loaded
            only when some text is neither a code nor an official title.
    """

    def __init__(self, system: str = "icd10cm", *, matcher: Matcher | None = None) -> None:
        self.system: CodeSystem = get_system(system)
        self.matcher = matcher or Matcher(self.system)

    def resolve(self, predictions: Iterable[Prediction]) -> list[ResolvedAnswer]:
        """The items and codes of each answer, all texts of the run matched in one batch.

        Args:
            predictions: all answers as text, or all as lists of codes (each entry is then a prediction).

        Raises:
            InputError: a row is None, of another type than the first, or a list that holds something other than text.
        """
        answers = [self._unmatched_items(row) for row in check_predictions(predictions)]
        texts = list(dict.fromkeys(text for text, codes in _each(answers) if not codes))
        found = dict(zip(texts, self.matcher.match(texts), strict=True)) if texts else {}
        return [
            ResolvedAnswer(tuple(self._resolve(text, codes, found) for text, codes in answer)) for answer in answers
        ]

    def score(self, predictions: Iterable[Prediction], references: Iterable[Sequence[str]]) -> Scored:
        """Score answers against gold codes; an answer without items is an empty prediction, never left out.

        Args:
            predictions: see `resolve`.
            references: the gold codes of each row, in any usual spelling.

        Raises:
            InputError: see `resolve`; also lengths that differ, no rows, a reference that is text or None, or that holds
                a text which is no code of the release (the row is named).
        """
        predictions, references = list(predictions), list(references)
        if len(predictions) != len(references):
            raise InputError(
                f"{len(predictions)} predictions but {len(references)} references: give one of each for every row."
            )
        if not predictions:
            raise InputError("no rows to score: predictions and references are empty.")
        gold = [self._gold(row, reference) for row, reference in enumerate(references)]
        answers = self.resolve(predictions)
        counts = count(gold, [answer.codes for answer in answers], self.system)
        return Scored(counts, answers, diagnose(answers))

    def _gold(self, row: int, reference: Sequence[str]) -> list[str]:
        _check_codes(reference, f"references[{row}]")
        return self.system.require(reference, f"references[{row}]")

    def _unmatched_items(self, prediction: Prediction) -> list[tuple[str, tuple[str, ...]]]:
        if isinstance(prediction, str):
            return [(item.text, item.codes) for item in parse_answer(prediction, self.system)]
        return [(entry, (self.system.normalize(entry) or entry.strip().upper() or "(empty)",)) for entry in prediction]

    def _resolve(self, text: str, codes: tuple[str, ...], found: dict[str, Match | None]) -> ResolvedItem:
        if not codes:
            match = found[text]
            return ResolvedItem(text, (match,) if match else (), ())
        valid = self.system.normalize_all(codes)
        matches = tuple(Match(code, "code", 1.0) for code in valid if code is not None)
        return ResolvedItem(
            text, matches, tuple(code for code, known in zip(codes, valid, strict=True) if known is None)
        )


def check_predictions(predictions: Iterable[Prediction]) -> list[Prediction]:
    """The predictions, all text or all lists of text.

    Raises:
        InputError: names the first row that is neither, or that differs from the first row.
    """
    rows = list(predictions)
    for row, prediction in enumerate(rows):
        where = f"predictions[{row}]"
        if not isinstance(prediction, str):
            _check_codes(prediction, where, or_text=" or text")
        if isinstance(prediction, str) != isinstance(rows[0], str):
            kinds = ("text", "a list of codes") if isinstance(prediction, str) else ("a list of codes", "text")
            raise InputError(f"{where} is {kinds[0]}, but predictions[0] is {kinds[1]}: give all rows the same way.")
    return rows


def diagnose(answers: Sequence[ResolvedAnswer]) -> dict[str, float]:
    """How the answers were understood.

    Returns:
        `rows`, `items`, `invalid_codes` (distinct per row) and `empty_answers` as counts; `share_code`, `share_title`,
        `share_embedding` and `share_unmatched` as shares of the items, 0-1.
    """
    how = Counter(item.how for answer in answers for item in answer.items)
    items = how.total()
    shares = {
        f"share_{kind}": how[kind] / items if items else 0.0 for kind in ("code", "title", "embedding", "unmatched")
    }
    return {
        "rows": float(len(answers)),
        "items": float(items),
        **shares,
        "invalid_codes": float(sum(len(answer.invalid) for answer in answers)),
        "empty_answers": float(sum(not answer.items for answer in answers)),
    }


def _each(answers: Iterable[list[tuple[str, tuple[str, ...]]]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for answer in answers:
        yield from answer


def _check_codes(codes: object, where: str, or_text: str = "") -> None:
    if isinstance(codes, str | bytes) or not isinstance(codes, Iterable):
        raise InputError(f"{where} is {_kind(codes)}, expected a list of codes{or_text}, e.g. ['E11.9', 'I10'].")
    for place, code in enumerate(codes):
        if not isinstance(code, str):
            raise InputError(f"{where}[{place}] is {_kind(code)}, expected a code as text, e.g. 'E11.9'.")


def _kind(value: object) -> str:
    if value is None:
        return "None"
    shown = repr(value)
    return f"{type(value).__name__} {shown if len(shown) <= 60 else shown[:57] + '...'}"
