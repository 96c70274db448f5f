"""A population of patients whose true scores are known, and runs drawn from it.

There are four kinds of patients. A kind has a number of rows a patient, of gold and of predicted codes a row at two
levels, and a chance that a code is right. Each patient is easier or harder than their kind by `SPREAD`, in all rows
and for both of two models: rows of one patient are alike, and so are two models on one patient. How many codes are
predicted differs from model to model: in each row those of the kind, or `MORE` in every other row, by chance.
"""

import numpy as np

from clinical_evals.scoring.hierarchy import Counts
from clinical_evals.scoring.paired import Run

LEVELS = ("block", "full")
SHARE = np.array([0.4, 0.3, 0.2, 0.1])
ROWS = np.array([1, 2, 3, 4])
GOLD = np.array([[5, 8], [4, 5], [8, 12], [3, 3]])
PREDICTED = np.array([[4, 5], [6, 7], [5, 6], [3, 4]])
CHANCE = np.array([[0.6, 0.4], [0.4, 0.2], [0.3, 0.15], [0.5, 0.4]])
MORE = 2
SPREAD = 0.1


def draw_runs(rng: np.random.Generator, patients: int, *gains: float) -> list[Run]:
    """A run of one model for each gain: by how much more likely than `CHANCE` its codes are right."""
    kind = rng.choice(len(SHARE), patients, p=SHARE)
    groups = np.repeat(np.arange(patients), ROWS[kind])
    of_row = kind[groups]
    harder = rng.choice([-SPREAD, SPREAD], patients)[groups]
    runs = []
    for gain in gains:
        chance = CHANCE[of_row] + harder[:, None] + gain
        predicted = PREDICTED[of_row] + MORE * rng.integers(0, 2, (len(of_row), 1))
        both = rng.binomial(np.minimum(GOLD[of_row], predicted), chance)
        runs.append(Run(Counts(np.stack([both, GOLD[of_row], predicted], axis=-1), LEVELS), groups.tolist()))
    return runs


def true_scores(gain: float = 0.0) -> dict[str, float]:
    """What the scores of very many patients come to: sums are replaced by what is expected of a patient."""
    rows = SHARE * ROWS  # of each kind, expected of a patient
    numbers = [PREDICTED, PREDICTED + MORE]
    right = [np.minimum(GOLD, predicted) * (CHANCE + gain) for predicted in numbers]
    of_rows = [2 * both / (GOLD + predicted) for both, predicted in zip(right, numbers, strict=True)]
    found = {}
    for place, level in enumerate(LEVELS):
        both, gold, predicted, f1 = (
            float(rows @ np.mean(each, axis=0)[:, place]) for each in (right, [GOLD], numbers, of_rows)
        )
        found |= {
            f"precision_{level}": both / predicted,
            f"recall_{level}": both / gold,
            f"f1_{level}": 2 * both / (gold + predicted),
            f"macro_f1_{level}": f1 / float(rows.sum()),
        }
    for measure in ("precision", "recall", "f1", "macro_f1"):
        found[f"{measure}_average"] = (found[f"{measure}_block"] + found[f"{measure}_full"]) / 2
    return found
