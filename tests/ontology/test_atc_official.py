"""ATC levels and drugs of the released scorer, worked out by hand from protocol.md 3."""

import pytest

from clinical_evals.ontology.atc_official import (
    OFFICIAL_LEVELS,
    at_official_levels,
    gold_codes,
    official_path,
    predicted_codes,
)

# Each NDC with all its ATC codes, as the released map of drugs would have them.
CLASSES = {
    "00002821501": ("A10AB",),
    "00093104801": ("A10BA",),
    "00093721401": ("A10BA", "A10BD"),
    "00000000017": (),
    "12345": ("N02BE",),
    "123456": ("N02BE",),
}


def classes(ndc: str) -> tuple[str, ...]:
    return CLASSES.get(ndc, ())


@pytest.mark.parametrize(
    ("code", "path"),
    [
        # 1, 2 and 3 characters; the fourth level has 4 of 5, 6 of 7, 3 of 4 characters.
        ("A10BA", ("A", "A1", "A10", "A10B")),
        ("A10BA02", ("A", "A1", "A10", "A10BA0")),
        ("A10B", ("A", "A1", "A10", "A10")),
        ("A12", ("A", "A1", "A12", "A1")),  # by the same rule: one character less
    ],
)
def test_levels_cut_characters_and_not_groups(code: str, path: tuple[str, ...]) -> None:
    assert official_path(code) == path
    assert len(path) == len(OFFICIAL_LEVELS)


def test_what_a_row_counts_at_each_level() -> None:
    gold = at_official_levels(["A10BA", "A10AB", "C09AA"])
    predicted = at_official_levels(["A10BA02", "A11CC", "C03CA"])
    # Level 1: {A, C} on both sides. Level 2 is the flaw: A10 and A11 are both A1, C09 and C03 both C0.
    assert gold[0] == predicted[0] == {"A", "C"}
    assert gold[1] == predicted[1] == {"A1", "C0"}
    # Level 3: A10 is shared; A11, C03 are not.
    assert (gold[2], predicted[2]) == ({"A10", "C09"}, {"A10", "A11", "C03"})
    # Level 4: a 7-character code never meets a 5-character one.
    assert (gold[3], predicted[3]) == ({"A10B", "A10A", "C09A"}, {"A10BA0", "A11C", "C03C"})
    assert not gold[3] & predicted[3]


def test_a_drug_stands_for_all_its_codes_and_one_without_any_for_nothing() -> None:
    assert predicted_codes(["00093721401", "00002821501"], classes) == {"A10BA", "A10BD", "A10AB"}
    assert predicted_codes(["00093104801", "00093721401"], classes) == {"A10BA", "A10BD"}  # a set: A10BA once
    assert predicted_codes(["00000000017", "99999999999"], classes) == frozenset()
    assert at_official_levels(()) == (frozenset(),) * 4


def test_gold_needs_more_than_five_characters_of_ndc_and_a_prediction_does_not() -> None:
    assert gold_codes(["12345"], classes) == frozenset()
    assert gold_codes(["123456"], classes) == {"N02BE"}
    assert predicted_codes(["12345"], classes) == {"N02BE"}
    assert gold_codes(["0", "", "00002821501"], classes) == {"A10AB"}


def test_prefixes_of_the_published_candidates() -> None:
    # Three classes of two groups: 1 main group, then A0 and A1, then A02 and A10, then A02B, A10A and A10B.
    levels = at_official_levels(["A02BC", "A10AB", "A10BA"])
    assert [len(level) for level in levels] == [1, 2, 2, 3]
