"""`resources fetch`, against a real server on this machine: what comes whole is taken in, every fault is one error."""

import hashlib
import zipfile
from pathlib import Path

import httpx
import pytest
from atc_table import table as atc_table
from drug_table import HEADER, ROWS
from file_server import FileServer, serving

from clinical_evals.errors import InputError, ResourceMissingError
from clinical_evals.ontology.resources import fetch as fetch_module
from clinical_evals.ontology.resources import find, find_optional
from clinical_evals.ontology.resources.fetch import address_of, fetch
from clinical_evals.ontology.resources.folder import kept_folder
from clinical_evals.ontology.resources.manifest import Download, Pinned, Resource, get_resource

DRUGS = (HEADER + ROWS).encode()
# The map's own hash is fixed: the small one of these tests gets its own.
DRUG_ATC = get_resource("drug-atc")._replace(
    download=Download({"small": "http://unused.invalid"}, Pinned(hashlib.sha256(DRUGS).hexdigest(), 7, "rows"))
)
UNHASHED = DRUG_ATC._replace(download=Download({"small": "http://unused.invalid"}))


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLINICAL_EVALS_RESOURCES", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def fetch_from(server: FileServer, resource: Resource = DRUG_ATC, timeout: float = 20.0) -> list[str]:
    """Fetches, and returns what was told before."""
    told: list[str] = []
    with serving(server):
        fetch(resource, told.append, address=f"{server.url}/data/gsn_atc_ndc_mapping.csv", timeout=timeout)
    return told


def test_a_file_is_fetched_told_of_and_recorded() -> None:
    server = FileServer(DRUGS)
    (told,) = fetch_from(server)
    address = f"{server.url}/data/gsn_atc_ndc_mapping.csv"
    assert told.splitlines() == [
        f"fetching drug-atc: {address}",
        "licence: ethos-paper, MIT",
        f"size: {len(DRUGS):,} bytes",
    ]
    path = find("drug-atc")
    assert path.name == "gsn_atc_ndc_mapping.csv"  # the name stays: readers tell the release from it
    assert path.read_bytes() == DRUGS
    ((asked, headers),) = server.asked
    assert asked == "/data/gsn_atc_ndc_mapping.csv"
    assert headers["user-agent"].startswith("clinical-evals/")


def test_an_archive_is_fetched_and_its_member_taken_out(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "release.zip", "w") as archive:
        archive.writestr("folder/gsn_atc_ndc_mapping.csv", DRUGS)
    server = FileServer((tmp_path / "release.zip").read_bytes(), announce=-1)
    (told,) = fetch_from(server)
    assert "size: not announced" in told
    assert find("drug-atc").read_bytes() == DRUGS


def test_redirects_are_followed_within_bounds() -> None:
    fetch_from(FileServer(DRUGS, redirects=5))
    assert find_optional("drug-atc") is not None
    with pytest.raises(ResourceMissingError, match=r"(?i)redirects"):
        fetch_from(FileServer(DRUGS, redirects=6))


