"""The entries whose vectors are nearest to a text's vector: many for each text, found in whole blocks.

A block has always the same number of rows (the last one is filled up), so that a text's similarities do not depend on
what stands beside it.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

ROWS = 256
"""Texts in a block."""
GROUP = 16
"""As in `index.TitleIndex`: only the best of every 16 entries is looked at first."""
_ENTRIES = 4096


def nearest(
    queries: NDArray[np.float32], vectors: NDArray[np.float16], k: int, left_out: NDArray[np.int64] | None = None
) -> Iterator[NDArray[np.int64]]:
    """The k nearest entries of each query, in no order.

    Args:
        queries: unit vectors (queries, dimension).
        vectors: unit vectors of the entries (entries, dimension).
        k: how many; all if there are no more.
        left_out: an entry for each query that is not to be found; -1 for none.
    """
    for start in range(0, len(queries), ROWS):
        rows = min(ROWS, len(queries) - start)
        block = np.resize(np.arange(start, start + rows), ROWS)
        scores = _scores(queries[block], vectors)
        if left_out is not None:
            hidden = left_out[start : start + rows]
            scores[np.flatnonzero(hidden >= 0), hidden[hidden >= 0]] = -2.0
        yield from _best(scores[:rows], min(k, len(vectors)))


def similarities(
    queries: NDArray[np.float32], vectors: NDArray[np.float16], pairs: tuple[NDArray[np.int64], NDArray[np.int64]]
) -> NDArray[np.float32]:
    """Cosine similarities of queries with entries, one a pair, each computed alike however many there are."""
    found = np.empty(len(pairs[0]), dtype=np.float32)
    for start in range(0, len(found), 32768):
        rows, entries = (each[start : start + 32768] for each in pairs)
        found[start : start + 32768] = np.einsum(
            "pd,pd->p", queries[rows], vectors[entries].astype(np.float32), optimize=False
        )
    return found


def _scores(queries: NDArray[np.float32], vectors: NDArray[np.float16]) -> NDArray[np.float32]:
    width = -(-len(vectors) // GROUP) * GROUP
    scores = np.full((len(queries), width), -2.0, dtype=np.float32)
    for start in range(0, len(vectors), _ENTRIES):
        block = vectors[start : start + _ENTRIES].astype(np.float32)
        np.matmul(queries, block.T, out=scores[:, start : start + len(block)])
    return scores


def _best(scores: NDArray[np.float32], k: int) -> Iterator[NDArray[np.int64]]:
    groups = scores.shape[1] // GROUP
    if k >= groups:
        for row in scores:
            yield np.argpartition(row, -k)[-k:].astype(np.int64)
        return
    strided = scores.reshape(len(scores), GROUP, groups)
    chosen = np.argpartition(strided.max(axis=1), -k, axis=1)[:, -k:]
    for row, own in zip(scores, chosen, strict=True):
        members = (own[None, :] + groups * np.arange(GROUP)[:, None]).ravel()
        yield members[np.argpartition(row[members], -k)[-k:]].astype(np.int64)
