"""ATC: spellings of all five lengths, paths, titles, reasons; on a written table and on the user's own."""

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from atc_table import rows as table_rows
from atc_table import table, write
from hypothesis import given, settings
from hypothesis import strategies as st

from clinical_evals.errors import InputError, UnknownNameError
from clinical_evals.ontology.atc import ATC


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> ATC:
    return ATC(write(tmp_path_factory.mktemp("atc")))


@pytest.fixture(scope="module")
def real(release_files: Path) -> ATC:
    return ATC(release_files / "who_atc_ddd_2026-04-25.csv")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("A10BA02", "A10BA02"),
        ("a10ba02", "A10BA02"),
        ("A10 BA02", "A10BA02"),
        ("A 10 B A 02", "A10BA02"),
        ("A10\u00a0BA02", "A10BA02"),
        ("ATC: A10BA02", "A10BA02"),
        ("ATC code a10ba02", "A10BA02"),
        ("atc-code: A10BA", "A10BA"),
        ("ATC codes = A10B", "A10B"),
        ("WHO ATC A10", "A10"),
        ("ATC (A10BA02)", "A10BA02"),
        ("ATC – A10BA02", "A10BA02"),
        (" [A10BA02]. ", "A10BA02"),
        ("**A10BA**", "A10BA"),
        ("A10B", "A10B"),
        ("A10", "A10"),
        ("A", "A"),
        ("v", "V"),
    ],
)
def test_usual_spellings(small: ATC, text: str, code: str) -> None:
    assert small.normalize(text) == code
    assert small.normalize(code) == code


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ATC",
        "ATC code:",
        "ATCA10BA02",  # a label ends before the code
        "A1",
        "A10BA0",
        "A10BA021",
        "A10BA04",  # well-formed, not in the table
        "T01",  # no main group
        "A10BAO2",  # a letter O
        "A10-BA02",
        "A10BA02 A10BA03",
        "A10BA02 metformin",
        "metformin",
        "ſ01",  # upper-cased it would be S01
        "A\u0661\u0660",  # Arabic digits
        "A10BA02\x00",
        "A10BA02" * 50_000,
    ],
)
def test_refuses_what_is_not_in_the_release(small: ATC, text: str) -> None:
    assert small.normalize(text) is None


@pytest.mark.parametrize(
    ("code", "path"),
    [
        ("A10BA02", ("A", "A10", "A10B", "A10BA", "A10BA02")),
        ("A10BA", ("A", "A10", "A10B", "A10BA", "A10BA")),
        ("A10B", ("A", "A10", "A10B", "A10B", "A10B")),  # shorter than level 4: itself there
        ("A10", ("A", "A10", "A10", "A10", "A10")),
        ("A", ("A", "A", "A", "A", "A")),
    ],
)
def test_a_shorter_code_stands_for_itself_below_its_level(small: ATC, code: str, path: tuple[str, ...]) -> None:
    assert small.path(code) == path
    assert len(path) == len(small.levels)


def test_titles_at_every_level(small: ATC) -> None:
    assert [small.level_title(*pair) for pair in zip(small.levels, small.path("A10BA02"), strict=True)] == [
        "Group A",
        "DRUGS USED IN DIABETES",
        "BLOOD GLUCOSE LOWERING DRUGS, EXCL. INSULINS",
        "Biguanides",
        "metformin",
    ]
    assert small.level_title("level4", "A10") == small.title("A10")  # a class that stands for itself
    for ask in (small.title, small.path, lambda code: small.level_title("full", code)):
        with pytest.raises(KeyError):
            ask("A10BA99")
    with pytest.raises(KeyError):
        small.level_title("level3", "A10BA02")  # a code, but nothing stands for it at level 3
    with pytest.raises(UnknownNameError, match="Known: full, level1"):
        small.level_title("chapter", "A10")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("A10BA2", "has 1, 3, 4, 5 or 7 characters, this has 6"),
        ("", "this has 0"),
        ("T01", "'T' is none"),
        ("AA0BA02", "a letter, two digits, a letter, a letter, two digits"),
        ("ATC: a10ba99", r"not in this release.*nearest group that is: A10BA \(Biguanides\)"),
        ("A77XX01", r"not in this release.*nearest group that is: A \(Group A\)"),
    ],
)
def test_says_why_a_text_is_no_code(small: ATC, text: str, reason: str) -> None:
    assert re.search(reason, small.explain(text))
    assert small.explain(text).endswith("Correct the reference, or leave the row out.")
    with pytest.raises(InputError, match=rf"row 3: .*not a code of atc 2031-01-02 .*{reason}"):
        small.require(["A10BA02", text], "row 3")


def test_nearest_group_of_a_code_of_another_release(small: ATC) -> None:
    assert small.nearest("A10BA99") == "A10BA"
    assert small.nearest("A10BX01") == "A10B"
    assert small.nearest("a10ba02") == "A10BA02"
    assert small.nearest("T01AA01") is None  # no such main group
    assert small.nearest("metformin") is None


