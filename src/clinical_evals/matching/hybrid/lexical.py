"""Texts as weighted words and as weighted pieces of words: which share what."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from clinical_evals.matching.hybrid.words import american, words

PIECES = (3, 4)
"""Characters in a piece of a word."""
_PIECE_BITS = 18
BLOCK = 1024

Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Rows of queries and rows of entries, parallel."""


class Words:
    """Which words entries have, weighted by how rare they are (TF-IDF), and which entries share a query's words.

    Args:
        entries: the texts of the entries.
        contexts: what else is known of each entry, such as the titles above it.
    """

    def __init__(self, entries: Sequence[str], contexts: Sequence[str]) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        self._vectorizer = TfidfVectorizer(analyzer=self._known_words, sublinear_tf=True, dtype=np.float32)
        self._known: dict[str, int] = {}
        self.entries = self._vectorizer.fit_transform(entries).tocsr()
        self._known = self._vectorizer.vocabulary_
        self.contexts = self._vectorizer.transform(contexts).tocsr()
        self.rarity = self._vectorizer.idf_.astype(np.float32)

    def _known_words(self, text: str) -> list[str]:
        return [american(word, self._known) for word in words(text)] if self._known else words(text)

    def vectors(self, texts: Sequence[str], is_entry: NDArray[np.bool_] | None = None) -> sparse.csr_array:
        """Unit vectors (texts, words) of queries; words that no entry has are left out.

        Args:
            texts: the queries.
            is_entry: which of them are entries that are not to be used: a word that only one entry has is then none
                that an entry has, as it would be if that entry were not there.
        """
        from sklearn.preprocessing import normalize

        vectors = sparse.csr_array(self._vectorizer.transform(texts))
        if is_entry is not None:
            rows = np.repeat(np.arange(vectors.shape[0]), np.diff(vectors.indptr))
            vectors.data[is_entry[rows] & (self._entries_with[vectors.indices] < 2)] = 0
            vectors.eliminate_zeros()
            vectors = sparse.csr_array(normalize(vectors))
        return vectors

    def unknown(self, texts: Sequence[str], vectors: sparse.csr_array) -> NDArray[np.float32]:
        """Share of the distinct words of each text that no entry has, 0-1; `vectors` are those of the texts."""
        distinct = np.array([len(set(self._known_words(text))) for text in texts], dtype=np.float32)
        unknown: NDArray[np.float32] = 1 - np.diff(vectors.indptr).astype(np.float32) / np.maximum(distinct, 1)
        return unknown

    @cached_property
    def _entries_with(self) -> NDArray[np.int64]:
        """How many entries have each word."""
        return np.bincount(self.entries.indices, minlength=self.entries.shape[1])

    def best(self, queries: sparse.csr_array, k: int) -> list[NDArray[np.int64]]:
        """The entries that share most with each query: at most k, those of equal similarity in their order."""
        found: list[NDArray[np.int64]] = []
        for start in range(0, queries.shape[0], BLOCK):
            similar = (queries[start : start + BLOCK] @ self._transposed).tocsr()
            for row in range(similar.shape[0]):
                columns = similar.indices[similar.indptr[row] : similar.indptr[row + 1]].astype(np.int64)
                scores = similar.data[similar.indptr[row] : similar.indptr[row + 1]]
                if len(scores) > k:
                    least = np.partition(scores, -k)[-k]
                    columns, scores = columns[scores >= least], scores[scores >= least]
                found.append(columns[np.lexsort((columns, -scores))[:k]])
        return found

    @cached_property
    def _transposed(self) -> sparse.csr_array:
        return sparse.csr_array(sparse.csr_array(self.entries).T.tocsr())

    @cached_property
    def present(self) -> sparse.csr_array:
        """1 where an entry has a word."""
        return sparse.csr_array((np.ones_like(self.entries.data), self.entries.indices, self.entries.indptr))


class Pieces:
    """Texts as unit vectors of the pieces of their words: what is spelled alike is near."""

    def __init__(self, entries: Sequence[str]) -> None:
        from sklearn.feature_extraction.text import HashingVectorizer

        self._vectorizer = HashingVectorizer(
            analyzer="char_wb",
            ngram_range=PIECES,
            n_features=2**_PIECE_BITS,
            alternate_sign=False,
            dtype=np.float32,
        )
        self._entries = list(entries)

    def similarities(self, queries: Sequence[str], pairs: Pairs) -> NDArray[np.float32]:
        """Cosine similarities of queries with entries, one a pair, 0-1."""
        rows, entries = pairs
        distinct, place = np.unique(entries, return_inverse=True)
        of_entries = self._vectorizer.transform([self._entries[entry] for entry in distinct.tolist()])
        return row_products(self._vectorizer.transform(queries).tocsr(), of_entries.tocsr(), (rows, place))


def row_products(queries: sparse.csr_array, entries: sparse.csr_array, pairs: Pairs) -> NDArray[np.float32]:
    """Inner products of rows of two matrices, one a pair."""
    rows, columns = pairs
    products = np.empty(len(rows), dtype=np.float32)
    step = 65536
    for start in range(0, len(rows), step):
        part = queries[rows[start : start + step]].multiply(entries[columns[start : start + step]])
        products[start : start + step] = np.asarray(part.sum(axis=1)).ravel()
    return products
