"""Mentions against an oracle that tries every substring, and the table of other forms (protocol 1.2)."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinical_evals.ior_bench.department_forms import SHORT_FORMS, accepted_forms
from clinical_evals.ior_bench.department_names import (
    _SIMPLIFIED,
    _TRADITIONAL,
    FOREIGN,
    MENTION,
    fold,
    mark_mentions,
    name_key,
)

NAMES = st.lists(st.text("甲乙丙丁", min_size=1, max_size=5), min_size=1, max_size=6, unique=True)


def by_every_substring(text: str, names: list[str]) -> list[str]:
    """The longest substring that spells a name goes first, of equally long ones the earliest; overlaps are out."""
    spelled = [
        (-len(name_key(text[start:end])), start, end)
        for start, end in combinations(range(len(text) + 1), 2)
        if not text[start].isspace() and not text[end - 1].isspace() and name_key(text[start:end]) in names
    ]
    kept: list[tuple[int, int]] = []
    for _, start, end in sorted(spelled):
        if all(end <= other_start or other_end <= start for other_start, other_end in kept):
            kept.append((start, end))
    return [name_key(text[start:end]) for start, end in sorted(kept)]


@given(NAMES, st.text("甲乙丙丁 ，", max_size=30).filter(lambda text: "    " not in text))
def test_mentions_are_the_longest_matches_without_overlaps(names: list[str], text: str) -> None:
    marked = mark_mentions(text.replace("，", "。"), names)
    assert [names[candidate] for candidate in marked.candidates] == [
        name for part in text.split("，") for name in by_every_substring(part, names)
    ]
    assert marked.text.count(MENTION) == len(marked.candidates)


@given(NAMES, st.text("甲乙丙丁。", max_size=20), st.integers(0, 20), st.integers(0, 20))
def test_a_part_keeps_its_own_mentions(names: list[str], text: str, start: int, end: int) -> None:
    marked = mark_mentions(text, names)
    part = marked.part(start, end)
    assert part.text == marked.text[start:end]
    whole = iter(marked.candidates)
    by_place = [(place, next(whole)) for place, letter in enumerate(marked.text) if letter == MENTION]
    assert part.candidates == tuple(candidate for place, candidate in by_place if start <= place < end)


@pytest.mark.parametrize(
    ("text", "names", "marked"),
    [
        ("血液内科", ["内科"], FOREIGN),
        ("血液内科", ["内科", "血液内科"], MENTION),
        ("小儿外科、外科", ["外科"], f"{FOREIGN}、{MENTION}"),
        ("内科学", ["内科"], "内科学"),
        ("内科科室", ["内科"], f"{MENTION}科室"),
        ("患儿儿科就诊", ["儿科"], f"患儿{MENTION}就诊"),
        ("急诊手术", ["急诊科"], "急诊手术"),
        ("去急诊，", ["急诊科"], f"去{MENTION}，"),
        ("neurosurgery", ["Surgery"], "neurosurgery"),
        ("vascular surgery", ["Surgery"], FOREIGN),
        ("消化\n内科", ["消化内科"], MENTION),
        ("消化\n\n内科", ["消化内科"], "消化\n\n内科"),
        ("院内\n科目", ["内科"], "院内\n科目"),
    ],
)
def test_what_is_marked(text: str, names: list[str], marked: str) -> None:
    assert mark_mentions(text, names).text == marked


def test_the_tables_of_characters_are_parallel_and_unambiguous() -> None:
    assert len(_TRADITIONAL) == len(_SIMPLIFIED) == len(set(_TRADITIONAL))
    assert not set(_TRADITIONAL) & set(_SIMPLIFIED)  # folding twice is folding once


@given(st.text())
def test_folding_twice_is_folding_once_for_names(text: str) -> None:
    assert name_key(name_key(text)) == name_key(text)


def test_short_forms_are_letters_of_the_full_name_in_order() -> None:
    for full, shorts in SHORT_FORMS.items():
        for short in shorts:
            letters = iter(full)
            assert all(letter in letters for letter in short), (full, short)
            assert short[0] == full[0]
            assert fold(full) == full


@pytest.mark.parametrize(
    ("candidates", "form", "names"),
    [
        (["消化内科"], "消化科", "消化内科"),
        (["消化科"], "消化内科", "消化科"),
        (["消化科", "消化内科"], "消化内科", None),  # a candidate is itself, never a form of another
        (["神经内科", "神经外科"], "神经科", None),  # two fit
        (["神经外科"], "神经科", None),  # leaving 外 out does not make a form
        (["骨科"], "骨内科", None),
        (["心血管科"], "心内科", "心血管科"),  # both are short for 心血管内科
        (["心血管科", "心外科"], "心内科", "心血管科"),
        (["中医科门诊"], "中医科", "中医科门诊"),
        (["中医科门诊", "中医科"], "中医科", None),
        (["康复医学科"], "康复科", "康复医学科"),
        (["康复科"], "康复医学科", "康复科"),
        (["心血管内科"], "心内科", "心血管内科"),
        (["心血管内科", "心脏内科"], "心内科", None),
        (["儿科", "小儿外科"], "小儿科", "儿科"),  # the whole name, in ordinary use
        (["儿科", "小儿科"], "小儿科", None),
        (["外科", "骨科"], "普外科", "外科"),
        (["外科", "普外科"], "普通外科", "普外科"),  # closer than 外科
        (["外科", "普外科"], "普外", "普外科"),
        (["骨科", "创伤外科"], "创伤骨科", None),  # two fit
        (["妇科", "妇科内分泌科"], "妇科内分泌", "妇科内分泌科"),
        (["妇科内分泌科"], "妇科内分泌", None),  # nothing shorter that it has to be told from
        (["神经内科", "神经外科"], "神外", "神经外科"),
        (["耳鼻咽喉科"], "耳鼻喉", "耳鼻咽喉科"),
    ],
)
def test_forms_are_taken_where_they_are_unambiguous(candidates: list[str], form: str, names: str | None) -> None:
    taken = accepted_forms(candidates)
    assert (candidates[taken[form]] if form in taken else None) == names
