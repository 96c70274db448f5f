"""One referral: what was read, and whether it counts."""

import pytest

from clinical_evals.errors import InputError, UnknownNameError
from clinical_evals.spaces.departments import LONGEST_ANSWER, read_referral
from clinical_evals.spaces.departments_page import EXAMPLES, show_referral

LIST = "外科, 小儿外科、消化内科\n儿科；皮肤科"


def test_a_name_within_a_name() -> None:
    read = read_referral("建议您挂小儿外科。", LIST, "小儿外科", "standard")
    assert (read.predicted, read.right, read.others) == ("小儿外科", True, ())
    assert [(each.name, each.counts, each.is_gold) for each in read.candidates][:2] == [
        ("外科", False, False),
        ("小儿外科", True, True),
    ]
    official = read_referral("建议您挂小儿外科。", LIST, "小儿外科", "official")
    assert (official.predicted, official.right) == ("外科", False)


def test_several_recommended_and_none() -> None:
    read = read_referral("建议挂消化内科或者皮肤科。", LIST, "皮肤科", "standard")
    assert (read.predicted, read.others, read.right) == ("消化内科", ("皮肤科",), False)
    assert read_referral("请多喝水。", LIST, "儿科", "standard").predicted is None


def test_official_lets_in_what_is_not_offered() -> None:
    assert read_referral("挂骨科", LIST, "骨科", "official").not_offered


@pytest.mark.parametrize(
    ("answer", "departments", "gold", "message"),
    [
        ("挂外科", "", "外科", "no departments"),
        ("挂外科", " ,\n", "外科", "no departments"),
        ("挂外科", LIST, "  ", "right department is missing"),
        ("挂外科", LIST, "消化科", "'消化科' is none of the 5 departments. Did you mean 消化内科"),
        ("挂外科", "外科, 外科", "外科", "外科"),
        ("挂" * (LONGEST_ANSWER + 1), LIST, "外科", "20,001 characters"),
        ("挂外科", ",".join(f"第{number}科" for number in range(501)), "外科", "501 departments"),
    ],
)
def test_what_cannot_be_read(answer: str, departments: str, gold: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_referral(answer, departments, gold, "standard")


def test_an_unknown_protocol() -> None:
    with pytest.raises(UnknownNameError, match="unknown protocol"):
        read_referral("挂外科", LIST, "外科", "ours")


@pytest.mark.parametrize(("example", "verdict"), [*zip(EXAMPLES, ("Right", "Wrong", "Right", "Wrong"), strict=True)])
def test_the_examples_show_something(example: tuple[str, str, str, str], verdict: str) -> None:
    assert f"{verdict}: gold is" in show_referral(*example)[0]
