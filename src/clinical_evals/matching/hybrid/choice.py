"""From probabilities of candidates to the code that a text is taken for, and how sure that is."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinical_evals.matching.hybrid.entries import Entries
from clinical_evals.matching.hybrid.evidence import Evidence


class Chosen(NamedTuple):
    """One of each per text, in the order of the texts."""

    best: NDArray[np.int64]
    """Place of the code in `Entries.codes`."""
    runner_up: NDArray[np.int64]
    """The best code of another category; -1 if all candidates are of one."""
    likely: NDArray[np.float64]
    """How likely the category of the best is, 0-1, not yet calibrated."""
    similarity: NDArray[np.float32]
    """Highest cosine similarity of the text's vector with an entry of the best."""


def choose(evidence: Evidence, likely: NDArray[np.float64], entries: Entries) -> Chosen:
    """For each text the candidate that is right at most levels on average.

    Args:
        evidence: the candidates.
        likely: their probabilities; those of one text add up to one.
        entries: what the codes stand for.
    """
    expected, of_category = _expected(evidence, likely, entries)
    _, starts, counts = np.unique(evidence.rows, return_index=True, return_counts=True)
    categories = entries.ancestors[:, category_level(entries.levels)]
    best, runner_up = np.empty(len(starts), dtype=np.int64), np.full(len(starts), -1, dtype=np.int64)
    for text, (start, count) in enumerate(zip(starts.tolist(), counts.tolist(), strict=True)):
        order = np.lexsort((evidence.codes[start : start + count], -expected[start : start + count])) + start
        best[text] = order[0]
        others = order[categories[evidence.codes[order]] != categories[evidence.codes[order[0]]]]
        if len(others):
            runner_up[text] = evidence.codes[others[0]]
    return Chosen(evidence.codes[best], runner_up, np.minimum(of_category[best], 1.0), evidence.nearest[best])


def category_level(levels: int) -> int:
    """The level whose probability is the confidence: the middle one, of ICD-10-CM the category."""
    return levels // 2


def _expected(
    evidence: Evidence, likely: NDArray[np.float64], entries: Entries
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each candidate at how many levels it is right on average, and how likely its category is right."""
    expected, of_category = np.zeros_like(likely), np.zeros_like(likely)
    for level in range(entries.levels):
        keys = evidence.rows * (int(entries.ancestors.max()) + 1) + entries.ancestors[evidence.codes, level]
        _, place = np.unique(keys, return_inverse=True)
        below = np.bincount(place, likely)[place].astype(np.float64)
        expected += below
        if level == category_level(entries.levels):
            of_category = below
    return expected, of_category
