"""Excel workbooks as records: numbers, dates, formulas, several sheets, and files that are none."""

import datetime
import re
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from clinical_evals.errors import InputError, ResourceMissingError
from clinical_evals.ior_bench.hospital import read_hospital_dynamic
from clinical_evals.ior_bench.tables import read_table

openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed (extra xlsx)")


def _save(path: Path, *sheets: list[list[Any]]) -> Path:
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.active)
    for rows in sheets:
        sheet = workbook.create_sheet()
        for row in rows:
            sheet.append(row)
    workbook.save(path)
    return path


def test_values_become_text(tmp_path: Path) -> None:
    rows = [
        ["科室", "年龄", "日期", "值", None],
        ["内科", 34.0, datetime.datetime(2024, 5, 1), 38.5],
        [],
        [" 外科 ", "8月", datetime.datetime(2024, 5, 1, 8, 30), True],
        ["儿科"],
    ]
    table = read_table(_save(tmp_path / "hospital.xlsx", rows))
    assert table.columns == ["科室", "年龄", "日期", "值"], "empty cells at the end of the header are no columns"
    assert [list(record.cells.values()) for record in table.records] == [
        ["内科", "34", "2024-05-01", "38.5"],
        [" 外科 ", "8月", "2024-05-01T08:30:00", "True"],
        ["儿科", "", "", ""],
    ]
    assert [(record.number, record.line) for record in table.records] == [(1, 2), (2, 4), (3, 5)]
    assert table.where(table.records[1]).endswith("hospital.xlsx, row 4")


def test_a_formula_stands_for_its_saved_value(tmp_path: Path) -> None:
    rows = [["科室", "主诉"], ["内科", "=A2"], ["外科", "=1/0"], ["儿科", "#N/A"], ["骨科", "=17*2"]]
    path = _save(tmp_path / "hospital.xlsx", rows)
    unsaved, _, error, _ = read_table(path).records
    assert unsaved.bad_cells["主诉"].startswith(
        "a formula without saved value (=A2): open the workbook in Excel and save"
    )
    assert error.bad_cells == {"主诉": "Excel's error #N/A: correct the formula"}
    _save_values(path, {"A2": ("str", "headache"), "1/0": ("e", "#DIV/0!"), "17*2": ("n", "34.0")})
    saved, error, _, number = read_table(path).records
    assert number.cells["主诉"] == "34", "a whole number has no decimals, however it was saved"
    assert (saved.cells["主诉"], saved.bad_cells) == ("headache", {})
    assert error.bad_cells == {"主诉": "Excel's error #DIV/0!: correct the formula"}


def _save_values(path: Path, values: dict[str, tuple[str, str]]) -> None:
    """Put values (type and text) beside the formulas of the first sheet, as Excel does when it saves."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name).decode() for name in archive.namelist()}
    name = "xl/worksheets/sheet1.xml"
    for formula, (kind, value) in values.items():
        pattern = rf'(<c r="\w+")[^>]*><f>{re.escape(formula)}</f><v\s*/?>(?:</v>)?'
        members[name], count = re.subn(pattern, rf'\1 t="{kind}"><f>{formula}</f><v>{value}</v>', members[name])
        assert count == 1, members[name]
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)


def test_text_beyond_the_header_is_the_records_problem(tmp_path: Path) -> None:
    table = read_table(_save(tmp_path / "hospital.xlsx", [["科室"], ["内科", None, "头疼"]]))
    assert table.records[0].problem == "text in column 3, beyond the header: name the column there or empty the cell"


def test_a_second_sheet_must_be_empty(tmp_path: Path) -> None:
    path = _save(tmp_path / "hospital.xlsx", [["科室"], ["内科"]], [["说明"]])
    with pytest.raises(InputError, match=r"2 sheets with text.* expected one. Save the sheet"):
        read_table(path)
    assert len(read_table(_save(path, [], [["科室"], ["内科"]])).records) == 1
    with pytest.raises(InputError, match="has no sheet with text; expected one"):
        read_table(_save(path, [], [[" "]]))


def test_files_that_are_no_workbook(tmp_path: Path) -> None:
    path = tmp_path / "hospital.xlsx"
    path.write_bytes(b"not a workbook")
    with pytest.raises(
        InputError, match=r"is not an Excel workbook .* save it again without password, or as CSV UTF-8"
    ):
        read_table(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "x")
    with pytest.raises(InputError, match=r"is not a readable Excel workbook .* save it again, or as CSV UTF-8"):
        read_table(path)


def test_without_openpyxl_the_message_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _save(tmp_path / "hospital.xlsx", [["科室"], ["内科"]])
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ResourceMissingError, match=r"pip install 'clinical-evals\[eval\]'"):
        read_table(path)


def test_a_workbook_as_a_hospital(tmp_path: Path) -> None:
    rows = [
        ["病历号", "年龄", "性别", "主诉", "科室"],
        [1001, 34.0, "女", "头疼三天", "神经内科"],
        [1002, "8月", "男", "发热", "儿科"],
    ]
    columns = {"id": "病历号", "age": "年龄", "sex": "性别", "chief_complaint": "主诉", "department": "科室"}
    read = read_hospital_dynamic(_save(tmp_path / "hospital.xlsx", rows), columns)
    assert [(row["id"], row["age"], row["sex"], row["department"]) for row in read.rows] == [
        ("1001", 34.0, "female", "神经内科"),
        ("1002", 8 / 12, "male", "儿科"),
    ]
    rows[2][1] = "500岁"
    path = _save(tmp_path / "hospital.xlsx", rows)
    with pytest.raises(InputError, match=r"hospital.xlsx, row 3: column '年龄': '500岁' is more than 130 years"):
        read_hospital_dynamic(path, columns)
