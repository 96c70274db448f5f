"""Benjamini-Hochberg: by hand, against scipy, against the procedure itself, and what is no p-value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from clinical_evals.scoring.false_discovery import benjamini_hochberg

TABLES = st.lists(st.floats(0, 1, allow_subnormal=False), max_size=30)


def test_by_hand() -> None:
    # Sorted 0.01, 0.02, 0.03, 0.9 times 4 / rank: 0.04, 0.04, 0.04, 0.9; each is the least from its rank on.
    assert benjamini_hochberg([0.02, 0.9, 0.01, 0.03]) == pytest.approx([0.04, 0.9, 0.04, 0.04])
    # 0.01 x 2 = 0.02; 0.5 x 1.
    assert benjamini_hochberg([0.5, 0.01]) == pytest.approx([0.5, 0.02])
    assert benjamini_hochberg([0.3]) == [0.3]
    assert benjamini_hochberg([]) == []


@given(TABLES)
def test_it_is_scipys(p_values: list[float]) -> None:
    expected = false_discovery_control(p_values).tolist() if p_values else []
    assert benjamini_hochberg(p_values) == pytest.approx(expected)


@given(TABLES, st.floats(0.001, 0.999))
def test_it_calls_real_what_the_procedure_does(p_values: list[float], share: float) -> None:
    """The procedure: of m sorted values take the last that is at most share x rank / m, and all before it."""
    tests = len(p_values)
    ranked = sorted(p_values)
    last = max((rank for rank, p in enumerate(ranked, 1) if p * (tests / rank) <= share), default=0)
    cut = ranked[last - 1] if last else -1.0
    assert [p <= share for p in benjamini_hochberg(p_values)] == [p <= cut for p in p_values]


@given(TABLES)
def test_it_is_never_below_p_and_keeps_the_order(p_values: list[float]) -> None:
    adjusted = benjamini_hochberg(p_values)
    assert all(p <= adjusted_p <= 1 for p, adjusted_p in zip(p_values, adjusted, strict=True))
    by_p = [adjusted_p for _, adjusted_p in sorted(zip(p_values, adjusted, strict=True))]
    assert by_p == sorted(by_p)


@pytest.mark.parametrize("wrong", [-0.1, 1.1, float("nan")])
def test_what_is_no_p_value_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="expected p-values between 0 and 1"):
        benjamini_hochberg([0.5, wrong])
