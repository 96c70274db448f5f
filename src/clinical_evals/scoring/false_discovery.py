"""Many tests at once: p-values adjusted so that few of the differences called real are none (Benjamini-Hochberg)."""

from collections.abc import Sequence

import numpy as np


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """The adjusted p-values of a table, in its order.

    Calling real what is at most q after the adjustment keeps the expected share of false ones among them at q or below
    (Benjamini and Hochberg 1995), where the tests are independent or, as scores of the same answers are, positively
    dependent. The i-th smallest of m values becomes the least of m p / rank over the ranks from i on.

    Args:
        p_values: of all tests of the table, 0-1.

    Raises:
        ValueError: one is no number between 0 and 1.
    """
    values = np.asarray(p_values, dtype=float)
    if not np.all((values >= 0) & (values <= 1)):  # also NaN
        raise ValueError(f"expected p-values between 0 and 1, found {p_values}")
    order = np.argsort(values, kind="stable")
    scaled = values[order] * (len(values) / np.arange(1, len(values) + 1))  # so that none falls below its p
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum.accumulate(scaled[::-1])[::-1]
    return [float(value) for value in adjusted]
