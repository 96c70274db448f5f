"""`resources add`: plain files and archives are read before they are taken in, and all or nothing."""

import gzip
import json
import os
import signal
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from atc_table import table as atc_table
from drug_table import HEADER, ROWS
from hypothesis import given, settings
from hypothesis import strategies as st
from loinc_release import NAMES, NAMES_COLUMNS, csv_text, write_hierarchy

from clinical_evals.errors import InputError
from clinical_evals.ontology.icd10cm_files import package_files
from clinical_evals.ontology.loinc import LOINC
from clinical_evals.ontology.loinc_names import read_names
from clinical_evals.ontology.resources import find, find_optional, unchanged
from clinical_evals.ontology.resources.archive import is_archive, member_chunks
from clinical_evals.ontology.resources.content import sha256_of
from clinical_evals.ontology.resources.folder import RECORD, kept_folder, read_record
from clinical_evals.ontology.resources.listing import list_resources, verify
from clinical_evals.ontology.resources.manifest import Resource, get_resource
from clinical_evals.ontology.resources.store import Added, add_file

DRUGS = (HEADER + ROWS).encode()
DRUG_ATC = get_resource("drug-atc")
ATC = get_resource("atc")


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The kept folder, which is not there yet."""
    monkeypatch.delenv("CLINICAL_EVALS_RESOURCES", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    return kept_folder()


def write(folder: Path, content: bytes, name: str) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def archive(folder: Path, members: Sequence[tuple[str, bytes]], name: str = "release.zip") -> Path:
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as opened:
        for member, content in members:
            opened.writestr(member, content)
    return folder / name


def files_in(folder: Path) -> list[str]:
    """Files below a folder, without the lock."""
    if not folder.exists():
        return []
    return sorted(
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and path.name != ".lock"
    )


def test_a_file_is_copied_and_recorded(tmp_path: Path, kept: Path) -> None:
    source = write(tmp_path, DRUGS, "my own map.csv")  # any name will do: the record says what it is
    added = add_file(DRUG_ATC, source)
    assert find("drug-atc") == added.path
    assert added.path.read_bytes() == DRUGS == source.read_bytes()
    assert json.loads((kept / RECORD).read_text(encoding="utf-8")) == {
        "drug-atc": {
            "file": str(added.path.relative_to(kept)),
            "sha256": sha256_of(source),
            "size": len(DRUGS),
            "origin": str(source),
            # 7 rows; one GSN stands twice, one NDC stands twice, and two rows have none.
            "content": "6 GSNs and 4 NDCs; 0 malformed values",
            "entries": 7,
            "mtime_ns": added.path.stat().st_mtime_ns,
        }
    }
    assert files_in(kept) == sorted([str(added.path.relative_to(kept)), RECORD])


def test_another_release_replaces_the_former_one(tmp_path: Path, kept: Path) -> None:
    first = add_file(ATC, write(tmp_path, atc_table(), "who_atc_2024.csv"))
    drugs = add_file(DRUG_ATC, write(tmp_path, DRUGS, "map.csv"))
    second = add_file(ATC, write(tmp_path, atc_table().replace(b"metformin", b"Metformin"), "who_atc_2025.csv"))
    assert "release 2024" in first.recorded.content
    assert "release 2025" in second.recorded.content
    assert find("atc") == second.path
    assert find("drug-atc") == drugs.path
    assert not first.path.exists()
    assert len(files_in(kept)) == 3


def test_the_same_file_twice_changes_nothing(tmp_path: Path, kept: Path) -> None:
    source = write(tmp_path, DRUGS, "map.csv")
    first = add_file(DRUG_ATC, source)
    second = add_file(DRUG_ATC, source)
    assert second.path == first.path
    assert second.recorded._replace(mtime_ns=0) == first.recorded._replace(mtime_ns=0)
    again = add_file(DRUG_ATC, first.path)  # from the folder itself
    assert again.path == first.path
    assert again.path.read_bytes() == DRUGS


def test_the_member_of_an_archive_is_taken_out(tmp_path: Path) -> None:
    members = [
        ("ethos/data/", b""),
        ("ethos/data/README.md", b"read me"),
        ("__MACOSX/ethos/data/gsn_atc_ndc_mapping.csv", b"what macOS adds"),
        ("ethos/data/gsn_atc_ndc_mapping.csv", DRUGS),
    ]
    path = archive(tmp_path, members, "without a suffix that says so")
    added = add_file(DRUG_ATC, path)
    assert added.path.name == "gsn_atc_ndc_mapping.csv"
    assert added.path.read_bytes() == DRUGS
    assert added.recorded.origin == f"{path}, member gsn_atc_ndc_mapping.csv"


@pytest.mark.parametrize(
    "member",
    ["../../gsn_atc_ndc_mapping.csv", "/etc/gsn_atc_ndc_mapping.csv", "a/../../../../gsn_atc_ndc_mapping.csv"],
)
def test_no_name_of_an_archive_becomes_a_path(member: str, tmp_path: Path, kept: Path) -> None:
    before = set(files_in(tmp_path))
    path = archive(tmp_path, [(member, DRUGS)])
    added = add_file(DRUG_ATC, path)
    assert added.path.parent.parent == kept / "drug-atc"
    new = set(files_in(tmp_path)) - before - {path.name}
    assert {str((tmp_path / name).relative_to(kept)) for name in new} == {added.recorded.file, RECORD}


def test_a_backslash_is_part_of_a_name_that_is_none_of_ours(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="1 members, but none is the map of drugs"):
        add_file(DRUG_ATC, archive(tmp_path, [("..\\..\\gsn_atc_ndc_mapping.csv", DRUGS)]))


def bad_crc(folder: Path) -> Path:
    """The member is stored as it is, and one of its bytes is another one afterwards."""
    path = folder / "damaged.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as opened:
        opened.writestr("gsn_atc_ndc_mapping.csv", DRUGS)
    return write(folder, path.read_bytes().replace(b"004763", b"004769", 1), path.name)


def encrypted(folder: Path) -> Path:
    """The flag that says so, in the member's own header and in the directory."""
    content = bytearray(archive(folder, [("gsn_atc_ndc_mapping.csv", DRUGS)]).read_bytes())
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    return write(folder, bytes(content), "encrypted.zip")


