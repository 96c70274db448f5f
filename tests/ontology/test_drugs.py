"""Drugs to ATC: by GSN, else by NDC; several classes; codes that the ATC release lacks; the real map."""

import gzip
from pathlib import Path

import pytest
from atc_table import write as write_atc
from drug_table import HEADER, ROWS, write

from clinical_evals.errors import InputError
from clinical_evals.ontology.atc import ATC
from clinical_evals.ontology.drugs import DrugMap, OutsideRelease
from clinical_evals.ontology.drugs_file import Malformed, read_drug_map


@pytest.fixture
def drugs(tmp_path: Path) -> DrugMap:
    return DrugMap(write(tmp_path))


@pytest.mark.parametrize(
    ("gsn", "ndc", "codes", "by"),
    [
        ("004763", "", ("A10BA02",), "gsn"),
        ("004763", "00045048760", ("A10BA02",), "gsn"),  # the GSN goes before the NDC
        ("004764", "0", ("A10BA02", "A10BD07"), "gsn"),  # all classes, sorted
        ("015555 004764 ", "", ("A10BA02", "A10BD07", "N02BE01"), "gsn"),  # as MIMIC writes lists
        ("999999 004763", "", ("A10BA02",), "gsn"),  # a GSN that the map lacks contributes nothing
        ("999999", "00045048760", ("N02BE01",), "ndc"),
        ("", "0045-0487-60", ("N02BE01",), "ndc"),
        ("", "00087606005", ("A10BA02", "N02BE01"), "ndc"),
        ("4763", "", (), ""),  # its zeros are lost: not guessed
        ("", "87606005", (), ""),
        ("", "0", (), ""),
        ("", "", (), ""),
    ],
)
def test_classes_of_a_prescription(drugs: DrugMap, gsn: str, ndc: str, codes: tuple[str, ...], by: str) -> None:
    assert drugs.classes(gsn, ndc) == (codes, by)


def test_what_the_file_is_for_logs(drugs: DrugMap, tmp_path: Path) -> None:
    assert drugs.source.startswith("gsn_atc_ndc_mapping.csv (7 rows, SHA-256 ")
    assert str(tmp_path) not in drugs.source  # results travel: no folder of this machine in them


def test_rows_without_ndc_are_counted_and_their_gsn_is_used(drugs: DrugMap) -> None:
    assert drugs.table.rows == 7
    assert drugs.table.without_ndc == 2  # "?" and "0"
    assert drugs.table.malformed == ()
    assert drugs.by_gsn("015556") == ("A10",)
    assert drugs.by_ndc("?") == drugs.by_ndc("0") == ()


def test_codes_that_the_release_lacks_are_listed_with_their_group(drugs: DrugMap, tmp_path: Path) -> None:
    system = ATC(write_atc(tmp_path))  # it has A10, A10B, A10BA, A10BA02; of N only N01AA01
    assert drugs.outside(system) == (
        OutsideRelease("A10BD07", gsns=1, ndcs=1, nearest="A10B"),
        OutsideRelease("N02BE01", gsns=2, ndcs=2, nearest="N"),
        OutsideRelease("N99ZZ01", gsns=1, ndcs=0, nearest="N"),
    )


def test_malformed_values_are_listed_with_line_and_the_rest_of_the_row_is_used(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        HEADER
        + "004763,T127,00087606005\n"
        + "4764,A10BA02,00087607005\n"
        + "015555,A10BA02;A10BD07,00006057561\n"
        + "015556,N02BE01,0006057561\n"
        + "15557.0,N02BE01,0045-0487\n",
    )
    table = read_drug_map(path)
    assert [(value.where, value.column, value.found) for value in table.malformed] == [
        (f"{path}, line 2", "atc", "T127"),
        (f"{path}, line 3", "gsn", "4764"),
        (f"{path}, line 4", "atc", "A10BA02;A10BD07"),
        (f"{path}, line 5", "ndc", "0006057561"),
        (f"{path}, line 6", "gsn", "15557.0"),
        (f"{path}, line 6", "ndc", "0045-0487"),
    ]
    assert [value.why.split(":")[0].split(";")[0] for value in table.malformed] == [
        "It is no ATC code of any release",
        "A GSN has 6 digits",
        "It is no ATC code of any release",
        "Ten digits without hyphens are ambiguous (4-4-2, 5-3-2 and 5-4-1 put the missing zero at different places), "
        "and are not guessed",
        "A GSN has 6 digits",
        "It has two segments",
    ]
    assert dict(table.by_gsn) == {"015556": ("N02BE01",)}  # line 5: only its NDC is malformed
    assert dict(table.by_ndc) == {"00087607005": ("A10BA02",)}  # line 3: only its GSN is malformed
    assert table.zeros_restored == 0


