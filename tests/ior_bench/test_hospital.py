"""Any hospital's table as rows: columns by name, the hospital's list, and real questions of patients."""

import json
from collections import Counter
from pathlib import Path

import pytest

from clinical_evals.errors import InputError, UnknownNameError
from clinical_evals.ior_bench.hospital import parse_columns, read_hospital_dynamic, read_hospital_static
from clinical_evals.ior_bench.labels import clean_label, read_departments

QUESTION = {"department": "科室", "question": "title+ask"}


def _write(folder: Path, content: str, name: str = "table.csv", encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_bytes(content.encode(encoding))
    return path


def test_columns_of_the_command_line() -> None:
    text = "department=科室, question = title+ask，age=年龄"
    assert parse_columns(text) == {"department": "科室", "question": "title+ask", "age": "年龄"}
    assert parse_columns("department=a=b") == {"department": "a=b"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "--columns: '' is not FEATURE=COLUMN. For example: department=科室"),
        ("department", "'department' is not FEATURE=COLUMN"),
        ("department=", "'department=' is not FEATURE=COLUMN"),
        ("department=科室,", "'' is not FEATURE=COLUMN"),
        ("department=a,department=b", "names department twice: 'a' and 'b'. Keep one"),
        ("departement=科室", "unknown feature in --columns 'departement'. Did you mean 'department'"),
    ],
)
def test_columns_that_cannot_be_used(text: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        parse_columns(text)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030"])
def test_questions_become_one_turn_and_the_answer_the_last(tmp_path: Path, encoding: str) -> None:
    content = "科室,title,ask,answer\n神经内科,头疼,头疼三天了,挂神经内科\n骨科,腿疼,腿疼,\n"
    path = _write(tmp_path, content, encoding=encoding)
    read = read_hospital_static(path, {**QUESTION, "answer": "answer"})
    assert read.rows[0] == {
        "id": "static-0001",
        "age": None,
        "sex": None,
        "dialogue": [
            {"role": "patient", "content": "头疼\n头疼三天了"},
            {"role": "doctor", "content": "挂神经内科"},
        ],
        "department": "神经内科",
        "candidates": ["神经内科", "骨科"],
    }
    # The two columns say the same, and there is no answer: one turn, of which nothing is cut away.
    assert read.rows[1]["dialogue"] == [{"role": "patient", "content": "腿疼"}]


@pytest.mark.parametrize(
    "dialogue",
    [
        str([{"病人": "It's 疼"}, {"医生": "挂骨科"}]),
        json.dumps([{"role": "patient", "content": "It's 疼"}, {"role": "doctor", "content": "挂骨科"}]),
        "患者：It's 疼\n医生：挂骨科",
    ],
)
def test_dialogues_in_three_forms(tmp_path: Path, dialogue: str) -> None:
    quoted = dialogue.replace('"', '""')
    path = _write(tmp_path, f'id,科室,对话,年龄,性别\nA1,骨科,"{quoted}",34岁,男\n')
    columns = {"id": "id", "department": "科室", "dialogue": "对话", "age": "年龄", "sex": "性别"}
    row = read_hospital_static(path, columns).rows[0]
    turns = [(turn["role"], turn["content"]) for turn in row["dialogue"]]
    assert turns == [("patient", "It's 疼"), ("doctor", "挂骨科")]
    assert (row["id"], row["age"], row["sex"]) == ("A1", 34.0, "male")


def test_json_lines_with_a_dialogue_as_a_list_and_an_answer(tmp_path: Path) -> None:
    record = {"dept": "骨科", "turns": [{"role": "patient", "content": "疼"}, {}], "final": "挂骨科"}
    path = _write(tmp_path, json.dumps(record, ensure_ascii=False) + "\n", "table.jsonl")
    read = read_hospital_static(path, {"department": "dept", "dialogue": "turns", "answer": "final"})
    assert [turn["content"] for turn in read.rows[0]["dialogue"]] == ["疼", "挂骨科"]
    assert read.notes == ("turns without text left out of the dialogues: 1",)


def test_dynamic_records_with_the_columns_that_there_are(tmp_path: Path) -> None:
    path = _write(tmp_path, "科室,主诉,现病史,补充\n儿科,发热,三天前,无汗\n")
    columns = {"department": "科室", "chief_complaint": "主诉", "history_of_present_illness": "现病史+补充"}
    assert read_hospital_dynamic(path, columns).rows == [
        {
            "id": "dynamic-0001",
            "age": None,
            "sex": None,
            "chief_complaint": "发热",
            "history_of_present_illness": "三天前\n无汗",
            "past_medical_history": "",
            "personal_history": "",
            "family_history": "",
            "department": "儿科",
            "candidates": ["儿科"],
        }
    ]


def test_a_column_whose_own_name_has_a_plus_is_taken_as_it_is(tmp_path: Path) -> None:
    path = _write(tmp_path, "科室,title+ask\n骨科,腿疼\n")
    assert read_hospital_static(path, QUESTION).rows[0]["dialogue"][0]["content"] == "腿疼"


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"question": "title"}, "names no department column; a static table needs one"),
        ({"department": "科室"}, "has a dialogue or a question column; neither is named"),
        ({**QUESTION, "dialogue": "ask"}, "has a dialogue or a question column; both are named"),
        ({**QUESTION, "family_history": "ask"}, "unknown feature of a static table 'family_history'"),
        ({**QUESTION, "age": "title+ask"}, "age is read from one column, not from 'title', 'ask'"),
        ({**QUESTION, "age": "年纪"}, r"table.csv has no column '年纪' \(for age\). It has '科室', 'title', 'ask'"),
    ],
)
def test_static_columns_that_cannot_be_used(tmp_path: Path, columns: dict[str, str], reason: str) -> None:
    path = _write(tmp_path, "科室,title,ask\n骨科,腿疼,腿疼\n")
    with pytest.raises(InputError, match=reason):
        read_hospital_static(path, columns)


