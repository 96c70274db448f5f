"""The authors' two CSV files, synthetic here, in the release's form, with everything that can be wrong in them."""

import codecs
import contextlib
import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clinical_evals.errors import InputError, UnknownNameError
from clinical_evals.ior_bench.authors_files import has_authors_files, read_authors
from clinical_evals.ior_bench.data import DYNAMIC_FEATURES, STATIC_FEATURES

WAY_OUT = "Correct the record, or leave out such records, counted and listed, with --skip-invalid"
STATIC_HEADER = ["年龄", "性别", "对话内容", "lable"]
DYNAMIC_HEADER = ["年龄", "性别", "主诉", "现病史", "既往史", "个人史", "家族史", "hospital-1", "hospital-2"]
SPOKEN = [{"病人": "我的头'疼'，他说“没事”"}, {}, {"医生": '多久了?"', "病人": "三天\n了"}, {"医生": "建议挂神经内科"}]
TURNS = [
    {"role": "patient", "content": "我的头'疼'，他说“没事”"},
    {"role": "doctor", "content": '多久了?"'},
    {"role": "patient", "content": "三天\n了"},
    {"role": "doctor", "content": "建议挂神经内科"},
]
GOOD = ["34岁", "女", str(SPOKEN), "神经内科"]
DYNAMIC = ["8月", "男", "发热3天", "患儿3天前发热", "体健", "足月产", "父母体健", "儿科", "儿科门诊"]


def _csv(rows: list[list[str]], end: str = "\n") -> str:
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator=end).writerows(rows)
    return stream.getvalue()


def _static(folder: Path, *rows: list[str], header: list[str] = STATIC_HEADER, encoding: str = "utf-8-sig") -> Path:
    (folder / "final_static.csv").write_bytes(_csv([header, *rows]).encode(encoding))
    return folder


def _dynamic(folder: Path, *rows: list[str], header: list[str] = DYNAMIC_HEADER) -> Path:
    (folder / "dynamic_final.csv").write_bytes(_csv([header, *rows]).encode())
    return folder


def test_a_static_row(tmp_path: Path) -> None:
    read = read_authors(_static(tmp_path, GOOD, ["", "", json.dumps(SPOKEN[:1] + SPOKEN[3:]), "内科"]), "static")
    assert read.rows[0] == {
        "id": "static-0001",
        "age": 34.0,
        "sex": "female",
        "dialogue": TURNS,
        "department": "神经内科",
        "candidates": ["神经内科", "内科"],
    }
    assert [tuple(row) for row in read.rows] == [STATIC_FEATURES] * 2, "the features in their order"
    assert (read.rows[1]["age"], read.rows[1]["sex"], read.rows[1]["dialogue"]) == (None, None, [TURNS[0], TURNS[3]])
    assert read.skipped == []
    assert read.notes == ("turns without text left out of the dialogues: 1",)


def test_dynamic_rows_of_both_hospitals(tmp_path: Path) -> None:
    second = ["66", "女", "胸闷", "", "", "", "", "心血管内科", "内科"]
    _dynamic(tmp_path, DYNAMIC, second)
    first, other = read_authors(tmp_path, "dynamic_h1"), read_authors(tmp_path, "dynamic_h2")
    assert first.rows[0] == {
        "id": "dynamic-0001",
        "age": 8 / 12,
        "sex": "male",
        "chief_complaint": "发热3天",
        "history_of_present_illness": "患儿3天前发热",
        "past_medical_history": "体健",
        "personal_history": "足月产",
        "family_history": "父母体健",
        "department": "儿科",
        "candidates": ["儿科", "心血管内科"],
    }
    assert tuple(first.rows[0]) == DYNAMIC_FEATURES
    assert first.rows[1]["family_history"] == ""
    assert [row["department"] for row in other.rows] == ["儿科门诊", "内科"]
    assert [row["id"] for row in other.rows] == [row["id"] for row in first.rows], "the same records"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16"])
