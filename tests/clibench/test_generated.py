"""Generated tables: the right size, MIMIC's columns, keys that fit each other, the same bytes for the same seed."""

import csv
import gzip
import io
import resource
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clinical_evals.clibench.generated import FULL, Generated, write_generated
from clinical_evals.clibench.generated_catalog import built_in_catalog
from clinical_evals.clibench.generated_labs import lab_table
from clinical_evals.clibench.generated_tables import FIRST_HADM, Batch, draw_admissions
from clinical_evals.clibench.mimic_files import find_files
from clinical_evals.clibench.notes import admission_record
from clinical_evals.clibench.table_writer import FORMATS, TableWriter, csv_lines
from clinical_evals.errors import InputError, RunError, UnknownNameError
from clinical_evals.ontology import get_system
from clinical_evals.ontology.ndc import normalize_ndc

LAB_ROWS = 200_000  # 690 admissions: more than one batch
Rows = list[dict[str, str]]


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Generated:
    return write_generated(tmp_path_factory.mktemp("generated") / "csv", LAB_ROWS, seed=0, format="csv")


def read(path: Path) -> Rows:
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


@pytest.fixture(scope="module")
def tables(generated: Generated) -> dict[str, Rows]:
    return {path.stem: read(path) for path in generated.out.glob("*/*.csv")}


def test_the_sizes_are_those_of_mimic_in_proportion(generated: Generated, tables: dict[str, Rows]) -> None:
    assert {name: len(rows) for name, rows in tables.items()} == generated.rows
    assert generated.rows["labevents"] == LAB_ROWS
    for name, count in FULL.items():
        wanted = LAB_ROWS * count / FULL["labevents"]
        assert wanted * 0.97 - 1 <= generated.rows[name] <= wanted * 1.03 + 1, name


def test_our_reader_finds_what_it_needs(generated: Generated) -> None:
    files = find_files(generated.out, generated.out)
    assert not files.lost
    assert {*FULL, "patients", "d_labitems"} <= {*files.tables}


def test_keys_fit(tables: dict[str, Rows]) -> None:
    patient_of = {row["hadm_id"]: row["subject_id"] for row in tables["admissions"]}
    assert len(patient_of) == len(tables["admissions"])
    patients = [row["subject_id"] for row in tables["patients"]]
    assert len(set(patients)) == len(patients)
    assert set(patients) == set(patient_of.values())
    for name in (
        "labevents",
        "prescriptions",
        "diagnoses_icd",
        "procedures_icd",
        "services",
        "transfers",
        "radiology",
    ):
        assert {(row["hadm_id"], row["subject_id"]) for row in tables[name] if row["hadm_id"]} <= {*patient_of.items()}
    for name in ("services", "transfers"):
        assert {row["hadm_id"] for row in tables[name]} == {*patient_of}  # at least one for each
    for name, key in (("labevents", "labevent_id"), ("transfers", "transfer_id"), ("discharge", "note_id")):
        assert len({row[key] for row in tables[name]}) == len(tables[name])
    assert len({row["hadm_id"] for row in tables["discharge"]}) == len(tables["discharge"])


def test_stays_of_a_patient_do_not_overlap(tables: dict[str, Rows]) -> None:
    by_patient = defaultdict(list)
    for row in tables["admissions"]:
        assert row["admittime"] < row["dischtime"]
        by_patient[row["subject_id"]].append((row["admittime"], row["dischtime"]))
    assert max(map(len, by_patient.values())) > 2
    for stays in by_patient.values():
        assert stays == sorted(stays)
        assert all(before[1] < after[0] for before, after in pairwise(stays))


def test_codes_and_numbers_are_real_ones(tables: dict[str, Rows]) -> None:
    icd10 = get_system("icd10cm")
    versions = defaultdict(set)
    for row in tables["diagnoses_icd"]:
        versions[row["hadm_id"]].add(row["icd_version"])
        assert row["icd_version"] == "9" or icd10.normalize(row["icd_code"])
    assert all(len(found) == 1 for found in versions.values())
    assert Counter(next(iter(found)) for found in versions.values()).keys() == {"9", "10"}
    codes = Counter((row["hadm_id"], row["icd_code"]) for row in tables["diagnoses_icd"])
    assert max(codes.values()) == 1
    assert "0389" in {row["icd_code"] for row in tables["diagnoses_icd"]}  # leading zeros are kept
    ndcs = {row["ndc"] for row in tables["prescriptions"]}
    assert {"0", ""} < ndcs
    assert all(normalize_ndc(ndc) == ndc for ndc in ndcs - {"0", ""})
    assert {row["itemid"] for row in tables["labevents"]} == {lab.itemid for lab in built_in_catalog().labs}


def test_lab_results_are_plausible(tables: dict[str, Rows]) -> None:
    rows = tables["labevents"]
    outside = sum(not row["hadm_id"] for row in rows) / len(rows)
    assert 0.2 < outside < 0.32  # as in the demo: 0.26
    numbers = [row for row in rows if row["valuenum"]]
    assert all(float(row["value"]) == float(row["valuenum"]) for row in numbers)
    assert {row["value"] for row in rows if not row["valuenum"]} <= {*built_in_catalog().values["texts"]}
    for row in numbers:
        if row["flag"]:
            assert not float(row["ref_range_lower"]) <= float(row["value"]) <= float(row["ref_range_upper"])
    draws = defaultdict(set)
    for row in rows:
        draws[row["specimen_id"]].add((row["hadm_id"], row["charttime"]))
    assert all(len(found) == 1 for found in draws.values())  # a specimen is drawn once


