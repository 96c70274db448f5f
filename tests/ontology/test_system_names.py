"""The names that US clinicians write: which codes of ATC and LOINC they stand for."""

import csv
from pathlib import Path

import pytest
from atc_table import rows, table
from atc_table import write as write_atc
from loinc_release import write_hierarchy, write_names

from clinical_evals.matching.titles import fold, titles_of
from clinical_evals.ontology import CodeSystem, get_system
from clinical_evals.ontology.atc import ATC, us_names
from clinical_evals.ontology.loinc import LOINC
from clinical_evals.ontology.loinc_short_names import ABBREVIATIONS, short_form, short_names


def code_of(text: str, system: CodeSystem) -> str | None:
    found = titles_of(system)
    return dict(zip(map(fold, found.titles), found.codes, strict=True)).get(fold(text))


def test_the_icd_systems_have_titles_only() -> None:
    system = get_system("icd10cm")
    assert [code for code in system.codes() if system.names(code)] == []


# ATC


@pytest.fixture(scope="module")
def real_atc(release_files: Path) -> ATC:
    return ATC(release_files / "who_atc_ddd_2026-04-25.csv")


def test_a_name_stands_for_all_codes_of_the_who_name(tmp_path: Path) -> None:
    """Paracetamol with a code for the mouth (A01) and one as a whole: the name has both, and means the second."""
    line = ("A01AA02", "Paracetamol", "NA", "NA", "NA", "NA")
    system = ATC(write_atc(tmp_path, table(sorted([*rows(), line, ("H01AA02", *line[1:])]))))
    assert "Tylenol" in system.names("A01AA02")
    assert system.names("A01AA02") == system.names("H01AA02")
    assert (code_of("tylenol", system), code_of("acetaminophen", system)) == ("H01AA02", "H01AA02")


def test_a_name_without_its_who_name_in_the_release_counts_for_nothing(tmp_path: Path) -> None:
    """The written table has metformin, so Glucophage; it has no furosemide, so no Lasix."""
    system = ATC(write_atc(tmp_path))
    assert system.names("A10BA02") == ("Glucophage",)
    assert (code_of("Glucophage", system), code_of("Lasix", system)) == ("A10BA02", None)


def test_the_table_names_titles_of_the_real_release(real_atc: ATC) -> None:
    """At least 95 % of the WHO names are titles there, the other releases may lack some."""
    titles = {fold(real_atc.title(code)) for code in real_atc.codes()}
    who_names = set(us_names().values())
    known = {name for name in who_names if fold(name) in titles}
    assert len(known) >= 0.95 * len(who_names), sorted(who_names - known)


def test_names_of_the_table_are_written_once_and_are_not_the_who_name_itself() -> None:
    folded = [fold(name) for name in us_names()]
    assert len(set(folded)) == len(folded)
    assert [name for name, who_name in us_names().items() if fold(name) == fold(who_name)] == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Acetaminophen", "N02BE01"),
        ("aspirin", "B01AC06"),  # not A01AD05, which is put into the mouth
        ("Albuterol", "R03AC02"),
        ("Senna", "A06AB06"),
        ("Lasix", "C03CA01"),
        ("Rifampin", "J04AB02"),
        ("meperidine", "N02AB02"),
        ("nitroglycerin", "C01DA02"),
        ("cyclosporine", "L04AD01"),
        ("Flagyl", "J01XD01"),
        ("Zosyn", "J01CR05"),
        ("piperacillin-tazobactam", "J01CR05"),
        ("Percocet", "N02AJ17"),
        ("Lovenox", "B01AB05"),
        ("regular insulin", "A10AB01"),
        ("NPH insulin", "A10AC"),
        ("Lactated Ringer’s", "B05BB01"),
        ("vitamin B1", "A11DA01"),
    ],
)
def test_us_names_in_the_real_release(real_atc: ATC, text: str, code: str) -> None:
    assert code_of(text, real_atc) == code


# LOINC