@pytest.mark.parametrize("label", ["lable", "label", " Lable ", "LABEL"])
def test_encodings_and_both_spellings_of_the_label_column(tmp_path: Path, encoding: str, label: str) -> None:
    header = ["Unnamed: 0", *STATIC_HEADER[:3], label, ""]
    _static(tmp_path, ["0", *GOOD, ""], header=header, encoding=encoding)
    assert read_authors(tmp_path, "static").rows[0]["dialogue"] == TURNS


def test_a_column_of_the_other_hospital_may_be_missing_and_headers_may_vary(tmp_path: Path) -> None:
    header = [" 年龄", "性别 ", "主 诉", "现病史", "既往史", "个人史", "家族史", "Hospital_2"]
    _dynamic(tmp_path, [*DYNAMIC[:7], "儿科门诊"], header=header)
    assert read_authors(tmp_path, "dynamic_h2").rows[0]["department"] == "儿科门诊"
    with pytest.raises(InputError, match=r"dynamic_final.csv has no column 'hospital-1'. .*Nearest: 'Hospital_2'"):
        read_authors(tmp_path, "dynamic_h1")


SAID = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(
    records=st.lists(st.tuples(SAID, SAID, st.sampled_from(["内科", "外科", "儿科"])), min_size=1, max_size=5),
    write=st.sampled_from([repr, json.dumps]),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_any_dialogues_are_read_back(tmp_path: Path, records: Any, write: Any, end: str) -> None:
    rows = [["1", "男", write([{"病人": "疼" + a}, {"病人": b, "医生": "挂号"}]), label] for a, b, label in records]
    (tmp_path / "final_static.csv").write_bytes(codecs.BOM_UTF8 + _csv([STATIC_HEADER, *rows], end).encode())
    read = read_authors(tmp_path, "static")
    expected = [[part for part in (("疼" + a).strip(), b.strip(), "挂号") if part] for a, b, _ in records]
    assert [[turn["content"] for turn in row["dialogue"]] for row in read.rows] == expected
    assert read.rows[0]["candidates"] == list(dict.fromkeys(label for *_, label in records))


def _bad(place: int, value: str) -> list[str]:
    return [*GOOD[:place], value, *GOOD[place + 1 :]]


BAD_STATIC = [
    (_bad(0, "500岁"), "column '年龄': '500岁' is more than 130 years"),
    (_bad(0, "-3"), "column '年龄': '-3' is not an age; expected years"),
    (_bad(0, "很老"), "column '年龄': '很老' is not an age"),
    (_bad(1, "x"), "column '性别': 'x' is not a sex"),
    (_bad(2, ""), "column '对话内容': the dialogue is empty"),
    (_bad(2, "[{}, {'病人': ''}]"), "column '对话内容': the dialogue is empty"),
    (_bad(2, "[{'病人': '疼'}]"), "column '对话内容': the dialogue has no doctor turn"),
    (_bad(2, "[{'医生': '您好'}, {'病人': '疼'}]"), "column '对话内容': no patient turn stands before the last"),
    (_bad(2, "[{'病人': '疼}]"), "column '对话内容': neither JSON"),
    (_bad(2, "[{'路人': '疼'}]"), "column '对话内容': entry 1 has the speaker '路人'"),
    (_bad(2, "[" * 150_000), "column '对话内容': neither JSON"),
    (_bad(2, "a" * 300_000), "column '对话内容': a dialogue of 300,000 characters, the limit is 200,000"),
    (_bad(2, "疼" * 10_000_000), "column '对话内容': 10,000,000 characters, the limit of one cell is 1,000,000"),
    (_bad(2, "[{'病人': 'a\0'}]"), "column '对话内容': a NUL character"),
    (_bad(3, ""), "the department is empty; expected the name"),
    (_bad(3, " 　"), "the department is empty"),
    (_bad(3, "内" * 101), "the department has 101 characters"),
    (GOOD[:3], "3 cells, the header has 4"),
    ([*GOOD, "x"], "5 cells, the header has 4"),
]


@pytest.mark.parametrize(("bad", "reason"), BAD_STATIC, ids=[reason[:40] for _, reason in BAD_STATIC])
def test_a_bad_record_stops_with_file_line_and_way_out_or_is_listed(
    tmp_path: Path, bad: list[str], reason: str
) -> None:
    _static(tmp_path, GOOD, bad, ["5", "男", GOOD[2], "外科"])
    with pytest.raises(InputError) as caught:
        read_authors(tmp_path, "static")
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'final_static.csv'}, line 3: {reason}")
    assert WAY_OUT in message
    assert len(message) < 700
    read = read_authors(tmp_path, "static", skip_invalid=True)
    assert [(skipped.where, skipped.reason[: len(reason)]) for skipped in read.skipped] == [
        (f"{tmp_path / 'final_static.csv'}, line 3", reason)
    ]
    assert [row["id"] for row in read.rows] == ["static-0001", "static-0003"], (
        "ids do not move when a record is skipped"
    )
    assert read.rows[0]["candidates"] == ["神经内科", "外科"], "a record that is left out has no say in the candidates"