def test_codes_keep_the_order_of_the_file_and_each_stands_once(small: ATC) -> None:
    # 14 groups of 5 invented codes and 5 true ones; metformin's second DDD is no second code.
    assert len(small.codes()) == 14 * 5 + 5
    assert small.sizes() == (14, 15, 15, 15, 16)
    assert list(small.codes()) == sorted(small.codes())
    assert small.codes()[:3] == ("A", "A01", "A01A")


def test_release_follows_content_and_date_not_the_packing(tmp_path: Path, small: ATC) -> None:
    assert re.fullmatch(r"2031-01-02 \(75 codes, content [0-9a-f]{12}\)", small.release)
    turned = [(row[1], row[0]) for row in reversed(table_rows())]
    other = ATC(write(tmp_path, table(turned, ("atc_name", "atc_code")), "ATC 2031-01-02 turned.csv"))
    assert other.release == small.release  # other column and row order, no DDDs: the same names for the same codes
    renamed = ATC(write(tmp_path, table().replace(b"buformin", b"Buformin"), "my_atc.csv"))
    assert renamed.release.startswith("of unknown date (75 codes, content ")
    assert renamed.release[-13:] != small.release[-13:]


@pytest.mark.parametrize("token", ["A10BA02", "A10BA", "A10B", "A10", "A", "X99ZZ99"])
def test_shape_matches_whole_tokens_valid_or_not(small: ATC, token: str) -> None:
    assert small.code_shape.fullmatch(token)
    assert not small.code_shape.fullmatch(token + "0")


def test_every_code_of_the_table_has_the_shape_and_a_unique_path(small: ATC) -> None:
    assert all(map(small.code_shape.fullmatch, small.codes()))
    _check_paths(small)


def test_places_of_codes_for_counting(small: ATC) -> None:
    places, ancestors = small.path_ids(["A10BA02", "A10BA03", "A10", "T99"])
    paths = ancestors[places]
    assert (paths[0] == paths[1]).tolist() == [True, True, True, True, False]  # one class, two substances
    assert (paths[0] == paths[2]).tolist() == [True, True, False, False, False]  # A10 is itself from level 3 on
    assert not (paths[3] == paths[0]).any()  # an invalid code is wrong at every level
    assert (np.diff(ancestors, axis=0) >= 0).all()


_SPELLINGS: list[Callable[[str], str]] = [
    str.lower,
    str.upper,
    lambda code: f"ATC: {code}",
    lambda code: f"ATC code {code}.",
    lambda code: f"({code})",
    lambda code: f"{code[:3]} {code[3:]}",
    lambda code: f"  {code},",
]


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_any_spelling_of_a_valid_code_gives_it(small: ATC, data: st.DataObject) -> None:
    code = data.draw(st.sampled_from(small.codes()))
    first, second = data.draw(st.sampled_from(_SPELLINGS)), data.draw(st.sampled_from(_SPELLINGS[:2]))
    assert small.normalize(first(second(code))) == code
    assert small.normalize(code) == code


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=12))
def test_random_text_is_none_or_a_code_and_normalizing_it_again_changes_nothing(small: ATC, text: str) -> None:
    code = small.normalize(text)
    assert code is None or (code in small.codes() and small.normalize(code) == code)
    assert isinstance(small.explain(text), str)


def test_random_words_are_almost_never_valid(small: ATC) -> None:
    # 16 of 36 ** 7 = 78 billion words of seven characters, 14 of the 60 million of five.
    assert not _random_words_that_are_codes(small, length=7)
    assert not _random_words_that_are_codes(small, length=5)


def _random_words_that_are_codes(system: ATC, length: int) -> list[str]:
    words = np.random.default_rng(6).choice(list("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"), size=(20_000, length))
    return [word for word in map("".join, words) if system.normalize(word)]


def _check_paths(system: ATC) -> None:
    """Unique per code; every ancestor starts the next one and is a code of its level or the code itself."""
    paths = [system.path(code) for code in system.codes()]
    assert len(set(paths)) == len(paths)
    for code, path in zip(system.codes(), paths, strict=True):
        assert path[0] == code[0]
        assert path[-1] == code
        assert len(path) == len(system.levels)
        assert all(below.startswith(above) for above, below in pairwise(path))
        assert all(system.normalize(ancestor) == ancestor for ancestor in path)


def test_the_release_of_2026_has_the_documented_sizes(real: ATC) -> None:
    assert real.sizes() == (14, 94, 271, 939, 5_678)  # ../shared/data/README.md
    assert real.release.startswith("2026-04-25 (6,996 codes, ")
    assert len(real.codes()) == 14 + 94 + 271 + 939 + 5_678
    _check_paths(real)


def test_real_titles_and_moved_codes(real: ATC) -> None:
    assert real.title("A10BA02") == "metformin"
    assert real.level_title("level4", "A10BA") == "Biguanides"
    # Gabapentin was N03AX12 until WHO made a group for it: the old code is not valid, and the error says what is near.
    assert real.normalize("N03AX12") is None
    assert "N03AX (Other antiepileptics)" in real.explain("N03AX12")
    assert real.title("N02BF01") == "gabapentin"


def test_random_words_are_almost_never_codes_of_the_real_release(real: ATC) -> None:
    # 5,678 of 36 ** 7 words of seven characters: 0.0015 expected in 20,000 draws.
    assert not _random_words_that_are_codes(real, length=7)
