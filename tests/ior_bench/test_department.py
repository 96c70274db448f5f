"""Answers to departments: written cases as JSON, and properties of generated answers (protocol 1.2 and 3).

A case states the answer, the candidates (or the name of a list of the file), what the standard protocol gives, what
the official one gives, and why.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinical_evals.errors import InputError, UnknownNameError
from clinical_evals.ior_bench.department import (
    MOST_READ,
    Extraction,
    check_candidates,
    extract_department,
    extract_official,
    is_right,
)

FILE = json.loads(Path(__file__).with_name("department_cases.json").read_text(encoding="utf-8"))
STATIC = Path(__file__).parents[2] / "datasets" / "ior-bench" / "data" / "static" / "test.json"
LISTS: dict[str, list[str]] = FILE["lists"]
CASES: list[dict[str, Any]] = FILE["cases"]
IDS = [f"{case['kind']}-{place}" for place, case in enumerate(CASES)]


def candidates_of(case: dict[str, Any]) -> list[str]:
    named = case["candidates"]
    return LISTS[named] if isinstance(named, str) else named


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_case(case: dict[str, Any]) -> None:
    found = extract_department(case["answer"], candidates_of(case))
    assert (found.department, found.ambiguous) == (case["department"], case["ambiguous"]), case["why"]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_official_rule(case: dict[str, Any]) -> None:
    """The released rule, restated: go through the list, take the first name that the output contains."""
    restated = [name for name in candidates_of(case) if case["answer"].find(name) >= 0]
    assert extract_official(case["answer"], candidates_of(case)) == (restated[0] if restated else "")
    assert extract_official(case["answer"], candidates_of(case)) == case["official"]


def test_the_last_doctor_turn_of_every_dialogue_names_its_own_department() -> None:
    """Protocol 1.2 takes the label from that turn: read as an answer, it must give it."""
    rows = json.loads(STATIC.read_text(encoding="utf-8"))["rows"]
    assert len(rows) == 72
    found = {}
    for row in rows:
        turn = [turn["content"] for turn in row["dialogue"] if turn["role"] == "doctor"][-1]
        found[row["id"]] = extract_department(turn, row["candidates"])
    assert found == {row["id"]: Extraction(row["department"], (row["department"],)) for row in rows}


def test_the_cases_are_many_and_of_all_kinds() -> None:
    kinds = Counter(case["kind"] for case in CASES)
    assert len(CASES) >= 1000
    assert len({(case["answer"], tuple(candidates_of(case))) for case in CASES}) == len(CASES)
    assert min(kinds.values()) >= 5, kinds
    assert all(case["why"] for case in CASES)
    assert all(case["department"] in (None, *candidates_of(case)) for case in CASES)
    assert not any(case["ambiguous"] and case["department"] is None for case in CASES)
    assert sum(case["official"] != (case["department"] or "") for case in CASES) > 50  # the two protocols do differ


def test_the_lists_are_the_hospitals_of_the_sample() -> None:
    assert (len(LISTS["hospital_1"]), len(LISTS["hospital_2"])) == (45, 25)  # protocol 1.1
    for name, departments in LISTS.items():
        check_candidates(departments, name)


def test_the_order_of_the_candidates_does_not_matter() -> None:
    for case in CASES:
        found = extract_department(case["answer"], candidates_of(case))
        assert extract_department(case["answer"], candidates_of(case)[::-1]) == found, case
        assert extract_department(case["answer"], sorted(candidates_of(case))) == found, case


def test_windows_line_ends_and_surrounding_space_change_nothing() -> None:
    for case in CASES:
        found = extract_department(case["answer"], candidates_of(case))
        assert extract_department(case["answer"].replace("\n", "\r\n"), candidates_of(case)) == found, case
        assert extract_department("\n \n" + case["answer"] + "\n \n", candidates_of(case)) == found, case


def test_reasoning_before_the_answer_is_not_read() -> None:
    for case in CASES:
        departments = candidates_of(case)
        thought = f"<think>\n先看{'，再看'.join(departments)}。\n结论：{departments[-1]}\n</think>\n"
        if "think>" not in case["answer"]:
            found = extract_department(case["answer"], departments)
            assert extract_department(thought + case["answer"], departments) == found, case


# Any department in any neutral wording

HOSPITALS = st.sampled_from(sorted(LISTS))
FRAMES = st.sampled_from(
    [
        "{}",
        "{}。",
        "建议挂{}。",
        "您好，建议您到{}就诊，祝您早日康复！",
        "推荐科室：{}",
        "**推荐科室**：{}",
        "【结论】{}",
        "## 结论\n{}",
        "分析：可能的科室很多。\n结论：{}",
        "综上所述，应该挂{}的号。",
        "最终答案是{}。",
        '{{"department": "{}"}}',
        '```json\n{{"科室": "{}"}}\n```',
        "<answer>{}</answer>",
        "\\boxed{{{}}}",
        "<think>想一想</think>\n\n{}",
        "Final answer: {}",
        "The patient should go to {}.",
        "我认为{}最合适。",
        "医生：请您去{}看看。",
        "「{}」",
        "{}门诊",
        "3. {}",
        "建議掛{}。",
        "不用担心，去{}检查一下就好。",
    ]
)


@st.composite
def departments_and_lists(draw: st.DrawFn) -> tuple[str, list[str]]:
    departments = LISTS[draw(HOSPITALS)]
    return draw(st.sampled_from(departments)), draw(st.permutations(departments))


@given(departments_and_lists(), FRAMES)
def test_any_department_in_a_neutral_frame_is_found(chosen: tuple[str, list[str]], frame: str) -> None:
    department, departments = chosen
    assert extract_department(frame.format(department), departments) == Extraction(department, (department,))


@given(departments_and_lists(), FRAMES, st.data())
def test_a_dialogue_that_goes_on_changes_nothing(
    chosen: tuple[str, list[str]], frame: str, data: st.DataObject
) -> None:
    department, departments = chosen
    other = data.draw(st.sampled_from(departments))
    role = data.draw(st.sampled_from(["病人：", "患者:", "【患者】", "User: ", "家属："]))
    chatter = f"\n{role}好的谢谢，那{other}呢？\n医生：不客气，{other}在二楼，也可以挂{other}。\n结论：{other}"
    assert extract_department(frame.format(department) + chatter, departments).mentions == (department,)


@given(departments_and_lists(), FRAMES, st.data())
def test_refusals_and_conditions_beside_the_answer_change_nothing(
    chosen: tuple[str, list[str]], frame: str, data: st.DataObject
) -> None:
    department, departments = chosen
    other = data.draw(st.sampled_from([name for name in departments if name != department]))
    before = data.draw(
        st.sampled_from(["", f"不建议挂{other}。\n", f"这不属于{other}范围。\n", f"{other}不太合适。\n"])
    )
    after = data.draw(st.sampled_from(["", f"\n如果症状加重，请立即去{other}。", f"\n不用去{other}。"]))
    if frame.startswith("医生"):  # what stands before a speaker is a text of its own
        before = ""
    answer = before + frame.format(department) + after
    assert extract_department(answer, departments).mentions == (department,)


@given(departments_and_lists(), FRAMES, st.data())
def test_spaces_emphasis_and_invisible_characters_in_a_name_change_nothing(
    chosen: tuple[str, list[str]], frame: str, data: st.DataObject
) -> None:
    department, departments = chosen
    noise = st.sampled_from(["", "", " ", "　", "\u00a0", "\u200b", "**", "\t", "\ufeff", "  "])
    noisy = department[0] + "".join(data.draw(noise) + letter for letter in department[1:])
    assert extract_department(frame.format(noisy), departments).department == department


@given(st.sampled_from(["Cardiology", "ENT", "Pediatric Surgery", "Surgery", "ICU 2"]), st.booleans())
def test_width_and_case_change_nothing(department: str, upper: bool) -> None:
    wide = "".join(chr(ord(letter) + 0xFEE0) if "!" <= letter <= "~" else "\u3000" for letter in department)
    departments = ["Surgery", "Pediatric Surgery", "ENT", "Cardiology", "ICU 2"]
    assert extract_department(f"建议去{wide.upper() if upper else wide}。", departments).department == department


NUMBERINGS = st.sampled_from(
    ["{}. ", " {}. ", "({}) ", "（{}）", " {}、", " {}) ", " {}）", "；{}. ", "，{}、", " {}: "]
)


@given(departments_and_lists(), st.sampled_from(["", "推荐：", "结论：", "排名：", "科室："]), NUMBERINGS, st.data())
def test_the_first_of_a_list_on_one_line_is_the_answer(
    chosen: tuple[str, list[str]], opening: str, numbering: str, data: st.DataObject
) -> None:
    _, departments = chosen
    named = data.draw(st.lists(st.sampled_from(departments), min_size=2, max_size=4, unique=True))
    answer = opening + "".join(numbering.format(rank) + name for rank, name in enumerate(named, 1)).lstrip("；， ")
    assert extract_department(answer, departments) == Extraction(named[0], tuple(named))


CONDITIONS = st.sampled_from(
    [
        "如果疼痛持续，",
        "若症状没有缓解，",
        "一旦发热，",
        "如有必要，",
        "假如孩子发烧，",
        "倘若加重，",
        "必要时",
        "如果您是孕妇，",
    ]
)
CONSEQUENCES = st.sampled_from(
    ["请挂{}。", "建议去{}。", "应该去{}就诊。", "可到{}看看。", "可以考虑{}。", "{}就诊。"]
)


@given(departments_and_lists(), CONDITIONS, CONSEQUENCES, st.data())
def test_a_department_under_a_condition_counts_where_nothing_else_does(
    chosen: tuple[str, list[str]], condition: str, consequence: str, data: st.DataObject
) -> None:
    department, departments = chosen
    other = data.draw(st.sampled_from([name for name in departments if name != department]))
    conditional = condition + consequence.format(department)
    assert extract_department(conditional, departments) == Extraction(department, (department,))
    for both in (conditional + f"目前建议挂{other}。", f"建议挂{other}。" + conditional):
        assert extract_department(both, departments) == Extraction(other, (other,))
    for refused in (f"不建议挂{department}。" + conditional, "信息不足，无法判断科室。" + conditional):
        assert extract_department(refused, departments).department is None
    second = conditional + "如果出现皮疹，请挂" + other + "。"
    assert extract_department(second, departments) == Extraction(department, (department, other))


PIECES = st.lists(
    st.one_of(
        st.sampled_from(LISTS["hospital_1"]),
        st.sampled_from(
            [
                "建议",
                "不建议",
                "如果",
                "虽然",
                "但",
                "结论：",
                "【结论】",
                "综上",
                "因此",
                "病人：",
                "医生：",
                "\n",
                "\n\n",
                "，",
                "。",
                "（",
                "）",
                "“",
                "”",
                "、",
                "或",
                "和",
                "先",
                "再",
                "排除",
                "除",
                "外",
                "不是",
                "而是",
                "您说",
                "考虑",
                "</think>",
                "<think>",
                "<answer>",
                "</answer>",
                "\\boxed{",
                "}",
                "{",
                '"科室":"',
                '"',
                "理由：",
                "科",
                "内",
                "门诊",
                "？",
                "不能",
                "无法判断",
                "\\u6d88",
                "&nbsp;",
                "<br>",
                "**",
                "##",
                "|",
                "首选",
                "\x00",
                "�",
                "\ue000",
                "\ue001",
            ]
        ),
        st.text(max_size=5),
    ),
    max_size=40,
)


@given(PIECES)
@settings(max_examples=300)
def test_any_text_gives_a_candidate_or_none(pieces: list[str]) -> None:
    answer = "".join(pieces)
    found = extract_department(answer, LISTS["hospital_1"])
    assert found.department in (None, *LISTS["hospital_1"])
    assert (found.department is None) == (not found.mentions)
    assert found.department is None or found.department in found.mentions
    assert len(set(found.mentions)) == len(found.mentions)
    assert extract_department(answer, LISTS["hospital_1"][::-1]) == found


@pytest.mark.parametrize(
    "filler",
    [
        "患者反酸烧心，进食后加重。",
        "如果",
        "（",
        "不",
        "\n1. ",
        "结论：",
        " ",
        "小儿",
        "**",
        "医生：",
        "\\u6d88",
        "[ ] ",
        "[x]",
        "( )\n",
        "心",
        "0.1% ",
    ],
)
def test_an_answer_of_200_000_characters(filler: str) -> None:
    long = (filler * 200_000)[:200_000]
    assert extract_department(long, LISTS["hospital_1"]).department is None
    assert extract_department(f"{long}\n\n【结论】消化内科", LISTS["hospital_1"]).department == "消化内科"


# Right or wrong


@pytest.mark.parametrize(
    ("predicted", "gold", "standard", "official"),
    [
        ("儿科", "儿科", True, True),
        ("小儿外科", "外科", False, True),  # the released script asks whether the label is inside the prediction
        ("外科", "小儿外科", False, False),  # not the other way round
        (None, "儿科", False, False),
        ("", "儿科", False, False),  # the official rule's "no answer"
        ("儿科", "", False, False),  # an empty label would be inside any prediction
        ("", "", False, False),
        (None, "", False, False),
    ],
)
def test_is_right(predicted: str | None, gold: str, standard: bool, official: bool) -> None:
    assert is_right(predicted, gold, "standard") is standard
    assert is_right(predicted, gold, "official") is official


def test_an_unknown_protocol_names_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match=r"official, standard"):
        is_right("儿科", "儿科", "offical")


# Lists that cannot be used


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ([], "hospital.txt: the list of departments is empty"),
        (["儿科", ""], "department 2 is ''"),
        (["儿科", "  "], "department 2 is '  '"),
        (["***"], "department 1 is"),
        (["儿科", "内科", "儿科"], "department 3 is '儿科', which is '儿科' again"),
        (["儿科", "兒 科"], "department 2 is '兒 科', which is '儿科' again"),
        (["ICU", "ｉｃｕ"], "which is 'ICU' again"),
        ("儿科", "one text"),
        (["儿科", None], "department 2 is None"),
    ],
)
def test_a_list_that_cannot_be_used(candidates: Any, message: str) -> None:
    with pytest.raises(InputError, match=message.replace("*", r"\*")) as error:
        check_candidates(candidates, "hospital.txt")
    assert str(error.value).startswith("hospital.txt: ")


def test_names_that_only_contain_each_other_are_a_good_list() -> None:
    check_candidates(["妇科", "妇科内分泌科", "内分泌科"], "here")


def test_only_the_beginning_and_the_end_of_a_giant_answer_are_read() -> None:
    names = ("骨科", "眼科", "皮肤科")
    filler = "啊。" * MOST_READ  # twice what is read of either end
    assert extract_department(f"建议去骨科。{filler}", names).department == "骨科"
    assert extract_department(f"{filler}结论：眼科", names).department == "眼科"
    assert extract_department(f"{filler}建议去骨科。{filler}", names) == (None, ())
    # What is just not too long is read whole; reasoning does not count.
    short = "啊" * (MOST_READ - 5)
    assert extract_department(f"{short}\n去骨科。\n{short}", names).department == "骨科"
    assert extract_department(f"<think>{filler}</think>{short}\n去骨科。\n{short}", names).department == "骨科"
    # The end begins with a sentence: not with the name that 不建议去 refuses.
    end = "骨科。" + "啊" * (MOST_READ - 3)
    assert extract_department(f"{filler}不建议去{end}", names) == (None, ())


def test_a_share_of_a_department_that_is_no_candidate_is_nobody_elses() -> None:
    # 烧伤科 is not offered. Its share stands last, or before a department without a share of its own.
    names = ("骨科", "皮肤科", "儿科")
    assert extract_department("骨科 80%，皮肤科 15%，烧伤科 5%", names).department == "骨科"
    assert extract_department("骨科 30%，皮肤科 20%，烧伤科 50%。也可以去儿科", names).department == "骨科"
