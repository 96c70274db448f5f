"""Answers in, scores out: the one way from text to numbers that metric, tasks and reports share.

Source: protocol.md 2.5 (answers to codes), 2.6 (scores) and 3 (the `official` protocol).
"""

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from clinical_evals.errors import InputError
from clinical_evals.matching.answer import Item, parse_answer
from clinical_evals.matching.dictionary import own_titles, read_dictionary
from clinical_evals.matching.matcher import Match, Matcher, MatchesSeveral
from clinical_evals.matching.official import read_official
from clinical_evals.matching.official_levels import count_official
from clinical_evals.matching.official_matcher import OfficialMatcher
from clinical_evals.matching.predictions import Prediction, check_codes, check_predictions, rows_in
from clinical_evals.matching.protocols import check_protocol
from clinical_evals.matching.resolved import ResolvedAnswer, ResolvedItem, diagnose
from clinical_evals.ontology import CodeSystem, get_system
from clinical_evals.scoring.hierarchy import Counts, count, scores

if TYPE_CHECKING:
    from clinical_evals.matching.hybrid.matcher import HybridMatcher

__all__ = ["CodeScorer", "Prediction", "ResolvedAnswer", "ResolvedItem", "Scored", "check_predictions"]


Value = TypeVar("Value")


class Scored(NamedTuple):
    """What scoring a run gives; every number is computed from `counts`."""

    counts: Counts
    """Of the rows in `scored_rows`, in their order."""
    answers: list[ResolvedAnswer]
    """Of every row given."""
    diagnostics: dict[str, float]
    scored_rows: tuple[int, ...]
    """The rows that count: all of them under `standard`; under `official` those that predict something."""
    info: dict[str, str]
    """`protocol`, and `candidates`: what titles the texts were matched to."""

    def scores(self) -> dict[str, float]:
        """The scores of `scoring.hierarchy.scores` (floats in 0-1) and the diagnostics, in one flat dict."""
        return scores(self.counts) | self.diagnostics

    def of_scored_rows(self, values: Sequence[Value]) -> list[Value]:
        """Of one value for every row given, such as its patient, those of the scored rows: parallel to `counts`."""
        return [values[row] for row in self.scored_rows]


