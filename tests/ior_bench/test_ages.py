"""Ages and sexes in the forms that records use."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinical_evals.ior_bench.age_and_sex import DAYS_OF_YEAR, MAX_YEARS, parse_age, parse_sex


@pytest.mark.parametrize(
    ("text", "years"),
    [
        # The forms that protocol.md 1.1 names.
        ("34岁", 34),
        ("8月", 8 / 12),
        ("3月12天", 3 / 12 + 12 / DAYS_OF_YEAR),
        ("25天", 25 / DAYS_OF_YEAR),
        ("34Y", 34),
        ("6M", 6 / 12),
        ("10D", 10 / DAYS_OF_YEAR),
        ("34", 34),
        # Numbers as a spreadsheet or pandas writes them.
        ("34.0", 34),
        ("0.08333333333333333", 1 / 12),
        ("0", 0),
        # Other hands.
        ("１２岁", 12),
        (" 34 岁 ", 34),
        ("34周岁", 34),
        ("1岁6个月", 1.5),
        ("1岁零3个月", 1.25),
        ("1岁半", 1.5),
        ("半岁", 0.5),
        ("半个月", 0.5 / 12),
        ("一个半月", 1.5 / 12),
        ("三个月", 3 / 12),
        ("十二岁", 12),
        ("二十岁", 20),
        ("六十五岁", 65),
        ("一百零二岁", 102),
        ("3周", 21 / DAYS_OF_YEAR),
        ("1周2天", 9 / DAYS_OF_YEAR),
        ("5月龄", 5 / 12),
        ("6日龄", 6 / DAYS_OF_YEAR),
        ("12小时", 12 / 24 / DAYS_OF_YEAR),
        ("满月", 1 / 12),
        ("34 years old", 34),
        ("18 months", 1.5),
        ("1y6m3d", 1.5 + 3 / DAYS_OF_YEAR),
    ],
)
def test_ages_in_every_form(text: str, years: float) -> None:
    assert parse_age(text) == pytest.approx(years, abs=1e-12)


@pytest.mark.parametrize("text", ["", "  ", "　", "不详", "未知", "-", "N/A", "nan", "None"])
def test_an_unknown_age_is_none(text: str) -> None:
    assert parse_age(text) is None


@pytest.mark.parametrize(
    "text",
    ["-3", "-3岁", "abc", "岁", "三十多岁", "30-40岁", "34岁岁", "6月1岁", "3天3天", "1e3", "inf", "2023-05-01",
     "34,5", "34" + " " * 100 + "x", "3" + " " * 100 + "岁", "9" * 5000, "零", "半", "二百岁", "十十岁"],
)  # fmt: skip
def test_what_is_no_age_is_refused_with_the_forms_that_are(text: str) -> None:
    with pytest.raises(ValueError, match="is not an age; expected years as a number, a form such as 34岁") as caught:
        parse_age(text)
    assert len(str(caught.value)) < 300, "a long cell must not become a long message"


@pytest.mark.parametrize("text", ["500岁", "131", "2000月", "9999Y"])
def test_more_years_than_anyone_lives_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=f"is more than {MAX_YEARS} years"):
        parse_age(text)


@given(
    years=st.integers(0, 120),
    months=st.integers(0, 11),
    days=st.integers(0, 30),
    units=st.sampled_from([("岁", "月", "天"), ("周岁", "个月", "日"), ("Y", "M", "D"), ("岁", "月龄", "天")]),
    space=st.sampled_from(["", " ", "　"]),
    width=st.sampled_from([None, {ord(digit): chr(ord(digit) + 0xFEE0) for digit in "0123456789"}]),
)
def test_an_age_that_is_written_is_read_back(years, months, days, units, space, width) -> None:
    numbers = (years, months, days)
    parts = [f"{number}{space}{unit}" for number, unit in zip(numbers, units, strict=True) if number]
    text = space.join(parts) or f"0{units[0]}"
    if width:
        text = text.translate(width)
    assert parse_age(text) == pytest.approx(years + months / 12 + days / DAYS_OF_YEAR, abs=1e-9)


@given(st.floats(0, MAX_YEARS).map(lambda years: round(years, 10)))
def test_a_number_of_years_is_read_back(years: float) -> None:
    assert parse_age(f"{years:.10f}") == years


@given(st.text(max_size=60))
def test_any_text_is_an_age_or_a_reason(text: str) -> None:
    """Never another exception than the one with a reason."""
    with contextlib.suppress(ValueError):
        years = parse_age(text)
        assert years is None or 0 <= years <= MAX_YEARS


@pytest.mark.parametrize(
    ("text", "sex"),
    [("男", "male"), ("女", "female"), ("M", "male"), ("f", "female"), ("Male", "male"), ("FEMALE", "female"),
     ("Ｆ", "female"), (" 女 ", "female"), ("女性", "female"), ("", None), ("未知", None), ("nan", None)],
)  # fmt: skip
def test_sexes(text: str, sex: str | None) -> None:
    assert parse_sex(text) == sex


@pytest.mark.parametrize("text", ["男女", "1", "x", "女" * 50])
def test_what_is_no_sex_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a sex; expected 女, 男, F, M"):
        parse_sex(text)