def packed_with_lzma(folder: Path) -> Path:
    path = folder / "lzma.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as opened:
        opened.writestr("gsn_atc_ndc_mapping.csv", DRUGS)
    return path


def cut_off(folder: Path) -> Path:
    content = archive(folder, [("gsn_atc_ndc_mapping.csv", DRUGS)]).read_bytes()
    return write(folder, content[: len(content) // 2], "cut.zip")


def of_two_years(folder: Path) -> Path:
    return archive(folder, [("2025/gsn_atc_ndc_mapping.csv", DRUGS), ("2026/gsn_atc_ndc_mapping.csv", DRUGS)])


def test_archives_that_cannot_be_used(tmp_path: Path, kept: Path) -> None:
    for make, said in (
        (bad_crc, r"gsn_atc_ndc_mapping\.csv is cut off or damaged \(Bad CRC-32"),
        (encrypted, r"gsn_atc_ndc_mapping\.csv cannot be read \(.*encrypted.*Unpack it and add it"),
        (packed_with_lzma, r"packed in an unusual way \(method 14\)\. Unpack it and add it"),
        (cut_off, r"cut\.zip: the zip archive is cut off or damaged"),
        (of_two_years, r"2 members that could be .*2025/gsn_.*, 2026/gsn_.*Take the right one out"),
        (lambda folder: archive(folder, []), r"0 members, but none is .*it has nothing"),
        (lambda folder: archive(folder, [("Loinc.csv", b"x")]), r"1 members, but none is .*it has Loinc\.csv"),
    ):
        with pytest.raises(InputError, match=said):
            add_file(DRUG_ATC, make(tmp_path))
        assert files_in(kept) == []


@settings(max_examples=300, deadline=None)
@given(
    packing=st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]),
    changes=st.lists(st.tuples(st.integers(0, 600), st.integers(0, 255)), min_size=1, max_size=4),
    cut=st.integers(0, 100),
)
def test_a_damaged_archive_is_an_error_of_ours_or_harmless(
    packing: int, changes: list[tuple[int, int]], cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp()
    path = folder / "damaged.zip"
    with zipfile.ZipFile(path, "w", packing) as opened:
        opened.writestr("folder/gsn_atc_ndc_mapping.csv", DRUGS)
        opened.writestr("é", b"another member")
    content = bytearray(path.read_bytes())
    for place, value in changes:
        content[place % len(content)] = value
    path.write_bytes(content[: max(4, len(content) - (cut if cut > 90 else 0))])
    if not is_archive(path):
        return  # its first four bytes were hit: then it is read as a plain file, which fails by its content
    try:
        member = member_chunks(path, DRUG_ATC)
        assert "/" not in member.name
        # A CRC-32 tells any damage of the content; what was hit otherwise was nothing that is used.
        assert b"".join(member.chunks) in (DRUGS, b"another member")
    except InputError:
        pass


def test_nothing_larger_than_the_resource_ever_is(tmp_path: Path, kept: Path) -> None:
    small = DRUG_ATC._replace(largest=len(DRUGS))
    add_file(small, write(tmp_path, DRUGS, "map.csv"))
    before = files_in(kept)
    smaller = small._replace(largest=len(DRUGS) - 1)
    # A bomb: what it unpacks to is not announced truly, so the bytes are counted.
    bomb = archive(tmp_path, [("gsn_atc_ndc_mapping.csv", DRUGS + b"\n" * 10_000_000)])
    assert bomb.stat().st_size < 20_000
    for source in (tmp_path / "map.csv", bomb):
        with pytest.raises(InputError, match=r"larger than .* bytes, which the map of drugs .* never is"):
            add_file(smaller, source)
    assert files_in(kept) == before


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"<!DOCTYPE html><html>log in</html>", "a web page, not the file itself"),
        (b"gsn;atc;ndc\n", "no column gsn, atc, ndc"),
        (DRUGS[:-1], "cut off"),
        (b"", "no column"),
        (DRUGS + b"M\xe9ni\xe8re,A10BA02,0\n", "not UTF-8"),
    ],
)
def test_what_cannot_be_read_is_not_taken_in(content: bytes, said: str, tmp_path: Path, kept: Path) -> None:
    good = add_file(DRUG_ATC, write(tmp_path, DRUGS, "good.csv"))
    before = files_in(kept)
    source = write(tmp_path, content, "bad.csv")
    for path in (source, archive(tmp_path, [("gsn_atc_ndc_mapping.csv", content)])):
        with pytest.raises(InputError, match=said) as error:
            add_file(DRUG_ATC, path)
        assert str(path) in str(error.value)  # the file of the user, not the one aside
        assert ".adding-" not in str(error.value)
        assert files_in(kept) == before
        assert find("drug-atc") == good.path


