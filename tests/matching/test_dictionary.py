"""MIMIC's dictionary of diagnoses: order, validity, and what is said of files that are something else."""

import csv
import gzip
import io
from collections.abc import Sequence
from pathlib import Path

import pytest

from clinical_evals.errors import InputError
from clinical_evals.matching.dictionary import own_titles, read_dictionary
from clinical_evals.ontology import get_system

SYSTEM = get_system("icd10cm")
HEADER = ("icd_code", "icd_version", "long_title")
ROWS = (
    ("0090", "9", "Infectious colitis, enteritis, and gastroenteritis"),
    ("I10", "10", "Essential (primary) hypertension"),
    ("E119", "10", "Type 2 diabetes mellitus without complications"),
    ("E11", "10", "Type 2 diabetes mellitus"),
    ("E1199", "10", "A code that the release does not have"),
    ("A419", "10", 'Sepsis, "unspecified" organism'),
)


def _csv(rows: Sequence[Sequence[str]], header: Sequence[str] = HEADER) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([header, *rows])
    return text.getvalue().encode()


def _write(folder: Path, content: bytes, name: str = "d_icd_diagnoses.csv") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_valid_icd10_rows_are_sorted_by_code_as_text(tmp_path: Path) -> None:
    found = read_dictionary(_write(tmp_path, _csv(ROWS)), SYSTEM)
    # A419 < E11 < E119 < I10; the ICD-9 row and E1199 are no candidates.
    assert found.codes == ("A41.9", "E11", "E11.9", "I10")
    assert found.titles[0] == 'Sepsis, "unspecified" organism'
    assert found.left_out == ("E1199",)
    assert found.from_mimic
    assert "4 of the 5 ICD-10 titles of d_icd_diagnoses.csv" in found.source
    assert str(tmp_path) not in found.source  # results travel: no folder of this machine in them


def test_row_and_column_order_and_packing_change_nothing(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    plain = read_dictionary(_write(tmp_path, _csv(ROWS)), SYSTEM)
    turned = _csv(
        [(title, "x", version, code) for code, version, title in reversed(ROWS)],
        ("long_title", "extra", "icd_version", "icd_code"),
    )
    columns = {name: [row[place] for row in ROWS] for place, name in enumerate(HEADER)}
    pq.write_table(pa.table(columns | {"icd_version": [int(row[1]) for row in ROWS]}), tmp_path / "a.parquet")
    others = (
        _write(tmp_path, turned, "turned.csv"),
        _write(tmp_path, b"\xef\xbb\xbf" + _csv(ROWS), "bom.csv"),
        _write(tmp_path, gzip.compress(_csv(ROWS)), "d_icd_diagnoses.csv.gz"),
        _write(tmp_path, _csv(ROWS), "unpacked_by_the_browser.csv.gz"),
        tmp_path / "a.parquet",
    )
    for path in others:
        found = read_dictionary(path, SYSTEM)
        assert found._replace(source=plain.source) == plain, path


def test_own_titles_stand_in_code_order() -> None:
    own = own_titles(SYSTEM)
    # Categories and codes, but not the ranges (E08-E13), which MIMIC's dictionary does not have.
    assert list(own.codes) == sorted(code for code in SYSTEM.codes() if "-" not in code)
    assert own.titles[own.codes.index("I10")] == SYSTEM.title("I10")
    assert not own.from_mimic
    assert "not given" in own.source


_GOOD = _csv(ROWS)
BROKEN = {
    "cut-off gzip": ("d.csv.gz", gzip.compress(_GOOD)[:-20], ["cut off"]),
    "damaged gzip": ("d.csv.gz", gzip.compress(_GOOD)[:30] + b"\0" * 40, ["gzip file is cut off or damaged"]),
    "login page": ("d.csv.gz", b"\n<!DOCTYPE html>\n<html><title>Login</title></html>", ["web page", "Log in"]),
    "empty file": ("d.csv", b"", ["no column icd_code, icd_version, long_title", "nothing"]),
    "MIMIC-III columns": ("d.csv", _csv([], ("ROW_ID", "ICD9_CODE", "LONG_TITLE")), ["ICD9_CODE"]),
    "another separator": ("d.csv", _GOOD.replace(b",", b";"), ["icd_code;icd_version;long_title"]),
    "cut-off CSV": ("d.csv", b"icd_code,icd_version,long_title\nI10,10,x\nE11", ["line 3", "1 fields, expected 3"]),
    "open quote": ("d.csv", b'icd_code,icd_version,long_title\nI10,10,"x\n', ["line", "not CSV"]),
    "Latin-1": ("d.csv", _GOOD + "A00,10,Ménière\n".encode("latin-1"), ["not UTF-8"]),
    "lost zeros": ("d.csv", _csv([("90", "9", "Infectious colitis")]), ["line 2", "'90'", "leading zeros are lost"]),
    "floats": ("d.csv", _csv([("1160.0", "9", "Tuberculous pneumonia")]), ["line 2", "leading zeros are lost"]),
    "version as float": ("d.csv", _csv([("I10", "10.0", "x")]), ["line 2", "icd_version is '10.0'", "9 or 10"]),
    "no title": ("d.csv", _csv([("I10", "10", " ")]), ["line 2", "long_title is empty"]),
    "no code": ("d.csv", _csv([("", "10", "x")]), ["line 2", "icd_code is empty"]),
    "code twice": ("d.csv", _csv([("I10", "10", "x"), ("I10", "10", "y")]), ["line 3", "'I10'", "second time"]),
    "procedures": ("d.csv", _csv([("0016070", "10", "Bypass")]), ["none of its 1 ICD-10 rows", "d_icd_procedures"]),
    "only ICD-9": ("d.csv", _csv(ROWS[:1]), ["none of its 0 ICD-10 rows"]),
    "no Parquet": ("d.parquet", _GOOD, ["not a Parquet file"]),
    "cut-off Parquet": ("d.parquet", b"PAR1\x15\x04", ["Parquet file is cut off or damaged"]),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_files_that_are_something_else_are_named(kind: str, tmp_path: Path) -> None:
    name, content, said = BROKEN[kind]
    path = _write(tmp_path, content, name)
    with pytest.raises(InputError) as error:
        read_dictionary(path, SYSTEM)
    for part in (str(path), *said, "hosp/d_icd_diagnoses.csv.gz"):
        assert part in str(error.value)


def test_codes_stored_as_numbers_in_parquet(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"icd_code": [90], "icd_version": [9], "long_title": ["x"]}), tmp_path / "d.parquet")
    with pytest.raises(InputError, match=r"icd_code is int64, expected text.*leading zeros"):
        read_dictionary(tmp_path / "d.parquet", SYSTEM)


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_dictionary(tmp_path / "d.csv", SYSTEM)
    with pytest.raises(InputError, match="is a folder"):
        read_dictionary(tmp_path, SYSTEM)


def test_the_demos_dictionary_has_the_published_candidates(mimic_demo: Path) -> None:
    found = read_dictionary(mimic_demo / "hosp" / "d_icd_diagnoses.csv.gz", SYSTEM)
    assert len(found.codes) == 94_448  # protocol.md 2.1, also the next four
    assert len(found.codes) + len(found.left_out) == 95_109
    paths = [SYSTEM.path(code) for code in found.codes]
    assert [len({path[level] for path in paths}) for level in range(4)] == [21, 283, 1_910, 12_053]
    undotted = [code.replace(".", "") for code in found.codes]
    assert undotted == sorted(undotted)
    assert found.codes[:3] == ("A00", "A00.0", "A00.1")
    assert found.titles[0] == "Cholera"
