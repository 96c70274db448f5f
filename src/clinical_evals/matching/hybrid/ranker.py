"""From what speaks for the candidates to how likely each is: a small network, fitted on texts with known codes.

Its probabilities add up to one over the candidates of a text. It is fitted so that at every level the right ancestor
gets the probability, so that the sum of the probabilities below a category says how sure the category is.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinical_evals.matching.hybrid.evidence import SHARP, support_of

HIDDEN = 48
EPOCHS = 40
RATE = 2e-3
DECAY = 1e-3
_ROWS = 64


UNCALIBRATED = np.array([1.0, 0.0, 0.0])


class Ranker(NamedTuple):
    """Weights of the network: features → hidden → hidden → a number for each candidate."""

    mean: NDArray[np.float32]
    scale: NDArray[np.float32]
    first: NDArray[np.float32]
    first_bias: NDArray[np.float32]
    second: NDArray[np.float32]
    second_bias: NDArray[np.float32]
    last: NDArray[np.float32]
    calibration: NDArray[np.float64] = UNCALIBRATED
    """Weights of the probability (as log odds), of the similarity, and of nothing: what `confidence` makes of them."""

    def scores(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """A number for each candidate; within a text, softmax makes them probabilities."""
        hidden = (features.astype(np.float64) - self.mean) / self.scale
        hidden = np.maximum(hidden @ self.first + self.first_bias, 0)
        hidden = np.maximum(hidden @ self.second + self.second_bias, 0)
        scores: NDArray[np.float64] = hidden @ self.last
        return scores

    def confidence(self, likely: NDArray[np.float64], similarity: NDArray[np.float32]) -> NDArray[np.float64]:
        """How often a category so likely, found by a code so similar, was right among texts held out of the fit."""
        return calibrated(likely, similarity, self.calibration)


class FixedRanker:
    """Weights that nobody fitted, for systems without texts to learn of: the vectors, helped by spelling and words."""

    def scores(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """As of `Ranker`; the features that count are the first six of `Library.evidence`."""
        return support_of(features).astype(np.float64) / SHARP

    def confidence(self, likely: NDArray[np.float64], similarity: NDArray[np.float32]) -> NDArray[np.float64]:
        """The probability as it is: there is nothing to calibrate it with."""
        return likely


def log_odds(likely: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log odds of probabilities, at most 7 in size: a softmax is never that sure for a reason."""
    inside = np.clip(likely, 1e-3, 1 - 1e-3)
    odds: NDArray[np.float64] = np.log(inside / (1 - inside))
    return odds


def calibrated(
    likely: NDArray[np.float64], similarity: NDArray[np.float32], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """A logistic function of both."""
    sure: NDArray[np.float64] = 1 / (
        1 + np.exp(-(weights[0] * log_odds(likely) + weights[1] * similarity + weights[2]))
    )
    return sure


def calibrate(
    likely: NDArray[np.float64], similarity: NDArray[np.float32], right: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """The weights of `calibrated` that fit texts with known codes (texts,)."""
    from sklearn.linear_model import LogisticRegression

    given = np.stack([log_odds(likely), similarity], axis=1)
    if right.all() or not right.any():
        return UNCALIBRATED
    fitted = LogisticRegression(C=10.0).fit(given, right)
    return np.array([*fitted.coef_[0], fitted.intercept_[0]])


def softmax_by_row(rows: NDArray[np.int64], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Softmax over the entries of each row; the entries of a row stand together."""
    if not len(rows):
        return scores
    _, starts, counts = np.unique(rows, return_index=True, return_counts=True)
    weights = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), counts))
    probabilities: NDArray[np.float64] = weights / np.repeat(np.add.reduceat(weights, starts), counts)
    return probabilities


def fit(rows: NDArray[np.int64], features: NDArray[np.float32], right: NDArray[np.bool_], seed: int = 0) -> Ranker:
    """Fit a ranker on texts with known codes.

    Args:
        rows: the text of each candidate; those of one text stand together.
        features: (candidates, features).
        right: whether a candidate stands for the same as the text's code (candidates, levels).
        seed: of the first weights and of the order of the texts.
    """
    import torch

    mean, scale = features.mean(axis=0), features.std(axis=0) + 1e-6
    _, starts, counts = np.unique(rows, return_index=True, return_counts=True)
    width = int(counts.max())
    inputs = np.zeros((len(starts), width, features.shape[1]), dtype=np.float32)
    labels = np.zeros((len(starts), width, right.shape[1]), dtype=np.float32)
    padding = np.full((len(starts), width), -1e9, dtype=np.float32)
    normal = (features - mean) / scale
    for row, (start, count) in enumerate(zip(starts.tolist(), counts.tolist(), strict=True)):
        inputs[row, :count] = normal[start : start + count]
        labels[row, :count] = right[start : start + count]
        padding[row, :count] = 0
    # Small products: threads would wait for each other; and lighteval leaves gradients switched off in its process.
    with one_thread(), torch.enable_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = torch.nn.Sequential(
            torch.nn.Linear(features.shape[1], HIDDEN),
            torch.nn.ReLU(),
            torch.nn.Dropout(0.1),
            torch.nn.Linear(HIDDEN, HIDDEN),
            torch.nn.ReLU(),
            torch.nn.Linear(HIDDEN, 1, bias=False),
        )
        optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=DECAY)
        batches = -(-len(starts) // _ROWS)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE * 2, total_steps=EPOCHS * batches)
        tensors = [torch.from_numpy(each) for each in (inputs, labels, padding)]
        for _ in range(EPOCHS):
            for batch in torch.randperm(len(starts)).split(_ROWS):
                given, wanted, hidden = (each[batch] for each in tensors)
                log = torch.log_softmax(network(given).squeeze(-1) + hidden, dim=1)
                at_level = torch.logsumexp(log.unsqueeze(-1) + torch.log(wanted + 1e-12), dim=1)
                possible = wanted.amax(dim=1)
                loss = -(at_level.clamp(min=-20) * possible).sum(dim=1).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                schedule.step()
    network.eval()
    one, two, three = (network[place] for place in (0, 3, 5))
    weights = (one.weight.T, one.bias, two.weight.T, two.bias, three.weight[0])
    return Ranker(mean, scale, *(weight.detach().numpy().copy() for weight in weights))


@contextmanager
def one_thread() -> Iterator[None]:
    """torch with one thread: the same sums on every machine too."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def save(ranker: Ranker, path: Path) -> None:
    """Write the weights as arrays, nothing that could run."""
    with path.open("wb") as file:
        np.savez(file, **ranker._asdict())


def load(path: Path) -> Ranker:
    """Read what `save` wrote."""
    with np.load(path, allow_pickle=False) as stored:
        return Ranker(**{name: stored[name] for name in Ranker._fields})
