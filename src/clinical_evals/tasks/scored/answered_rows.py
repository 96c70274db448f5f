"""Answers with their gold codes, scored by a protocol; the scorers and the last results are kept in this process."""

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.matching.protocols import PROTOCOLS
from clinical_evals.matching.scorer import CodeScorer, Scored

BOTH = "both"
"""Asks for all of `PROTOCOLS`."""


class AnsweredRow(NamedTuple):
    """One answer with its gold codes; `row` is its place in the split."""

    row: int
    answer: str
    gold: tuple[str, ...]


def protocols_of(protocol: str, dictionary: Path | None = None) -> tuple[str, ...]:
    """The protocols that are asked for, the one whose scores lighteval gets first.

    Raises:
        InputError: a dictionary, but not for the protocol that has a use for it.
    """
    protocols = PROTOCOLS if protocol == BOTH else (protocol,)
    if dictionary is not None and "official" not in protocols:
        raise InputError(
            f"--dictionary {dictionary} gives the titles that the official protocol matches to: it has no use with "
            f"--protocol {protocol}. Give --protocol official or {BOTH}, or leave it out."
        )
    return protocols


def find_scorer(system: str, protocol: str = "standard", dictionary: Path | None = None) -> CodeScorer:
    """The scorer of a protocol, made once in a process; a dictionary is read and checked now, models are loaded later.

    Raises:
        UnknownNameError: no such system or protocol.
        InputError: the dictionary cannot be used.
    """
    return _scorer(system, protocol, dictionary if protocol == "official" else None)


@lru_cache(maxsize=16)
def score_rows(
    rows: tuple[AnsweredRow, ...], system: str, protocol: str = "standard", dictionary: Path | None = None
) -> Scored:
    """Score answers, in the order given; asking again for the same rows costs nothing."""
    scorer = find_scorer(system, protocol, dictionary)
    return scorer.score([row.answer for row in rows], [row.gold for row in rows])


@lru_cache(maxsize=8)
def _scorer(system: str, protocol: str, dictionary: Path | None) -> CodeScorer:
    return CodeScorer(system, protocol, dictionary=dictionary)
