"""The detectors on any bytes, against plain re-implementations."""

import io
import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mimic_like import ADMISSIONS, CLEAN_NOTE, NOTE, REPORT, SUBJECTS

from clinical_evals.hub import evidence as evidence_module
from clinical_evals.hub.evidence import Evidence
from clinical_evals.hub.identifiers import SKETCH, IdColumn, find_numbers
from clinical_evals.hub.inspection import Rows, inspect_paths, inspect_rows
from clinical_evals.hub.notes import find_note
from clinical_evals.hub.sources import BLOCK, blocks
from clinical_evals.hub.texts import layout_of

# What a number is, as one pattern: up to twelve letters, seven or eight digits, no more of a word, no decimals but .0
NUMBER = re.compile(rb"(?<![0-9A-Za-z])[A-Za-z]{0,12}([0-9]{7,8})(?![0-9A-Za-z])(?!\.(?!0(?:[^0-9]|\Z))[0-9])")
WORDS = st.sampled_from(
    [" ", ",", ".", ".0", "-", "_", "p", "abc", "x" * 13, "22595853", "1234567", "123456789", "é", '":']
)


@example(b"\n22595853.p22595853\n")  # the second follows a letter: it is no decimals of the first
@example(b"\n1.22595853\n")
@given(st.lists(WORDS, max_size=30).map(lambda parts: ("\n" + "".join(parts) + "\n").encode()))
def test_numbers_are_those_of_a_plain_pattern(text: bytes) -> None:
    expected = [int(match[1]) for match in NUMBER.finditer(text) if not _decimal_before(text, match.start(1))]
    assert find_numbers(text)[0].tolist() == expected


def _decimal_before(text: bytes, start: int) -> bool:
    return text[start - 1 : start] == b"." and text[start - 2 : start - 1].isdigit()


@given(st.binary(max_size=300))
def test_any_bytes_can_be_looked_at(text: bytes) -> None:
    found = Evidence()
    found.add_text(text)
    found.add_text(text, "column")
    found.findings()
    find_note(text)
    layout_of(text, "x.csv")
    values, places = find_numbers(text)
    for value, place in zip(values.tolist(), places.tolist(), strict=True):
        assert int(re.match(rb"[0-9]+", text[place:])[0]) == value  # type: ignore[index]


@given(st.text(max_size=300))
def test_any_text_can_be_asked_about(text: str) -> None:
    inspect_rows(Rows([text, {text: text}, [{"role": "user", "content": text}]], info=text))


@given(
    st.binary(max_size=400),
    st.sampled_from(["PAR1", "ARROW1", "\x1f\x8b", "PK\x03\x04", "BZh9", "\x93NUMPY", "", "GGUF"]),
)
def test_any_file_is_cleared_or_held_back_but_never_a_crash(tmp_path_factory, content: bytes, magic: str) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path_factory.mktemp("any") / "file.csv"
    path.write_bytes(magic.encode("latin-1") + content)
    for found in inspect_paths([path]).found:
        assert found.finding.rule in {"unreadable", "id column", "column name"}


@given(st.lists(st.integers(-(2**62), 2**62) | st.integers(3_000_000, 110_000_000)))
def test_a_column_counts_distinct_values(values: list[int]) -> None:
    column = IdColumn("x")
    for start in range(0, len(values), 3):
        column.add(np.array(values[start : start + 3], dtype=np.int64))
    expected = {value for value in values if 10_000_000 <= value <= 39_999_999 and not _is_day(value)}
    assert set(column.inside.tolist()) == expected


def _is_day(value: int) -> bool:
    match = re.fullmatch(r"(19|2[0-2])\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])", str(value))
    return match is not None


def test_a_column_of_many_values_keeps_a_fair_sample() -> None:
    draw = np.random.default_rng(0)
    inside, near = draw.integers(20_000_000, 30_000_000, 300_000), draw.integers(40_000_000, 99_000_000, 100_000)
    column = IdColumn("x")
    column.add(np.concatenate([inside, near]))
    assert column.sample.size <= SKETCH
    assert 0.9 < column.distinct / np.unique(inside).size < 1.1
    assert not column.stands_out  # three inside for each near, fewer than four


