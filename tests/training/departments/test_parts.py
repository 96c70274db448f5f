"""Which rows are trained on and scored (protocol.md 1.4), and what cannot be split."""

import random
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinical_evals.errors import InputError
from clinical_evals.ior_bench.shots import Shots
from clinical_evals.training.departments.cases import Case, make_cases
from clinical_evals.training.departments.parts import check_parts, find_overlap, part_rows


def case(place: int, department: str, text: str = "") -> Case:
    return Case(f"row-{place}", [{"role": "patient", "content": text or f"不舒服{place}"}], department)


def row(place: int, department: str = "骨科", **changed: Any) -> dict[str, Any]:
    dialogue = [{"role": "patient", "content": f"疼{place}"}, {"role": "doctor", "content": f"请挂{department}"}]
    return {
        "id": f"row-{place}",
        "dialogue": dialogue,
        "department": department,
        "candidates": ["骨科", "眼科"],
    } | changed


def test_the_authors_611_rows_give_489_and_122_of_which_a_tenth_validates() -> None:
    parts = part_rows([str(place) for place in range(611)])
    assert (len(parts.fit) + len(parts.validation), len(parts.test)) == (489, 122)
    assert len(parts.validation) == round(489 / 10)


@given(st.integers(7, 300), st.integers(0, 5))
def test_every_row_is_in_one_part_whatever_the_order_of_rows(rows: int, seed: int) -> None:
    ids = [f"id-{place}" for place in range(rows)]
    parts = part_rows(ids, seed)
    assert sorted([*parts.fit, *parts.validation, *parts.test]) == list(range(rows))
    mixed = random.Random(seed).sample(ids, rows)
    again = part_rows(mixed, seed)
    for part, other in zip(parts, again, strict=True):
        assert {ids[place] for place in part} == {mixed[place] for place in other}
    assert [ids[place] for place in parts.fit] == [mixed[place] for place in again.fit]  # subsets are the same too


@pytest.mark.parametrize("rows", range(7))
def test_too_few_rows_are_an_error(rows: int) -> None:
    with pytest.raises(InputError, match=f"{rows} rows give .* at least 7 rows"):
        part_rows([str(place) for place in range(rows)])


def test_the_first_rows_are_the_examples_of_few_shot_prompts_and_the_same_rows_are_scored() -> None:
    rows = [row(place, "骨科" if place % 2 else "眼科") for place in range(50)]
    parts, shots = part_rows([each["id"] for each in rows]), Shots(20, rows)
    assert [example.dialogue for example in shots.examples] == [
        rows[place]["dialogue"][:1] for place in parts.fit[:20]
    ]
    assert shots.scored == frozenset(parts.test)


def test_a_subset_larger_than_the_training_part_is_an_error() -> None:
    cases = [case(place, "骨科" if place % 2 else "眼科") for place in range(50)]
    parts = part_rows([each.id for each in cases])
    check_parts(cases, parts, [len(parts.fit)])
    with pytest.raises(InputError, match=f"train_sizes has 400, but there are {len(parts.fit)} training rows"):
        check_parts(cases, parts, [10, 400])


def test_training_rows_of_one_department_are_an_error() -> None:
    cases = [case(place, "骨科") for place in range(20)]
    parts = part_rows([each.id for each in cases])
    cases[parts.test[0]] = case(parts.test[0], "眼科")
    with pytest.raises(InputError, match="all 14 training rows are '骨科'"):
        check_parts(cases, parts, [])


def test_a_department_without_training_rows_is_counted() -> None:
    cases = [case(place, "骨科" if place % 2 else "眼科") for place in range(20)]
    parts = part_rows([each.id for each in cases])
    cases[parts.test[0]] = case(parts.test[0], "儿科")
    cases[parts.test[1]] = case(parts.test[1], "骨科", cases[parts.fit[0]].turns[0]["content"])
    assert find_overlap(cases, parts) == ({"儿科": 1}, [1])


def test_rows_become_cases_without_the_turn_that_names_the_department() -> None:
    cases, candidates = make_cases([row(0, "骨科"), row(1, "眼科")])
    assert candidates == ["骨科", "眼科"]
    assert [each.text for each in cases] == ["患者：疼0", "患者：疼1"]
    assert all(before.id != after.id for before, after in pairwise(cases))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "has no rows"),
        ([row(0), row(1)], "all 2 rows .* are '骨科'"),
        ([row(0), row(0, "眼科")], "row 1 .*another row has the same id"),
        ([row(0), row(1, candidates=["眼科"])], "row 1 .*not those of row 0"),
        ([row(0), row(1, "儿科")], "row 1 .*'儿科' is none of its candidates"),
        ([row(0), row(1, "眼科", dialogue=[{"role": "doctor", "content": "好"}])], "row 1 .*the patient says nothing"),
    ],
)
def test_rows_that_cannot_be_classified_are_an_error(rows: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_cases(rows)
