"""The scores of single rows against the scores of a run of that row alone."""

import numpy as np
import pytest

from clinical_evals.scoring.hierarchy import Counts, scores
from clinical_evals.scoring.rows import row_keys, row_scores

COUNTS = Counts(np.array([[[1, 2, 1], [1, 2, 4]], [[0, 3, 0], [0, 3, 0]], [[2, 2, 2], [1, 2, 2]]]), ("top", "full"))


def test_by_hand() -> None:
    first, silent, _ = row_scores(COUNTS)
    assert first == {
        "precision_top": 1 / 1, "precision_full": 1 / 4, "precision_average": (1 + 1 / 4) / 2,
        "recall_top": 1 / 2, "recall_full": 1 / 2, "recall_average": 1 / 2,
        "f1_top": 2 * 1 / (2 + 1), "f1_full": 2 * 1 / (2 + 4), "f1_average": (2 / 3 + 2 / 6) / 2,
    }  # fmt: skip
    assert set(silent.values()) == {0.0}
    assert list(first) == row_keys(COUNTS.levels)


def test_a_row_is_a_run_of_one() -> None:
    for row, found in enumerate(row_scores(COUNTS)):
        alone = scores(COUNTS.take([row]))
        assert found == {key: alone[key] for key in row_keys(COUNTS.levels)}


def test_the_mean_of_the_rows_f1_is_the_macro_f1() -> None:
    mean = np.mean([row["f1_full"] for row in row_scores(COUNTS)])
    assert scores(COUNTS)["macro_f1_full"] == pytest.approx(mean)


def test_no_rows() -> None:
    assert row_scores(COUNTS.take([])) == []