def test_dynamic_columns_that_cannot_be_used(tmp_path: Path) -> None:
    path = _write(tmp_path, "科室,主诉\n骨科,腿疼\n")
    with pytest.raises(InputError, match="a dynamic table has at least one of chief_complaint"):
        read_hospital_dynamic(path, {"department": "科室"})
    with pytest.raises(UnknownNameError, match="unknown feature of a dynamic table 'question'"):
        read_hospital_dynamic(path, {"department": "科室", "question": "主诉"})


BAD = [
    ("A1,骨科,腿疼", "the id 'A1' is already that of {path}, line 2; give every record its own"),
    (",骨科,腿疼", "the id is empty; give every record its own"),
    ("A2,骨科, ", "column 'ask': the question is empty; expected text"),
    ("A2,,腿疼", "the department is empty"),
    (
        "A2,骨料,腿疼",
        "the department '骨料' is not in the list {list} (2 departments). Nearest: '骨科'. Correct the label",
    ),
]


@pytest.mark.parametrize(("bad", "reason"), BAD, ids=[reason[:30] for _, reason in BAD])
def test_bad_records_stop_with_line_and_way_out_or_are_listed(tmp_path: Path, bad: str, reason: str) -> None:
    path = _write(tmp_path, f"id,科室,ask\nA1,骨科,腿疼\n{bad}\nA3,眼科,眼疼\n")
    departments = _write(tmp_path, "眼科\n骨科\n", "departments.txt")
    columns = {"id": "id", "department": "科室", "question": "ask"}
    reason = reason.format(path=path, list=departments)
    with pytest.raises(InputError) as caught:
        read_hospital_static(path, columns, departments)
    assert str(caught.value).startswith(f"{path}, line 3: {reason}")
    assert "with --skip-invalid (skip_invalid=True in Python)" in str(caught.value)
    read = read_hospital_static(path, columns, departments, skip_invalid=True)
    assert [row["id"] for row in read.rows] == ["A1", "A3"]
    assert read.rows[0]["candidates"] == ["眼科", "骨科"], "the list's own order"
    assert [skipped.where for skipped in read.skipped] == [f"{path}, line 3"]
    assert read.skipped[0].reason.startswith(reason)


def test_dialogues_that_leave_nothing_to_ask(tmp_path: Path) -> None:
    path = _write(tmp_path, '科室,对话\n骨科,"医生：您好"\n骨科,\n骨科,患者：疼 医生：骨科\n骨科,患者：疼\n')
    columns = {"department": "科室", "dialogue": "对话"}
    with pytest.raises(InputError, match="line 2: column '对话': no patient turn stands before the last doctor turn"):
        read_hospital_static(path, columns)
    read = read_hospital_static(path, columns, skip_invalid=True)
    assert [row["id"] for row in read.rows] == ["static-0003"]
    assert read.skipped[1].reason.startswith("column '对话': the dialogue is empty")
    # Whoever marks the doctor in a way that is not known would show the model the answer: so it must be found.
    assert read.skipped[2].reason.startswith("column '对话': the dialogue has no doctor turn")