@pytest.mark.parametrize(
    ("values", "drawn"),
    [
        (ADMISSIONS, True),
        (sorted(SUBJECTS)[:7], True),
        ([10_000_032 + 397 * n for n in range(100)], True),  # packed at the start of the range, as the demo's
        (range(20_000_000, 20_001_000), False),  # a counter
        ([25_000_000 + 397 * n for n in range(100)], False),  # files of about one size
    ],
)
def test_drawn_at_random_or_not(values: list[int], drawn: bool) -> None:
    column = IdColumn("x")
    column.add(np.array(values))
    assert column.looks_drawn is drawn


@pytest.mark.parametrize(
    ("name", "mimic", "patient"),
    [
        ("hadm_id", True, True),
        ("HADM_ID", True, True),
        ("subjectId", True, True),
        ("mimic_subject_ids", True, True),
        ("patient", False, True),
        ("admission_number", False, True),
        ("id", False, False),
        ("outstanding", False, False),
    ],
)
def test_names_of_columns(name: str, mimic: bool, patient: bool) -> None:
    column = IdColumn(name)
    assert (column.has_mimic_name, column.has_patient_name) == (mimic, patient)


@pytest.mark.parametrize(
    ("text", "is_note"),
    [
        (NOTE, True),
        (REPORT, True),
        (NOTE.replace("\n", "\\n"), True),  # as a JSON string
        (NOTE.replace("\n", "\r\n"), True),
        (NOTE.upper(), True),
        (CLEAN_NOTE, False),
        ("___ " * 100, False),
        ("___\n" + "x" * 9_000 + "\nChief Complaint:\n" + "x" * 9_000 + "Family History:\n___", False),  # far apart
        ("Chief Complaint: ____ and ____. Family History: ____", False),  # four underscores: somebody's form
        ("a___b ___c Physical Exam: Social History:", True),
        ("Chief Complaint: ___", False),  # one blank
        ("___ is the capital of ___. FINDINGS: none", False),  # one other sign
        ("___, ___, ___, ___ and ___ were seen. IMPRESSION: none", True),  # five blanks, one sign
        (NOTE.replace("_", "\\_"), True),  # as Markdown escapes it
        (NOTE.lower(), True),
        ("[**Known lastname 1**] and [**2118-6-2**]", True),
        ("one [** note **]", False),
    ],
)
def test_notes(text: str, is_note: bool) -> None:
    assert (find_note(text.encode()) is not None) is is_note


@given(st.integers(0, 3 * BLOCK), st.integers(0, 40))
def test_nothing_is_cut_apart_between_blocks(before: int, gap: int) -> None:
    text = b"x " * (before // 2) + b" " * gap + b" subject_id: 12345678 "
    found = Evidence()
    for block in blocks(io.BytesIO(text)):
        found.add_text(block)
    assert [finding.rule for finding in found.findings()] == ["column name"]


def test_split_tables_are_known_by_the_names_beside_them() -> None:
    """A column of ids and one of other numbers in one list: only the names say what they are."""
    rows = [[5_000_000 + n * 4_001, number] for n, number in enumerate(ADMISSIONS)]
    for names, expected in ((["n", "hadm_id"], ["id column"]), (["a", "b"], [])):
        text = f'\n{{"columns": {names}, "data": {rows}}}\n'.replace("'", '"')
        found = Evidence()
        found.add_text(text.encode())
        assert [finding.rule for finding in found.findings()] == expected


def test_columns_beyond_the_limit_are_counted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence_module, "MOST_COLUMNS", 3)
    found = Evidence()
    for number, value in enumerate(ADMISSIONS[:20]):
        found.add_values(np.array([value]), f"c{number}")
    assert [finding.rule for finding in found.findings()] == ["id column"]