def test_bad_dynamic_records(tmp_path: Path) -> None:
    empty = ["1", "男", "", " ", "", "", "", "内科", "内科"]
    _dynamic(tmp_path, DYNAMIC, empty, [*DYNAMIC[:7], "儿科", ""])
    with pytest.raises(InputError, match=r"dynamic_final.csv, line 3: the record is empty; expected text in at least"):
        read_authors(tmp_path, "dynamic_h1")
    assert len(read_authors(tmp_path, "dynamic_h1", skip_invalid=True).rows) == 2
    assert [each.reason[:23] for each in read_authors(tmp_path, "dynamic_h2", skip_invalid=True).skipped] == [
        "the record is empty; ex",
        "the department is empty",
    ]


def test_lines_count_line_breaks_inside_cells(tmp_path: Path) -> None:
    spread = _bad(2, "[{'病人': '疼'},\n\n {'医生': '挂骨科'}]")
    _static(tmp_path, spread, _bad(0, "很老"))
    with pytest.raises(InputError, match=r"final_static.csv, line 5: column '年龄'"):
        read_authors(tmp_path, "static")


def test_mixed_encodings(tmp_path: Path) -> None:
    head = codecs.BOM_UTF8 + _csv([STATIC_HEADER, GOOD]).encode()
    content = head + _csv([_bad(3, "骨科")]).encode("gb18030") + _csv([_bad(3, "外科")]).encode()
    (tmp_path / "final_static.csv").write_bytes(content)
    with pytest.raises(
        InputError, match=r"final_static.csv, line 3: column '对话内容': bytes that are not UTF-8 .*: write the"
    ):
        read_authors(tmp_path, "static")
    read = read_authors(tmp_path, "static", skip_invalid=True)
    assert [row["department"] for row in read.rows] == ["神经内科", "外科"]
    assert len(read.skipped) == 1


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(data=st.data(), config=st.sampled_from(["static", "dynamic_h1"]))
def test_a_damaged_file_is_read_or_refused_but_never_breaks_the_reader(
    tmp_path: Path, data: st.DataObject, config: str
) -> None:
    folder = _static(tmp_path, GOOD, GOOD, GOOD) if config == "static" else _dynamic(tmp_path, DYNAMIC, DYNAMIC)
    path = folder / ("final_static.csv" if config == "static" else "dynamic_final.csv")
    content = path.read_bytes()
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(content)))
        end = min(len(content), start + data.draw(st.integers(0, 30)))
        content = content[:start] + data.draw(st.binary(max_size=12)) + content[end:]
    path.write_bytes(content)
    with contextlib.suppress(InputError):
        read = read_authors(folder, config, skip_invalid=True)
        assert read.rows
        for row in read.rows:
            json.dumps(row, ensure_ascii=False).encode()  # fails on half a character
            assert row["department"] in row["candidates"]