def test_zeros_that_a_column_lost_are_restored_and_counted(tmp_path: Path) -> None:
    # 7, 8 and 10 digits beside 11 that never begin with a zero: the column was written as numbers.
    lost = "004763,A10BA02,2821501\n004764,A10BA02,87607005\n015555,N02BE01,5928004507\n015556,B01AB01,24987026010\n"
    table = read_drug_map(write(tmp_path, HEADER + lost))
    assert set(table.by_ndc) == {"00002821501", "00087607005", "05928004507", "24987026010"}
    assert (table.zeros_restored, table.malformed) == (3, ())


@pytest.mark.parametrize(
    ("ndcs", "malformed"),
    [
        (["87607005", "00087606005"], 1),  # a leading zero survived: the short one is a slip
        (["5928004507", "24987026010"], 1),  # ten digits may be a form without its hyphens
        (["87607005", "5928004507"], 2),  # no NDC of 11 digits: nothing says that it ever was one
        (["876070", "87607005", "24987026010"], 1),  # six digits would be a labeler of five zeros
    ],
)
def test_zeros_are_not_restored_on_less_evidence(tmp_path: Path, ndcs: list[str], malformed: int) -> None:
    rows = "".join(f"00476{i},A10BA02,{ndc}\n" for i, ndc in enumerate(ndcs))
    assert len(read_drug_map(write(tmp_path, HEADER + rows)).malformed) == malformed


def test_order_packing_and_further_columns_change_nothing(tmp_path: Path) -> None:
    plain = read_drug_map(write(tmp_path))
    turned = "name,ndc,atc,gsn\n" + "".join(
        f"x,{ndc},{atc},{gsn}\n" for gsn, atc, ndc in (row.split(",") for row in reversed(ROWS.split()))
    )
    packed = tmp_path / "packed.csv.gz"
    packed.write_bytes(gzip.compress((HEADER + ROWS).encode()))
    for path in (write(tmp_path, turned, "turned.csv"), packed, write(tmp_path, HEADER + ROWS + ROWS, "twice.csv")):
        table = read_drug_map(path)
        assert (table.by_gsn, table.by_ndc) == (plain.by_gsn, plain.by_ndc), path


BROKEN = {
    "wrong columns": ("gsn,atc_code,ndc\n004763,A10BA02,0\n", ["no column atc", "gsn, atc_code, ndc"]),
    "empty": ("", ["no column gsn, atc, ndc"]),
    "header only": (HEADER, ["none of its 0 rows can be used"]),
    "cut off in a row": (HEADER + ROWS + "004765,A10", ["line 9", "2 fields, expected 3"]),
    "cut off in the NDC": (HEADER + ROWS[:-3], ["does not end with a line break"]),
    "web page": ("<html><body>Not found</body></html>", ["web page"]),
    "no usable row": (HEADER + "4763,A10BA02,?\n", ["none of its 1 rows can be used", "line 2: A GSN has 6 digits"]),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_files_are_named_with_the_way_out(kind: str, tmp_path: Path) -> None:
    text, said = BROKEN[kind]
    path = write(tmp_path, text)
    with pytest.raises(InputError) as error:
        read_drug_map(path)
    for part in (str(path), *said, "clinical-evals resources add drug-atc"):
        assert part in str(error.value)


def test_another_encoding_and_a_cut_off_gzip(tmp_path: Path) -> None:
    path = tmp_path / "map.csv.gz"
    path.write_bytes((HEADER + ROWS + "015559,é,0\n").encode("latin-1"))
    with pytest.raises(InputError, match="not UTF-8"):
        read_drug_map(path)
    path.write_bytes(gzip.compress((HEADER + ROWS).encode())[:-12])
    with pytest.raises(InputError, match="cut off"):
        read_drug_map(path)


@pytest.fixture(scope="module")
def real(release_files: Path) -> DrugMap:
    return DrugMap(release_files / "gsn_atc_ndc_mapping.csv.gz")


def test_facts_of_the_published_map(real: DrugMap) -> None:
    table = real.table
    assert (table.rows, table.without_ndc, table.zeros_restored) == (4_770, 447, 337)
    found = [(value.where.rpartition(", ")[2], value.column, value.found) for value in table.malformed]
    assert found == [("line 219", "atc", "T127"), ("line 1211", "atc", "T103")]
    assert isinstance(table.malformed[0], Malformed)
    assert len(table.by_gsn) == 4_768  # one row each, less the two
    assert all(len(ndc) == 11 for ndc in table.by_ndc)


def test_codes_of_the_published_map_that_the_release_of_2026_lacks(real: DrugMap, release_files: Path) -> None:
    outside = real.outside(ATC(release_files / "who_atc_ddd_2026-04-25.csv"))
    assert len(outside) == 30
    assert sum(code.gsns for code in outside) == 54
    by_code = {code.code: code for code in outside}
    assert by_code["N03AX12"] == ("N03AX12", 9, 9, "N03AX")  # gabapentin, which moved to N02BF01
    assert by_code["L01XC18"].nearest == "L01X"  # pembrolizumab: the whole group L01XC is gone
