"""LOINC: spellings, paths, names, both editions of the root, and what is said of a text that is no code."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loinc_release import (
    BLOOD,
    CELLS,
    CHEMISTRY,
    FASTING,
    GLUCOSE,
    GLUCOSE_NAME,
    IN_SERUM,
    NODES,
    SUGARS,
    csv_text,
    hierarchy_text,
    write_hierarchy,
    write_names,
)

from clinical_evals.errors import InputError, ResourceMissingError, UnknownNameError
from clinical_evals.ontology.loinc import LOINC, loinc
from clinical_evals.ontology.loinc_number import NUMBER, check_digit


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> LOINC:
    folder = tmp_path_factory.mktemp("loinc")
    return LOINC(write_hierarchy(folder), write_names(folder))


@pytest.fixture(scope="module")
def real(release_files: Path) -> LOINC:
    return LOINC(release_files / "ComponentHierarchyBySystem.csv", release_files / "Loinc.csv")


@pytest.mark.parametrize(
    "text",
    [
        "2345-7",
        "LOINC 2345-7",
        "loinc: 2345-7",
        "LOINC:2345-7",
        "LOINC code: 2345-7",
        "LOINC-Code 2345-7",
        "LOINC #2345-7",
        "LOINC number 2345-7",
        "[LOINC] 2345-7",
        "(LOINC: 2345-7)",
        "LOINC® 2345-7",
        "LOINC-2345-7",
        "http://loinc.org/2345-7",
        "https://loinc.org/2345-7/",
        "2345–7",
        "2345—7",
        "2345‑7",
        "2345−7",
        "2345 - 7",
        " [2345-7]. ",
        "2345-7,",
        "`2345-7`",
        "\u00a02345-7\u200b",
        "LOINC 23457",  # without its hyphen, but the label says what it is and the check digit is right
    ],
)
def test_usual_spellings(small: LOINC, text: str) -> None:
    assert small.normalize(text) == "2345-7"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "23457",  # a plain number may be anything: MIMIC's item ids are such
        "2345",
        "2345-8",  # wrong check digit
        "LOINC 23458",
        "02345-7",
        "2345-77",
        "2345--7",
        "2345.7",
        "２３４５-７",
        "2345-7 718-7",
        "2340-8",  # right check digit, but not in this release
        "8310-5",  # in the release, but no laboratory test
        "2346-5",  # deprecated: in Loinc.csv, but not in the hierarchy
        "LP100-1",  # a group
        "glucose",
        "LOINC",
        "2345-7" + " " * 200 + "x",
    ],
)
def test_refuses_what_is_no_laboratory_test_of_the_release(small: LOINC, text: str) -> None:
    assert small.normalize(text) is None


def test_short_numbers_are_codes(small: LOINC) -> None:
    assert small.normalize("1-8") == "1-8"
    assert small.code_shape.fullmatch("1-8")


@pytest.mark.parametrize(
    ("number", "digit"),
    [
        # From the right, doubled digits in brackets: (5)4(3)2 -> 1+0 + 4 + 6 + 2 = 13, to 20: 7
        ("2345", 7),
        # (8)1(7) -> 1+6 + 1 + 1+4 = 13, to 20: 7
        ("718", 7),
        # (1) -> 2, to 10: 8
        ("1", 8),
        # (9)3(3)2 -> 1+8 + 3 + 6 + 2 = 20: 0
        ("2339", 0),
        # The Users' Guide works 12345 as 531 * 2 = 1062, then 42: 4+2+1+0+6+2 = 15, to 20: 5
        ("12345", 5),
    ],
)
def test_check_digits(number: str, digit: int) -> None:
    assert check_digit(number) == digit


@pytest.mark.parametrize(
    ("code", "path"),
    [
        (
            "2345-7",
            (CHEMISTRY, SUGARS, GLUCOSE, "2345-7"),
        ),  # of its two paths the first; the fourth group is not scored
        ("2339-0", (CHEMISTRY, SUGARS, GLUCOSE, "2339-0")),
        ("718-7", (BLOOD, CELLS, "718-7", "718-7")),  # a shorter path: it stands for itself
        ("4548-4", (BLOOD, "4548-4", "4548-4", "4548-4")),
        ("1-8", ("1-8",) * 4),  # directly below Laboratory
    ],
)
def test_paths(small: LOINC, code: str, path: tuple[str, ...]) -> None:
    assert small.path(code) == path


def test_the_file_decides_which_path_is_first(tmp_path: Path) -> None:
    other = LOINC(write_hierarchy(tmp_path, hierarchy_text(nodes=NODES[::-1])))
    assert other.path("2345-7") == (CHEMISTRY, FASTING, GLUCOSE, "2345-7")


def test_both_editions_of_the_root_give_the_same(small: LOINC, tmp_path: Path) -> None:
    newer = LOINC(write_hierarchy(tmp_path, hierarchy_text(above=True)), write_names(tmp_path))
    assert newer.codes() == small.codes()
    assert [newer.path(code) for code in newer.codes()] == [small.path(code) for code in small.codes()]
    assert newer.release == small.release  # so caches stay valid


def test_titles_fall_back_from_one_file_to_the_other(small: LOINC, tmp_path: Path) -> None:
    assert small.title("2345-7") == GLUCOSE_NAME  # LONG_COMMON_NAME
    assert small.title("4548-4") == "Hemoglobin A1c/Hemoglobin.total in Blood"  # none there: the hierarchy's CODE_TEXT
    assert small.title("2339-0") == "Glucose in Bld"  # neither: COMPONENT in SYSTEM
    assert small.title("6690-2") == "6690-2"  # not even that
    assert small.nameless == ("1-8", "6690-2")
    assert "2 of 6 LOINC numbers have no name" in small.note
    without = LOINC(write_hierarchy(tmp_path))
    assert without.title("2345-7") == "Glucose SerPl-mCnc"
    assert without.nameless == ("1-8", "2339-0", "6690-2")


def test_synonyms_are_the_further_names(small: LOINC) -> None:
    # the hierarchy's text, DisplayName, SHORTNAME, CONSUMER_NAME; never the COMPONENT, which names other tests too
    assert small.synonyms("2345-7") == ("Glucose SerPl-mCnc", "Glucose", "Glucose SerPl", "Glucose, Blood")
    assert small.synonyms("718-7") == ("Hgb Bld-mCnc",)
    assert small.synonyms("4548-4") == ()  # its only name is its title
    assert small.synonyms("2339-0") == ()


def test_titles_of_levels(small: LOINC) -> None:
    titles = [small.level_title(level, place) for level, place in zip(small.levels, small.path("2345-7"), strict=True)]
    assert titles == ["Chemistry", "Sugars", "Glucose", GLUCOSE_NAME]
    assert small.level_title("class", BLOOD) == BLOOD  # the file has no name for it
    assert small.nameless_groups == (BLOOD,)
    assert small.level_title("subgroup", "718-7") == "Hemoglobin [Mass/volume] in Blood"  # it stands for itself there
    for level, ancestor in (("class", SUGARS), ("group", "718-7"), ("subgroup", IN_SERUM), ("full", GLUCOSE)):
        with pytest.raises(KeyError):
            small.level_title(level, ancestor)
    with pytest.raises(UnknownNameError, match="subgroup"):
        small.level_title("subgrup", GLUCOSE)


def test_what_is_no_code_has_no_title(small: LOINC) -> None:
    for method in (small.title, small.path, small.synonyms):
        with pytest.raises(KeyError):
            method("2345-8")


def test_release_is_the_newest_version_of_any_row(small: LOINC, tmp_path: Path) -> None:
    # 2.78 is newer than 2.8, which is written 2.08 in full, and than 1.0f.
    assert small.release.startswith("2.78 (6 codes, content ")
    without = LOINC(write_hierarchy(tmp_path))
    assert without.release.startswith("of unknown version (6 codes, content ")
    assert without.release[-14:] != small.release[-14:]  # other titles, so other content


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2345-8", "Its check digit is wrong: after 2345 it would be 7; 2345-7 is 'Glucose [Mass/volume]"),
        ("2340-9", "Its check digit is wrong: after 2340 it would be 8; 2340-8 is not in this release either"),
        ("2340-8", "Its check digit is right, but this release has no such number below Laboratory"),
        ("8310-5", "It is a LOINC number (ACTIVE), but not below Laboratory"),
        ("2346-5", "It is a LOINC number (DEPRECATED), but not below Laboratory"),
        ("23457", "has a hyphen before its check digit (2345-7 is 'Glucose [Mass/volume]"),
        ("50912", "has a hyphen before its check digit. An itemid of MIMIC is none."),
        ("LP100-1", "It is the code of a part"),
        ("glucose", "up to seven digits, a hyphen and a check digit"),
        ("loinc 2345-7", "It is one: 2345-7."),
    ],
)
def test_explains_what_is_no_code(small: LOINC, text: str, said: str) -> None:
    assert said in small.explain(text)


def test_a_wrong_reference_is_named_with_its_reason(small: LOINC) -> None:
    assert small.require(["LOINC 2345-7"], "references[0]") == ["2345-7"]
    with pytest.raises(
        InputError, match=r"references\[3\]: '2345-8' is not a code of loinc 2\.78 .*check digit is wr"
    ):
        small.require(["718-7", "2345-8"], "references[3]")


def test_arrays_of_codes(small: LOINC) -> None:
    assert small.normalize_all(np.array(["2345–7", "x", "718-7"])) == ["2345-7", None, "718-7"]
    places, ancestors = small.path_ids(["2345-7", "2339-0", "4548-4", "718-7", "2345-8"])
    path = ancestors[places]
    assert path[0].tolist()[:3] == path[1].tolist()[:3]  # same class, group and subgroup
    assert path[2][0] == path[3][0]  # same class
    assert not (path[2][1:] == path[3][1:]).any()
    assert not (path[4] == path[:4]).any()


def test_without_files_the_error_carries_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLINICAL_EVALS_RESOURCES", str(tmp_path))
    monkeypatch.setenv("CLINICAL_EVALS_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))
    loinc.cache_clear()
    with pytest.raises(ResourceMissingError, match="clinical-evals resources add loinc-hierarchy FILE"):
        loinc()
    write_hierarchy(tmp_path)
    assert loinc().title("2345-7") == "Glucose SerPl-mCnc"  # Loinc.csv may be absent
    loinc.cache_clear()


# Properties


_HYPHENS = st.sampled_from(["-", " - ", "–", "—", "−", "‑", " –"])
_BEFORE = st.sampled_from(["", " ", "LOINC ", "loinc: ", "Loinc code ", "LOINC#", "(", "http://loinc.org/"])
_AFTER = st.sampled_from(["", " ", ".", ",", ")", "]", " .", ";"])


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([code for _, code, _ in NODES if NUMBER.fullmatch(code)]), _HYPHENS, _BEFORE, _AFTER)
def test_any_spelling_of_a_valid_code_gives_it(small: LOINC, code: str, hyphen: str, before: str, after: str) -> None:
    assert small.normalize(before + code.replace("-", hyphen) + after) == code
    assert small.normalize(code) == code  # idempotent


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=30) | st.from_regex(r"(?i)(loinc)?[-: 0-9]{1,12}", fullmatch=True))
def test_what_is_read_from_any_text_is_idempotent_and_in_the_release(small: LOINC, text: str) -> None:
    code = small.normalize(text)
    assert code in {None, *small.codes()}
    assert code is None or small.normalize(code) == code
    assert small.explain(text)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 9_999_999), st.integers(0, 9))
def test_a_wrong_check_digit_is_always_told(small: LOINC, number: int, digit: int) -> None:
    text = f"{number}-{digit}"
    right = check_digit(text[:-2]) == digit
    assert small.normalize(text) is None or right
    said = small.explain(text)
    assert ("check digit is wrong" in said) == (not right)


@settings(max_examples=300, deadline=None)
@given(st.integers(1, 999_999), st.integers(0, 8))
def test_a_check_digit_finds_every_single_wrong_digit(number: int, step: int) -> None:
    # What Mod 10 is for: another last digit of the number never keeps its check digit.
    other = number - number % 10 + (number % 10 + 1 + step) % 10
    assert check_digit(str(other)) != check_digit(str(number))


def test_every_path_is_the_codes_own(small: LOINC) -> None:
    paths = [small.path(code) for code in small.codes()]
    assert len(set(paths)) == len(paths)
    assert {len(path) for path in paths} == {len(small.levels)}
    assert [path[-1] for path in paths] == list(small.codes())


# The real files


def test_the_real_hierarchy_has_the_documented_groups(real: LOINC, release_files: Path) -> None:
    assert len(real.codes()) == 59_644
    assert len(real.nameless) == 58_509  # this edition has texts for 1,135 numbers, all of them in Loinc.csv too
    mapped = [line.split('"')[1] for line in (release_files / "Loinc.csv").read_text("utf-8").splitlines()[1:]]
    assert len(mapped) == 1_148
    known = [code for code in mapped if real.normalize(code) == code]
    # 1,148 less two malformed ones and eleven that are no laboratory tests (body temperature, ventilator settings, …).
    assert len(known) == 1_148 - 2 - 11
    paths = [real.path(code) for code in known]
    # 4548-4 and 41995-2 hang directly below their class and stand for themselves. protocol.md 2.1 has 18 / 60 / 211:
    # not from this file, which has no path for the other thirteen numbers.
    assert [len({path[level] for path in paths}) for level in range(3)] == [14, 54, 205]


def test_the_real_malformed_numbers_are_reported(real: LOINC) -> None:
    assert [(row.found, row.where.rpartition("Loinc.csv")[2]) for row in real.malformed] == [
        ("968472", ", line 679"),
        ("-56064", ", line 750"),
    ]
    assert "'968472' (line 679), '-56064' (line 750)" in real.note


def test_the_real_numbers_end_with_their_check_digit_but_for_twelve_old_ones(real: LOINC) -> None:
    wrong = [code for code in real.codes() if check_digit(code[:-2]) != int(code[-1])]
    assert len(wrong) == 12
    assert all(real.normalize(code) == code for code in wrong)
    assert all(real.normalize("LOINC " + code.replace("-", "")) is None for code in wrong)


def test_real_paths_and_names(real: LOINC) -> None:
    path = real.path("718-7")
    titles = [real.level_title(level, ancestor) for level, ancestor in zip(real.levels, path, strict=True)]
    assert titles == ["HEM/BC", "Hematology", "Hemoglobin", "Hemoglobin [Mass/volume] in Blood"]
    assert len({real.path(code) for code in real.codes()}) == len(real.codes())


def test_both_editions_of_the_real_root_give_the_same(real: LOINC, release_files: Path, tmp_path: Path) -> None:
    lines = (release_files / "ComponentHierarchyBySystem.csv").read_text("utf-8").splitlines(keepends=True)
    top = lines[1].replace("LP29693-6", "LP432695-7").replace("Laboratory", "{component}")
    laboratory = '"LP432695-7","1","LP432695-7","LP29693-6","Laboratory"\r\n'
    below = [line.replace('"LP29693-6', '"LP432695-7.LP29693-6', 1) for line in lines[2:]]
    newer = write_hierarchy(tmp_path, "".join([lines[0], top, laboratory, *below]))
    assert LOINC(newer, release_files / "Loinc.csv").release == real.release  # its digest is over all paths and titles


@settings(max_examples=500, deadline=None)
@given(st.integers(0, 59_643), _HYPHENS, _BEFORE, _AFTER)
def test_any_spelling_of_a_real_code_gives_it(real: LOINC, place: int, hyphen: str, before: str, after: str) -> None:
    code = real.codes()[place]
    assert real.normalize(before + code.replace("-", hyphen) + after) == code


@settings(max_examples=500, deadline=None)
@given(st.text(max_size=12) | st.integers(0, 10_000_000).map(str))
def test_a_random_text_or_number_is_no_real_code(real: LOINC, text: str) -> None:
    # Only a number with a hyphen is one; text that hypothesis makes has that by chance about never, a number never.
    assert real.normalize(text) is None or "-" in text


def test_csv_text_is_what_the_real_file_looks_like(release_files: Path) -> None:
    start = (release_files / "ComponentHierarchyBySystem.csv").read_bytes()[:65]
    assert hierarchy_text(outside=False).encode().startswith(start)
    assert csv_text(("a",), [("b",)]) == '"a"\r\n"b"\r\n'