def test_no_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"does not exist, expected the map of drugs .*or the zip archive"):
        add_file(DRUG_ATC, tmp_path / "none.csv")
    with pytest.raises(InputError, match="is a folder"):
        add_file(DRUG_ATC, tmp_path)


def test_a_kept_folder_that_cannot_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(write(tmp_path, b"", "a-file")))
    with pytest.raises(InputError, match=r"cannot be written to .*XDG_DATA_HOME"):
        add_file(DRUG_ATC, write(tmp_path, DRUGS, "map.csv"))


_PROGRAM = """
import sys, time
from pathlib import Path
from clinical_evals.ontology.resources import store
from clinical_evals.ontology.resources.manifest import get_resource
read = store.read_resource
def slowly(*arguments):
    print("reading", flush=True)
    time.sleep(float(sys.argv[2]))
    return read(*arguments)
store.read_resource = slowly
store.add_file(get_resource("drug-atc"), Path(sys.argv[1]))
"""


def start(source: Path, seconds: float) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, str(source), str(seconds)], stdout=subprocess.PIPE, text=True, env=os.environ
    )
    assert process.stdout
    assert process.stdout.readline() == "reading\n"
    return process


def test_a_killed_add_leaves_nothing_that_counts(tmp_path: Path, kept: Path) -> None:
    source = write(tmp_path, DRUGS, "gsn_atc_ndc_mapping.csv")
    process = start(source, 60)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert any(".adding-" in name for name in files_in(kept))  # it was in the middle of it
    assert find_optional("drug-atc") is None
    added = add_file(DRUG_ATC, source)
    assert files_in(kept) == sorted([added.recorded.file, RECORD])  # and what it left is gone