def test_notes_have_sections(tables: dict[str, Rows]) -> None:
    for row in tables["discharge"][:50]:
        record = admission_record(row["text"]).record
        assert 0 < len(record) < len(row["text"])
        assert "generated for measurements" in row["text"]
        assert "generated for measurements" not in record
    outside = sum(not row["hadm_id"] for row in tables["radiology"]) / len(tables["radiology"])
    assert 0.25 < outside < 0.35


def test_all_formats_hold_the_same(generated: Generated, tables: dict[str, Rows], tmp_path: Path) -> None:
    zipped = write_generated(tmp_path / "gz", LAB_ROWS, seed=0)
    parquet = write_generated(tmp_path / "parquet", LAB_ROWS, seed=0, format="parquet")
    assert zipped.rows == parquet.rows == generated.rows
    for path in generated.out.glob("*/*.csv"):
        same = zipped.out / path.parent.name / f"{path.name}.gz"
        assert gzip.decompress(same.read_bytes()) == path.read_bytes()
        table = pq.read_table(parquet.out / path.parent.name / f"{path.stem}.parquet")
        assert (
            b",".join(name.encode() for name in table.column_names) + b"\n" + bytes(csv_lines(table))
            == path.read_bytes()
        )
    drugs = pq.read_schema(parquet.out / "hosp/prescriptions.parquet")
    assert drugs.field("ndc").type == drugs.field("gsn").type == pa.string()


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        write_generated(tmp_path / name, 2000, seed=seed)
    names = [path.relative_to(tmp_path / "a") for path in (tmp_path / "a").glob("*/*")]
    assert len(names) == 12
    assert all((tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes() for name in names)
    assert (tmp_path / "a/hosp/labevents.csv.gz").read_bytes() != (tmp_path / "c/hosp/labevents.csv.gz").read_bytes()


def test_a_catalog_may_be_given(tmp_path: Path) -> None:
    known = built_in_catalog()
    catalog = known._replace(labs=known.labs[:1], drugs=known.drugs[:1])
    write_generated(tmp_path / "out", 1000, seed=0, format="csv", catalog=catalog)
    assert {row["itemid"] for row in read(tmp_path / "out/hosp/labevents.csv")} == {known.labs[0].itemid}
    assert {row["drug"] for row in read(tmp_path / "out/hosp/prescriptions.csv")} == {known.drugs[0].name}


def test_what_cannot_be_generated(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown format 'csv\.gzip'\. Did you mean 'csv\.gz'"):
        write_generated(tmp_path / "out", 1000, 0, format="csv.gzip")
    with pytest.raises(InputError, match="lab_rows is 999, expected at least 1,000"):
        write_generated(tmp_path / "out", 999, 0)
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine").touch()
    with pytest.raises(InputError, match="out is there already"):
        write_generated(tmp_path / "out", 1000, 0)


@pytest.mark.parametrize("file_format", FORMATS)
def test_nothing_is_left_where_the_disk_is_full(tmp_path: Path, file_format: str) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        with pytest.raises(RunError, match=r"out cannot be written .*nothing was left there"):
            write_generated(tmp_path / "target/out", 20_000, 0, format=file_format)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list((tmp_path / "target").iterdir()) == []


def test_batches_do_not_share_patients() -> None:
    first, second = (draw_admissions(start, 40, np.random.default_rng([0, start])) for start in (0, 40))
    assert not {*first.subject} & {*second.subject}
    assert [*first.hadm, *second.hadm] == [*range(FIRST_HADM, FIRST_HADM + 80)]


@pytest.mark.parametrize("rows", [0, 1, 13, 14, 15, 997])
def test_a_batch_gives_the_rows_that_it_is_asked_for(rows: int) -> None:
    rng = np.random.default_rng(0)
    batch = Batch(draw_admissions(0, 7, rng), built_in_catalog(), rng)
    assert lab_table(batch, rows, 1, 1).num_rows == rows
    assert batch.prescriptions(rows).num_rows == rows
    assert batch.transfers(rows, 1).num_rows == max(rows, 7)
    assert batch.diagnoses(rows).num_rows <= rows


@pytest.mark.parametrize(
    "text", ["plain", "a,b", 'a "b"', "two\nlines", "carriage\rreturn", "", " blank ", "ü", '"', ","]
)
def test_what_is_written_is_read_again(text: str) -> None:
    table = pa.table(
        {"id": pa.array([1, None]), "text": [text, text], "coded": pa.array([text, "x"]).dictionary_encode()}
    )
    rows = list(csv.reader(io.StringIO(bytes(csv_lines(table)).decode(), newline="")))
    assert rows == [["1", text, text], ["", text, "x"]]


def test_pieces_of_chunked_and_sliced_tables() -> None:
    table = pa.concat_tables([pa.table({"text": ["a", "b"]}), pa.table({"text": ["c", None]})])
    assert bytes(csv_lines(table)) == b"a\nb\nc\n\n"
    assert bytes(csv_lines(table.slice(1, 2))) == b"b\nc\n"
    assert bytes(csv_lines(table.slice(0, 0))) == b""


def test_times_are_written_as_in_mimic() -> None:
    table = pa.table(
        {
            "charttime": np.array(["2150-01-02T03:04:05", "NaT"], dtype="datetime64[s]"),
            "chartdate": np.array(["2150-01-02", "NaT"], dtype="datetime64[D]"),
        }
    )
    assert bytes(csv_lines(table)) == b"2150-01-02 03:04:05,2150-01-02\n,\n"


def test_a_writer_counts_its_rows(tmp_path: Path) -> None:
    def pieces() -> Iterator[pa.Table]:
        yield pa.table({"id": [1, 2]})
        yield pa.table({"id": [3]})

    with TableWriter(tmp_path, "table", "csv.gz") as writer:
        for piece in pieces():
            writer.write(piece)
    assert writer.rows == 3
    assert [row["id"] for row in read(tmp_path / "table.csv.gz")] == ["1", "2", "3"]
