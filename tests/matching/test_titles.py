"""Folding of texts, and which titles can be matched."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinical_evals.matching.answer_titles import is_title
from clinical_evals.matching.titles import fold, titles_of
from clinical_evals.ontology import CodeSystem, get_system

ALIKE = json.loads(Path(__file__).with_name("folded_texts.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("text", "folded"), ALIKE["equal"])
def test_spellings_of_one_title_fold_alike(text: str, folded: str) -> None:
    assert fold(text) == folded


@pytest.mark.parametrize(("one", "other"), ALIKE["different"])
def test_different_titles_stay_different(one: str, other: str) -> None:
    assert fold(one) != fold(other)


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(
    st.text(alphabet=st.characters(max_codepoint=0x24F)), st.sampled_from([" ", "\t", "\n", "\u00a0", "\u2009", "  "])
)
def test_white_space_and_ends_do_not_count(text: str, space: str) -> None:
    spaced = space + text.replace(" ", space) + space + "."
    assert fold(spaced) == fold(text)


def test_all_titles_of_icd10cm_stay_distinct() -> None:
    system = get_system("icd10cm")
    titles = titles_of(system)
    # Folding merges no two different titles, and no two candidates share one.
    assert len({fold(title) for title in titles.titles}) == len(titles.titles)
    assert set(titles.titles) == {system.title(code) for code in system.codes() if "-" not in code}


def test_ranges_are_no_candidates(small_system: CodeSystem) -> None:
    assert {code for code in small_system.codes() if "-" in code} == {"I10-I1A", "K35-K38"}
    assert not [code for code in titles_of(small_system).codes if "-" in code]


@pytest.mark.parametrize(
    ("title", "codes", "chosen"),
    [
        ("Other viral enteritis", ["A08.3", "A08.39"], "A08.39"),
        ("Other specified urinary incontinence", ["N39.4", "N39.49", "N39.498"], "N39.498"),
        ("Other general symptoms and signs", ["R68", "R68.8", "R68.89"], "R68.89"),
    ],
)
def test_of_codes_with_one_title_the_longest_stands_for_it(
    small_system: CodeSystem, title: str, codes: list[str], chosen: str
) -> None:
    assert [code for code in small_system.codes() if small_system.title(code) == title] == codes
    titles = titles_of(small_system)
    assert titles.codes[titles.titles.index(title)] == chosen


def test_of_equally_long_codes_the_first_of_the_release_stands_for_the_title() -> None:
    system = get_system("icd10cm")
    title = "Low vision, right eye, category 1"
    assert [code for code in system.codes() if system.title(code) == title] == ["H54.2X1", "H54.511"]
    titles = titles_of(system)
    assert titles.codes[titles.titles.index(title)] == "H54.2X1"


# Further names


class Named(CodeSystem):
    """A system of four codes, two with one title, with names that are equal to titles and to each other."""

    name, release = "named", "1"
    levels = ("full",)
    code_shape = re.compile("[A-Z]{1,2}")
    TITLES: ClassVar[dict[str, str]] = {"A": "One", "B": "Two", "CC": "two", "D": "D"}
    NAMES: ClassVar[dict[str, tuple[str, ...]]] = {"A": ("Uno", "TWO."), "B": ("Both",), "CC": ("both", "zwei")}

    def normalize(self, text: str) -> str | None:
        return text if text in self.TITLES else None

    def codes(self) -> Sequence[str]:
        return tuple(self.TITLES)

    def title(self, code: str) -> str:
        return self.TITLES[code]

    def names(self, code: str) -> tuple[str, ...]:
        return self.NAMES.get(code, ())

    def path(self, code: str) -> tuple[str, ...]:
        return (code,)


def test_names_stand_after_the_titles() -> None:
    """TWO with a full stop is a title already, so no name of A. Both is a name of B and of CC, which is preferred,
    since it is longer. D has no title but its code."""
    assert titles_of(Named()) == ("named 1", ["A", "CC", "A", "CC", "CC"], ["One", "two", "Uno", "both", "zwei"])


def test_names_are_known_as_titles() -> None:
    system = Named()
    assert [is_title(text, system) for text in ("uno", "Both.", "zwei", "due")] == [True, True, True, False]
