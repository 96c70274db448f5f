"""No more than the text says: sides, encounters, "unspecified" codes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinical_evals.matching.hybrid.entries import names_encounter, sides
from clinical_evals.matching.hybrid.specificity import Specificity
from clinical_evals.ontology import get_system

SYSTEM = get_system("icd10cm")
SPECIFICITY = Specificity(SYSTEM)
CODES = [code for code in SYSTEM.codes() if SYSTEM.code_shape.fullmatch(code)]


@pytest.mark.parametrize(
    ("code", "text", "settled"),
    [
        ("S72.301A", "fracture of femoral shaft", "S72.309"),  # neither side nor encounter is said
        ("S72.301A", "fracture of shaft of right femur", "S72.301"),  # the encounter is not
        ("S72.301A", "fracture of right femur shaft, initial encounter", "S72.301A"),
        ("G81.93", "hemiplegia", "G81.90"),  # "affecting unspecified side"
        ("I50", "heart failure", "I50.9"),  # a heading: its "unspecified"
        ("M10", "gout", "M10.9"),
        ("I10", "hypertension", "I10"),
        ("H25.11", "age-related nuclear cataract", "H25.10"),
        ("E11", "type 2 diabetes", "E11"),  # no code below it is "unspecified": it stays
    ],
)
def test_settled(code: str, text: str, settled: str) -> None:
    assert SPECIFICITY.settle(code, text) == settled


def test_a_side_that_the_text_names_stays() -> None:
    assert SPECIFICITY.settle("H25.12", "nuclear cataract of the left eye") == "H25.12"


@settings(deadline=None)
@given(st.sampled_from(CODES))
def test_nothing_is_invented(code: str) -> None:
    """For a text that says nothing, what comes out names no side and no encounter, and is of the same category."""
    settled = SPECIFICITY.settle(code, "")
    title = SYSTEM.title(settled)
    category = SYSTEM.path(code)[2]
    assert SYSTEM.path(settled)[2] == category
    if settled != category:
        assert not sides(title) - sides(SYSTEM.title(category))
        assert not names_encounter(title) or names_encounter(SYSTEM.title(category))


@settings(deadline=None)
@given(st.sampled_from(CODES))
def test_a_code_whose_own_title_is_the_text_loses_nothing(code: str) -> None:
    """Down may add what is "unspecified", never leave the code."""
    assert SPECIFICITY.up(code, SYSTEM.title(code)) == code


def test_other_systems_are_left_alone() -> None:
    system = get_system("icd10pcs")
    assert Specificity(system).settle("0SR90JZ", "hip replacement") == "0SR90JZ"
