"""Delimited text and JSON lines as records: encodings, delimiters, quoting, line numbers, damaged records."""

import codecs
import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinical_evals.errors import InputError
from clinical_evals.ior_bench.csv_table import read_csv
from clinical_evals.ior_bench.records import RowError, Table, find_column, read_cell
from clinical_evals.ior_bench.tables import read_table
from clinical_evals.ior_bench.text_file import MAX_CELL, TextFile

ROWS = "科室,主诉\n内科,头疼三天\n外科,腹痛\n"


def _write(folder: Path, content: bytes | str, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def _cells(table: Table) -> list[list[str]]:
    return [list(record.cells.values()) for record in table.records]


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (ROWS.encode(), "UTF-8"),
        (codecs.BOM_UTF8 + ROWS.encode(), "UTF-8"),
        (ROWS.encode("gb18030"), "GB18030"),
        (ROWS.encode("utf-16"), "UTF-16"),
        (codecs.BOM_UTF16_BE + ROWS.encode("utf-16-be"), "UTF-16"),
        (ROWS.replace(",", "\t").encode("utf-16"), "UTF-16"),  # Excel's "Unicode text"
        (ROWS.replace(",", "\t").encode(), "UTF-8"),
        (ROWS.replace(",", ";").encode(), "UTF-8"),
        (ROWS.replace("\n", "\r\n").encode("gb18030"), "GB18030"),
        (ROWS.replace("\n", "\r").encode(), "UTF-8"),
        (ROWS.removesuffix("\n").encode(), "UTF-8"),
    ],
    ids=["utf8", "bom", "gb18030", "utf16le", "utf16be", "utf16tab", "tab", "semicolon", "crlf", "cr", "no_end"],
)
def test_encodings_delimiters_and_line_ends(tmp_path: Path, content: bytes, encoding: str) -> None:
    table = read_table(_write(tmp_path, content))
    assert table.columns == ["科室", "主诉"]
    assert _cells(table) == [["内科", "头疼三天"], ["外科", "腹痛"]]
    assert [record.line for record in table.records] == [2, 3]
    assert table.encoding == encoding


CELL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff"), min_size=1, max_size=20)


@given(
    rows=st.lists(st.tuples(CELL, CELL), max_size=6),
    delimiter=st.sampled_from(",\t;"),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    ends=st.sampled_from(["\n", "\r\n"]),
)
def test_any_cells_are_read_back_with_the_lines_they_start_on(rows, delimiter, encoding, ends) -> None:
    stream, lines = io.StringIO(newline=""), []
    writer = csv.writer(stream, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator=ends)
    for row in [("a", "b"), *rows]:
        # A physical line ends at \n, \r or \r\n: count the line ends that are written so far.
        written = stream.getvalue().replace("\r\n", "\n").replace("\r", "\n")
        lines.append(written.count("\n") + 1)
        writer.writerow(row)
    content = stream.getvalue().encode(encoding)
    table = read_csv(Path("table.csv"), TextFile(content.decode(encoding), encoding))
    kept = [(line, list(row)) for line, row in zip(lines[1:], rows, strict=True) if any(cell.strip() for cell in row)]
    assert [(record.line, list(record.cells.values())) for record in table.records] == kept
    assert not any(record.problem or record.bad_cells for record in table.records)


def test_a_record_keeps_the_line_on_which_it_starts(tmp_path: Path) -> None:
    table = read_table(_write(tmp_path, '科室,主诉\n内科,"头疼\n三天\n"\n\n,\n外科,腹痛\n'))
    # The first record has lines 2 to 4; line 5 is blank, line 6 has no text; both are no records.
    assert [(record.number, record.line) for record in table.records] == [(1, 2), (2, 7)]


def test_a_utf8_file_with_a_few_gb18030_bytes_names_the_cell_and_the_byte(tmp_path: Path) -> None:
    head = "科室,主诉\n内科,头疼三天\n".encode()
    bad = "外科,".encode() + "腹痛".encode("gb18030") + b"\n"
    table = read_table(_write(tmp_path, head + bad + "儿科,发热\n".encode() + bad))
    assert [sorted(record.bad_cells) for record in table.records] == [[], ["主诉"], [], ["主诉"]]
    first = len(head) + len("外科,".encode())
    assert table.records[1].bad_cells["主诉"] == (
        f"bytes that are not UTF-8 (0x{'腹痛'.encode('gb18030').hex()}): write the whole file in UTF-8 "
        f"(byte {first} of the file)"
    )
    assert "of the file" not in table.records[3].bad_cells["主诉"], "the offset is that of the first bad byte"
    assert table.records[2].cells == {"科室": "儿科", "主诉": "发热"}


