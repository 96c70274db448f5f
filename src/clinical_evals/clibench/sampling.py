"""Which admissions are tested and which are left to train on: the three-stage draw (CliBench, section 4.1 and Table 2;
protocol.md 2.3).

1. For each label of the balancing field (chapter, class, …) admissions are drawn until a quota of them is in.
2. For each service with fewer than `minimum` drawn so far, admissions are added up to that.
3. The same for each care unit.

Labels are taken in sorted order, each draws from what is not yet drawn, and an admission counts from then on for all
of its labels, services and units, whatever it was drawn for. The union is `test`; the rest, without every admission of
a patient in `test`, is `train`.

What is drawn for a label are the candidates that come first in the order of a hash: SHA-256 of the JSON list
[seed, stage, label] (the stage's name is in `STAGES`) followed by the hadm_id in decimal. Such an order needs no
generator: the streams of numpy's and Python's may change between versions, and what they give depends on how many
candidates stand before an admission. A hash is the same on every machine and in every language, whatever the order of
the rows, and SHA-256 is there on machines in FIPS mode too. Each label has an order of its own: under one common order
the admissions that it shares with an earlier label, and which that one did not take, would all come last.
"""

import hashlib
import heapq
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from clinical_evals.errors import InputError

QUOTAS = {"diagnosis": 47, "procedure": 40, "lab_order": 45, "prescription": 55}
"""Admissions a label, by task (protocol.md 2.3)."""
MINIMUM = 20
"""Admissions a service and a care unit (protocol.md 2.3)."""

STAGES = ("labels", "services", "care_units")
"""The fields of a candidate that the three stages go by."""


class Candidate(NamedTuple):
    """An admission that has a discharge note and gold for the task.

    Hundreds of thousands of them fit into little memory when equal sets are one object.
    """

    hadm_id: int
    subject_id: int
    labels: frozenset[str]
    """The balancing field: the chapter of the primary diagnosis, or the first PCS characters, LOINC classes or ATC
    first levels of all first-batch codes; at least one."""
    services: frozenset[str]
    """All `curr_service` of the admission; may be empty."""
    care_units: frozenset[str]
    """All `careunit` of the admission; may be empty."""


class LabelCount(NamedTuple):
    """One label, service or care unit: how many admissions have it and how many of them are in `test`."""

    name: str
    wanted: int
    """The quota or the minimum."""
    available: int
    """Admissions that have it, drawn or not."""
    drawn: tuple[int, int, int]
    """Those in `test`, by the stage in which they came in, for whatever label that was."""

    @property
    def in_test(self) -> int:
        """Admissions in `test` that have it."""
        return sum(self.drawn)

    @property
    def short(self) -> bool:
        """Whether there are fewer admissions than wanted; all of them are in `test` then."""
        return self.available < self.wanted


class Drawn(NamedTuple):
    """The two splits, and how they came about."""

    test: list[int]
    """hadm_ids, ascending."""
    train: list[int]
    """hadm_ids, ascending; of no patient in `test`."""
    left_out: int
    """Admissions in neither split, because the patient has another one in `test`."""
    stages: tuple[int, int, int]
    """Admissions that each stage drew."""
    counts: Mapping[str, list[LabelCount]]
    """By field of a candidate (`STAGES`) its labels, sorted."""

    def summary(self) -> dict[str, Any]:
        """The draw in numbers, without ids, for JSON."""
        return {
            "test": len(self.test),
            "train": len(self.train),
            "left_out_as_patient_is_in_test": self.left_out,
            "drawn_by_stage": dict(zip(STAGES, self.stages, strict=True)),
            **{field: {count.name: _count_summary(count) for count in self.counts[field]} for field in STAGES},
            "short": {field: [count.name for count in self.counts[field] if count.short] for field in STAGES},
        }


def _count_summary(count: LabelCount) -> dict[str, Any]:
    return {
        "wanted": count.wanted,
        "available": count.available,
        "in_test": count.in_test,
        "drawn_by_stage": dict(zip(STAGES, count.drawn, strict=True)),
    }


