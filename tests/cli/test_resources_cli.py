"""`clinical-evals resources`: what it prints, its exit codes, and that a whole session of it works."""

import json
import zipfile
from pathlib import Path

import pytest
from file_server import FileServer, serving
from loinc_release import NAMES, NAMES_COLUMNS, csv_text, write_hierarchy, write_names

from clinical_evals.cli import main
from clinical_evals.ontology.resources import manifest

DRUGS = b"gsn,atc,ndc\n004763,A10BA02,00087606005\n004764,A10BD07,00006057561\n"
BROKEN = b"gsn,atc,ndc\n004763,A10BA02,00087"


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The kept folder, which is not there yet."""
    monkeypatch.delenv("CLINICAL_EVALS_RESOURCES", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return tmp_path / "share" / "clinical-evals" / "resources"


def run(*arguments: object) -> int:
    return main(["resources", *map(str, arguments)])


def write(folder: Path, content: bytes, name: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(content)
    return folder / name


def test_add_list_path_verify(tmp_path: Path, kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("add", "drug-atc", write(tmp_path, DRUGS, "map.csv")) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "drug-atc: 2 GSNs and 2 NDCs; 0 malformed values"
    path = Path(said[1].removeprefix("kept as "))
    assert path.is_relative_to(kept)
    remark = "not the pinned file of ethos-paper: 2 of 4,770 rows; kept as your own"
    assert said[2:] == [f"Note: {remark}."]
    assert run("path", "drug-atc") == 0
    assert capsys.readouterr().out == f"{path}\n"  # for `$(…)`: the path only
    assert run("list") == 0
    listed = capsys.readouterr().out
    assert f"kept folder: {kept}" in listed
    assert "CLINICAL_EVALS_RESOURCES: not set" in listed
    assert f"found: {path} (kept folder)\n  note: {remark}\n" in listed
    for resource in manifest.RESOURCES:
        assert f"\n{resource.name}: {resource.what}\n" in listed
        assert resource.licence in listed
    assert run("verify") == 0
    verified = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in verified if " drug-atc:" in line] == ["note"]
    assert [line.split()[0] for line in verified if " atc:" in line] == ["absent"]  # told, but no failure


def test_list_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("add", "drug-atc", write(tmp_path, DRUGS, "map.csv")) == 0
    capsys.readouterr()
    assert run("list", "--json") == 0
    listed = {one["name"]: one for one in json.loads(capsys.readouterr().out)}
    assert list(listed) == [resource.name for resource in manifest.RESOURCES]
    assert listed["drug-atc"]["state"] == "found"
    assert listed["drug-atc"]["remark"].startswith("not the pinned file of ethos-paper: 2 of 4,770 rows")
    assert listed["atc"]["remark"] is None
    assert Path(listed["drug-atc"]["path"]).read_bytes() == DRUGS
    assert listed["atc"]["state"] == "absent"
    assert listed["atc"]["path"] is None
    assert listed["icd10pcs-order"]["releases"][0] == "2022"


def test_an_archive_and_what_goes_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = write(tmp_path / "own", DRUGS, "gsn_atc_ndc_mapping.csv")
    monkeypatch.setenv("CLINICAL_EVALS_RESOURCES", str(first.parent))
    with zipfile.ZipFile(tmp_path / "release.zip", "w") as archive:
        archive.writestr("a/gsn_atc_ndc_mapping.csv", DRUGS)
    assert run("add", "drug-atc", tmp_path / "release.zip") == 0
    assert f"Note: {first} goes before it, as CLINICAL_EVALS_RESOURCES names" in capsys.readouterr().out
    write(first.parent, DRUGS, "gsn_atc_ndc_mapping-2.csv")  # now the user's folder has two
    assert run("add", "drug-atc", tmp_path / "release.zip") == 0
    assert "Note: it is not used yet." in capsys.readouterr().out


def test_fetch_tells_and_takes_in(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    known = manifest._BY_NAME["drug-atc"]
    assert known.download
    unhashed = known._replace(download=known.download._replace(pinned=None))
    monkeypatch.setitem(manifest._BY_NAME, "drug-atc", unhashed)
    with serving(FileServer(DRUGS)) as server:
        address = f"{server.url}/gsn_atc_ndc_mapping.csv"
        assert run("fetch", "drug-atc", "--address", address, "--timeout", 20) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[:4] == [
        f"fetching drug-atc: {address}",
        "licence: ethos-paper, MIT",
        f"size: {len(DRUGS)} bytes",
        "drug-atc: 2 GSNs and 2 NDCs; 0 malformed values",
    ]
    assert run("path", "drug-atc") == 0


def test_a_fixed_hash_holds_for_any_address(capsys: pytest.CaptureFixture[str]) -> None:
    with serving(FileServer(DRUGS)) as server:
        assert run("fetch", "drug-atc", "--address", f"{server.url}/gsn_atc_ndc_mapping.csv") == 3
    err = capsys.readouterr().err
    assert "expected 50ad9fdd0ff2724a95a1baac7da24270524826bb2274d96849c95afb2ded0e94" in err
    assert err.splitlines()[-1].startswith("clinical-evals: error: drug-atc could not be fetched from")
    assert run("path", "drug-atc") == 3


@pytest.mark.parametrize(
    ("arguments", "exit_code", "said"),
    [
        (["path", "atc"], 3, "atc is not on this machine"),
        (["path", "atcc"], 2, "unknown resource 'atcc'. Did you mean 'atc'"),
        (["add", "atc", "nothing.csv"], 2, "nothing.csv does not exist, expected a table of the WHO's ATC/DDD index"),
        (["add", "lonic-names", "x"], 2, "Did you mean 'loinc-names'"),
        (["fetch", "loinc-names"], 2, "log in there, agree to the licence"),
        (["fetch", "atc"], 2, "atc is not for a program to fetch"),
        (["fetch", "icd10pcs-order", "--release", "1999"], 2, "--release 1999: no address of that release"),
        (["fetch", "icd10pcs-order", "--address", "order.zip"], 2, "expected an http(s) address"),
        (["verify", "atc"], 2, "1 of 1 cannot be used: atc"),  # asked for by name, so absent is a failure
        (["verify", "atc", "nonsense"], 2, "unknown resource 'nonsense'"),
    ],
)
def test_errors_name_the_way_out(
    arguments: list[str], exit_code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == exit_code
    captured = capsys.readouterr()
    assert said in captured.err
    assert "Traceback" not in captured.err
    assert arguments[0] == "verify" or not captured.out


def test_verify_fails_where_a_file_is_no_longer_what_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("add", "drug-atc", write(tmp_path, DRUGS, "map.csv")) == 0
    path = Path(capsys.readouterr().out.splitlines()[1].removeprefix("kept as "))
    path.write_bytes(BROKEN)
    assert run("verify") == 2
    captured = capsys.readouterr()
    assert "bad    drug-atc: " in captured.out
    assert "it was changed or damaged since" in captured.out
    assert "1 of 8 cannot be used: drug-atc" in captured.err


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "soon"])
def test_a_timeout_is_a_number_above_zero(seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as error:
        run("fetch", "drug-atc", "--timeout", seconds)
    assert error.value.code == 2
    assert "--timeout" in capsys.readouterr().err


def test_half_of_the_names_is_said_beside_the_hierarchy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Six numbers are below Laboratory; the first half of the rows names 2345-7, 2339-0 (composed) and 718-7."""
    assert run("add", "loinc-hierarchy", write_hierarchy(tmp_path)) == 0
    lines = csv_text(NAMES_COLUMNS, NAMES[:3])
    capsys.readouterr()
    assert run("add", "loinc-names", write_names(tmp_path, lines)) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "loinc-names: names of 3 LOINC numbers, release 2.78"
    assert said[2].startswith("Note: 3 of the 6 LOINC numbers below Laboratory in ")
    assert run("verify", "loinc-names", "loinc-hierarchy") == 0
    verified = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in verified] == ["note", "note"]
    assert all("3 of the 6 LOINC numbers" in line for line in verified)
    whole = [*NAMES, ("1-8", "Something", "Bld", "ACTIVE", "", "", "Something in Blood", "", "2.1")]
    whole[3] = ("4548-4", "Hemoglobin A1c", "Bld", "ACTIVE", "", "", "", "", "1.0f")
    whole.append(("6690-2", "Leukocytes", "Bld", "ACTIVE", "", "", "Leukocytes", "", "2.1"))
    assert run("add", "loinc-names", write_names(tmp_path, csv_text(NAMES_COLUMNS, whole))) == 0
    assert "Note:" not in capsys.readouterr().out
    assert run("verify", "loinc-names") == 0
    assert capsys.readouterr().out.startswith("ok ")
