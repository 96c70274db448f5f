"""Reading an ATC table: what is tolerated, and the one clear error of each kind of broken file."""

import gzip
from pathlib import Path

import pytest
from atc_table import HEADER, rows, table, write

from clinical_evals.errors import InputError
from clinical_evals.ontology.atc_file import read_atc

WHOLE = table()


def test_packing_order_and_further_columns_change_nothing(tmp_path: Path) -> None:
    names = read_atc(write(tmp_path))
    assert names["A10BA02"] == "metformin"
    turned = table([("x", row[1], row[0]) for row in rows()], ("year", "atc_name", "atc_code"))
    others = (
        write(tmp_path, turned, "turned.csv"),
        write(tmp_path, b"\xef\xbb\xbf" + WHOLE, "bom.csv"),
        write(tmp_path, gzip.compress(WHOLE), "packed.csv.gz"),
        write(tmp_path, gzip.compress(WHOLE.rstrip()), "packed_without_last_break.csv.gz"),  # gzip tells it is whole
        write(tmp_path, WHOLE.replace(b"\n", b"\r\n"), "windows.csv"),
        write(tmp_path, WHOLE.replace(b"A10BA02", b" a10ba02 "), "spaced.csv"),
    )
    for path in others:
        assert list(read_atc(path).items()) == list(names.items()), path


def test_parquet_is_read_too(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    columns = {name: [row[place] for row in rows()] for place, name in enumerate(HEADER)}
    pq.write_table(pa.table(columns), tmp_path / "atc.parquet")
    assert read_atc(tmp_path / "atc.parquet") == read_atc(write(tmp_path))


def _with(*more: tuple[str, ...]) -> bytes:
    return WHOLE + table(list(more)).split(b"\n", 1)[1]


def _without(*codes: str) -> bytes:
    return table([row for row in rows() if row[0] not in codes])


_LINE = len(rows()) + 2  # of what _with adds; the header is line 1
BROKEN = {
    "wrong columns": (WHOLE.replace(b"atc_code", b"ATC code"), ["no column atc_code", "ATC code, atc_name"]),
    "another separator": (WHOLE.replace(b",", b";"), ["no column atc_code, atc_name", "atc_code;atc_name"]),
    "empty": (b"", ["no column atc_code, atc_name", "nothing"]),
    "header only": (table([]), ["no rows below its header"]),
    "login page": (b"<!DOCTYPE html>\n<html><title>ATC</title></html>", ["web page"]),
    "Latin-1": (WHOLE + "A10BA09,métformine,,,,\n".encode("latin-1"), ["not UTF-8"]),
    "UTF-16": (WHOLE.decode().encode("utf-16"), ["not UTF-8"]),
    "cut off in a row": (WHOLE[:-9], [f"line {_LINE - 1}", "4 fields, expected 6"]),
    "cut off in the last field": (WHOLE[:-2], ["does not end with a line break"]),
    "cut off in a quoted field": (WHOLE + b'A10BX,"Other blood', ["not CSV", "cut off"]),
    "cut off before a line": (_without("V", "V01", "V01A", "V01AA", "V01AA01"), ["no substance", "groups V"]),
    "cut off below a group": (_without("V01AA01"), ["no substance", "groups V"]),
    "cut-off gzip": (gzip.compress(WHOLE)[:-20], ["cut off"]),
    "substances only": (
        table([row for row in rows() if len(row[0]) == 7]),
        ["line 2", "group", "A01AA01", "16 codes"],
    ),
    "a group left out": (_without("A10B"), ["A10BA", "nowhere in the file", "1 codes"]),
    "a shape that is none": (_with(("A10BA2", "x", "", "", "", "")), [f"line {_LINE}", "'A10BA2'", "A10BA02"]),
    "no code": (_with(("", "x", "", "", "", "")), [f"line {_LINE}", "atc_code is ''"]),
    "veterinary": (_with(("QA10BA02", "metformin", "", "", "", "")), [f"line {_LINE}", "'QA10BA02'"]),
    "no such main group": (_with(("T01", "x", "", "", "", "")), [f"line {_LINE}", "'T01'", "ABCDGHJLMNPRSV"]),
    "no name": (_with(("A10BA09", " ", "", "", "", "")), [f"line {_LINE}", "atc_name of A10BA09 is ''"]),
    "missing name of R": (_with(("A10BA09", "NA", "", "", "", "")), [f"line {_LINE}", "atc_name of A10BA09 is 'NA'"]),
    "two names": (_with(("A10BA02", "Metformin", "", "", "", "")), [f"line {_LINE}", "'Metformin'", "'metformin'"]),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_files_are_named_once_and_with_the_way_out(kind: str, tmp_path: Path) -> None:
    content, said = BROKEN[kind]
    path = write(tmp_path, content)
    with pytest.raises(InputError) as error:
        read_atc(path)
    for part in (str(path), *said, "clinical-evals resources add atc"):
        assert part in str(error.value)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist, expected a file with the columns atc_code, atc_name"):
        read_atc(tmp_path / "atc.csv")