@pytest.mark.parametrize("said", ["你好，头疼", "呼吸内科", "胸闷气短三天"])
def test_utf8_inside_a_gb18030_file_is_seen_even_where_the_bytes_pass(tmp_path: Path, said: str) -> None:
    """你好 in UTF-8 passes as 浣犲ソ in GB18030: without a look at it, the row would be noise."""
    content = "科室,主诉\n内科,头疼三天\n外科,腹痛\n外科,".encode("gb18030") + f"{said}\n".encode()
    table = read_table(_write(tmp_path, content))
    assert [bool(record.bad_cells) for record in table.records] == [False, False, True]
    assert "write the whole file in UTF-8" in table.records[2].bad_cells["主诉"]


def test_neither_encoding_is_an_error_that_names_the_byte(tmp_path: Path) -> None:
    path = _write(tmp_path, b"a,\xff\xff\n1,2\n")
    with pytest.raises(InputError, match=r"table.csv, line 1: the name of column 2 holds bytes that .* \(byte 2 of"):
        read_table(path)


def test_a_nul_and_an_oversized_cell_spoil_their_cell_only(tmp_path: Path) -> None:
    path = _write(tmp_path, f"科室,主诉\n内科,a\0b\n外科,{'疼' * 10_000_000}\n儿科,发热\n")
    table = read_table(path)
    nul, large, good = table.records
    assert nul.bad_cells == {"主诉": "a NUL character at place 2: remove it"}
    assert large.line == 3
    assert large.bad_cells == {"主诉": f"10,000,000 characters, the limit of one cell is {MAX_CELL:,}: shorten it"}
    assert read_cell(large, "科室", str) == "外科"
    with pytest.raises(RowError, match="column '主诉': 10,000,000 characters"):
        read_cell(large, "主诉", str)
    assert (good.line, good.cells) == (4, {"科室": "儿科", "主诉": "发热"})


def test_the_csv_modules_own_limit_is_as_before(tmp_path: Path) -> None:
    before = csv.field_size_limit(50_000)
    try:
        read_table(_write(tmp_path, ROWS))
        assert csv.field_size_limit() == 50_000
        with pytest.raises(InputError):
            read_table(_write(tmp_path, 'a,b\n1,"2\n'))
        assert csv.field_size_limit() == 50_000
    finally:
        csv.field_size_limit(before)