def test_labels_that_differ_only_in_width_or_spaces_are_one_and_the_note_says_so(tmp_path: Path) -> None:
    labels = ["耳鼻喉科(ENT)", " 耳鼻喉科（ENT）", "耳鼻 喉科（ｅｎｔ）", "内科\u200b"]
    read = read_authors(_static(tmp_path, *[_bad(3, label) for label in labels]), "static")
    assert [row["department"] for row in read.rows] == ["耳鼻喉科(ENT)"] * 3 + ["内科"]
    assert read.rows[0]["candidates"] == ["耳鼻喉科(ENT)", "内科"]
    spelling = next(note for note in read.notes if note.startswith("labels in one spelling"))
    assert "' 耳鼻喉科（ENT）' → '耳鼻喉科(ENT)'" in spelling


def test_rows_that_repeat_are_kept_and_counted(tmp_path: Path) -> None:
    read = read_authors(_static(tmp_path, GOOD, GOOD, GOOD), "static")
    assert len(read.rows) == 3
    assert "rows that repeat an earlier one in all but the id, kept: 2" in read.notes


def test_candidates_of_one_row_are_its_own_list(tmp_path: Path) -> None:
    rows = read_authors(_static(tmp_path, GOOD, GOOD), "static").rows
    rows[0]["candidates"].append("x")
    assert rows[1]["candidates"] == ["神经内科"]


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (
            ["年龄", "性别", "对话", "lable"],
            "has no column '对话内容'. It has '年龄', '性别', '对话', 'lable'.*Nearest: '对话'",
        ),
        (["年龄", "性别", "对话内容", "科室"], "has no column 'lable' or 'label'.*Rename the column"),
        (["年龄", "年龄", "对话内容", "lable"], "has 2 columns for '年龄'.*Rename or remove all but one"),
    ],
)
def test_headers(tmp_path: Path, header: list[str], reason: str) -> None:
    with pytest.raises(InputError, match=f"final_static.csv {reason}"):
        read_authors(_static(tmp_path, GOOD, header=header), "static")


def test_files_without_a_usable_record(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"final_static.csv has a header but no record; expected at least one"):
        read_authors(_static(tmp_path), "static")
    _static(tmp_path, _bad(0, "很老"), _bad(3, ""))
    with pytest.raises(
        InputError, match=r"none of the 2 records of .*final_static.csv can be used. The first: .* line 2"
    ):
        read_authors(tmp_path, "static", skip_invalid=True)
    (tmp_path / "final_static.csv").write_bytes(b"")
    with pytest.raises(InputError, match=r"final_static.csv is empty"):
        read_authors(tmp_path, "static")


def test_folders(tmp_path: Path) -> None:
    assert not has_authors_files(tmp_path, "static")
    (tmp_path / "static.csv").touch()
    with pytest.raises(
        InputError, match=r"no final_static.csv in .* holds 'static.csv'.*data_dir= or in IOR_BENCH_DIR"
    ):
        read_authors(tmp_path, "static")
    with pytest.raises(InputError, match=r"no dynamic_final.csv in .*nowhere, which is not a folder"):
        read_authors(tmp_path / "nowhere", "dynamic_h2")
    _static(tmp_path, GOOD)
    assert has_authors_files(tmp_path, "static")
    assert not has_authors_files(tmp_path, "dynamic_h1")
    with pytest.raises(UnknownNameError, match=r"unknown IOR-Bench config 'dynamic'. Did you mean 'dynamic_h2'"):
        has_authors_files(tmp_path, "dynamic")


def test_the_same_file_gives_the_same_rows(tmp_path: Path) -> None:
    _static(tmp_path, GOOD, _bad(3, "骨科"))
    assert read_authors(tmp_path, "static") == read_authors(tmp_path, "static")
