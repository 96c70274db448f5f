"""A wider department and the part of it that is meant (protocol 1.2: exactly one department)."""

import pytest

from clinical_evals.ior_bench.department_names import FOREIGN, MENTION, fold, mark_mentions
from clinical_evals.ior_bench.department_narrowing import is_part, without_wider

DEPARTMENTS = ["内科", "消化内科", "外科", "骨科", "口腔科", "口腔颌面外科", "妇科", "眼科"]


@pytest.mark.parametrize(
    ("text", "read", "named"),
    [
        ("内科（消化内科）", MENTION, ["消化内科"]),
        ("消化内科（内科）", MENTION, ["消化内科"]),
        ("挂外科-骨科的号", f"挂{MENTION}的号", ["骨科"]),
        ("眼科，口腔科（口腔颌面外科），骨科", f"{MENTION},{MENTION},{MENTION}", ["眼科", "口腔颌面外科", "骨科"]),
        ("眼科，具体是骨科", MENTION, ["骨科"]),  # named as specific: the names need not be related
        ("眼科（骨科）", f"{MENTION}({MENTION})", ["眼科", "骨科"]),  # a bracket alone says nothing
        ("内科（血液内科）", f"{MENTION}({FOREIGN})", ["内科"]),
        ("口腔科（口腔颌面外科、骨科）", f"{MENTION}、{MENTION}", ["口腔颌面外科", "骨科"]),
        ("外科（如骨科、眼科）", f"{MENTION}(如{MENTION}、{MENTION})", ["外科", "骨科", "眼科"]),  # examples
        ("不是眼科，具体是骨科", f"不是{MENTION},具体是{MENTION}", ["眼科", "骨科"]),  # refused, then replaced
        ("内科/消化内科", f"{MENTION}/{MENTION}", ["内科", "消化内科"]),
    ],
)
def test_the_wider_name_is_taken_out(text: str, read: str, named: list[str]) -> None:
    found = without_wider(mark_mentions(fold(text), DEPARTMENTS), DEPARTMENTS)
    assert found.text == read
    assert [DEPARTMENTS[candidate] for candidate in found.candidates] == named


@pytest.mark.parametrize(
    ("narrow", "wide", "part"),
    [
        ("消化内科", "内科", True),
        ("骨科", "外科", True),  # surgery, though its name does not say so
        ("骨科", "内科", False),
        ("口腔颌面外科", "口腔科", True),
        ("口腔颌面外科", "外科", True),
        ("妇科内分泌科", "妇科", True),
        ("妇产科", "妇科", False),  # 妇 alone is too short to tell
        ("内科", "消化内科", False),
        ("内科", "内科", False),
    ],
)
def test_what_is_a_part_by_its_name(narrow: str, wide: str, part: bool) -> None:
    assert is_part(narrow, wide) is part