def draw(rows: Iterable[Candidate], quota: int, minimum: int = MINIMUM, seed: int = 0) -> Drawn:
    """Draw `test` and what may be trained on.

    Args:
        rows: the admissions, in any order.
        quota: admissions a label, at least 1; `QUOTAS` has the paper's.
        minimum: admissions a service and a care unit, at least 1.
        seed: another one draws others.

    Raises:
        InputError: quota or minimum below 1, an admission twice or of two patients, one without labels, or an empty
            label.
    """
    for name, number in (("quota", quota), ("minimum", minimum)):
        if number < 1:
            raise InputError(f"{name} is {number}; expected at least 1 admission")
    candidates = sorted(rows, key=lambda row: row[:2])
    _check(candidates)
    stage_of: dict[int, int] = {}
    for stage, wanted in enumerate((quota, minimum, minimum)):
        _draw_stage(candidates, stage, wanted, seed, stage_of)
    return _drawn(candidates, stage_of, (quota, minimum, minimum))


def _check(candidates: Sequence[Candidate]) -> None:
    for row, after in pairwise(candidates):
        if row.hadm_id == after.hadm_id and row.subject_id == after.subject_id:
            raise InputError(f"hadm_id {row.hadm_id} is there twice; expected one row an admission")
        if row.hadm_id == after.hadm_id:
            raise InputError(
                f"hadm_id {row.hadm_id} belongs to the patients {row.subject_id} and {after.subject_id} (subject_id); "
                "expected one patient an admission"
            )
    for row in candidates:
        if not row.labels:
            raise InputError(
                f"hadm_id {row.hadm_id} has no label to balance by; expected at least one: leave admissions without "
                "gold out before the draw"
            )
        for field in STAGES:
            if not all(getattr(row, field)):
                raise InputError(f"hadm_id {row.hadm_id} has an empty name among its {field}; leave that out")


def _members(candidates: Sequence[Candidate], field: str) -> Mapping[str, list[int]]:
    """The places of the candidates that have each label, by label in sorted order."""
    members: defaultdict[str, list[int]] = defaultdict(list)
    for place, row in enumerate(candidates):
        for label in getattr(row, field):
            members[label].append(place)
    return {label: members[label] for label in sorted(members)}


def _draw_stage(candidates: Sequence[Candidate], stage: int, wanted: int, seed: int, stage_of: dict[int, int]) -> None:
    """Draw until each label of a stage has as many as wanted, or all there are.

    Args:
        stage_of: by place of a candidate drawn so far the stage that drew it; what is drawn is added.
    """
    for label, places in _members(candidates, STAGES[stage]).items():
        left = [place for place in places if place not in stage_of]
        missing = wanted - (len(places) - len(left))
        if missing > 0:
            drawn = _first(left, missing, candidates, (seed, stage, label))
            stage_of.update(dict.fromkeys(drawn, stage))


def _first(
    places: Sequence[int], count: int, candidates: Sequence[Candidate], key: tuple[int, int, str]
) -> Sequence[int]:
    """The first candidates in the order that belongs to a seed, stage and label."""
    if count >= len(places):
        return places
    seed, stage, label = key
    # A JSON list keeps the three apart whatever stands in a label, and is the same in any language.
    start = hashlib.sha256(json.dumps([int(seed), STAGES[stage], label]).encode())

    def order(place: int) -> bytes:
        digest = start.copy()
        digest.update(b"%d" % candidates[place].hadm_id)
        return digest.digest()

    return heapq.nsmallest(count, places, key=order)


def _drawn(candidates: Sequence[Candidate], stage_of: Mapping[int, int], wanted: tuple[int, int, int]) -> Drawn:
    tested = {candidates[place].subject_id for place in stage_of}
    test = [candidates[place].hadm_id for place in sorted(stage_of)]
    train = [row.hadm_id for row in candidates if row.subject_id not in tested]
    by_stage = Counter(stage_of.values())
    return Drawn(
        test=test,
        train=train,
        left_out=len(candidates) - len(test) - len(train),
        stages=(by_stage[0], by_stage[1], by_stage[2]),
        counts={
            field: list(_label_counts(candidates, field, stage_of, number))
            for field, number in zip(STAGES, wanted, strict=True)
        },
    )


def _label_counts(
    candidates: Sequence[Candidate], field: str, stage_of: Mapping[int, int], wanted: int
) -> Iterator[LabelCount]:
    for label, places in _members(candidates, field).items():
        drawn = Counter(stage_of[place] for place in places if place in stage_of)
        yield LabelCount(label, wanted, len(places), (drawn[0], drawn[1], drawn[2]))
