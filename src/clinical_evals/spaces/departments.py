"""One referral: what department was read from the answer, and whether it counts."""

import re
from difflib import get_close_matches
from typing import NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.ior_bench.scorer import score_answers
from clinical_evals.matching.protocols import check_protocol

LONGEST_ANSWER = 20_000
"""Characters."""
MOST_DEPARTMENTS = 500


class Candidate(NamedTuple):
    """One department that could be named."""

    name: str
    in_text: bool
    """Whether its name stands anywhere in the answer, as it is written in the list."""
    recommended: bool
    counts: bool
    """Whether it is what the answer stands for."""
    is_gold: bool


class ReadReferral(NamedTuple):
    """All of it."""

    predicted: str | None
    """None: the answer names no department."""
    right: bool
    gold: str
    others: tuple[str, ...]
    """Departments that are recommended too, in the answer's order."""
    candidates: list[Candidate]
    """Those that play a part first, in the order of the list."""
    not_offered: bool
    """Whether the gold department is not in the list, which "official" alone lets in."""


def read_referral(answer: str, departments: str, gold: str, protocol: str) -> ReadReferral:
    """Read one answer.

    Args:
        answer: free text.
        departments: the names to choose from, separated by commas, semicolons, 、 or line ends.
        gold: the right one.
        protocol: one of `matching.protocols.PROTOCOLS`.

    Raises:
        UnknownNameError: no such protocol.
        InputError: no departments, one of them twice, a gold department that is not among them, or too much text.
    """
    check_protocol(protocol)
    gold = gold.strip()
    names = [name.strip() for name in re.split(r"[,;\n，；、]+", departments) if name.strip()]
    _check(answer, names, gold, protocol)
    scored = score_answers([answer], [gold], names, protocol)
    outcome, found = scored.outcomes[0], scored.extractions[0]
    candidates = [
        Candidate(name, name in answer, name in found.mentions, name == outcome.predicted, name == gold)
        for name in names
    ]
    return ReadReferral(
        outcome.predicted,
        outcome.right,
        gold,
        tuple(name for name in found.mentions if name != outcome.predicted),
        sorted(candidates, key=lambda each: not any(each[1:])),
        scored.not_offered > 0,
    )


def _check(answer: str, names: list[str], gold: str, protocol: str) -> None:
    if len(answer) > LONGEST_ANSWER:
        raise InputError(f"The answer has {len(answer):,} characters; at most {LONGEST_ANSWER:,} are read.")
    if not names:
        raise InputError("There are no departments: give the names to choose from, e.g. 外科, 小儿外科, 消化内科.")
    if len(names) > MOST_DEPARTMENTS:
        raise InputError(f"There are {len(names)} departments; at most {MOST_DEPARTMENTS} are read.")
    if not gold:
        raise InputError("The right department is missing: give one of the departments.")
    if protocol == "standard" and gold not in names:
        near = get_close_matches(gold, names, n=3, cutoff=0.4)
        meant = f" Did you mean {' or '.join(near)}?" if near else ""
        raise InputError(
            f"The right department {gold!r} is none of the {len(names)} departments.{meant} Spell it as in the list, "
            "or add it there."
        )