def test_a_damaged_cell_of_a_column_that_is_not_read_does_no_harm(tmp_path: Path) -> None:
    path = _write(tmp_path, f"科室,ask,note\n骨科,腿疼,{'x' * 2_000_000}\n")
    assert len(read_hospital_static(path, {"department": "科室", "question": "ask"}).rows) == 1
    with pytest.raises(InputError, match="line 2: column 'note': 2,000,000 characters, the limit"):
        read_hospital_static(path, {"department": "科室", "question": "ask+note"})


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16"])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("list.txt", "眼科\n\n# 二级\n 耳鼻 喉科（门诊） \n骨科\n"),
        ("list.txt", "科室\n眼科\n耳鼻喉科(门诊)\n骨科"),
        ("list.csv", "眼科\n耳鼻喉科(门诊)\n骨科\n"),
        ("list.csv", "科室\n眼科\n耳鼻喉科(门诊)\n骨科\n"),
        ("list.csv", "编号,科室\n1,眼科\n2,耳鼻喉科(门诊)\n3,骨科\n"),
        ("list.tsv", "code\tDepartment\n1\t眼科\n2\t耳鼻喉科(门诊)\n3\t骨科\n"),
        ("list.jsonl", '{"department": "眼科"}\n{"department": "耳鼻喉科(门诊)"}\n{"department": "骨科"}\n'),
    ],
)
def test_lists_of_departments(tmp_path: Path, name: str, content: str, encoding: str) -> None:
    labels = read_departments(_write(tmp_path, content, name, encoding))
    assert labels.names == ["眼科", "耳鼻喉科(门诊)", "骨科"]
    assert labels.find("耳鼻喉科（门诊）") == "耳鼻喉科(门诊)"


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        (
            "list.txt",
            "眼科\n骨科\n 眼 科\n",
            "list.txt, line 3: '眼科' is already there in line 1. Remove one of the two",
        ),
        ("list.txt", "# none\n", "list.txt names no department; expected one a line"),
        ("list.txt", "科室\n", "list.txt names no department"),
        ("list.txt", "", "list.txt is empty"),
        ("list.txt", "眼科\n" + "骨" * 101, "list.txt, line 2: 101 characters; expected one department a line"),
        ("list.csv", "编号,名称\n1,眼科\n", "list.csv has no column 科室 or department. It has '编号', '名称'"),
    ],
)
def test_lists_that_cannot_be_used(tmp_path: Path, name: str, content: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        read_departments(_write(tmp_path, content, name))
    with pytest.raises(InputError, match="is not a file; expected a list of departments, one a line"):
        read_departments(tmp_path / "nowhere.txt")


@pytest.mark.parametrize(
    ("text", "label"),
    [("　内科 ", "内科"), ("神经 内科", "神经内科"), ("Internal  Medicine", "Internal Medicine"),
     ("ICU 病房", "ICU病房"),
     ("内\u200b科\ufeff", "内科"), ("耳鼻喉科（头颈）", "耳鼻喉科(头颈)"), ("", "")],
)  # fmt: skip
def test_labels_in_one_spelling(text: str, label: str) -> None:
    assert clean_label(text) == label
    assert clean_label(label) == label


def test_real_questions_load_as_a_hospital(questions: Path) -> None:
    columns = parse_columns("department=department,question=title+ask,answer=answer")
    read = read_hospital_static(questions, columns)
    assert len(read.rows) == 7644
    assert read.skipped == []
    # 378 of the records are there a second time, word for word; five patients write the department themselves.
    assert read.notes == (
        "rows that repeat an earlier one in all but the id, kept: 378",
        "rows in which the patient names the department, as patients do: 5",
    )
    counts = Counter(row["department"] for row in read.rows)
    assert len(counts) == 11
    assert counts.most_common(2) == [("肝病科", 3121), ("消化科", 1414)]
    assert read.rows[0]["candidates"][:3] == ["心血管科", "内分泌科", "消化科"], "in order of first appearance"
    assert all([turn["role"] for turn in row["dialogue"]] == ["patient", "doctor"] for row in read.rows)


def test_real_questions_against_a_list_without_one_of_their_departments(questions: Path, tmp_path: Path) -> None:
    columns = parse_columns("department=department,question=title+ask")
    every = read_hospital_static(questions, columns).rows[0]["candidates"]
    departments = _write(tmp_path, "\n".join(name for name in every if name != "肾内科"), "list.txt", "gb18030")
    with pytest.raises(InputError, match=r"line \d+: the department '肾内科' is not in the list .*10 departments"):
        read_hospital_static(questions, columns, departments)
    read = read_hospital_static(questions, columns, departments, skip_invalid=True)
    assert (len(read.rows), len(read.skipped)) == (7644 - 80, 80)