def test_too_few_and_too_many_cells_and_quotes_that_are_not_doubled(tmp_path: Path) -> None:
    table = read_table(_write(tmp_path, '科室,主诉\n内科\n外科,腹,痛\n儿科,"他说"疼""\n骨科,腿痛,\n'))
    few, many, quotes, good = table.records
    assert few.problem.startswith("1 cells, the header has 2: give each column a cell")
    assert many.problem.startswith("3 cells, the header has 2")
    assert quotes.problem == 'a quotation mark inside a quoted cell is not doubled: write it as ""'
    assert (good.line, good.problem, good.cells["主诉"]) == (5, "", "腿痛"), "an empty cell beyond the header is none"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "table.csv is empty; expected a table with a header line"),
        (b" \n\n", "table.csv is empty"),
        (codecs.BOM_UTF8, "no text where the header is expected"),
        (b",,\n,,\n", "no text where the header is expected"),
        ('科室,主诉\n内科,"头疼\n外科,腹痛\n', "line 2: a quotation mark .* not closed before the end .*line 3"),
        (ROWS.encode("utf-16-le"), "looks like UTF-16 without byte order mark.* save it as CSV .UTF-8"),
        (b"\xd0\xcf\x11\xe0" + bytes(50), "not a text file but an old Excel file .*save it as .xlsx"),
        (b"PK\x03\x04" + bytes(50), "not a text file but a zip file or an Excel workbook: name a workbook .xlsx"),
        (b"\x1f\x8b" + bytes(50), "a gzip file: unpack it with gunzip"),
        (codecs.BOM_UTF16_LE + b"a\x00\x00\xd8b\x00", "marked as UTF-16 but byte .* save it again as CSV .UTF-8"),
    ],
)  # fmt: skip
def test_files_that_are_no_table_say_what_they_are(tmp_path: Path, content: bytes | str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        read_table(_write(tmp_path, content))


def test_paths_that_are_no_table(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere.csv does not exist; expected a table: .csv"):
        read_table(tmp_path / "nowhere.csv")
    with pytest.raises(InputError, match="is a folder; expected a table"):
        read_table(tmp_path)
    with pytest.raises(InputError, match=r"files named .xls are not read. Save the table as .csv"):
        read_table(_write(tmp_path, b"x", "old.xls"))


def test_a_missing_column_names_what_is_there_and_what_is_near(tmp_path: Path) -> None:
    table = read_table(_write(tmp_path, "科室名,主述,年龄\n内科,x,1\n"))
    with pytest.raises(InputError) as caught:
        find_column(table, ["主诉"], "for chief_complaint")
    message = str(caught.value)
    assert "table.csv has no column '主诉' (for chief_complaint)" in message
    assert "It has '科室名', '主述', '年龄' (read as UTF-8)" in message
    assert "Nearest: '主述'" in message


@pytest.mark.parametrize("header", ["hospital-1", "Hospital 1", " HOSPITAL_1 ", "ｈｏｓｐｉｔａｌ－１", "hospital‐1"])
def test_columns_are_found_in_other_spellings(tmp_path: Path, header: str) -> None:
    table = read_table(_write(tmp_path, f"x,{header}\n1,2\n"))
    assert find_column(table, ["hospital-1"]) == header.strip()


@pytest.mark.parametrize("header", ["lable,lable", "lable,label", "Lable,LABEL"])
def test_two_columns_for_one_are_refused(tmp_path: Path, header: str) -> None:
    table = read_table(_write(tmp_path, f"{header}\n1,2\n"))
    with pytest.raises(InputError, match=r"has 2 columns for 'lable' or 'label'.* Rename or remove all but one"):
        find_column(table, ["lable", "label"])


def test_json_lines(tmp_path: Path) -> None:
    lines = [
        '{"科室": "内科", "年龄": 34, "主诉": "头疼\\n三天"}',
        "",
        '{"科室": "外科", "年龄": null, "对话": [{"role": "patient", "content": "疼"}]}\r',
        "not json",
        '["内科"]',
        '{"科室": "内科", "科室": "外科"}',
        '{"科室": "内科", "主诉": "\\ud83d"}',
        "[" * 100_000,
    ]
    table = read_table(_write(tmp_path, "\n".join(lines), "table.jsonl"))
    assert table.columns == ["科室", "年龄", "主诉", "对话"]
    assert [record.line for record in table.records] == [1, 3, 4, 5, 6, 7, 8]
    assert table.records[0].cells == {"科室": "内科", "年龄": "34", "主诉": "头疼\n三天"}
    assert table.records[1].cells["年龄"] == ""
    assert json.loads(table.records[1].cells["对话"]) == [{"role": "patient", "content": "疼"}]
    problems = [record.problem for record in table.records[2:]]
    assert problems[0] == "not JSON (Expecting value at character 1); expected one object a line"
    assert problems[1] == "a JSON list; expected one object a line"
    assert problems[2] == "the key '科室' stands twice in one object: keep one of the two"
    assert table.records[5].bad_cells == {"主诉": "half a character (a lone surrogate) at place 1: write it again"}
    assert problems[4].startswith("JSON nested too deeply")


def test_json_lines_in_two_encodings_name_the_byte(tmp_path: Path) -> None:
    good = '{"科室": "内科"}\n'.encode()
    path = _write(tmp_path, good + good + '{"科室": "外科"}\n'.encode("gb18030"), "table.jsonl")
    problem = read_table(path).records[2].problem
    assert problem.startswith("the line holds bytes that are not UTF-8")
    # The line begins with {" in ASCII; the first byte of 科 in GB18030 is the first that is not UTF-8.
    assert problem.endswith(f"(byte {2 * len(good) + 2} of the file)")


def test_a_json_file_without_objects_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"no line that is a JSON object; expected one object a line. Line 1: not JSON"
    ):
        read_table(_write(tmp_path, '[\n{"科室":\n"内科"}\n]', "table.jsonl"))