_PAGE = b"\n<!DOCTYPE html><html><title>Page not found</title></html>"
FAULTS = {
    "404": (FileServer(b"no such page", status=404), DRUG_ATC, "the server answers 404"),
    "403": (FileServer(_PAGE, status=403), DRUG_ATC, "the server answers 403"),
    "500": (FileServer(b"", status=500), DRUG_ATC, "the server answers 500"),
    "part of it": (FileServer(DRUGS, status=206), DRUG_ATC, "the server answers 206"),
    "a page for an answer": (FileServer(_PAGE), DRUG_ATC, "a web page came instead of the file"),
    "a page, no hash known": (FileServer(_PAGE), UNHASHED, "a web page came instead of the file"),
    "cut off": (FileServer(DRUGS, announce=len(DRUGS) + 9), DRUG_ATC, "without sending complete message body"),
    "cut off, unannounced": (FileServer(DRUGS[:-5], announce=-1), UNHASHED, "what came: the last line .* cut off"),
    "another file": (FileServer(DRUGS + b"000001,A10,0\n"), DRUG_ATC, "SHA-256 .*, expected .*: not the file that"),
    "another table": (FileServer(atc_table()), UNHASHED, "what came: no column gsn, atc, ndc"),
    "an archive cut off": (FileServer(b"PK\x03\x04" + b"\0" * 50), UNHASHED, "the zip archive is cut off or damaged"),
    "nothing": (FileServer(b""), UNHASHED, "what came: no column"),
    "too large, announced": (FileServer(DRUGS, announce=10**12), DRUG_ATC, "1,000,000,000,000 bytes, more than the"),
    "too large, unannounced": (
        FileServer(DRUGS, announce=-1),
        DRUG_ATC._replace(largest=len(DRUGS) - 1),
        "more than the .* bytes that it ever has",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_one_error_and_nothing_is_taken_in(fault: str) -> None:
    server, resource, said = FAULTS[fault]
    with pytest.raises(ResourceMissingError, match=said) as error:
        fetch_from(server, resource)
    for part in (server.url, "Nothing was taken in", "https://github.com/ipolharvard", "resources add drug-atc FILE"):
        assert part in str(error.value)
    assert find_optional("drug-atc") is None
    folder = kept_folder()
    assert not folder.exists() or [path.name for path in folder.iterdir() if path.name != ".lock"] == []


@pytest.mark.parametrize("silent", ["head", "body"])
def test_a_server_that_falls_silent(silent: str) -> None:
    with pytest.raises(ResourceMissingError, match=r"no answer within 0\.2 seconds \(ReadTimeout\)"):
        fetch_from(FileServer(DRUGS, silent=silent), timeout=0.2)
    assert find_optional("drug-atc") is None


def test_a_download_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch_module, "LONGEST", -1.0)  # seconds: over before it began
    with pytest.raises(ResourceMissingError, match="not complete after -1 seconds"):
        fetch_from(FileServer(DRUGS))


def test_nobody_listens() -> None:
    with serving(FileServer()) as server:
        pass
    with pytest.raises(ResourceMissingError, match=r"(?i)connect"):
        fetch(DRUG_ATC, lambda _: None, address=f"{server.url}/x.csv")


def test_what_there_was_stays_where_a_download_fails() -> None:
    fetch_from(FileServer(DRUGS))
    path = find("drug-atc")
    with pytest.raises(ResourceMissingError):
        fetch_from(FileServer(DRUGS, status=404))
    with pytest.raises(ResourceMissingError):
        fetch_from(FileServer(DRUGS[:-5], announce=-1))
    assert find("drug-atc") == path
    assert path.read_bytes() == DRUGS


@pytest.mark.parametrize("name", ["loinc-hierarchy", "loinc-names", "atc"])
def test_licences_that_a_person_has_to_agree_to(name: str) -> None:
    told: list[str] = []
    resource = get_resource(name)
    with pytest.raises(InputError, match=f"{name} is not for a program to fetch") as error:
        fetch(resource, told.append, address="http://127.0.0.1:9/anything")  # not even from an address of one's own
    assert resource.licence in str(error.value)
    assert resource.official in str(error.value)
    assert f"clinical-evals resources add {name} FILE" in str(error.value)
    assert told == []


def test_the_address_is_that_of_the_release() -> None:
    resource = get_resource("icd10pcs-order")
    assert resource.download
    assert "/2022-icd-10-pcs-order-file" in address_of(resource, resource.download, None, None)
    assert "/2026-icd-10-pcs-order-file" in address_of(resource, resource.download, "2026", None)
    assert (
        address_of(resource, resource.download, None, "https://mirror.example/x.zip") == "https://mirror.example/x.zip"
    )
    with pytest.raises(InputError, match=r"--release 2031: no address .* only of 2022, 2021, .*--address"):
        address_of(resource, resource.download, "2031", None)
    with pytest.raises(InputError, match="--release and --address go one without the other"):
        address_of(resource, resource.download, "2022", "https://mirror.example/x.zip")
    for address in ("file:///etc/passwd", "ftp://mirror.example/x.zip", "x.zip"):
        with pytest.raises(InputError, match=r"expected an http\(s\) address"):
            address_of(resource, resource.download, None, address)


def test_an_encrypted_address_does_not_lead_to_one_that_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(302, headers={"location": "http://elsewhere.invalid/x"})

    client = httpx.Client
    monkeypatch.setattr(httpx, "Client", lambda **given: client(transport=httpx.MockTransport(answer), **given))
    with pytest.raises(
        ResourceMissingError, match=r"sends us on to http://elsewhere\.invalid/x, which is not encrypted"
    ):
        fetch(DRUG_ATC, lambda _: None, address="https://mirror.example/x.csv")
