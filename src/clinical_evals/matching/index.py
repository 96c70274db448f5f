"""The titles of a code system as vectors: embedded once, kept on disk, searched exactly.

    system → titles_of → Titles → Encoder → vectors (float16) → IndexStore on disk → memory map → TitleIndex.search

The vectors are a pure function of titles and encoder, so a build that is killed goes on where it stopped and ends in
the same bytes, and a file that was damaged is noticed and built again.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinical_evals.matching.encoder import Encoder, Precision, fastest_precision
from clinical_evals.matching.index_store import CHUNK_TITLES, IndexStore
from clinical_evals.matching.titles import Titles, titles_of
from clinical_evals.ontology import CodeSystem

BUILD_TOKENS = 1024
"""Tokens in one batch when an index is built: many texts of each length, so little of the last batches is filler."""
QUERY_BLOCK = 1024
TITLE_BLOCK = 4096
GROUP = 16
"""Only the best of every 16 titles is kept in the first pass; groups that can hold a winner are scored again."""
ROUNDING = 5e-5
"""More than a float32 product of two unit vectors of 384 numbers can be off (384 × 2⁻²⁴ = 2.3e-5)."""
SLACK: dict[Precision, float] = {"bfloat16": 1.6e-3, "float32": 2e-4}
"""Titles whose similarities to a query are closer than this are settled with exact vectors.

bfloat16: the error of the difference between two near titles had a standard deviation of 0.00044. Unsettled, 0.8 % of
3,000 inclusion terms had another first title than in plain float32; settled from 0.0015 on, none had. One query in
fourteen is unclear then, between two titles as a rule. float32: the stored float16 is off by 0.00006.
"""
QUERY_SLACK = 2.0e-3
"""As `SLACK`, where the query is in bfloat16 too (`TitleIndex.search_coarse`): the two errors add up.

