"""LOINC's files: what is read, and what is said of files that are something else or not whole."""

import gzip
from pathlib import Path

import pytest
from loinc_release import (
    BLOOD,
    CHEMISTRY,
    HIERARCHY_COLUMNS,
    LABORATORY,
    NAMES,
    NAMES_COLUMNS,
    NODES,
    csv_text,
    hierarchy_text,
    write_hierarchy,
    write_names,
)

from clinical_evals.errors import InputError
from clinical_evals.ontology.loinc_files import hierarchy_rows, read_hierarchy
from clinical_evals.ontology.loinc_names import read_names
from clinical_evals.ontology.table_file import csv_columns

_GOOD = hierarchy_text()
_LINES = _GOOD.splitlines(keepends=True)
_ROW = f'"{LABORATORY}","9","{LABORATORY}",'
_NAMES = csv_text(NAMES_COLUMNS, NAMES)
_PAGE = b"<!DOCTYPE html>\n<html><title>Log in</title></html>"


def _many_classes(classes: int) -> str:
    """As many classes with one number each; the rows in the order of their paths, as in the real file."""
    nodes: list[tuple[tuple[str, ...], str, str]] = [((), f"LP{1000 + place}-1", "") for place in range(classes)]
    nodes += [((f"LP{1000 + place}-1",), f"{2000 + place}-0", "") for place in range(classes)]
    return hierarchy_text(nodes=nodes, outside=False)


