"""Who speaks: a doctor's words that are taken for the patient's show the model the answer."""

from pathlib import Path

import pytest

from clinical_evals.ior_bench.dialogue_text import parse_dialogue
from clinical_evals.ior_bench.hospital import read_hospital_static
from clinical_evals.ior_bench.speakers import read_mark, role_of, unknown_speakers

DOCTORS = [
    "医生", "医师", "大夫", "导诊", "导诊员", "分诊护士", "预检台", "护士", "王医生", "医生A", "医生2", "AI助手",
    "智能导诊助手", "客服", "答", "回答", "医 生", "ＡＩ助手", "Doctor", "assistant", "Nurse 1",
]  # fmt: skip
PATIENTS = ["患者", "病人", "家属", "家长", "患者家属", "患者本人", "用户", "问", "患者1", "User"]


@pytest.mark.parametrize("name", DOCTORS)
def test_names_of_doctors(name: str) -> None:
    assert role_of(name) == "doctor"


@pytest.mark.parametrize("name", PATIENTS)
def test_names_of_patients(name: str) -> None:
    assert role_of(name) == "patient"


@pytest.mark.parametrize(
    "name", ["症状", "体温", "医生建议", "医生说", "问题", "答案", "", "患者主诉", "备注", 7, None]
)
def test_other_names(name: object) -> None:
    assert role_of(name) is None


@pytest.mark.parametrize(
    "line",
    [
        "医生：建议挂骨科", "医生:建议挂骨科", " 医生 ： 建议挂骨科", "【医生】建议挂骨科", "【医生】：建议挂骨科",
        "[医生] 建议挂骨科", "**医生**：建议挂骨科", "**医生：**建议挂骨科", "### 医生：建议挂骨科",
        "医生（10:23）：建议挂骨科", "医生【张三】：建议挂骨科", "2024-01-01 10:00 医生：建议挂骨科",
        "[10:00:05] 医生：建议挂骨科", "医 生：建议挂骨科",
    ],
)  # fmt: skip
def test_marks_of_every_form(line: str) -> None:
    mark = read_mark(line)
    assert mark is not None
    assert (mark.role, mark.said) == ("doctor", "建议挂骨科")


@pytest.mark.parametrize(
    "line", ["症状：头疼", "医生说：要开刀", "我问过医生：没用", "体温 38.5：高", "10:30 开始疼", ""]
)
def test_lines_that_are_no_turn(line: str) -> None:
    assert read_mark(line) is None


@pytest.mark.parametrize(
    "text",
    [
        "患者：腰疼\n导诊：多久了？\n患者：三天\n导诊：建议挂骨科",
        "患者:腰疼 导诊:多久了？ 患者:三天。医生:建议挂骨科",
        "患者：腰疼<br>医生：多久了？<br/>患者：三天<BR>医生：建议挂骨科",
        "患者：腰疼\\n医生：多久了？\\n患者：三天\\n医生：建议挂骨科",
        "问：腰疼\n答：多久了？\n问：三天\n答：建议挂骨科",
        "患者\n腰疼\n医生\n多久了？\n患者\n三天\n医生\n建议挂骨科",
        '[{"role": "user", "content": "腰疼"}, {"role": "assistant", "content": "多久了？"},'
        ' {"role": "user", "content": "三天"}, {"role": "assistant", "content": "建议挂骨科"}]',
    ],
)
def test_the_same_dialogue_in_every_form(text: str) -> None:
    turns = [(turn.role, turn.content.strip("。")) for turn in parse_dialogue(text).turns]
    assert turns == [("patient", "腰疼"), ("doctor", "多久了？"), ("patient", "三天"), ("doctor", "建议挂骨科")]


def test_a_speaker_that_is_not_known_is_an_error() -> None:
    text = "患者：腰疼\n小助：多久了？\n患者：三天\n小助：建议挂骨科"
    assert unknown_speakers(text.split("\n")) == ["小助"]
    with pytest.raises(ValueError, match="several lines begin with '小助' and a colon"):
        parse_dialogue(text)
    # Once, it may be part of what is said.
    assert len(parse_dialogue("患者：腰疼\n体温：38.5\n医生：建议挂内科").turns) == 2


@pytest.mark.parametrize("unit", [" ", "*", "医生", "：", "1:", "[", "】", "问", "医生（", "10:0"])
def test_a_long_line_of_anything_ends(unit: str) -> None:
    read_mark(unit * (200_000 // len(unit)))
    unknown_speakers([unit * (200_000 // len(unit))] * 2)


def test_answers_that_the_prompt_gives_away_are_counted(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    polite = '骨科,"患者：腰疼\n医生：建议挂骨科\n患者：谢谢\n医生：不客气"\n'
    asks = '骨科,"患者：腰疼，要挂骨科吗？\n医生：是的，骨科"\n'
    table.write_text(f"科室,对话\n{polite}{asks}", encoding="utf-8")
    read = read_hospital_static(table, {"department": "科室", "dialogue": "对话"})
    told, guessed = read.notes
    assert told.startswith("rows in which a doctor turn before the last one names the department")
    assert told.endswith("1, the first at " + f"{table}, line 2")
    assert guessed == "rows in which the patient names the department, as patients do: 1"
