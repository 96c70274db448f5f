"""How far two rankings of the same models agree, such as those that two simulated patients give (protocol.md 1.3)."""

from collections.abc import Mapping
from itertools import combinations
from math import sqrt
from typing import NamedTuple

from clinical_evals.errors import InputError


class RankingAgreement(NamedTuple):
    """Kendall's tau-b, and the pairs of models that it comes from."""

    tau: float | None
    """-1 (one order is the reverse of the other) to 1 (the same order); None where all models of one ranking tie."""
    models: tuple[str, ...]
    """Those that are in both, sorted; the others say nothing."""
    concordant: int
    """Pairs that both rank in the same order."""
    discordant: int
    tied: int
    """Pairs that one or both do not tell apart."""


def ranking_agreement(first: Mapping[str, float], second: Mapping[str, float]) -> RankingAgreement:
    """The agreement of two rankings over the models that both have.

    tau-b = (concordant - discordant) / sqrt(pairs that `first` tells apart x pairs that `second` tells apart).

    Args:
        first: the score of each model, such as its accuracy at the last turn, against one patient model.
        second: the same against another. Models must be named alike; units do not matter.

    Raises:
        InputError: fewer than two models are in both.

    >>> ranking_agreement({"a": 1, "b": 2, "c": 3}, {"a": 10, "b": 30, "c": 20}).tau
    0.3333333333333333
    """
    models = tuple(sorted(first.keys() & second.keys()))
    if len(models) < 2:
        raise InputError(
            f"rankings of fewer than two models cannot agree: {', '.join(models) or 'none'} in both. Only in the "
            f"first: {', '.join(sorted(first.keys() - second.keys())) or 'none'}; only in the second: "
            f"{', '.join(sorted(second.keys() - first.keys())) or 'none'}. Name the models alike."
        )
    signs = [
        (_sign(first[other] - first[one]), _sign(second[other] - second[one]))
        for one, other in combinations(models, 2)
    ]
    concordant = sum(one * other > 0 for one, other in signs)
    discordant = sum(one * other < 0 for one, other in signs)
    apart = sum(one != 0 for one, _ in signs) * sum(other != 0 for _, other in signs)
    tau = (concordant - discordant) / sqrt(apart) if apart else None
    return RankingAgreement(tau, models, concordant, discordant, len(signs) - concordant - discordant)


def _sign(difference: float) -> int:
    return (difference > 0) - (difference < 0)
