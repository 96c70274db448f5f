"""From an item's text to a code: the equal title, else the most similar one, else nothing (protocol 2.5, point 3)."""

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np

from clinical_evals.errors import InputError
from clinical_evals.matching.encoder import Encoder, default_encoder, fastest_precision
from clinical_evals.matching.index import TitleIndex, join_indexes, open_some, open_titles
from clinical_evals.matching.titles import Titles, fold, titles_of
from clinical_evals.ontology import CodeSystem

DEFAULT_THRESHOLD = 0.6
"""Cosine similarity from which a text is taken for the most similar title; for all-MiniLM-L6-v2.

Chosen with `benchmarks/matcher_threshold.py` on 1,500 inclusion terms of ICD-10-CM (synonyms with known codes, none
equal to a title) against 160 phrases that are no diagnosis. Matched, at seed 0:

    threshold  synonyms  other phrases  difference (Youden's J)
      0.50      95.4 %      36.9 %          0.585
      0.55      92.5 %      23.1 %          0.693
      0.60      87.5 %      11.2 %          0.763    0.60-0.61 is the highest for each of the seeds 0, 1 and 2
      0.65      80.3 %       6.2 %          0.741
      0.70      72.5 %       1.9 %          0.707

What is lost is mostly wrong anyway: the right category is first for 70 % of the synonyms above 0.60 and for 16 % of
those below, where abbreviations find what sounds like them ("CHF exacerbation": chloroform, 0.51).
"""


class Match(NamedTuple):
    """What a text was taken for."""

    code: str
    """Canonical code of the release."""
    how: Literal["code", "title", "embedding"]
    """From a code in the text, from a title equal to it, or from the most similar title."""
    similarity: float
    """Cosine similarity of text and title, in -1 to 1; 1.0 for codes and equal titles."""
    confidence: float | None = None
    """How likely the category is right, 0-1, where the matcher says."""
    runner_up: str | None = None
    """The next best code (of the hybrid matcher: of another category); None of codes and equal titles."""


def check_texts(texts: Sequence[str]) -> None:
    """Whether these are texts, in a list.

    Raises:
        InputError: one text, which would be read letter by letter, or something that is no text.
    """
    if isinstance(texts, str):
        raise InputError(f"a matcher takes a list of texts, not one text: give [{texts[:40]!r}]")
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(f"text {place} to be matched is {text!r}: expected a text")


def most_similar(texts: list[str], index: TitleIndex, encoder: Encoder, threshold: float) -> list[Match | None]:
    """The most similar title of each text; None where its cosine similarity is below the threshold."""
    precision = fastest_precision()
    vectors = encoder.encode(texts, "Embedding the answers' phrases", precision)
    if precision == "float32":
        found = index.find(vectors, threshold)
    else:
        found = index.find_coarse(vectors, threshold)
        if doubtful := np.flatnonzero(~found.stands).tolist():
            exact = encoder.encode([texts[row] for row in doubtful], "Embedding close calls exactly")
            settled = index.find(exact, threshold)
            found.positions[doubtful], found.similarities[doubtful] = settled.positions, settled.similarities
            found.runners_up[doubtful] = settled.runners_up
    rows = zip(found.positions.tolist(), found.similarities.tolist(), found.runners_up.tolist(), strict=True)
    return [
        Match(index.codes[best], "embedding", similarity, None, index.codes[second] if second >= 0 else None)
        if similarity >= threshold
        else None
        for best, similarity, second in rows
    ]


@runtime_checkable
class MatchesSeveral(Protocol):
    """A matcher that may find several codes in one text."""

    def matches(self, texts: Sequence[str]) -> list[tuple[Match, ...]]:
        """The matches of each text; none where there is none."""


class Matcher:
    """Matches texts to the codes of one system.

    It does no more than it must: titles are read with the first text, model and index with the first text that is no
    title. A text's match depends on nothing but that text, whatever stands beside it.
    """

    def __init__(
        self,
        system: CodeSystem,
        encoder: Encoder | Callable[[], Encoder] = default_encoder,
        threshold: float = DEFAULT_THRESHOLD,
        cache_dir: str | Path | None = None,
        further: Titles | None = None,
        further_of: Titles | None = None,
    ) -> None:
        """Makes a matcher; nothing is loaded yet.

        Args:
            system: whose titles are matched.
            encoder: the embedding model, or what finds it once it is needed.
            threshold: cosine similarity below which a text stays unmatched; the default is for all-MiniLM-L6-v2.
            cache_dir: where the title index is kept; by default `cache_folder()`.
            further: texts beside the titles, such as synonyms (`titles.further_texts`).
            further_of: a longer list that these are of, whose index is what the cache keeps; by default themselves.
        """
        self.system = system
        self._further, self._further_of = further, further_of or further
        self.threshold = threshold
        self._encoder = encoder
        self._cache_dir = cache_dir

    def match(self, texts: Sequence[str]) -> list[Match | None]:
        """The match of each text, None where no title is similar enough or the text is empty.

        Texts that differ only in case, white space, dashes, quotes or end punctuation are one text. All texts of a
        run are best given in one call: the distinct ones are encoded and searched together.
        """
        check_texts(texts)
        folded = [fold(text) for text in texts]
        found: dict[str, Match | None] = {"": None}
        unknown: list[str] = []
        for text in dict.fromkeys(folded):
            if code := self._codes_by_title.get(text):
                found[text] = Match(code, "title", 1.0)
            elif text:
                unknown.append(text)
        if unknown:
            found.update(zip(unknown, most_similar(unknown, self.index, self.encoder, self.threshold), strict=True))
        return [found[text] for text in folded]

    @property
    def candidates_text(self) -> str:
        """What texts are matched to, for results: titles and release, and what else there is."""
        own = f"titles of {self.system.name} {self.system.release}"
        if self._encoder is default_encoder and not self._further:
            return own
        return ", ".join([own, *([self._further.source] if self._further else ()), self.encoder.label])

    @cached_property
    def encoder(self) -> Encoder:
        """The embedding model.

        Raises:
            ResourceMissingError: it is not on this machine; the message has the command that brings it.
        """
        return self._encoder if isinstance(self._encoder, Encoder) else self._encoder()

    @cached_property
    def index(self) -> TitleIndex:
        """The vectors of all titles; the first use on a machine builds them, which takes minutes."""
        parts = [open_titles(self._titles, self.encoder, self._cache_dir)]
        if self._further and self._further_of:
            parts.append(open_some(self._further, self._further_of, self.encoder, self._cache_dir))
        return join_indexes(parts)

    @cached_property
    def _titles(self) -> Titles:
        return titles_of(self.system)

    @cached_property
    def _codes_by_title(self) -> dict[str, str]:
        further = self._further or Titles("", [], [])
        texts, codes = (*further.titles, *self._titles.titles), (*further.codes, *self._titles.codes)
        return dict(zip(map(fold, texts), codes, strict=True))  # a title comes last: it is what counts
