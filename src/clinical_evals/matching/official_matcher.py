"""From an item's text to a code as CliBench's released scorer does it (protocol.md 3)."""

import logging
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

from clinical_evals.matching.dictionary import DICTIONARIES
from clinical_evals.matching.dictionary_rows import Candidates
from clinical_evals.matching.encoder import Encoder, default_encoder, fastest_precision
from clinical_evals.matching.index import SLACK, TitleIndex, open_titles
from clinical_evals.matching.matcher import Match, check_texts, most_similar
from clinical_evals.matching.official import title_key
from clinical_evals.matching.titles import Titles, titles_of
from clinical_evals.ontology import CodeSystem

_LOG = logging.getLogger(__name__)


class OfficialMatcher:
    """Matches texts, empty ones too, to candidates: the first equal title, else the most similar, first on a tie.

    There is no threshold but zero. The model and the index are loaded with the first text that equals no title.
    """

    def __init__(
        self,
        candidates: Candidates,
        encoder: Encoder | Callable[[], Encoder] = default_encoder,
        cache_dir: str | Path | None = None,
        same_titles: CodeSystem | None = None,
    ) -> None:
        """Makes a matcher; nothing is loaded yet.

        Args:
            candidates: what texts are matched to; their order decides ties.
            encoder: the embedding model, or what finds it once it is needed.
            cache_dir: where the index of the titles is kept; by default `index_store.cache_folder()`.
            same_titles: the code system whose titles the candidates are, in another order: the vectors are then
                taken from its index, the standard protocol's, and no title is embedded a second time.
        """
        self.candidates = candidates
        self.same_titles = same_titles
        self._encoder = encoder
        self._cache_dir = cache_dir
        self._warned = candidates.from_mimic

    def match(self, texts: Sequence[str]) -> list[Match | None]:
        """The match of each text; None only where even the most similar title has a similarity below zero.

        Without MIMIC's dictionary the first call that has texts logs a warning.
        """
        check_texts(texts)
        if texts and not self._warned:
            self._warned = True
            _LOG.warning(
                "protocol='official' without MIMIC's dictionary: the candidates are the %s. Scores may differ "
                "from the published tables; give dictionary=…/hosp/%s.",
                self.candidates.source,
                DICTIONARIES[self.same_titles.name] if self.same_titles else "d_icd_diagnoses.csv.gz",
            )
        found: dict[str, Match | None] = {}
        unknown = []
        for text in dict.fromkeys(texts):
            if code := self._first_code.get(title_key(text)):
                found[text] = Match(code, "title", 1.0)
            else:
                unknown.append(text)
        if unknown:
            found.update(zip(unknown, most_similar(unknown, self.index, self.encoder, 0.0), strict=True))
        return [found[text] for text in texts]

    @cached_property
    def encoder(self) -> Encoder:
        """The embedding model.

        Raises:
            ResourceMissingError: it is not on this machine; the message has the command that brings it.
        """
        return self._encoder if isinstance(self._encoder, Encoder) else self._encoder()

    @cached_property
    def index(self) -> TitleIndex:
        """The vectors of all candidates, kept by their content; the first use on a machine builds them (minutes)."""
        titles = Titles(self.candidates.name, list(self.candidates.codes), list(self.candidates.titles))
        shared = titles_of(self.same_titles) if self.same_titles is not None else None
        if shared is not None and set(titles.titles) <= set(shared.titles):
            return reorder(open_titles(shared, self.encoder, self._cache_dir), titles, self.encoder)
        return open_titles(titles, self.encoder, self._cache_dir)

    @cached_property
    def _first_code(self) -> dict[str, str]:
        # Reversed, so that of equal titles the first stays.
        texts = self.candidates.equal_to or self.candidates.titles
        pairs = zip(reversed(texts), reversed(self.candidates.codes), strict=True)
        return {title_key(title): code for title, code in pairs}


def reorder(index: TitleIndex, titles: Titles, encoder: Encoder) -> TitleIndex:
    """An index of `titles` with the vectors of one that has the same texts, in another order or more or less often.

    A vector depends on its text only (see `encoder`), so this is the index that embedding `titles` would give.

    Args:
        index: of all the texts, as `open_index` gives it.
        titles: what the new index is of; their order decides ties.
        encoder: that of `index`.

    Raises:
        KeyError: a title that the index does not have.
    """
    places = {title: place for place, title in enumerate(index.titles)}
    vectors = index.vectors[[places[title] for title in titles.titles]]
    return TitleIndex(titles.codes, titles.titles, vectors, SLACK[fastest_precision()], encoder.encode)