@pytest.mark.parametrize(
    ("title", "form"),
    [
        ("Sodium [Moles/volume] in Serum or Plasma", "Sodium"),
        ("INR in Platelet poor plasma by Coagulation assay", "INR"),
        ("Cholesterol in LDL [Mass/volume] in Serum or Plasma by calculation", "Cholesterol in LDL"),
        ("pH of Arterial blood", "pH of Arterial blood"),  # a specimen with a small letter: stays as it is
        ("Osmolality of Serum or Plasma", "Osmolality"),
        ("Erythrocyte sedimentation rate by Westergren method", "Erythrocyte sedimentation rate"),
        ("Toxicology panel - Blood", "Toxicology panel"),
        ("Bleeding time", "Bleeding time"),
    ],
)
def test_a_short_form_is_what_stands_before_property_and_specimen(title: str, form: str) -> None:
    assert short_form(title) == form


# The code that is meant comes last, so that it wins by the rule and not by its place.
MEANT = {
    "serum before blood before a body fluid": (
        "Sodium",
        ["Sodium [Moles/volume] in Body fluid", "Sodium [Moles/volume] in Urine", "Sodium [Moles/volume] in Blood"],
        "Sodium [Moles/volume] in Serum or Plasma",
    ),
    "blood before arterial blood before urine": (
        "Oxalate",
        ["Oxalate [Mass/volume] in Urine", "Oxalate [Mass/volume] in Arterial blood"],
        "Oxalate [Mass/volume] in Blood",
    ),
    "blood first where a test is of blood": (
        "Hemoglobin",
        ["Hemoglobin [Mass/volume] in Plasma", "Hemoglobin [Moles/volume] in Blood"],
        "Hemoglobin [Mass/volume] in Blood",
    ),
    "mass before moles": (
        "Creatinine",
        ["Creatinine [Moles/volume] in Serum or Plasma"],
        "Creatinine [Mass/volume] in Serum or Plasma",
    ),
    "moles before mass for an electrolyte": (
        "K",
        ["Potassium [Mass/volume] in Serum or Plasma"],
        "Potassium [Moles/volume] in Serum or Plasma",
    ),
    "a quantity before its presence": (
        "Acetone",
        ["Acetone [Presence] in Serum or Plasma"],
        "Acetone [Mass/volume] in Serum or Plasma",
    ),
    "the presence of an antibody": (
        "Rubella virus IgG Ab",
        ["Rubella virus IgG Ab [Units/volume] in Serum by Immunoassay"],
        "Rubella virus IgG Ab [Presence] in Serum",
    ),
    "an automated count before others": (
        "WBC",
        ["Leukocytes [#/volume] in Blood by Manual count", "Leukocytes [#/volume] in Blood"],
        "Leukocytes [#/volume] in Blood by Automated count",
    ),
    "without a challenge": (
        "Glucose",
        ["Glucose [Mass/volume] in Serum or Plasma --2 hours post meal", "Glucose [Mass/volume] in Control Serum"],
        "Glucose [Mass/volume] in Serum or Plasma by Test method of its own",
    ),
    "a specimen that no rule names comes last": (
        "Lead",
        ["Lead [Mass/volume] in Vitreous fluid"],
        "Lead [Mass/volume] in Urine",
    ),
}


@pytest.mark.parametrize("rule", MEANT)
@pytest.mark.parametrize("turned", [False, True], ids=["as written", "turned"])
def test_which_of_several_tests_a_name_means(rule: str, turned: bool) -> None:
    name, others, meant = MEANT[rule]
    titles = {f"{number}-0": title for number, title in enumerate([*others, meant], 1)}
    found = short_names(dict(reversed(titles.items())) if turned else titles, {})
    (code,) = [code for code, names in found.items() if name in names]
    assert titles[code] == meant


def test_of_equal_tests_the_number_decides() -> None:
    found = short_names({"2-7": "Iron in Serum", "1-9": "Iron in Serum"}, {})
    assert found == {"1-9": ("Iron",)}


def test_an_abbreviation_goes_to_the_first_form_that_the_release_has() -> None:
    """Without B itself BNP is its prohormone's fragment; troponin is T, and I where there is no T."""
    peptide = "Natriuretic peptide B [Mass/volume] in Blood"
    fragment = "Natriuretic peptide.B prohormone N-Terminal [Mass/volume] in Serum or Plasma"
    troponins = ("Troponin I.cardiac [Mass/volume] in Serum", "Troponin T.cardiac [Mass/volume] in Serum")
    both = short_names({"1-8": fragment, "2-6": peptide, "3-4": troponins[0], "4-2": troponins[1]}, {})
    assert {name: code for code, names in both.items() for name in names if name in ("BNP", "troponin")} == {
        "BNP": "2-6",
        "troponin": "4-2",
    }
    fewer = short_names({"1-8": fragment, "3-4": troponins[0]}, {})
    assert ("BNP" in fewer["1-8"], "troponin" in fewer["3-4"]) == (True, True)