Of 6,000 synonyms 0.9 % had another first title than in float32; of those that stood none, from 0.0016 on. One query in
ten does not stand.
"""
THRESHOLD_SLACK = 4.0e-3
"""How far from a threshold a similarity of such a query must be; the largest error of 6,000 was 0.0024."""


class Found(NamedTuple):
    """The most similar title of each query; parallel arrays (queries,)."""

    positions: NDArray[np.int64]
    """In `TitleIndex.codes` and `titles`."""
    similarities: NDArray[np.float32]
    """Cosine similarities."""
    runners_up: NDArray[np.int64]
    """The most similar title of another code, by the stored vectors; -1 where none was near enough to be looked at."""
    stands: NDArray[np.bool_]
    """Whether the exact vector of the query finds the same title, on the same side of the threshold."""


class _Close(NamedTuple):
    """What one query is near to."""

    candidates: NDArray[np.int64]
    scores: NDArray[np.float32]
    """Similarities of the candidates by the stored vectors."""
    is_close: NDArray[np.bool_]
    """Whether a candidate can be among the best."""


class TitleIndex:
    """Titles, their codes and their vectors; finds the titles that plain float32 vectors would find.

    The result of a query depends on nothing else in the call: a float32 matrix product only selects what is then
    scored again, row by row, in float64. Equal similarities go to the first title.
    """

    codes: list[str]
    """The code that each title stands for."""
    titles: list[str]
    """Parallel to `codes`."""
    vectors: NDArray[np.float16]
    """Unit vectors of the titles (titles, dimension), memory-mapped where they come from the cache."""

    def __init__(
        self,
        codes: Sequence[str],
        titles: Sequence[str],
        vectors: NDArray[np.float16],
        slack: float = 0.0,
        encode: Callable[[list[str]], NDArray[np.float32]] | None = None,
    ) -> None:
        """Makes an index of vectors that are at hand; `open_index` gives one of a code system.

        Args:
            codes: of the titles.
            titles: the texts.
            vectors: float16 (titles, dimension).
            slack: how much the difference of two similarities with these vectors may be wrong.
            encode: gives exact vectors of titles that the slack leaves unclear; without it there is no slack.
        """
        self.codes, self.titles, self.vectors = list(codes), list(titles), vectors
        self.encode = encode
        self.slack = slack if encode else 0.0

    def search(
        self, vectors: NDArray[np.float32], threshold: float | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The most similar title of each query.

        Args:
            vectors: unit vectors of the queries (queries, dimension).
            threshold: a similarity that decides something: which side of it a query is on is settled exactly too.

        Returns:
            Positions in `codes` and `titles`, int64 (queries,), and cosine similarities, float32 (queries,).
        """
        found = self.find(vectors, threshold)
        return found.positions, found.similarities

    def find(self, vectors: NDArray[np.float32], threshold: float | None = None) -> Found:
        """As `search`, with the runners-up; all stand."""
        found = list(self._close_blocks(vectors, 1, self.slack))
        settled = self._settled(vectors, found, 1, threshold)
        positions = np.empty(len(found), dtype=np.int64)
        similarities = np.empty(len(found), dtype=np.float32)
        for row, (close, scores) in enumerate(settled):
            best = np.lexsort((close, -scores))[0]
            positions[row], similarities[row] = close[best], scores[best]
        return Found(positions, similarities, self._runners_up(found, positions), np.ones(len(found), dtype=np.bool_))

    def find_coarse(self, vectors: NDArray[np.float32], threshold: float | None = None) -> Found:
        """As `find`, for queries in bfloat16, where they leave no doubt which title is the most similar.

        The similarity of a query that stands is off by about 0.001; those that do not stand have to be searched with
        exact vectors.
        """
        found = list(self._close_blocks(vectors, 1, QUERY_SLACK))
        positions = np.empty(len(found), dtype=np.int64)
        similarities = np.empty(len(found), dtype=np.float32)
        stands = np.empty(len(found), dtype=np.bool_)
        for row, each in enumerate(found):
            best = int(np.argmax(each.scores))
            positions[row], similarities[row] = each.candidates[best], each.scores[best]
            far = threshold is None or abs(each.scores[best] - threshold) > THRESHOLD_SLACK
            stands[row] = each.is_close.sum() == 1 and far
        return Found(positions, similarities, self._runners_up(found, positions), stands)

    def _runners_up(self, found: Sequence[_Close], positions: NDArray[np.int64]) -> NDArray[np.int64]:
        runners_up = np.full(len(found), -1, dtype=np.int64)
        for row, (each, position) in enumerate(zip(found, positions.tolist(), strict=True)):
            scores = np.where(self._code_numbers[each.candidates] == self._code_numbers[position], -2.0, each.scores)
            if scores[best := int(np.argmax(scores))] > -2:
                runners_up[row] = each.candidates[best]
        return runners_up

    @cached_property
    def _code_numbers(self) -> NDArray[np.int64]:
        numbers: dict[str, int] = {}
        return np.array([numbers.setdefault(code, len(numbers)) for code in self.codes], dtype=np.int64)

    def nearest(
        self, vectors: NDArray[np.float32], k: int, threshold: float | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """As `search`, for the k most similar titles (at most all), the best first: arrays (queries, k)."""
        k = min(k, len(self.codes))
        settled = self._settled(vectors, list(self._close_blocks(vectors, k, self.slack)), k, threshold)
        positions = np.empty((len(vectors), k), dtype=np.int64)
        similarities = np.empty((len(vectors), k), dtype=np.float32)
        for row, (close, scores) in enumerate(settled):
            best = np.lexsort((close, -scores))[:k]
            positions[row], similarities[row] = close[best], scores[best]
        return positions, similarities

    def _settled(
        self, vectors: NDArray[np.float32], found: Sequence[_Close], k: int, threshold: float | None
    ) -> list[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """The close titles of each query with their similarities: exact ones where the stored vectors are unclear."""
        vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        settled = [(each.candidates[each.is_close], each.scores[each.is_close]) for each in found]
        unclear = [row for row, (_, scores) in enumerate(settled) if self._is_unclear(scores, k, threshold)]
        exact = self._exact_vectors([settled[row][0] for row in unclear])
        for row in unclear:
            titles = np.stack([exact[position] for position in settled[row][0].tolist()])
            settled[row] = (settled[row][0], _scores(vectors[row], titles))
        return settled

    def _is_unclear(self, scores: NDArray[np.float32], k: int, threshold: float | None) -> bool:
        if not self.slack:
            return False
        near_threshold = threshold is not None and abs(float(scores.max()) - threshold) <= self.slack
        return near_threshold or k > 1 or len(scores) > 1

    def _exact_vectors(self, close: list[NDArray[np.int64]]) -> dict[int, NDArray[np.float32]]:
        """Exact vectors of all these titles by their position; each is embedded once."""
        if not close or not self.encode:
            return {}
        positions = np.unique(np.concatenate(close)).tolist()
        return dict(zip(positions, self.encode([self.titles[position] for position in positions]), strict=True))

    def _close_blocks(self, queries: NDArray[np.float32], k: int, slack: float) -> Iterator[_Close]:
        queries = np.ascontiguousarray(queries, dtype=np.float32)
        for start in range(0, len(queries), QUERY_BLOCK):
            yield from self._close(queries[start : start + QUERY_BLOCK], k, slack)

    def _close(self, queries: NDArray[np.float32], k: int, slack: float) -> Iterator[_Close]:
        """For each query all titles that can be among its k best, and the next best at least."""
        for query, candidates in zip(queries, self._candidates(queries, k + 1, slack), strict=True):
            scores = _scores(query, self.vectors[candidates])
            yield _Close(candidates, scores, scores >= np.partition(scores, -k)[-k] - slack)

    def _candidates(self, queries: NDArray[np.float32], k: int, slack: float) -> Iterator[NDArray[np.int64]]:
        """As `_close`, and some more: whole groups, chosen by float32 products."""
        maxima, members = self._group_maxima(queries)
        if k >= maxima.shape[1]:
            yield from (np.arange(len(self.codes)) for _ in queries)
            return
        # The k best titles lie in groups whose best is at least the k-th best of the groups' best.
        cutoff = np.partition(maxima, -k, axis=1)[:, -k] - (ROUNDING + slack)
        for best, least in zip(maxima, cutoff, strict=True):
            found = members[best >= least].ravel()
            yield found[found < len(self.codes)]

    def _group_maxima(self, queries: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """The highest similarity in each group (queries, groups), and the positions in it (groups, GROUP)."""
        maxima, members = [], []
        scores = np.empty((len(queries), TITLE_BLOCK), dtype=np.float32)
        for start in range(0, len(self.codes), TITLE_BLOCK):
            block = self.vectors[start : start + TITLE_BLOCK].astype(np.float32)
            groups = -(-len(block) // GROUP)
            if groups * GROUP != scores.shape[1]:  # the last block
                scores = np.empty((len(queries), groups * GROUP), dtype=np.float32)
            np.matmul(queries, block.T, out=scores[:, : len(block)])
            scores[:, len(block) :] = -np.inf
            # Every groups-th title is in one group: the maximum is then taken over long rows, which is what is fast.
            maxima.append(scores.reshape(len(queries), GROUP, groups).max(axis=1))
            places = np.arange(groups * GROUP).reshape(GROUP, groups).T
            members.append(np.where(places < len(block), start + places, len(self.codes)))
        return np.concatenate(maxima, axis=1), np.concatenate(members)


def _scores(query: NDArray[np.float32], titles: NDArray[np.float16] | NDArray[np.float32]) -> NDArray[np.float32]:
    """Similarities of one query with some titles, each computed alike however many there are."""
    similarities: NDArray[np.float32] = (titles.astype(np.float64) * query).sum(axis=1).astype(np.float32)
    return similarities


def open_index(system: CodeSystem, encoder: Encoder, cache_dir: str | Path | None = None) -> TitleIndex:
    """The index of a code system's titles: from the cache, or built now (minutes for 98,000 titles) and cached.

    Args:
        system: the code system; `titles_of` says which of its titles take part.
        encoder: what embeds them.
        cache_dir: where indexes are kept; by default `cache_folder()`.
    """
    return open_titles(titles_of(system), encoder, cache_dir)


def open_titles(titles: Titles, encoder: Encoder, cache_dir: str | Path | None = None) -> TitleIndex:
    """As `open_index`, for any list of titles, such as those of a hospital's dictionary.

    A cache folder that cannot be written to costs a warning, not the run; a damaged index is built again, with a
    warning.
    """
    precision = fastest_precision()
    store = IndexStore.of(titles, encoder.identity, precision, cache_dir)
    vectors = store.read()
    if vectors is None:
        with store.locked():
            vectors = store.read()  # another process may have finished it meanwhile
            if vectors is None:
                if store.damage:
                    message = (
                        f"The cached title index in {store.folder} is damaged ({store.damage}). It is built again."
                    )
                    warnings.warn(message, RuntimeWarning, stacklevel=2)
                vectors = store.write(_build(titles, encoder, precision, store))
    return TitleIndex(titles.codes, titles.titles, vectors, SLACK[precision], encoder.encode)


def open_some(titles: Titles, whole: Titles, encoder: Encoder, cache_dir: str | Path | None = None) -> TitleIndex:
    """The index of some titles out of a longer list, whose index is what is kept in the cache.

    Args:
        titles: some of `whole`, in its order.
        whole: all of them.
        encoder: what embeds them.
        cache_dir: as of `open_index`.
    """
    index = open_titles(whole, encoder, cache_dir)
    if len(titles.titles) == len(whole.titles):
        return index
    places = {title: place for place, title in enumerate(whole.titles)}
    vectors = index.vectors[[places[title] for title in titles.titles]]
    return TitleIndex(titles.codes, titles.titles, vectors, index.slack, encoder.encode)


def join_indexes(parts: Sequence[TitleIndex]) -> TitleIndex:
    """Several indexes of one encoder as one; equal similarities go to the earlier part. The vectors are copied."""
    first = parts[0]
    if len(parts) == 1:
        return first
    return TitleIndex(
        [code for part in parts for code in part.codes],
        [title for part in parts for title in part.titles],
        np.concatenate([part.vectors for part in parts if len(part.codes)]),
        max(part.slack for part in parts),
        first.encode,
    )


def _build(titles: Titles, encoder: Encoder, precision: Precision, store: IndexStore) -> NDArray[np.float16]:
    from tqdm import tqdm

    # Neighbours in this order have about as many tokens, which fills the encoder's batches.
    order = sorted(range(len(titles.titles)), key=lambda row: (len(titles.titles[row]), titles.titles[row]))
    chunks: list[NDArray[np.float16]] = []
    task = f"Embedding the titles of {titles.source} ({'once, then cached' if store.writable else 'not cached'})"
    with tqdm(total=len(order), desc=task, unit="title", smoothing=0.05, mininterval=0.5) as bar:
        for start in range(0, len(order), CHUNK_TITLES):
            rows = order[start : start + CHUNK_TITLES]
            chunk = store.read_chunk(start, len(rows))
            if chunk is None:
                texts = [titles.titles[row] for row in rows]
                chunk = encoder.encode(texts, bar, precision, BUILD_TOKENS).astype(np.float16)
                store.write_chunk(start, chunk)
            else:
                bar.update(len(rows))
            chunks.append(chunk)
    vectors = np.empty((len(order), chunks[0].shape[1] if chunks else encoder.dimension), dtype=np.float16)
    if chunks:
        vectors[order] = np.concatenate(chunks)
    return vectors
