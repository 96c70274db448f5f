"""Probabilities beside names of departments."""

import pytest

from clinical_evals.ior_bench.department_names import MENTION
from clinical_evals.ior_bench.department_shares import has_shares, share_beside


@pytest.mark.parametrize(
    ("text", "share"),
    [
        (f"{MENTION} 85%", 85.0),
        (f"{MENTION}(可能性12.5%)", 12.5),
        (f"{MENTION}: 0.25", 25.0),
        (f"80%的可能是{MENTION}", 80.0),
        (f"{MENTION} 85", None),  # no per cent: a score, a room, a floor
        (f"{MENTION},有效率85%", None),  # another clause
        (f"{MENTION} 10.5", None),  # not a fraction of one
        ("0." + MENTION, None),
    ],
)
def test_the_share_beside_a_name(text: str, share: float | None) -> None:
    place = text.index(MENTION)
    assert share_beside(text, place, place + 1) == share
    assert share is None or has_shares(text)