BROKEN = {
    "login page": (_PAGE, ["web page", "Log in"]),
    "empty file": (b"", ["no column PATH_TO_ROOT, CODE, CODE_TEXT", "nothing"]),
    "another table": (_NAMES.encode(), ["no column PATH_TO_ROOT, CODE, CODE_TEXT", "LONG_COMMON_NAME"]),
    "another separator": (_GOOD.replace('","', '";"').encode(), ["line 1: not CSV"]),
    "UTF-16": (_GOOD.encode("utf-16"), ["not UTF-8"]),
    "Latin-1": ((_GOOD + f'{_ROW}"1-8","Ménière"\r\n').encode("latin-1"), ["not UTF-8"]),
    "cut-off gzip": (gzip.compress(_GOOD.encode())[:-20], ["cut off"]),
    "cut off within a field": (_GOOD.encode()[:-10], ["not CSV", "cut off"]),
    "cut off before an empty last field": (_GOOD.encode().rpartition(b'"Body')[0], ["line break", "cut off"]),
    "cut off between two fields": (_GOOD.encode().rpartition(b',"')[0], ["4 fields, expected 5", "cut off"]),
    "cut off between two lines": ("".join(_many_classes(5).splitlines(True)[:9]).encode(), ["cut off", "3 groups"]),
    "a date for a number": (f'{_GOOD}{_ROW}"8-Jan","x"\r\n'.encode(), ["CODE is '8-Jan'", "spreadsheet"]),
    "a number without hyphen": (f'{_GOOD}{_ROW}"23457","x"\r\n'.encode(), ["CODE is '23457'"]),
    "no code": (f'{_GOOD}{_ROW}"","x"\r\n'.encode(), ["CODE is ''"]),
    "a row twice": ((_GOOD + _LINES[2]).encode(), [f"CODE {CHEMISTRY!r}", "second time", LABORATORY]),
    "the file twice": ((_GOOD + _GOOD).encode(), ["PATH_TO_ROOT has 'PATH_TO_ROOT'"]),
    "another path": (
        (_GOOD + '"LP29693-6/LP100-1","1","x","1-8",""\r\n').encode(),
        ["has 'LP29693-6/LP100-1'", "dots"],
    ),
    "only other branches": (
        csv_text(
            HIERARCHY_COLUMNS, [("", "1", "", "LP900-1", ""), ("LP900-1", "1", "LP900-1", "8310-5", "")]
        ).encode(),
        ["no LOINC number below the part LP29693-6 (Laboratory)"],
    ),
    "header only": (_LINES[0].encode(), ["no LOINC number below"]),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_other_hierarchies_are_named(kind: str, tmp_path: Path) -> None:
    content, said = BROKEN[kind]
    path = tmp_path / "ComponentHierarchyBySystem.csv"
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        read_hierarchy(path)
    for part in (str(path), *said, "clinical-evals resources add loinc-hierarchy FILE"):
        assert part in str(error.value)


def test_wrong_rows_are_named_by_their_line(tmp_path: Path) -> None:
    wrong = [*_LINES[:4], f'{_ROW}"8-Jan","x"\r\n', *_LINES[4:]]
    with pytest.raises(InputError, match=r"csv, line 5: CODE is '8-Jan'"):
        read_hierarchy(write_hierarchy(tmp_path, "".join(wrong)))


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_hierarchy(tmp_path / "h.csv")
    with pytest.raises(InputError, match="is a folder"):
        read_names(tmp_path, ())


def test_a_part_without_a_child_is_let_pass(tmp_path: Path) -> None:
    nodes = (*NODES, ((), "LP300-1", "a class without tests"))  # real releases have a few
    assert set(read_hierarchy(write_hierarchy(tmp_path, hierarchy_text(nodes=nodes))).groups) > {"2345-7"}


def test_packing_and_marks_change_nothing(tmp_path: Path) -> None:
    plain = read_hierarchy(write_hierarchy(tmp_path))
    (tmp_path / "h.csv.gz").write_bytes(gzip.compress(_GOOD.encode()))
    others = (tmp_path / "h.csv.gz", write_hierarchy(tmp_path, "\ufeff" + _GOOD, "bom.csv"))
    for path in (*others, write_hierarchy(tmp_path, _GOOD.replace("\r\n", "\n"), "lf.csv")):
        assert read_hierarchy(path) == plain
    assert plain.elsewhere == {"8310-5"}
    assert plain.texts[CHEMISTRY] == "Chemistry"
    assert BLOOD not in plain.texts
    assert "LP112-1" not in plain.texts  # a fourth level: not scored, so not kept


def test_rows_have_their_ancestors_from_the_root(tmp_path: Path) -> None:
    rows = list(hierarchy_rows(write_hierarchy(tmp_path)))
    assert rows[0] == ((), LABORATORY, "Laboratory")
    assert rows[1] == ((LABORATORY,), CHEMISTRY, "Chemistry")
    assert rows[-1] == (("LP900-1",), "8310-5", "Body temperature")


# Loinc.csv

BROKEN_NAMES = {
    "login page": (_PAGE, ["web page"]),
    "the hierarchy": (_GOOD.encode(), ["no column LOINC_NUM, LONG_COMMON_NAME", "PATH_TO_ROOT"]),
    "Latin-1": (_NAMES.encode() + '"1-8","é"'.encode("latin-1"), ["not UTF-8"]),
    "cut off": (_NAMES.encode()[:-30], ["line 7", "cut off"]),
    "a number twice": (csv_text(NAMES_COLUMNS, (*NAMES, NAMES[0])).encode(), ["line 8", "'2345-7'", "second time"]),
    "no number at all": (b"LOINC_NUM,LONG_COMMON_NAME\n8-Jan,x\n23457,y\n", ["none of its 2 rows has a LOINC number"]),
    "cut-off gzip": (gzip.compress(_NAMES.encode())[:40], ["cut off"]),
}


@pytest.mark.parametrize("kind", BROKEN_NAMES)
def test_other_files_of_names_are_named(kind: str, tmp_path: Path) -> None:
    content, said = BROKEN_NAMES[kind]
    path = tmp_path / "Loinc.csv"
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        read_names(path, ())
    for part in (str(path), *said, "clinical-evals resources add loinc-names FILE"):
        assert part in str(error.value)


def test_names_of_wanted_numbers_only(tmp_path: Path) -> None:
    names = read_names(write_names(tmp_path), {"718-7", "4548-4"})
    assert names.titles == {"718-7": "Hemoglobin [Mass/volume] in Blood", "4548-4": ""}
    assert names.composed == {"718-7": "Hemoglobin in Bld"}  # 4548-4 has no COMPONENT here; "Bld" alone is no name
    assert names.others["2346-5"] == "DEPRECATED"
    assert names.version == "2.78"


def test_malformed_numbers_are_listed_and_the_rest_is_read(tmp_path: Path) -> None:
    text = "LOINC_NUM,LONG_COMMON_NAME\n968472,Hb A2\n718-7,Hemoglobin\n,nothing\n-56064,Albumin\n"
    names = read_names(write_names(tmp_path, text), {"718-7"})
    assert names.titles == {"718-7": "Hemoglobin"}
    assert [(row.where[-6:], row.found) for row in names.malformed] == [
        ("line 2", "968472"),
        ("line 4", ""),
        ("line 5", "-56064"),
    ]
    assert all("a hyphen and a check digit" in row.why for row in names.malformed)
    assert names.version == ""


def test_columns_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "packed").write_bytes(gzip.compress(b'\xef\xbb\xbf"A, B",C\r\n1,2\r\n'))
    assert csv_columns(tmp_path / "packed") == ["A, B", "C"]
    (tmp_path / "cut").write_bytes(gzip.compress(b"A,B\n")[:12])
    assert csv_columns(tmp_path / "cut") == []
    assert csv_columns(tmp_path / "absent") == []
    assert csv_columns(tmp_path) == []


# The real files


@pytest.mark.parametrize("share", [0.001, 0.1, 0.5, 0.9, 0.99, 0.999])
def test_the_real_hierarchy_cut_between_two_lines_is_told(release_files: Path, tmp_path: Path, share: float) -> None:
    lines = (release_files / "ComponentHierarchyBySystem.csv").read_text("utf-8").splitlines(keepends=True)
    cut = write_hierarchy(tmp_path, "".join(lines[: int(len(lines) * share)]))
    with pytest.raises(InputError, match="the file is cut off: it names"):
        read_hierarchy(cut)
