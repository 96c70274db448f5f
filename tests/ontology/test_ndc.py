"""NDCs: eleven digits from every written form, and reasons for what cannot be told for certain."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinical_evals.ontology.ndc import explain_ndc, is_no_ndc, normalize_ndc


@pytest.mark.parametrize(
    ("text", "ndc"),
    [
        ("00002821501", "00002821501"),
        (" 00002821501 ", "00002821501"),
        ("00002-8215-01", "00002821501"),  # 5-4-2
        ("0002-8215-01", "00002821501"),  # 4-4-2: a zero before the labeler
        ("54868-518-00", "54868051800"),  # 5-3-2: before the product
        ("54868-5180-1", "54868518001"),  # 5-4-1: before the package
        ("NDC 0002-8215-01", "00002821501"),
        ("NDC: 00002821501", "00002821501"),
        ("ndc code 00002821501", "00002821501"),
        ("0002–8215–01", "00002821501"),  # typographic dashes
    ],
)
def test_written_forms(text: str, ndc: str) -> None:
    assert normalize_ndc(text) == ndc
    assert normalize_ndc(ndc) == ndc
    assert not is_no_ndc(text)
    assert explain_ndc(text) == f"It is one: {ndc}."


@pytest.mark.parametrize("text", ["", " ", "0", "00000000000", "0000000000", "00000-0000-00", "0-0-0"])
def test_empty_and_zeros_are_no_ndc(text: str) -> None:
    assert is_no_ndc(text)
    assert normalize_ndc(text) is None
    assert explain_ndc(text) == "There is no NDC: it is empty or zero."


@pytest.mark.parametrize(
    ("text", "why"),
    [
        # 0002-8215-01, 00028-215-01 and 00028-2150-1 are all these ten digits, and three different NDCs.
        ("0002821501", "Ten digits without hyphens are ambiguous"),
        ("2821501", "7 digits, expected 11: read as a number, its leading zeros are lost"),
        ("24987026010.0", "read as a number, so its leading zeros are lost"),
        ("2821501.0", "read as a number"),
        ("2.498702601e+10", "read as a number"),
        ("0.0", "read as a number"),
        ("000028215010", "12 digits, expected 11"),
        ("0002-8215", "two segments: it names a product"),
        ("002-8215-01", "Expected 11 digits, or labeler-product-package"),
        ("0002-821-01", "Expected 11 digits, or"),  # 4-3-2 has nine digits: two zeros are missing
        ("000028-215-01", "Expected 11 digits, or"),  # 6-3-2
        ("0002-8215-01-1", "Expected 11 digits, or"),
        ("0002--01", "Expected 11 digits, or"),
        ("-", "Expected 11 digits, or"),
        ("?", "Expected 11 digits, or"),
        ("nan", "Expected 11 digits, or"),
        ("0000282150X", "Expected 11 digits, or"),
        ("٠٠٠٠٢٨٢١٥٠١", "Expected 11 digits, or"),  # Arabic digits
    ],
)
def test_what_cannot_be_told_is_not_guessed(text: str, why: str) -> None:
    assert normalize_ndc(text) is None
    assert not is_no_ndc(text)
    assert why in explain_ndc(text)


@settings(max_examples=200, deadline=None)
@given(
    st.integers(1, 10**11 - 1), st.sampled_from(["plain", "5-4-2", "short labeler", "short product", "short package"])
)
def test_every_written_form_of_eleven_digits_gives_them(number: int, form: str) -> None:
    digits = f"{number:011}"
    segments = [digits[:5], digits[5:9], digits[9:]]
    shortened = {"short labeler": 0, "short product": 1, "short package": 2}
    if form in shortened and not segments[shortened[form]].startswith("0"):
        form = "5-4-2"  # only a zero may be left out
    if form in shortened:
        segments[shortened[form]] = segments[shortened[form]][1:]
    text = digits if form == "plain" else "-".join(segments)
    assert normalize_ndc(text) == digits


@settings(max_examples=300, deadline=None)
@given(st.text("0123456789-.eE? ", max_size=16) | st.text(max_size=16))
def test_any_text_is_eleven_digits_or_none_and_has_a_reason(text: str) -> None:
    ndc = normalize_ndc(text)
    assert ndc is None or (len(ndc) == 11 and ndc.isascii() and ndc.isdigit() and ndc.strip("0"))
    assert ndc is None or (normalize_ndc(ndc) == ndc and not is_no_ndc(text))
    assert explain_ndc(text)
