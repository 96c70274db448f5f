"""What the hybrid matcher knows of a system: its entries and names, and the ranker that weighs candidates."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from clinical_evals.matching.encoder import Encoder, fastest_precision
from clinical_evals.matching.hybrid import ranker_store
from clinical_evals.matching.hybrid.choice import choose
from clinical_evals.matching.hybrid.claims import Claims, claims_of, disagree
from clinical_evals.matching.hybrid.common import common_names, open_titles_of, speaks_of, special
from clinical_evals.matching.hybrid.entries import Entries
from clinical_evals.matching.hybrid.evidence import Library
from clinical_evals.matching.hybrid.ranker import FixedRanker, Ranker, softmax_by_row
from clinical_evals.matching.index import join_indexes, open_some
from clinical_evals.matching.matcher import Match
from clinical_evals.matching.pairs import Pair, further_names, known_pairs
from clinical_evals.matching.titles import Titles, fold, further_texts, titles_of
from clinical_evals.ontology import CodeSystem

_WORD = re.compile(r"[a-z]+")
BLOCK = 4096
"""Texts whose candidates are weighed together: what memory they take is bounded."""
OUT_OF_PLACE = 3.0
"""What a code of pregnancy or of newborns loses (in log odds) with a text that speaks of neither."""
OPPOSITE = 4.0
"""What a code loses whose title says the opposite of the text, or takes the past for the present."""


class Knowledge:
    """Entries, names and ranker of one system; each is made when it is first needed.

    Args:
        system: whose codes are found.
        encoder: the embedding model, or what finds it.
        cache_dir: where index and ranker are kept; by default `cache_folder()`.
        known: texts with known codes, which become entries and of which the ranker learns; None: the release's own
            further names (`pairs.known_pairs`).
        hidden: folded texts that must not become entries, nor be learnt from: what is held out.
    """

    def __init__(
        self,
        system: CodeSystem,
        encoder: Encoder | Callable[[], Encoder],
        cache_dir: str | Path | None,
        known: Sequence[Pair] | None,
        hidden: frozenset[str],
    ) -> None:
        self.system = system
        self._encoder, self._cache_dir = encoder, cache_dir
        self._given, self._hidden = known, hidden

    @cached_property
    def encoder(self) -> Encoder:
        """The embedding model."""
        return self._encoder if isinstance(self._encoder, Encoder) else self._encoder()

    @cached_property
    def names(self) -> Mapping[str, str]:
        """Folded texts that mean a code without any weighing, with that code.

        Not the names in notes: "syphilis (A52.03)" below endocarditis means syphilitic endocarditis.
        """
        titled, named = (
            {fold(text): code for text, code in zip(part.titles, part.codes, strict=True)}
            for part in (titles_of(self.system), self._further)
        )
        common = {fold(pair.text): pair.codes[0] for pair in self._common}
        return named | dict(self._open_titles) | titled | common  # what comes later counts more

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of titles and names, in lower case."""
        return frozenset(word for name in self.names for word in _WORD.findall(name))

    def best(self, texts: Sequence[str]) -> Iterator[Match]:
        """The best code of each text, however unsure.

        Args:
            texts: none is empty; abbreviations are written out.
        """
        if not texts:
            return
        vectors = self.encoder.encode(texts, "Embedding the answers' phrases", fastest_precision())
        codes = self.library.entries.codes
        for start in range(0, len(texts), BLOCK):
            part = slice(start, start + BLOCK)
            evidence = self.library.evidence(texts[part], vectors[part])
            spoken = np.array([speaks_of(text) for text in texts[part]], dtype=np.bool_)
            out_of_place = ~spoken[evidence.rows, self._special[evidence.codes]]
            claims = [claims_of(text, is_title=False) for text in texts[part]]
            pairs = zip(evidence.rows.tolist(), evidence.codes.tolist(), strict=True)
            opposite = np.array([disagree(claims[row], self._claims_of(code)) for row, code in pairs], dtype=np.bool_)
            scores = self.ranker.scores(evidence.features) - OUT_OF_PLACE * out_of_place - OPPOSITE * opposite
            chosen = choose(evidence, softmax_by_row(evidence.rows, scores), self.library.entries)
            confidence = self.ranker.confidence(chosen.likely, chosen.similarity)
            numbers = (chosen.best, chosen.runner_up, chosen.similarity, confidence)
            for best, runner_up, similar, sure in zip(*(each.tolist() for each in numbers), strict=True):
                yield Match(codes[best], "embedding", similar, sure, codes[runner_up] if runner_up >= 0 else None)

    @cached_property
    def library(self) -> Library:
        """All entries in every form."""
        index = join_indexes(
            [
                open_some(part, whole, self.encoder, self._cache_dir)
                for part, whole in zip(self._parts, self._whole, strict=True)
            ]
        )
        entries = Entries(self.system, index.codes, index.titles, len(self._parts[0].codes))
        return Library(entries, index.vectors)

    @cached_property
    def ranker(self) -> Ranker | FixedRanker:
        """Fitted on the known texts, or of fixed weights where there are too few of them."""
        learnt = ranker_store.Learnt(self._known, self._common, self._open_titles)
        return ranker_store.ranker_for(self.library, learnt, self.encoder, self._cache_dir)

    @cached_property
    def _parts(self) -> tuple[Titles, ...]:
        """Titles, common names, further names, names in notes, without what is hidden."""
        titles, common, further, noted = self._whole
        known = {fold(pair.text) for pair in self._known}
        return (
            titles,
            _part(common, lambda text: text not in self._hidden),
            _part(further, lambda text: text in known),
            _part(noted, lambda text: text not in self._hidden),
        )

    @cached_property
    def _whole(self) -> tuple[Titles, ...]:
        """The same with what is hidden, which is embedded once; what is in one is not in the next.

        Names in notes of one word mean something in their place only ("acute", below the Chagas disease of the heart).
        """
        system = self.system
        usual = [(pair.text, pair.codes[0]) for pair in common_names(system)]
        common = further_texts(system, usual, f"common names of {system.name}")
        taken = {fold(text) for text in common.titles}
        pairs = sorted({*self._all_known, *self._given_known})
        further = further_names(system, [pair for pair in pairs if fold(pair.text) not in taken])
        taken |= {fold(text) for text in further.titles}
        shaped = filter(system.code_shape.fullmatch, system.codes())
        noted = [
            (text, code)
            for code in shaped
            for text in system.noted_names(code)
            if " " in fold(text) and fold(text) not in taken
        ]
        return titles_of(system), common, further, further_texts(system, noted, f"names in notes of {system.name}")

    @property
    def _further(self) -> Titles:
        return self._parts[2]

    @cached_property
    def _all_known(self) -> list[Pair]:
        return known_pairs(self.system)

    @property
    def _given_known(self) -> Sequence[Pair]:
        return () if self._given is None else self._given

    @cached_property
    def _known(self) -> list[Pair]:
        pairs = self._all_known if self._given is None else self._given
        return [pair for pair in pairs if fold(pair.text) not in self._hidden]

    @cached_property
    def _common(self) -> list[Pair]:
        return [pair for pair in common_names(self.system) if fold(pair.text) not in self._hidden]

    @cached_property
    def _open_titles(self) -> Mapping[str, str]:
        found = open_titles_of(self.system).items()
        return {text: code for text, code in found if text not in self._hidden}

    def _claims_of(self, place: int) -> Claims:
        """What the title of a candidate says; reading all 98,000 titles takes seconds that few texts never need."""
        if (found := self._read_claims.get(place)) is None:
            title = self.system.title(self.library.entries.codes[place])
            found = self._read_claims[place] = claims_of(title, is_title=True)
        return found

    @cached_property
    def _read_claims(self) -> dict[int, Claims]:
        return {}

    @cached_property
    def _special(self) -> NDArray[np.int8]:
        return special(self.library.entries.codes, self.system)


def _part(whole: Titles, is_shown: Callable[[str], bool]) -> Titles:
    """Those whose folded text is to be shown."""
    pairs = [(code, text) for code, text in zip(whole.codes, whole.titles, strict=True) if is_shown(fold(text))]
    return Titles(whole.source, [code for code, _ in pairs], [text for _, text in pairs])
