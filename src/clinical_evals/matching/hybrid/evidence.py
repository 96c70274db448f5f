"""What speaks for each candidate code of a text: a row of numbers (features) for each text and code."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from clinical_evals.matching.hybrid import dense
from clinical_evals.matching.hybrid.entries import Entries, names_encounter, numbers, pairs_of_rows, sides
from clinical_evals.matching.hybrid.lexical import Pieces, Words, row_products

NEAREST = 48
"""Entries that each text gets by the similarity of the vectors."""
SHARING = 32
"""Entries that each text gets by the words that it shares."""
SHARP = 0.04
"""Similarity by which a candidate is 1/e as likely as the best, where the mass of a chapter or category is summed."""


class Evidence(NamedTuple):
    """Candidates of several texts, those of one text after each other."""

    rows: NDArray[np.int64]
    """The text of each candidate."""
    codes: NDArray[np.int64]
    """Its place in `Entries.codes`."""
    features: NDArray[np.float32]
    """(candidates, features)"""
    nearest: NDArray[np.float32]
    """The highest cosine similarity of the text's vector with one of the code's entries."""


class Library:
    """The entries of a system in every form in which texts are compared with them.

    Args:
        entries: titles and further names.
        vectors: their vectors, float16 (entries, dimension).
    """

    def __init__(self, entries: Entries, vectors: NDArray[np.float16]) -> None:
        self.entries, self.vectors = entries, vectors
        self.words = Words(entries.texts, entries.contexts)
        self.pieces = Pieces(entries.texts)

    def evidence(
        self, texts: Sequence[str], vectors: NDArray[np.float32], left_out: NDArray[np.int64] | None = None
    ) -> Evidence:
        """The candidates of texts with their features.

        Args:
            texts: with abbreviations written out.
            vectors: their unit vectors (texts, dimension).
            left_out: an entry for each text that is not to be used, -1 for none: a text that is an entry itself.
        """
        word_vectors = self.words.vectors(texts, None if left_out is None else left_out >= 0)
        near = dense.nearest(vectors, self.vectors, NEAREST, left_out)
        sharing = self.words.best(word_vectors, SHARING + 1)
        found = [np.union1d(one, other) for one, other in zip(near, sharing, strict=True)]
        if left_out is not None:
            found = [each[each != hidden] for each, hidden in zip(found, left_out.tolist(), strict=True)]
        rows, entries = pairs = pairs_of_rows(found)
        similar = [
            dense.similarities(vectors, self.vectors, pairs),
            row_products(word_vectors, self.words.entries, pairs),
            self.pieces.similarities(texts, pairs),
            *self._shares(word_vectors, pairs),
            row_products(word_vectors, self.words.contexts, pairs),
        ]
        # The best entry of each code, feature by feature.
        keys = rows * len(self.entries.codes) + self.entries.code_of[entries]
        distinct, starts = _starts(keys)
        order = np.argsort(keys, kind="stable")
        best = np.stack([np.maximum.reduceat(each[order], starts) for each in similar], axis=1)
        code_rows, codes = np.divmod(distinct, len(self.entries.codes))
        above = self._above(vectors, code_rows, codes)
        own = self._own(texts, word_vectors, code_rows, codes)
        support = support_of(best)
        relative = self._relative(code_rows, codes, best, support)
        features = np.concatenate([best, above, own, relative], axis=1)
        return Evidence(code_rows, codes, features.astype(np.float32), best[:, 0])

    def _shares(
        self, word_vectors: sparse.csr_array, pairs: tuple[NDArray[np.int64], NDArray[np.int64]]
    ) -> list[NDArray[np.float32]]:
        """How much of the text's words, by rarity, the entry has, and how much of the entry's the text has; 0-1."""
        weights = self.words.rarity
        of_texts = word_vectors.copy()
        of_texts.data = weights[of_texts.indices]
        of_entries = self.words.present.copy()
        shared = row_products(of_texts, of_entries, pairs)
        whole_texts = np.asarray(of_texts.sum(axis=1)).ravel()[pairs[0]]
        whole_entries = (of_entries @ weights)[pairs[1]]
        return [shared / np.maximum(whole_texts, 1e-6), shared / np.maximum(whole_entries, 1e-6)]

    def _above(
        self, vectors: NDArray[np.float32], rows: NDArray[np.int64], codes: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Similarity with the titles above each code, level by level (candidates, levels - 1)."""
        titles = self.entries.entry_above[codes]
        columns = [
            dense.similarities(vectors, self.vectors, (rows, titles[:, level]))
            for level in range(max(0, self.entries.levels - 3), titles.shape[1])
        ]
        return np.stack(columns, axis=1)

    def _own(
        self, texts: Sequence[str], word_vectors: sparse.csr_array, rows: NDArray[np.int64], codes: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """What the code says that the text does not, and the other way round."""
        text_sides, text_numbers = [sides(text) for text in texts], [numbers(text) for text in texts]
        length = np.array([min(len(text), 200) / 100 for text in texts], dtype=np.float32)
        unknown = self.words.unknown(texts, word_vectors)
        compared = np.array(
            [
                (
                    len(self.entries.sides[code] - text_sides[row]),
                    len(text_sides[row] - self.entries.sides[code]),
                    len(self.entries.numbers[code] - text_numbers[row]),
                    len(text_numbers[row] - self.entries.numbers[code]),
                )
                for row, code in zip(rows.tolist(), codes.tolist(), strict=True)
            ],
            dtype=np.float32,
        ).reshape(len(rows), 4)
        encounter = np.array([names_encounter(text) for text in texts], dtype=np.float32)
        return np.concatenate(
            [
                self.entries.marks[codes],
                np.minimum(compared, 2),
                np.stack([encounter[rows], length[rows], unknown[rows]], axis=1),
            ],
            axis=1,
        )

    def _relative(
        self,
        rows: NDArray[np.int64],
        codes: NDArray[np.int64],
        best: NDArray[np.float32],
        support: NDArray[np.float32],
    ) -> NDArray[np.float32]:
        """Each candidate against the text's others: how far behind the best, and what speaks for its chapter, …"""
        _, starts = _starts(rows)
        counts = np.diff(np.append(starts, len(rows)))
        behind = [
            np.repeat(np.maximum.reduceat(each, starts), counts) - each
            for each in (support, best[:, 0], best[:, 1], best[:, 2])
        ]
        mass = np.exp(-behind[0] / SHARP)
        mass /= np.repeat(np.add.reduceat(mass, starts), counts)
        columns: list[NDArray[Any]] = [*behind]
        for level in range(self.entries.levels):
            keys = rows * (self.entries.ancestors.max() + 1) + self.entries.ancestors[codes, level]
            _, place = np.unique(keys, return_inverse=True)
            columns.append(np.bincount(place, mass)[place])
            if level:
                top = np.full(place.max(initial=0) + 1, -np.inf, dtype=np.float32)
                np.maximum.at(top, place, support)
                columns.append(np.repeat(np.maximum.reduceat(support, starts), counts) - top[place])
        return np.stack(columns, axis=1).astype(np.float32)


def support_of(features: NDArray[np.float32]) -> NDArray[np.float32]:
    """The vectors' similarity, helped by spelling and context: what fixed weights make of the first features."""
    support: NDArray[np.float32] = features[:, 0] + np.float32(0.2) * (features[:, 2] + features[:, 5])
    return support


def _starts(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct keys, sorted, and where each starts once the keys are sorted."""
    distinct, counts = np.unique(keys, return_counts=True)
    return distinct, np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
