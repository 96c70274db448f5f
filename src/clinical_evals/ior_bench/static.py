"""The static task as pure functions: what of a dialogue the model sees, votes, and which rows are held out.

Source: protocol.md 1.2 (input, majority vote, few-shot beyond three examples) and 1.4 (the held-out part).
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from clinical_evals.errors import InputError

Turn = Mapping[str, str]
"""`role` ("patient" or "doctor") and `content`."""

HELD_OUT_SHARE = 0.2
"""Share of the rows that is held out: 122 of the authors' 611, which leaves 489 (protocol.md 1.4)."""
SEED = 42


def seen_turns(dialogue: Sequence[Turn], where: str = "the dialogue") -> list[Turn]:
    """The turns before the last doctor turn, which names the answer; what follows that turn goes too.

    A dialogue without a doctor turn, such as a hospital's table of questions has, is seen as a whole.

    Raises:
        InputError: the patient says nothing in what is seen.

    >>> turns = [("patient", "牙疼"), ("doctor", "多久？"), ("patient", "三天"), ("doctor", "请挂口腔科")]
    >>> [turn["content"] for turn in seen_turns([{"role": role, "content": content} for role, content in turns])]
    ['牙疼', '多久？', '三天']
    """
    doctor = [place for place, turn in enumerate(dialogue) if turn["role"] == "doctor"]
    seen = list(dialogue[: doctor[-1]] if doctor else dialogue)
    if not any(turn["role"] == "patient" and turn["content"].strip() for turn in seen):
        raise InputError(
            f"{where}: the patient says nothing before the last doctor turn, which names the answer and is not shown. "
            "Leave the row out, or correct its dialogue."
        )
    return seen


def probed_turns(seen: Sequence[Turn]) -> list[list[Turn]]:
    """The beginnings of a dialogue after each of which a referral is asked for (`--probe-turns`).

    One after each time the patient has spoken; several turns of the patient in a row are one time. The last one is
    all that is seen.
    """
    ends = [
        place + 1
        for place, turn in enumerate(seen)
        if turn["role"] == "patient" and (place + 1 == len(seen) or seen[place + 1]["role"] != "patient")
    ]
    return [*(list(seen[:end]) for end in ends[:-1]), list(seen)]


class Vote(NamedTuple):
    """The outcome of a majority vote."""

    department: str | None
    voter: int
    """The place of the earliest answer that named the winner (0 where none named any)."""


def vote(departments: Sequence[str | None], protocol: str = "standard") -> Vote:
    """The department that most answers name; ties go to the earliest vote.

    Under `standard` an answer without a department does not vote, unless none names one. Under `official` it votes for
    the empty text like any other (protocol.md 3).

    Args:
        departments: what each answer names, in the order sampled; None or "": none.
        protocol: "standard" or "official".

    Raises:
        ValueError: there are no answers.

    >>> vote(["骨科", None, "外科", "外科"]), vote(["骨科", "外科"]), vote([None, None])
    (Vote(department='外科', voter=2), Vote(department='骨科', voter=0), Vote(department=None, voter=0))
    """
    if not departments:
        raise ValueError("no answers to vote")
    named = [department or None for department in departments]
    voting = named if protocol == "official" else [name for name in named if name is not None] or named
    counts = Counter(voting)
    winner = max(counts, key=counts.__getitem__)  # of equals max gives the first
    return Vote(winner, named.index(winner))


def order_rows(ids: Sequence[str], seed: int = SEED) -> list[int]:
    """The rows in a seeded order that depends on their ids only, not on how they are sorted or how many there are."""
    return sorted(range(len(ids)), key=lambda row: hashlib.sha256(f"{seed}\0{ids[row]}".encode()).hexdigest())


class Split(NamedTuple):
    """Rows by number."""

    train: list[int]
    """In the order in which examples are taken: those of k are the first k, so larger sets hold the smaller ones."""
    held_out: list[int]
    """Sorted. Scored, and never an example."""


def split_rows(ids: Sequence[str], seed: int = SEED) -> Split:
    """The part that examples are taken from, and the part that is scored (and that BERT is scored on).

    Args:
        ids: of all rows.
        seed: another seed is another split.

    >>> split = split_rows([str(row) for row in range(611)])
    >>> len(split.train), len(split.held_out)
    (489, 122)
    """
    ordered = order_rows(ids, seed)
    size = round(len(ids) * HELD_OUT_SHARE)
    return Split(ordered[size:], sorted(ordered[:size]))
