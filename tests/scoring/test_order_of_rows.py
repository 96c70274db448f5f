"""The very same numbers in any order of rows or cases, last digit included."""

import numpy as np

from clinical_evals.scoring.department import Outcome
from clinical_evals.scoring.hierarchy import Counts, scores
from clinical_evals.scoring.turns import paired_gain


def test_gain_in_any_order() -> None:
    def case(right: bool) -> Outcome:
        return Outcome("a", "a" if right else "b", right, False)

    before = [case(bool(row % 3)) for row in range(30)]
    after = [case(bool(row % 4)) for row in range(30)]
    order = np.random.default_rng(0).permutation(30).tolist()
    assert paired_gain([before[i] for i in order], [after[i] for i in order]) == paired_gain(before, after)


def test_scores_in_any_order() -> None:
    rng = np.random.default_rng(0)
    gold, predicted = rng.integers(1, 9, (300, 3)), rng.integers(1, 9, (300, 3))
    counts = Counts(np.stack([np.minimum(gold, predicted) // 2, gold, predicted], -1), ("a", "b", "c"))
    assert scores(counts.take(rng.permutation(300).tolist())) == scores(counts)