def test_two_at_once_wait_for_each_other(tmp_path: Path, kept: Path) -> None:
    first = write(tmp_path, DRUGS, "first.csv")
    process = start(first, 0.5)
    atc = add_file(ATC, write(tmp_path, atc_table(), "who_atc_2024.csv"))
    assert process.wait() == 0
    record = read_record(kept)
    assert set(record) == {"atc", "drug-atc"}
    assert record["atc"] == atc.recorded
    assert find("drug-atc").read_bytes() == DRUGS


def added_drugs(folder: Path) -> Added:
    return add_file(DRUG_ATC, write(folder, DRUGS, "map.csv"))


def test_verify_reads_and_hashes_again(tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [result.state for result in verify(DRUG_ATC)] == ["absent"]
    added = added_drugs(tmp_path)
    (result,) = verify(DRUG_ATC)
    assert result.state == "note"
    assert "not the pinned file of ethos-paper: 7 of 4,770 rows; kept as your own" in result.said
    assert added.recorded.sha256 in result.said
    assert added.recorded.content in result.said
    changed = DRUGS.replace(b"A10BA02", b"A10BA03", 1)  # still a map, but not the one that was added
    added.path.write_bytes(changed)
    (result,) = verify(DRUG_ATC)
    assert result.state == "bad"
    assert "it was changed or damaged since. Add it again" in result.said
    # The user's own folder goes before; the kept file is looked at all the same.
    own = tmp_path / "own"
    own.mkdir()
    write(own, DRUGS, "gsn_atc_ndc_mapping.csv")
    monkeypatch.setenv("CLINICAL_EVALS_RESOURCES", str(own))
    assert [result.state for result in verify(DRUG_ATC)] == ["note", "bad"]
    write(own, DRUGS[:100], "gsn_atc_ndc_mapping.csv")
    assert [result.state for result in verify(DRUG_ATC)] == ["bad", "bad"]


def test_a_kept_file_that_was_changed_is_not_used(tmp_path: Path) -> None:
    added = added_drugs(tmp_path)
    later = added.recorded.mtime_ns + 10**9
    added.path.write_bytes(DRUGS + b"015559,A10BA02,0\n")  # another size
    changed = f"{added.path}: SHA-256 .* when it was added: it was changed .*resources add drug-atc FILE .*verify"
    with pytest.raises(InputError, match=changed):
        find("drug-atc")
    added.path.write_bytes(DRUGS.replace(b"A10BA02", b"A10BA03", 1))  # the same size, at another time
    os.utime(added.path, ns=(later, later))
    with pytest.raises(InputError, match=changed):
        find_optional("drug-atc")
    assert [(one.state, bool(one.found)) for one in list_resources() if one.resource is DRUG_ATC] == [
        ("problem", False)
    ]
    added.path.write_bytes(DRUGS)  # as it was, at another time: a folder that was copied
    os.utime(added.path, ns=(later, later))
    assert find("drug-atc") == added.path
    added.path.write_bytes(b"")
    again = add_file(DRUG_ATC, tmp_path / "map.csv")  # which is what the message advises
    assert find("drug-atc") == again.path == added.path


def test_an_unchanged_file_is_not_hashed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    added = added_drugs(tmp_path)

    def hashed(path: Path) -> str:
        raise AssertionError(path)

    monkeypatch.setattr(unchanged, "sha256_of", hashed)
    assert find("drug-atc") == added.path


def test_a_record_of_an_earlier_version_is_read(tmp_path: Path, kept: Path) -> None:
    added = added_drugs(tmp_path)
    record = json.loads((kept / RECORD).read_text(encoding="utf-8"))
    del record["drug-atc"]["mtime_ns"], record["drug-atc"]["entries"]
    (kept / RECORD).write_text(json.dumps(record), encoding="utf-8")
    assert find("drug-atc") == added.path
    added.path.write_bytes(DRUGS[:100])
    with pytest.raises(InputError, match="it was changed or damaged since"):
        find("drug-atc")


def without_versions() -> bytes:
    return csv_text(NAMES_COLUMNS[:-1], [row[:-1] for row in NAMES]).encode()


@pytest.mark.parametrize(
    ("archive_name", "member", "release"),
    [
        ("Loinc_2.78.zip", "LoincTable/Loinc.csv", "2.78"),
        ("Loinc_2.8_Text (1).zip", "Loinc.csv", "2.08"),
        ("release.zip", "Loinc_2.80/LoincTable/Loinc.csv", "2.80"),
        ("release.zip", "LoincTable/Loinc.csv", ""),
    ],
)
def test_the_release_of_names_stands_in_what_they_came_in(
    archive_name: str, member: str, release: str, tmp_path: Path
) -> None:
    path = archive(tmp_path, [(member, without_versions())], archive_name)
    added = add_file(get_resource("loinc-names"), path)
    assert added.path.name == (f"Loinc_{release}.csv" if release else "Loinc.csv")
    assert added.recorded.content == f"names of {len(NAMES)} LOINC numbers, release {release or 'unknown'}"
    system = LOINC(write_hierarchy(tmp_path), find("loinc-names"))
    assert system.release.startswith(release or "of unknown version")
    # A column that tells goes before.
    told = archive(tmp_path, [(member, csv_text(NAMES_COLUMNS, NAMES).encode())], archive_name)
    assert "release 2.78" in add_file(get_resource("loinc-names"), told).recorded.content


def test_the_release_of_names_stands_in_the_folder_they_lie_in(tmp_path: Path, kept: Path) -> None:
    folder = tmp_path / "Loinc_2.79" / "LoincTable"
    folder.mkdir(parents=True)
    names = get_resource("loinc-names")
    elsewhere = add_file(names, write(tmp_path, without_versions(), "Loinc.csv"))
    added = add_file(names, write(folder, without_versions(), "Loinc.csv"))
    assert added.path.name == "Loinc_2.79.csv"
    assert not elsewhere.path.exists()  # the same bytes, by a name that tells less
    assert len(files_in(kept)) == 2
    assert read_names(folder / "Loinc.csv", ()).version == "2.79"  # in a folder of the user's own too


def test_verify_knows_what_stands_in() -> None:
    (result,) = verify(get_resource("icd10cm-release"))
    assert result.state == "ok"
    assert "simple-icd-10-cm" in result.said


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("icd10pcs-order", "icd10pcs_order_2022.txt"),
        ("icd10pcs-tables", "icd10pcs_tables_2020.xml"),
        ("loinc-hierarchy", "ComponentHierarchyBySystem.csv"),
        ("loinc-names", "Loinc.csv"),
        ("lab-items", "d_labitems_to_loinc.csv"),
        ("atc", "who_atc_ddd_2026-04-25.csv"),
        ("drug-atc", "gsn_atc_ndc_mapping.csv.gz"),
    ],
)
def test_the_real_files_are_taken_in(name: str, file: str, release_files: Path, tmp_path: Path) -> None:
    resource: Resource = get_resource(name)
    plain = add_file(resource, release_files / file)
    packed = archive(tmp_path, [(f"Some Folder/{file}", (release_files / file).read_bytes())])
    unpacked = add_file(resource, packed)
    assert unpacked.path == plain.path == find(name)
    assert unpacked.recorded.sha256 == plain.recorded.sha256
    if resource.download and (pinned := resource.download.pinned):  # the address gives this very file
        assert (plain.recorded.sha256, plain.recorded.entries) == (pinned.sha256, pinned.entries)
        if pinned.unpacked:  # as a browser may store it
            content = gzip.decompress((release_files / file).read_bytes())
            unzipped = add_file(resource, write(tmp_path, content, "unpacked.csv"))
            assert unzipped.recorded.sha256 == pinned.unpacked
            assert [result.state for result in verify(resource)] == ["ok"]
            add_file(resource, release_files / file)
    assert unpacked.path.stat().st_size < resource.largest / 2  # room for the releases to come
    (result,) = verify(resource)
    assert result.state == "ok"


def test_the_tabular_list_of_another_release() -> None:
    tabular, _ = package_files()
    added = add_file(get_resource("icd10cm-release"), tabular)
    assert "release April 2026" in added.recorded.content
    assert added.path.read_bytes() == tabular.read_bytes()
