"""Every code system from answers to scores: by code and by name, at the levels of both protocols."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import pytest
from loinc_release import BLOOD, CELLS, CHEMISTRY, GLUCOSE_NAME

from clinical_evals.errors import InputError, ResourceMissingError, UnknownNameError
from clinical_evals.matching.dictionary import own_titles, read_dictionary
from clinical_evals.matching.scorer import CodeScorer
from clinical_evals.matching.titles import fold, titles_of
from clinical_evals.ontology import SYSTEMS, get_system
from clinical_evals.ontology.atc import ATC
from clinical_evals.ontology.icd10pcs import ICD10PCS
from clinical_evals.ontology.loinc import LOINC

LIVER = "Resection of Liver, Open Approach"


def table(path: Path, header: Sequence[str], rows: Sequence[Sequence[str]]) -> Path:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([header, *rows])
    path.write_text(text.getvalue(), encoding="utf-8")
    return path


# By code and by name. None of these needs the embedding model: codes, and titles that the release has.
ANSWERS = {
    # 0FT00ZZ by its title, 001607 1 by its code. Gold: 0FT00ZZ and 0016070 (bypass of the same body part).
    "icd10pcs": (f"1. {LIVER}\n2. 0016071", ["0FT00ZZ", "0016070"], {"section": 1, "operation": 1, "full": 0.5}),
    # 2345-7 by its name, 718-7 by its number; gold 2345-7 and 6690-2, which lies in the same group as 718-7.
    "loinc": (f"- {GLUCOSE_NAME}\n- LOINC 718-7", ["2345-7", "6690-2"], {"class": 1, "group": 1, "full": 0.5}),
    # metformin by its name (A10BA02), A01AA01 by its code; gold A10BA03 of the same level 4, and A01AA01.
    "atc": ("1. Metformin\n2. a01aa01", ["A10BA03", "A01AA01"], {"level1": 1, "level4": 1, "full": 0.5}),
}


@pytest.mark.parametrize("system", ANSWERS)
def test_an_answer_is_read_by_code_and_by_name(written_releases: Path, system: str) -> None:
    answer, gold, expected = ANSWERS[system]
    scored = CodeScorer(system).score([answer], [gold])
    scores = scored.scores()
    assert {level: scores[f"f1_{level}"] for level in expected} == expected
    assert (scores["share_code"], scores["share_title"]) == (0.5, 0.5)


def test_the_average_of_atc_leaves_the_full_code_out(written_releases: Path) -> None:
    """protocol.md 2.1: WHO's level 5 is reported beside the average. A10BA02 for A10BA03: right at levels 1 to 4, and
    wrong at the fifth: an average of 1, not of 0.8. All other systems count every level."""
    scores = CodeScorer("atc").score([["A10BA02"]], [["A10BA03"]]).scores()
    assert (scores["f1_level4"], scores["f1_full"], scores["f1_average"], scores["macro_f1_average"]) == (1, 0, 1, 1)
    other = CodeScorer("icd10pcs").score([["0016071"]], [["0016070"]]).scores()
    assert other["f1_average"] == 0.75


def test_a_class_is_right_down_to_its_own_level(written_releases: Path) -> None:
    """A10B for A10BA02: at level 4 and below the class stands for itself, which A10BA02 does not stand for."""
    scores = CodeScorer("atc").score(["A10B"], [["A10BA02"]]).scores()
    assert [scores[f"f1_{level}"] for level in ("level1", "level2", "level3", "level4", "full")] == [1, 1, 1, 0, 0]


@pytest.mark.parametrize("system", ["icd10pcs", "loinc", "atc"])
def test_a_gold_code_of_another_system_is_named(written_releases: Path, system: str) -> None:
    with pytest.raises(InputError, match=rf"references\[1\]: 'E11.9' is not a code of {system}"):
        CodeScorer(system).score([[], []], [[], ["E11.9"]])


@pytest.mark.parametrize("system", ["loinc", "atc"])
def test_a_system_whose_files_are_missing_names_the_command(
    system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written_releases: Path
) -> None:
    for file in written_releases.iterdir():
        file.unlink()
    with pytest.raises(ResourceMissingError, match="clinical-evals resources add "):
        CodeScorer(system)


def test_the_known_systems_are_named() -> None:
    with pytest.raises(UnknownNameError, match="Known: atc, icd10cm, icd10pcs, loinc"):
        get_system("icd10")
    assert SYSTEMS == ("icd10cm", "icd10pcs", "loinc", "atc")


# What a text can be matched to


def test_a_number_without_a_name_is_no_title(written_releases: Path) -> None:
    """6690-2 and 1-8 have no name in either file: no text is taken for them, but they are codes."""
    system = get_system("loinc")
    chosen = titles_of(system)
    assert {"6690-2", "1-8"} <= set(system.codes())
    assert {"6690-2", "1-8"}.isdisjoint(chosen.codes)
    assert {"6690-2", "1-8"}.isdisjoint(own_titles(system).codes)


def test_a_substance_without_a_route_stands_for_its_systemic_use(written_releases: Path) -> None:
    """As prednisolone in the real table: A01AC04 (mouth), D07AA03 (skin), H02AB06 (as a whole), S01BA04 (eye)."""
    atc = written_releases / "who_atc_ddd_2031-01-02.csv"
    more = "".join(f"{code},cortisol,NA,NA,NA,NA\n" for code in ("A01AA02", "D01AA02", "H01AA02", "S01AA02"))
    atc.write_text(atc.read_text() + more)
    found = titles_of(ATC(atc))
    assert [code for code, title in zip(found.codes, found.titles, strict=True) if title == "cortisol"] == ["H01AA02"]


@pytest.mark.parametrize("make", [ICD10PCS, LOINC, ATC])
def test_real_titles(make: type, release_files: Path) -> None:
    """78,220 long titles of ICD-10-PCS are all distinct; of LOINC only the 1,135 tests with a name and a path can be
    matched; 6,996 codes of ATC have 6,074 distinct names. Prednisolone without a route is the systemic one. After the
    titles stand the names that are none: 771 short forms and abbreviations of LOINC, and all 411 US names of ATC."""
    files = {
        ICD10PCS: ["icd10pcs_order_2022.txt"],
        LOINC: ["ComponentHierarchyBySystem.csv", "Loinc.csv"],
        ATC: ["who_atc_ddd_2026-04-25.csv"],
    }[make]
    system = make(*(release_files / name for name in files))
    found = titles_of(system)
    titles, names = {ICD10PCS: (78_220, 0), LOINC: (1_135, 771), ATC: (6_074, 411)}[make]
    assert len(found.codes) == titles + names
    assert {fold(title) for title in found.titles[:titles]} == {fold(title) for title in own_titles(system).titles}
    if make is ATC:
        assert dict(zip(found.titles, found.codes, strict=True))["prednisolone"] == "H02AB06"


# The official protocol (protocol.md 3)


@pytest.mark.parametrize("system", ["loinc", "atc"])
def test_official_candidates_are_titles_without_further_names(written_releases: Path, system: str) -> None:
    """Glucose and Glucophage are names of the standard protocol only. All candidates are among its titles, so that
    the two protocols share the vectors."""
    release = get_system(system)
    name = {"loinc": "Glucose", "atc": "Glucophage"}[system]
    candidates, chosen = own_titles(release), titles_of(release)
    assert (name in candidates.titles, name in chosen.titles) == (False, True)
    assert set(candidates.titles) <= set(chosen.titles)


def test_official_levels_of_loinc_count_from_the_root(written_releases: Path) -> None:
    """The root is one for all, so level 1 is always right. Of 2345-7 the last path counts: Laboratory, Chemistry,
    Fasting, …; of 718-7 Laboratory, the class without a name, Cells; the leaf is the immediate parent, so that 718-7
    and 6690-2 are the same there. Gold 6690-2 and 2345-7, predicted 718-7 and 2339-0: levels 1-3 right; leaves Cells
    and Glucose in serum against Cells and Glucose."""
    scored = CodeScorer("loinc", "official").score([["718-7", "2339-0"]], [["6690-2", "2345-7"]])
    assert scored.counts.levels == ("level1", "level2", "level3", "leaf")
    assert scored.counts.values.tolist() == [[[1, 1, 1], [2, 2, 2], [2, 2, 2], [1, 2, 2]]]
    standard = CodeScorer("loinc").score([["718-7", "2339-0"]], [["6690-2", "2345-7"]])
    # ours, below Laboratory: classes Chemistry and Blood; groups Sugars and Cells; Glucose, and each number for itself
    assert standard.counts.values.tolist() == [[[2, 2, 2], [2, 2, 2], [1, 2, 2], [0, 2, 2]]]
    assert (CHEMISTRY, BLOOD, CELLS) == ("LP100-1", "LP200-1", "LP210-1")


def test_official_levels_of_atc_are_prefixes(written_releases: Path) -> None:
    """A10BA02 and A10BA03 share 1, 2, 3 characters and all but the last one; A10BA02 and A01AA01 only the first."""
    scored = CodeScorer("atc", "official").score([["A10BA03"], ["A01AA01"]], [["A10BA02"], ["A10BA02"]])
    assert scored.counts.levels == ("level1", "level2", "level3", "level4")
    assert scored.counts.values[:, :, 0].tolist() == [[1, 1, 1, 1], [1, 0, 0, 0]]


def test_official_procedures_keep_icd9_titles(written_releases: Path, tmp_path: Path) -> None:
    """All rows of the dictionary are candidates, in its order. The ICD-9 title is taken, and right nowhere."""
    path = table(
        tmp_path / "d_icd_procedures.csv",
        ("icd_code", "icd_version", "long_title"),
        [("5022", "9", "Partial hepatectomy"), ("0FT00ZZ", "10", LIVER), ("0FT99ZZ", "10", "A later code")],
    )
    candidates = read_dictionary(path, get_system("icd10pcs"))
    assert candidates.codes == ("ICD-9 5022", "0FT00ZZ", "ICD-10 0FT99ZZ")
    assert "3 titles of d_icd_procedures.csv" in candidates.source
    assert ", 1 of them of codes in" in candidates.source
    scorer = CodeScorer("icd10pcs", "official", dictionary=path)
    scored = scorer.score([f"1. Partial hepatectomy\n2. {LIVER}\n"], [["0FT00ZZ"]])
    assert scored.counts.values.tolist() == [[[1, 1, 2]] * 4]
    assert scored.scores()["own_titles"] == 0


LABS = [("50931", "Glucose", "Blood", "Chemistry"), ("51478", "Glucose", "Urine", "Hematology"),
        ("1", "Unknown", "Blood", "Chemistry"), ("718", "Sodium", "Blood", "Chemistry")]  # fmt: skip


def test_official_labs_take_the_itemid_for_a_loinc_number(written_releases: Path, tmp_path: Path) -> None:
    """A text equals a lab by what stands before its bracket. Item 718 gets the path of LOINC number 718-7
    (haemoglobin); item 1 that of 1-8, straight below the root; 50931 none, and so is never right, not even for itself,
    and nor are the levels that a path lacks."""
    path = table(tmp_path / "d_labitems.csv", ("itemid", "label", "fluid", "category"), LABS)
    scorer = CodeScorer("loinc", "official", dictionary=path)
    answer = "1. Sodium for Blood\n2. glucose for blood\n3. Unknown for Blood\n"
    scored = scorer.score([answer], [["50931", "718", "1"]])
    assert scored.answers[0].codes == ("1", "50931", "718")
    # level 1: Laboratory on both sides, and the item without a path on each; level 2: only 718 has one
    assert scored.counts.values.tolist() == [[[1, 2, 2], [1, 3, 3], [1, 3, 3], [2, 3, 3]]]
    with pytest.raises(InputError, match=r"references\[0\]: '2345-7' is no itemid"):
        scorer.score([answer], [["2345-7"]])


def test_official_drugs_stand_for_all_their_classes(written_releases: Path, tmp_path: Path) -> None:
    """NDC 00087607005 is given with GSN 004764, which has two classes (A10BA02, A10BD07). The drug without a class
    contributes nothing. Its most frequent name is what an NDC is called."""
    rows = [
        *[("Metformin XR", "004764", "00087607005")] * 2,
        ("metformin", "004764", "00087607005"),
        ("Sterile Water", "", "63323018510"),
        ("Flush", "", "0"),
    ]
    path = table(tmp_path / "prescriptions.csv", ("drug", "gsn", "ndc"), rows)
    candidates = read_dictionary(path, get_system("atc"))
    assert (candidates.codes, candidates.titles) == (
        ("00087607005", "63323018510"),
        ("Metformin XR", "Sterile Water"),
    )
    scored = CodeScorer("atc", "official", dictionary=path).score(["- metformin xr\n- sterile water\n"], [["A10BA02"]])
    assert scored.counts.values.tolist() == [[[1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 2]]]


BAD_TABLES = {
    "icd_version is '11'": ("icd10pcs", ("icd_code", "icd_version", "long_title"), [("0FT00ZZ", "11", LIVER)]),
    "icd_code is '16070', but": ("icd10pcs", ("icd_code", "icd_version", "long_title"), [("16070", "10", "Bypass")]),
    "long_title is empty": ("icd10pcs", ("icd_code", "icd_version", "long_title"), [("0FT00ZZ", "10", " ")]),
    "none of its 1 rows": ("icd10pcs", ("icd_code", "icd_version", "long_title"), [("5022", "9", "Hepatectomy")]),
    "itemid is '2345-7', expected digits": (
        "loinc",
        ("itemid", "label", "fluid", "category"),
        [("2345-7", "", "", "")],
    ),
    "itemid 7 stands there a second": ("loinc", ("itemid", "label", "fluid", "category"), [("7", "a", "b", "c")] * 2),
    "no column fluid": ("loinc", ("itemid", "label", "category"), [("7", "a", "c")]),
    "no row below its header": ("loinc", ("itemid", "label", "fluid", "category"), []),
    "no row with a drug and its NDC": ("atc", ("drug", "gsn", "ndc"), [("Flush", "", "0"), ("", "", "63323018510")]),
}


@pytest.mark.parametrize("message", BAD_TABLES)
def test_a_dictionary_that_cannot_be_used_is_named(written_releases: Path, tmp_path: Path, message: str) -> None:
    system, header, rows = BAD_TABLES[message]
    path = table(tmp_path / "other.csv", header, rows)
    with pytest.raises(InputError, match=rf"other\.csv.*{message}.*Give MIMIC-IV's own file hosp/"):
        CodeScorer(system, "official", dictionary=path)


def test_the_real_labs_are_candidates(release_files: Path, mimic_demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """1,622 rows of the demo's d_labitems; a text without its category equals the first of that name."""
    monkeypatch.setenv("CLINICAL_EVALS_RESOURCES", str(release_files))
    found = read_dictionary(
        mimic_demo / "hosp" / "d_labitems.csv.gz", LOINC(release_files / "ComponentHierarchyBySystem.csv")
    )
    place = found.codes.index("50931")
    assert (found.titles[place], found.equal_to[place]) == ("Glucose for Blood (Chemistry)", "Glucose for Blood ")
    assert list(map(int, found.codes)) == sorted(map(int, found.codes))
