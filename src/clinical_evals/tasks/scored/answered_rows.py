"""Answers with their gold codes, scored by a protocol; the scorers and the last results are kept in this process."""

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.matching.matchers import PROTOCOL, make_scorer, matcher_name
from clinical_evals.matching.protocols import PROTOCOLS
from clinical_evals.matching.scorer import CodeScorer, Scored

BOTH = "both"
"""Asks for all of `PROTOCOLS`."""


class Matching(NamedTuple):
    """What the protocols match the items of answers with."""

    dictionary: Path | None = None
    """For "official": MIMIC's table of the titles."""
    matcher: str = PROTOCOL
    """For "standard": a name of `matching.matchers`."""


AS_PROTOCOLS_SAY = Matching()


class AnsweredRow(NamedTuple):
    """One answer with its gold codes; `row` is its place in the split."""

    row: int
    answer: str
    gold: tuple[str, ...]


def protocols_of(protocol: str, matching: Matching = AS_PROTOCOLS_SAY) -> tuple[str, ...]:
    """The protocols that are asked for, the one whose scores lighteval gets first.

    Raises:
        InputError: a dictionary or a matcher, but not for the protocol that has a use for it.
        UnknownNameError: no such matcher.
    """
    protocols = PROTOCOLS if protocol == BOTH else (protocol,)
    dictionary = matching.dictionary
    if dictionary is not None and "official" not in protocols:
        raise InputError(
            f"--dictionary {dictionary} gives the titles that the official protocol matches to: it has no use with "
            f"--protocol {protocol}. Give another --protocol, or leave it out."
        )
    matcher_name(matching.matcher)
    if matching.matcher != PROTOCOL and "standard" not in protocols:
        raise InputError(
            f"--matcher {matching.matcher} has no use with --protocol {protocol}, which matches as the papers did. "
            "Give another --protocol, or leave it out."
        )
    return protocols


def find_scorer(system: str, protocol: str = "standard", matching: Matching = AS_PROTOCOLS_SAY) -> CodeScorer:
    """The scorer of a protocol, made once in a process; a dictionary is read and checked now, models are loaded later.

    Raises:
        UnknownNameError: no such system, protocol or matcher.
        InputError: the dictionary cannot be used.
    """
    dictionary, matcher = matching
    return (
        _scorer(system, protocol, dictionary, PROTOCOL)
        if protocol == "official"
        else _scorer(system, protocol, None, matcher)
    )


@lru_cache(maxsize=16)
def score_rows(
    rows: tuple[AnsweredRow, ...], system: str, protocol: str = "standard", matching: Matching = AS_PROTOCOLS_SAY
) -> Scored:
    """Score answers, in the order given; asking again for the same rows costs nothing."""
    scorer = find_scorer(system, protocol, matching)
    return scorer.score([row.answer for row in rows], [row.gold for row in rows])


@lru_cache(maxsize=8)
def _scorer(system: str, protocol: str, dictionary: Path | None, matcher: str) -> CodeScorer:
    return make_scorer(system, protocol, dictionary, matcher)
