"""Where release files are looked for, in which order, and what is said when one is missing or twice there."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from clinical_evals.errors import InputError, ResourceMissingError, UnknownNameError
from clinical_evals.ontology import get_system
from clinical_evals.ontology.atc import atc
from clinical_evals.ontology.drugs import drug_map
from clinical_evals.ontology.icd10cm import icd10cm
from clinical_evals.ontology.icd10pcs import icd10pcs
from clinical_evals.ontology.lab_items import lab_items
from clinical_evals.ontology.loinc import loinc
from clinical_evals.ontology.resources import Found, find, find_optional, locate
from clinical_evals.ontology.resources.folder import RECORD, kept_folder
from clinical_evals.ontology.resources.listing import as_json, as_text, list_resources, verify
from clinical_evals.ontology.resources.manifest import RESOURCES, get_resource
from clinical_evals.ontology.resources.remarks import remark_on_hash

NAMES = [resource.name for resource in RESOURCES]


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The user's folder and the kept one, both empty."""
    own = tmp_path / "own"
    own.mkdir()
    monkeypatch.setenv("CLINICAL_EVALS_RESOURCES", str(own))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    kept_folder().mkdir(parents=True)
    return own, kept_folder()


def written(folder: Path, name: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("content", encoding="utf-8")
    return path


def record(folder: Path, name: str, file: str) -> None:
    entry = {"file": file, "sha256": "0" * 64, "size": 7, "origin": "there", "content": "1 code"}
    (folder / RECORD).write_text(json.dumps({name: entry}), encoding="utf-8")


def test_argument_before_variable_before_kept_folder(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    own, kept = folders
    argument = written(tmp_path, "whatever.csv")
    kept_file = written(kept, "who_atc_2024.csv")
    assert find("atc") == kept_file
    own_file = written(own, "who_atc_2025.csv")
    assert find("atc") == own_file
    assert find("atc", argument) == argument
    assert [locate(get_resource("atc"), explicit).by for explicit in (argument, None)] == [  # type: ignore[union-attr]
        "argument",
        "CLINICAL_EVALS_RESOURCES",
    ]
    # An argument that is wrong is an error, never a reason to take another file.
    with pytest.raises(InputError, match=r"nothing\.csv: no such file, expected a table of the WHO's ATC/DDD index"):
        find("atc", tmp_path / "nothing.csv")


def test_the_record_of_the_kept_folder_goes_before_what_was_put_there_by_hand(folders: tuple[Path, Path]) -> None:
    _, kept = folders
    written(kept, "who_atc_2024.csv")
    written(kept, "who_atc_2025.csv")
    added = written(kept, "atc/0123/mine.csv")
    record(kept, "atc", "atc/0123/mine.csv")
    assert find("atc") == added
    added.unlink()
    with pytest.raises(InputError, match=r"mine\.csv is gone.*clinical-evals resources add atc FILE"):
        find("atc")


def test_two_years_in_one_folder_are_both_named(folders: tuple[Path, Path]) -> None:
    own, kept = folders
    for name in ("icd10pcs_order_2025.txt", "icd10pcs-order-2026.txt"):
        written(own, name)
    with pytest.raises(InputError) as error:
        find("icd10pcs-order")
    for part in (str(own), "icd10pcs_order_2025.txt", "icd10pcs-order-2026.txt", "keep only one"):
        assert part in str(error.value)
    assert "resources add" not in str(error.value)  # which would not help in the user's own folder
    for path in own.iterdir():
        path.rename(kept / path.name)
    with pytest.raises(InputError, match="clinical-evals resources add icd10pcs-order FILE"):
        find_optional("icd10pcs-order")


@pytest.mark.parametrize(
    ("name", "resource"),
    [
        ("icd10pcs_order_2022.txt", "icd10pcs-order"),
        ("icd10pcs-order-2026.txt", "icd10pcs-order"),
        ("ICD10PCS_Order_2019.TXT", "icd10pcs-order"),
        ("icd10pcs_order_addenda_2022.txt", None),  # what changed, not the release
        ("icd10cm_order_2022.txt", None),  # diagnoses
        ("icd10pcs_tables_2020.xml", "icd10pcs-tables"),
        ("icd10pcs_index_2020.xml", None),
        ("icd10cm-tabular-April-1-2026.xml", "icd10cm-release"),
        ("icd10c-tabular-April-1-2026.xml", "icd10cm-release"),
        ("icd10cm_tabular_2021.xml", "icd10cm-release"),
        ("icd10cm-tabular-addenda-2026.xml", None),
        ("icd10cm-index-2026.xml", None),
        ("ComponentHierarchyBySystem.csv", "loinc-hierarchy"),
        ("MultiAxialHierarchy.csv", "loinc-hierarchy"),  # its name until 2.7x
        ("Loinc.csv", "loinc-names"),
        ("Loinc_2.80.csv", "loinc-names"),
        ("LoincPartLink_Primary.csv", None),
        ("LoincTableCore.csv", None),  # a release has it beside Loinc.csv, with fewer columns
        ("d_labitems_to_loinc.csv", "lab-items"),
        ("d_labitems.csv.gz", None),
        ("who_atc_ddd_2026-04-25.csv", "atc"),
        ("WHO ATC-DDD 2026-04-25.csv", "atc"),
        ("my_atc_ddd.csv.gz", "atc"),
        ("WHO ATC-DDD-combinations 2026-04-25.csv", None),
        ("matcher_ddd.csv", None),
        ("gsn_atc_ndc_mapping.csv.gz", "drug-atc"),
        ("gsn_atc_ndc_mapping.csv", "drug-atc"),
        ("README.md", None),
    ],
)
def test_which_file_names_are_which_resource(name: str, resource: str | None, folders: tuple[Path, Path]) -> None:
    written(folders[0], name)
    found = [other for other in NAMES if find_optional(other) is not None]
    assert found == ([resource] if resource else [])


def test_folders_and_names_with_a_path_in_them_are_no_files(folders: tuple[Path, Path]) -> None:
    (folders[0] / "Loinc.csv").mkdir()
    written(folders[0], "Loinc/LoincTable/Loinc.csv")  # only the folder itself is looked into
    assert find_optional("loinc-names") is None


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_resource_carries_the_command_that_brings_it(name: str) -> None:
    assert find_optional(name) is None
    with pytest.raises(ResourceMissingError) as error:
        find(name)
    resource, said = get_resource(name), str(error.value)
    assert f"clinical-evals resources add {name} FILE" in said
    assert ("clinical-evals resources fetch" in said) == (resource.download is not None)
    assert "CLINICAL_EVALS_RESOURCES=FOLDER" in said
    assert resource.official in said
    assert not resource.instead or f"pip install {resource.instead}" in said


def test_only_what_its_licence_lets_a_program_take_has_an_address() -> None:
    # LOINC asks for a login and a click, WHO's ATC is for non-commercial use.
    assert {resource.name for resource in RESOURCES if not resource.download} == {
        "loinc-hierarchy",
        "loinc-names",
        "atc",
    }
    for resource in RESOURCES:
        assert resource.licence
        assert resource.official.startswith("https://")
        for address in resource.download.addresses.values() if resource.download else ():
            assert address.startswith("https://")
            # A hash is fixed only where the address is: GitHub's, of one commit.
            assert bool(resource.download and resource.download.pinned) == bool(re.search("/[0-9a-f]{40}/", address))


def test_unknown_resource_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'icd10pcs-order'"):
        find("icd10pcs_order")


def test_the_variable_must_name_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLINICAL_EVALS_RESOURCES", str(tmp_path / "no-such-folder"))
    with pytest.raises(InputError, match=r"CLINICAL_EVALS_RESOURCES names .*no-such-folder, which is no folder"):
        find("atc")
    monkeypatch.setenv("CLINICAL_EVALS_RESOURCES", "")  # empty is as good as not set
    assert find_optional("atc") is None


def test_the_kept_folder_follows_xdg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    home = tmp_path / ".local" / "share" / "clinical-evals" / "resources"
    for value in ("", "relative/path"):  # XDG: a relative path does not count
        monkeypatch.setenv("XDG_DATA_HOME", value)
        assert kept_folder() == home
    monkeypatch.delenv("XDG_DATA_HOME")
    assert kept_folder() == home
    assert find_optional("atc") is None  # the folder need not exist


@pytest.mark.parametrize("content", ["{", "[1]", '{"atc": {"file": "x"}}', '{"atc": 1}', "\udcff"])
def test_a_damaged_record_is_named(content: str, folders: tuple[Path, Path]) -> None:
    (folders[1] / RECORD).write_bytes(content.encode("utf-8", errors="surrogateescape"))
    with pytest.raises(InputError, match=r"resources\.json is damaged .*Delete it and add the files again"):
        find("atc")


def test_the_list_tells_every_state(folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    own, _ = folders
    found = written(own, "who_atc.csv")
    for name in ("icd10pcs_order_2025.txt", "icd10pcs_order_2026.txt"):
        written(own, name)
    listed = {one.resource.name: one for one in list_resources()}
    states = {name: one.state for name, one in listed.items()}
    assert states == {
        "icd10cm-release": "package",  # simple-icd-10-cm is a dependency
        "icd10pcs-order": "problem",
        "icd10pcs-tables": "optional",
        "loinc-hierarchy": "absent",
        "loinc-names": "optional",
        "lab-items": "absent",
        "atc": "found",
        "drug-atc": "absent",
    }
    assert as_json(listed["atc"])["path"] == str(found)
    assert as_json(listed["loinc-names"])["fetch"] is None
    assert "keep only one of them" in as_json(listed["icd10pcs-order"])["problem"]
    assert f"found: {found} (CLINICAL_EVALS_RESOURCES)" in as_text(listed["atc"])
    assert "the package simple-icd-10-cm 1." in as_text(listed["icd10cm-release"])
    assert "get it: clinical-evals resources fetch lab-items" in as_text(listed["lab-items"])
    assert "get it: clinical-evals resources add loinc-names FILE (from https://loinc.org" in as_text(
        listed["loinc-names"]
    )


@pytest.mark.parametrize(
    ("file", "read"),
    [
        ("who_atc_ddd.csv", lambda: get_system("atc")),
        ("icd10pcs_order_2026.txt", lambda: get_system("icd10pcs")),
        ("ComponentHierarchyBySystem.csv", lambda: get_system("loinc")),
        ("icd10cm_tabular_2031.xml", lambda: get_system("icd10cm")),
        ("d_labitems_to_loinc.csv", lab_items),
        ("gsn_atc_ndc_mapping.csv", drug_map),
    ],
)
def test_a_bad_file_of_the_users_folder_is_to_be_replaced_there(
    file: str, read: Callable[[], object], folders: tuple[Path, Path]
) -> None:
    own, kept = folders
    way_out = "was found by CLINICAL_EVALS_RESOURCES, .*: replace the file there, or unset the variable"
    for accessor in (atc, icd10pcs, loinc, icd10cm, lab_items, drug_map):
        accessor.cache_clear()
    try:
        path = written(own, file)
        with pytest.raises(InputError, match=f"{re.escape(str(path))}.* But {re.escape(str(path))} {way_out}"):
            read()
        path.rename(kept / file)  # there `resources add` helps, since its record goes first
        with pytest.raises(InputError, match=re.escape(str(kept / file))) as error:
            read()
        assert "replace the file there" not in str(error.value)
    finally:
        for accessor in (atc, icd10pcs, loinc, icd10cm, lab_items, drug_map):
            accessor.cache_clear()


def test_verify_of_the_users_folder_says_where_to_replace(folders: tuple[Path, Path]) -> None:
    written(folders[0], "who_atc.csv")
    (result,) = verify(get_resource("atc"))
    assert result.state == "bad"
    assert "replace the file there, or unset the variable" in result.said


def test_the_list_hashes_a_file_of_the_users_folder_whose_hash_is_known(folders: tuple[Path, Path]) -> None:
    written(folders[0], "d_labitems_to_loinc.csv")
    (listed,) = [one for one in list_resources() if one.resource.name == "lab-items"]
    assert listed.remark == "not the pinned file of mimic-code 2.4.0; used as your own"
    assert listed.state == "found"


def test_half_of_the_pinned_map_is_said(release_files: Path, folders: tuple[Path, Path]) -> None:
    lines = (release_files / "d_labitems_to_loinc.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    half = folders[0] / "d_labitems_to_loinc.csv"
    half.write_text("".join(lines[:816]), encoding="utf-8")  # 815 and the header
    (result,) = verify(get_resource("lab-items"))
    assert result.state == "note"
    assert "not the pinned file of mimic-code 2.4.0: 815 of 1,630 lab items; used as your own" in result.said
    half.write_bytes((release_files / half.name).read_bytes())
    (result,) = verify(get_resource("lab-items"))
    assert result.state == "ok"


def test_more_than_the_pinned_file_has() -> None:
    found = Found(Path("map.csv"), "kept folder")
    said = remark_on_hash(get_resource("lab-items"), found, "0" * 64, 1_700)
    assert said == ("not the pinned file of mimic-code 2.4.0: 1,700 lab items, that one has 1,630; kept as your own")
    assert remark_on_hash(get_resource("atc"), found, "0" * 64, 5) == ""
