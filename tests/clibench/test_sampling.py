"""The three-stage draw: a case worked by hand, a plain second implementation, and what must hold for every input."""

import hashlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clinical_evals.clibench.sampling import QUOTAS, STAGES, Candidate, Drawn, LabelCount, draw
from clinical_evals.errors import InputError


def candidate(hadm_id: int, subject_id: int, labels: str, services: str = "", care_units: str = "") -> Candidate:
    """An admission; each character of a text is one label."""
    return Candidate(hadm_id, subject_id, frozenset(labels), frozenset(services), frozenset(care_units))


# With quota 2 and minimum 2 each step needs all that is left or nothing, so that no hash decides:
# stage 1  A: 1 and 2. B: 2 is in and counts, one is missing, only 3 is left: 3. C: 4, one short.
#          Z: seven admissions have it, but 1 and 2 are in: none is drawn.
# stage 2  m: 1, 2 and 4 are in. s: 3 is in, one is missing, only 5 is left: 5.
# stage 3  x: 1, 2 and, since stage 2, 5 are in. y: 4 is in, only 6 is left: 6. z: 3 is in, nobody is left: one short.
# The rest is 7, whose patient 30 is in test with 3, and 8 and 9 of patient 70, who is not.
HAND = [
    candidate(1, 10, "AZ", "m", "x"),
    candidate(2, 20, "ABZ", "m", "x"),
    candidate(3, 30, "B", "s", "z"),
    candidate(4, 40, "C", "m", "y"),
    candidate(5, 50, "Z", "s", "x"),
    candidate(6, 60, "Z", "m", "y"),
    candidate(7, 30, "Z", "m", "x"),
    candidate(8, 70, "Z", "m", "x"),
    candidate(9, 70, "Z", "m", "x"),
]


@pytest.mark.parametrize("seed", range(5))
def test_a_draw_by_hand(seed: int) -> None:
    drawn = draw(HAND, quota=2, minimum=2, seed=seed)
    assert drawn.test == [1, 2, 3, 4, 5, 6]
    assert drawn.train == [8, 9]
    assert drawn.left_out == 1
    assert drawn.stages == (4, 1, 1)
    assert drawn.counts == {
        "labels": [
            LabelCount("A", 2, 2, (2, 0, 0)),
            LabelCount("B", 2, 2, (2, 0, 0)),
            LabelCount("C", 2, 1, (1, 0, 0)),
            LabelCount("Z", 2, 7, (2, 1, 1)),  # 5 came in for its service, 6 for its unit
        ],
        "services": [LabelCount("m", 2, 7, (3, 0, 1)), LabelCount("s", 2, 2, (1, 1, 0))],
        "care_units": [
            LabelCount("x", 2, 6, (2, 1, 0)),
            LabelCount("y", 2, 2, (1, 0, 1)),
            LabelCount("z", 2, 1, (1, 0, 0)),
        ],
    }


def test_the_summary_has_the_numbers_and_no_ids() -> None:
    summary = draw(HAND, quota=2, minimum=2).summary()
    assert json.loads(json.dumps(summary)) == summary
    assert summary["test"] == 6
    assert summary["train"] == 2
    assert summary["left_out_as_patient_is_in_test"] == 1
    assert summary["drawn_by_stage"] == {"labels": 4, "services": 1, "care_units": 1}
    assert summary["short"] == {"labels": ["C"], "services": [], "care_units": ["z"]}
    assert summary["labels"]["Z"] == {
        "wanted": 2,
        "available": 7,
        "in_test": 4,
        "drawn_by_stage": {"labels": 2, "services": 1, "care_units": 1},
    }


def test_first_come_the_candidates_of_the_smallest_hash() -> None:
    """The rule itself, so that other programs can draw the same admissions: this test may never change."""
    rows = [candidate(20_000_000 + number, number, "A") for number in range(50)]
    hashes = {row.hadm_id: hashlib.sha256(f'[7, "labels", "A"]{row.hadm_id}'.encode()).hexdigest() for row in rows}
    assert draw(rows, quota=3, seed=7).test == sorted(sorted(hashes, key=hashes.__getitem__)[:3])


