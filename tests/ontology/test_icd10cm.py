"""ICD-10-CM: spellings, paths, facts of the April 2026 release, and refusals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinical_evals.errors import InputError, UnknownNameError
from clinical_evals.ontology import get_system

SYSTEM = get_system("icd10cm")
CODES = SYSTEM.codes()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("E119", "E11.9"),
        ("e11.9", "E11.9"),
        ("E11.9.", "E11.9"),
        ("I25 . 10", "I25.10"),
        ("I10", "I10"),
        ("S72001A", "S72.001A"),
        ("s72.001a", "S72.001A"),
        ("Z3A.01", "Z3A.01"),
        ("C7A.010", "C7A.010"),
        ("M1A.00X0", "M1A.00X0"),
        ("T81.40XA", "T81.40XA"),
        (" [J45.909] ", "J45.909"),
        ("N18.3", "N18.3"),  # a header since it was subdivided: the release has it, so it is valid
        ("B20", "B20"),
        ("F99", "F99"),
        ("QA0.0101", "QA0.0101"),
        ("E08–E13", "E08-E13"),  # a block with a typographic dash
    ],
)
def test_usual_spellings(text: str, code: str) -> None:
    assert SYSTEM.normalize(text) == code


@pytest.mark.parametrize(
    "text",
    [
        "",
        "9",
        "22",
        "E11.99",
        "E1",
        "T12",
        "H1N1",
        "Q10X",
        "S72.001X",
        "I25.1O",
        "E11.9 I10",
        "diabetes",
        "..",
        "E11.9\x00",
    ],
)
def test_refuses_what_is_not_in_the_release(text: str) -> None:
    assert SYSTEM.normalize(text) is None


@pytest.mark.parametrize(
    ("code", "path"),
    [
        ("S72.001A", ("19", "S70-S79", "S72", "S72.0", "S72.001A")),
        ("I10", ("9", "I10-I1A", "I10", "I10", "I10")),
        ("B20", ("1", "B20", "B20", "B20", "B20")),  # block and category share the name: the category
        ("T07.XXXA", ("19", "T07", "T07", "T07.XXXA", "T07.XXXA")),  # T07.X is not in the release
        ("F99", ("5", "F99", "F99", "F99", "F99")),
        ("C7A.010", ("2", "C7A", "C7A", "C7A.0", "C7A.010")),
        ("E11", ("4", "E08-E13", "E11", "E11", "E11")),
        ("E08-E13", ("4", "E08-E13", "E08-E13", "E08-E13", "E08-E13")),
    ],
)
def test_paths(code: str, path: tuple[str, ...]) -> None:
    assert SYSTEM.path(code) == path


def test_release_has_the_documented_sizes() -> None:
    # April 2026: 22 chapters; 258 blocks that are ranges, 39 with the name of their only category; 1,918 categories.
    # (The package lists those 39 names twice, as block and as category: so 336 and 1,957 when its list is counted.)
    codes = [code for code in CODES if "-" not in code]
    assert len({SYSTEM.path(code)[0] for code in codes}) == 22
    assert sum("-" in code for code in CODES) == 258
    assert sum(SYSTEM.path(code)[1] == code for code in codes) == 39
    assert len({SYSTEM.path(code)[2] for code in codes}) == 1918
    assert SYSTEM.release.startswith("April 2026")


def test_title_and_synonyms() -> None:
    assert SYSTEM.title("I10") == "Essential (primary) hypertension"
    assert SYSTEM.synonyms("A00.0") == ("Classical cholera",)
    for method in (SYSTEM.title, SYSTEM.path, SYSTEM.synonyms):
        with pytest.raises(KeyError):
            method("E11.99")


def test_arrays_of_codes() -> None:
    texts = np.array(["E119", "nonsense", "i10", "E119"])
    assert SYSTEM.normalize_all(texts) == ["E11.9", None, "I10", "E11.9"]
    places, ancestors = SYSTEM.path_ids(["E11.9", "I10", "E11.65", "FOO", "BAR", "FOO"])
    path = ancestors[places]
    assert path[0].tolist()[:3] == path[2].tolist()[:3]  # E11.9 and E11.65: same chapter, block and category
    assert (path[0][3:] != path[2][3:]).all()
    assert path[3].tolist() == path[5].tolist()  # the same invalid text is the same thing
    assert not (path[3] == path[4]).any()  # another one is not
    assert (np.diff(ancestors, axis=0) >= 0).all()  # what counting relies on


def test_require_names_the_place_and_the_text() -> None:
    assert SYSTEM.require(["i10", "E119"], "references[0]") == ["I10", "E11.9"]
    with pytest.raises(InputError, match=r"references\[4\]: 'E11.99' is not a code of icd10cm April 2026"):
        SYSTEM.require(["I10", "E11.99"], "references[4]")


def test_unknown_system_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'icd10cm'"):
        get_system("icd10")


@settings(max_examples=300, deadline=None)
@given(
    st.integers(0, len(CODES) - 1),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["", ".", " ", ",", ")"]),
    st.integers(0, 6),
)
def test_any_spelling_of_a_valid_code_gives_it(place: int, lower: bool, undot: bool, tail: str, gap: int) -> None:
    code = CODES[place]
    text = code.replace(".", "") if undot else code
    text = text.lower() if lower else text
    text = text[:gap] + " " + text[gap:] + tail
    assert SYSTEM.normalize(text) == code
    assert SYSTEM.normalize(code) == code  # idempotent


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=12))
def test_random_text_never_crashes_and_what_is_found_is_in_the_release(text: str) -> None:
    assert SYSTEM.normalize(text) in {None, *CODES}


def test_paths_are_unique_and_every_ancestor_is_the_codes_own() -> None:
    assert len({SYSTEM.path(code) for code in CODES}) == len(CODES)
    for code in CODES[::37]:
        chapter, block, category, subcategory, full = SYSTEM.path(code)
        assert chapter.isdigit()
        assert full == code
        assert code.startswith(subcategory)
        assert subcategory.startswith(category)
        assert "-" in block or block == category