class CodeScorer:
    """Turns answers into codes of one system and scores them against gold codes.

    Args:
        system: the code system, as `clinical_evals.ontology.SYSTEMS` spells it.
        protocol: one of `protocols.PROTOCOLS`.
        dictionary: `official` only: MIMIC's table of the system's titles (`dictionary.DICTIONARIES`), to which answers
            are matched. Without it the release's own titles stand in; diagnostics, info and a logged warning say so.
            With MIMIC's table of labs the references are itemids, as in the released code.
        matcher: what turns an item's text into a code; by default all-MiniLM-L6-v2 over the release's titles
            (`standard`) or the dictionary's (`official`), loaded only when some text is neither a code nor a title.

    Raises:
        UnknownNameError: no such system or protocol.
        InputError: a dictionary that cannot be used, or that the protocol or the matcher given has no use for.
    """

    def __init__(
        self,
        system: str = "icd10cm",
        protocol: str = "standard",
        *,
        dictionary: str | Path | None = None,
        matcher: "Matcher | OfficialMatcher | HybridMatcher | None" = None,
    ) -> None:
        check_protocol(protocol)
        official = protocol == "official"
        if dictionary is not None and (not official or matcher is not None):
            raise InputError(
                f"dictionary={str(dictionary)!r} gives the titles that protocol='official' matches to: it has no use "
                f"with {'a matcher, which has its own' if official else 'protocol=' + repr(protocol)}. Leave one out."
            )
        self.system: CodeSystem = get_system(system)
        self.protocol = protocol
        if matcher is None:
            matcher = self._official_matcher(dictionary) if official else Matcher(self.system)
        if isinstance(matcher, OfficialMatcher) != official:
            raise InputError(f"protocol={protocol!r} cannot use a {type(matcher).__name__}.")
        self.matcher = matcher

    def resolve(self, predictions: Iterable[Prediction]) -> list[ResolvedAnswer]:
        """The items and codes of each answer, all texts of the run matched in one batch.

        Args:
            predictions: all answers as text, or all as lists of codes (each entry is then a prediction).

        Raises:
            InputError: a row is None, of another type than the first, or a list that holds something other than text.
        """
        answers = [self._read(row) for row in check_predictions(predictions)]
        texts = list(dict.fromkeys(item.text for items, _ in answers for item in items if not item.codes))
        found = dict(zip(texts, self._match(texts), strict=True)) if texts else {}
        return [
            ResolvedAnswer(tuple(self._resolve(item, found) for item in items), ignored) for items, ignored in answers
        ]

    def score(self, predictions: Iterable[Prediction], references: Iterable[Sequence[str]]) -> Scored:
        """Score answers against gold codes.

        Under `standard` an answer without items is an empty prediction; under `official` a row that predicts nothing
        is left out of every count but `rows`, `rows_left_out` and `empty_answers`.

        Args:
            predictions: see `resolve`; a model that gave no answer gave the text "".
            references: the gold codes of each row, in any usual spelling.

        Raises:
            InputError: see `resolve`; also lengths that differ, no rows, a reference that is text or None, or that
                holds a text which is no code of the release (the row is named).
        """
        predictions, references = rows_in(predictions, "predictions"), rows_in(references, "references")
        if len(predictions) != len(references):
            raise InputError(
                f"{len(predictions)} predictions but {len(references)} references: give one of each for every row."
            )
        if not predictions:
            raise InputError("no rows to score: predictions and references are empty.")
        gold = [self._gold(row, reference) for row, reference in enumerate(references)]
        answers = self.resolve(predictions)
        if not isinstance(predictions[0], str):
            self._warn_of_text(predictions)
        codes = [answer.codes for answer in answers]
        rows = tuple(row for row, predicted in enumerate(codes) if predicted or self.protocol == "standard")
        counts = self._count([gold[row] for row in rows], [codes[row] for row in rows])
        return Scored(counts, answers, self._diagnose(answers, rows), rows, self._info())

    def _count(self, gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> Counts:
        if isinstance(self.matcher, OfficialMatcher):
            return count_official(gold, predicted, self.system, self.matcher.candidates)
        return count(gold, predicted, self.system)

    def _warn_of_text(self, predictions: Sequence[Prediction]) -> None:
        entries = [entry for row in predictions for entry in row]
        text = [entry for entry in entries if " " in entry.strip() and self.system.normalize(entry) is None]
        if 2 * len(text) > len(entries):
            warnings.warn(
                f"{len(text)} of {len(entries)} predicted entries look like text, e.g. {text[0][:60]!r}. The entries "
                "of a list are codes and are not matched to titles: give text as one answer, e.g. '\\n'.join(titles).",
                stacklevel=3,
            )

    def _gold(self, row: int, reference: Sequence[str]) -> list[str]:
        check_codes(reference, f"references[{row}]")
        if isinstance(self.matcher, OfficialMatcher) and self.matcher.candidates.ids == "itemid":
            return _itemids(reference, f"references[{row}]")
        return self.system.require(reference, f"references[{row}]")

    def _read(self, prediction: Prediction) -> tuple[Sequence[Item], frozenset[str]]:
        """The items of an answer, and the invalid codes that are counted although they predict nothing."""
        if not isinstance(prediction, str):
            written = [self.system.normalize(entry) or entry.strip().upper() or "(empty)" for entry in prediction]
            return [Item(entry, (code,)) for entry, code in zip(prediction, written, strict=True)], frozenset()
        if self.protocol == "official":
            return read_official(prediction, self.system)
        return parse_answer(prediction, self.system), frozenset()

    def _match(self, texts: Sequence[str]) -> list[tuple[Match, ...]]:
        matcher: object = self.matcher
        if isinstance(matcher, MatchesSeveral):
            return matcher.matches(texts)
        return [(match,) if match else () for match in self.matcher.match(texts)]

    def _resolve(self, item: Item, found: dict[str, tuple[Match, ...]]) -> ResolvedItem:
        if not item.codes:
            return ResolvedItem(item.text, found[item.text], ())
        known = list(zip(item.codes, self.system.normalize_all(item.codes), strict=True))
        matches = tuple(Match(code, "code", 1.0) for _, code in known if code is not None)
        return ResolvedItem(item.text, matches, tuple(written for written, code in known if code is None))

    def _official_matcher(self, dictionary: str | Path | None) -> OfficialMatcher:
        if dictionary is not None:
            return OfficialMatcher(read_dictionary(dictionary, self.system))
        return OfficialMatcher(own_titles(self.system), same_titles=self.system)

    def _diagnose(self, answers: Sequence[ResolvedAnswer], rows: Sequence[int]) -> dict[str, float]:
        diagnostics = diagnose([answers[row] for row in rows])
        if isinstance(self.matcher, OfficialMatcher):
            diagnostics["rows"] = float(len(answers))
            diagnostics["rows_left_out"] = float(len(answers) - len(rows))
            diagnostics["empty_answers"] = float(sum(not answer.items for answer in answers))
            diagnostics["own_titles"] = float(not self.matcher.candidates.from_mimic)
        return diagnostics

    def _info(self) -> dict[str, str]:
        matcher = self.matcher
        own = f"titles of {self.system.name} {self.system.release}"
        if isinstance(matcher, OfficialMatcher):
            candidates = matcher.candidates.source
        else:
            candidates = str(getattr(matcher, "candidates_text", own))  # a user's own matcher has but `match`
        return {"protocol": self.protocol, "candidates": candidates}


def _itemids(reference: Sequence[str], where: str) -> list[str]:
    """Gold of labs as the released code has it."""
    for entry in reference:
        if not (entry.isascii() and entry.isdecimal()):
            raise InputError(
                f"{where}: {entry!r} is no itemid. With MIMIC's table of labs the official protocol compares MIMIC's "
                "itemids, digits only. For LOINC numbers leave the dictionary out."
            )
    return list(reference)