PINNED = [5, 7, 17, 18, 28, 32, 34, 45, 49, 53, 54, 57]
"""What the first version drew, written down; `plain_draw` below agrees."""


def test_the_ids_of_a_seed_stay_the_same_for_ever() -> None:
    rows = [
        candidate(20_000_000 + number, number // 2, "ABC"[number % 3], "mn"[number % 2], "xyz"[number % 3])
        for number in range(60)
    ]
    drawn = draw(rows, quota=2, minimum=4, seed=0)
    assert [hadm_id - 20_000_000 for hadm_id in drawn.test] == PINNED
    assert plain_draw(rows, 2, 4, 0) == (drawn.test, drawn.train)


def plain_draw(rows: Sequence[Candidate], quota: int, minimum: int, seed: int) -> tuple[list[int], list[int]]:
    """Protocol.md 2.3 read aloud, one admission at a time."""
    drawn: list[Candidate] = []
    for field, wanted in (("labels", quota), ("services", minimum), ("care_units", minimum)):
        for label in sorted({label for row in rows for label in getattr(row, field)}):
            while sum(label in getattr(row, field) for row in drawn) < wanted:
                left = [row for row in rows if label in getattr(row, field) and row not in drawn]
                if not left:
                    break
                head = json.dumps([seed, field, label])
                drawn.append(min(left, key=lambda row: hashlib.sha256(f"{head}{row.hadm_id}".encode()).hexdigest()))
    patients = {row.subject_id for row in drawn}
    train = [row.hadm_id for row in rows if row not in drawn and row.subject_id not in patients]
    return sorted(row.hadm_id for row in drawn), sorted(train)


names = st.sampled_from(["A", "B", "C", "", "é", "A\0", '"]'])
some = st.frozensets(names.filter(bool), max_size=3)
admissions = st.lists(
    st.builds(
        Candidate,
        hadm_id=st.integers(20_000_000, 20_000_030),
        subject_id=st.integers(1, 8),
        labels=some.filter(bool),
        services=some,
        care_units=some,
    ),
    max_size=25,
    unique_by=lambda row: row.hadm_id,
)
draws = st.tuples(admissions, st.integers(1, 5), st.integers(1, 5), st.integers(-2, 2**70))


@given(draws)
@example((HAND, 1, 3, 0))
def test_the_same_as_drawing_one_by_one(given_draw: tuple[list[Candidate], int, int, int]) -> None:
    rows, quota, minimum, seed = given_draw
    drawn = draw(rows, quota, minimum, seed)
    assert (drawn.test, drawn.train) == plain_draw(rows, quota, minimum, seed)


@given(draws)
def test_what_holds_for_every_draw(given_draw: tuple[list[Candidate], int, int, int]) -> None:
    rows, quota, minimum, seed = given_draw
    drawn = draw(rows, quota, minimum, seed)
    patient = {row.hadm_id: row.subject_id for row in rows}
    tested = {patient[hadm_id] for hadm_id in drawn.test}
    assert not tested & {patient[hadm_id] for hadm_id in drawn.train}, "a patient is in both splits"
    apart = [row.hadm_id for row in rows if row.hadm_id not in {*drawn.test, *drawn.train}]
    assert drawn.left_out == len(apart)
    assert {patient[hadm_id] for hadm_id in apart} <= tested, "left out without need"
    assert len(drawn.test) == sum(drawn.stages)
    for field, wanted in zip(STAGES, (quota, minimum, minimum), strict=True):
        for count in drawn.counts[field]:
            having = {row.hadm_id for row in rows if count.name in getattr(row, field)}
            assert count.available == len(having)
            assert count.in_test == len(having & {*drawn.test})
            assert count.in_test >= min(wanted, len(having))
            assert count.short == (len(having) < wanted)


@given(draws, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(
    given_draw: tuple[list[Candidate], int, int, int], order: random.Random
) -> None:
    rows, quota, minimum, seed = given_draw
    shuffled = order.sample(rows, len(rows))
    assert draw(shuffled, quota, minimum, seed) == draw(rows, quota, minimum, seed)
    assert draw(iter(shuffled), quota, minimum, seed) == draw(rows, quota, minimum, seed)


def many(count: int, seed: int) -> list[Candidate]:
    """Generated admissions, about two a patient; all with label A, half with B too."""
    generator = random.Random(seed)
    return [
        candidate(20_000_000 + number, generator.randrange(count // 2), "AB" if number % 2 else "A")
        for number in range(count)
    ]


def test_another_seed_draws_others() -> None:
    rows = many(1_000, seed=0)
    first, second = (set(draw(rows, 100, seed=seed).test) for seed in (0, 1))
    # Each draws at least 100 of 1,000: two independent draws share about 10 to 25 of them.
    assert len(first & second) < 60


def test_a_label_does_not_shun_what_it_shares_with_an_earlier_one() -> None:
    """Each label has its own order: a shared admission that A did not take is as likely for B as any other."""
    shared = [candidate(number, number, "AB") for number in range(400)]
    only_a = [candidate(number, number, "A") for number in range(1_000, 1_600)]
    only_b = [candidate(number, number, "B") for number in range(2_000, 3_000)]
    tests = [draw([*shared, *only_a, *only_b], quota=500, seed=seed).test for seed in range(20)]
    # A takes 500 of 1,000, about 200 of them shared. B then lacks about 300 and takes them from 200 shared ones and
    # 1,000 others: 300 * 200 / 1,200 = 50 more. Under one common order for A and B it would be none.
    mean = sum(hadm_id < 1_000 for test in tests for hadm_id in test) / len(tests)
    assert mean == pytest.approx(200 + 50, abs=10)


def test_no_process_draws_otherwise() -> None:
    """Python's own hashes of texts differ between processes; the draw must not."""
    code = (
        "from clinical_evals.clibench.sampling import Candidate, draw\n"
        "rows = [Candidate(n, n // 2, frozenset('ABCDEF'[n % 5:]), frozenset('mn'), frozenset()) for n in range(90)]\n"
        "print(draw(rows, 3, 4, 5))"
    )
    printed = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout
        for seed in ("1", "2")
    ]
    assert printed[0] == printed[1]
    assert "Drawn(test=[" in printed[0]


def test_no_rows_are_no_splits() -> None:
    empty = Drawn([], [], 0, (0, 0, 0), {"labels": [], "services": [], "care_units": []})
    assert draw([], quota=47) == empty


def test_the_quotas_of_the_paper() -> None:
    assert QUOTAS == {"diagnosis": 47, "procedure": 40, "lab_order": 45, "prescription": 55}  # protocol.md 2.3


@pytest.mark.parametrize(
    ("rows", "quota", "minimum", "message"),
    [
        (HAND, 0, 20, "quota is 0; expected at least 1"),
        (HAND, 2, 0, "minimum is 0; expected at least 1"),
        ([*HAND, HAND[3]], 2, 2, "hadm_id 4 is there twice"),
        ([*HAND, candidate(4, 41, "A")], 2, 2, "hadm_id 4 belongs to the patients 40 and 41"),
        ([*HAND, candidate(12, 41, "")], 2, 2, "hadm_id 12 has no label to balance by"),
        ([*HAND, candidate(12, 41, "A")._replace(labels=frozenset([""]))], 2, 2, "hadm_id 12 has an empty name among"),
        ([candidate(12, 41, "A")._replace(care_units=frozenset(["", "x"]))], 2, 2, "empty name among its care_units"),
    ],
)
def test_what_cannot_be_drawn_from(rows: list[Candidate], quota: int, minimum: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        draw(rows, quota, minimum)