def test_an_abbreviation_is_stronger_than_a_short_form() -> None:
    """Urea means urea nitrogen, as US laboratories report it, also where a release has urea."""
    found = short_names({"1-8": "Urea nitrogen [Mass/volume] in Serum", "2-6": "Urea [Mass/volume] in Serum"}, {})
    assert "urea" in [name.casefold() for name in found["1-8"]]
    assert "2-6" not in found


def test_words_that_name_no_test_are_no_names() -> None:
    assert short_names({"1-8": "Blood [Presence] in Urine by Visual", "2-6": "Color of Urine"}, {}) == {}


def test_abbreviations_are_of_folded_forms() -> None:
    assert [forms for forms in ABBREVIATIONS if forms != forms.casefold()] == []


def test_names_of_a_small_release(tmp_path: Path) -> None:
    """Glucose in serum, and not 2339-0 in blood, whose title is composed of COMPONENT and SYSTEM. 6690-2 has no name
    in any file, so WBC stands for nothing."""
    system = LOINC(write_hierarchy(tmp_path), write_names(tmp_path))
    assert system.names("2345-7") == ("Glucose", "blood glucose", "serum glucose", "blood sugar")
    assert system.names("2339-0") == ()
    assert {"Hemoglobin", "Hgb", "Hb"} <= set(system.names("718-7"))
    assert (code_of("Hgb", system), code_of("WBC", system)) == ("718-7", None)


@pytest.fixture(scope="module")
def real_loinc(release_files: Path) -> LOINC:
    return LOINC(release_files / "ComponentHierarchyBySystem.csv", release_files / "Loinc.csv")


REAL = {
    "2951-2": "Sodium;Na",
    "2823-3": "Potassium;K",
    "2160-0": "Creatinine;Cr;serum creatinine",
    "3094-0": "Urea nitrogen;BUN",
    "2345-7": "Glucose",
    "718-7": "Hemoglobin;Hgb",
    "4544-3": "Hct",
    "6690-2": "White blood cell count;WBC",
    "777-3": "Plt;platelets",
    "6301-6": "INR",
    "14979-9": "PTT",
    "5902-2": "PT",
    "1920-8": "AST",
    "1975-2": "T bili;bilirubin",
    "6598-7": "Troponin T",
    "3016-3": "TSH",
    "4548-4": "HbA1c",
    "788-0": "RDW",
}


@pytest.mark.parametrize("code", REAL)
def test_names_in_the_real_release(real_loinc: LOINC, code: str) -> None:
    for text in REAL[code].split(";"):
        assert code_of(text, real_loinc) == code, text


def test_lactate_is_of_blood_or_plasma(real_loinc: LOINC) -> None:
    code = code_of("Lactate", real_loinc)
    assert code is not None
    assert real_loinc.title(code) in ("Lactate [Moles/volume] in Serum or Plasma", "Lactate [Moles/volume] in Blood")


def test_names_are_what_the_laboratory_does_most_often(real_loinc: LOINC, release_files: Path) -> None:
    """mimic-code's map counts the results of each item: of the 40 most frequent short forms that several numbers
    share, at least nine in ten mean the number with the most results. (Protein does not: the test strip's is counted
    more often than the one in serum.)"""
    results: dict[str, int] = {}
    with (release_files / "d_labitems_to_loinc.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            count = row["labevents_row_count"]
            if count.isdigit():
                code = row["omop_concept_code"]
                results[code] = results.get(code, 0) + int(count)
    groups: dict[str, list[str]] = {}
    for code in real_loinc.codes():
        if (title := real_loinc.title(code)) != code:
            groups.setdefault(short_form(title).casefold(), []).append(code)
    most = {form: max(codes, key=lambda code: results.get(code, 0)) for form, codes in groups.items() if codes[1:]}
    frequent = sorted(most, key=lambda form: -results.get(most[form], 0))[:40]
    meant = [form for form in frequent if form in map(str.casefold, real_loinc.names(most[form]))]
    assert len(meant) >= 36, sorted(set(frequent) - set(meant))
