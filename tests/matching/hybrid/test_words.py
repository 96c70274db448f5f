"""Words as they are compared: stems, spelling; sides, numbers, remarks, denials."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinical_evals.matching.hybrid.abbreviations import written_out
from clinical_evals.matching.hybrid.claims import claims_of, disagree
from clinical_evals.matching.hybrid.common import common_names, open_titles_of, speaks_of
from clinical_evals.matching.hybrid.conventions import with_type_of_diabetes
from clinical_evals.matching.hybrid.entries import names_encounter, numbers, sides
from clinical_evals.matching.hybrid.several import bare, head_of, is_absent, parts_of, stacked
from clinical_evals.matching.hybrid.words import american, spelled, words
from clinical_evals.matching.titles import fold
from clinical_evals.ontology import get_system

SYSTEM = get_system("icd10cm")


def test_common_names_are_codes_of_the_release() -> None:
    names = common_names(SYSTEM)
    assert len(names) > 400
    assert len({fold(pair.text) for pair in names}) == len(names), "a name stands there twice"
    assert common_names(get_system("icd10pcs")) == []
    of = {pair.text: pair.codes[0] for pair in names}
    assert (of["hypertension"], of["urinary tract infection"], of["pneumonia"]) == ("I10", "N39.0", "J18.9")


def test_every_common_name_is_of_the_release_in_use() -> None:
    """A code that a new release drops would vanish without a word: this says it."""
    import json
    from importlib.resources import files

    text = (files("clinical_evals.matching.hybrid") / "common_names.json").read_text(encoding="utf-8")
    assert [code for code in json.loads(text)["icd10cm"] if SYSTEM.normalize(code) != code] == []


def test_titles_that_leave_something_open() -> None:
    found = open_titles_of(SYSTEM)
    # "Urinary tract infection, site not specified"; "Anxiety disorder, unspecified"; "Gout" is a title itself (M10).
    assert (found["urinary tract infection"], found["anxiety disorder"]) == ("N39.0", "F41.9")
    assert "gout" not in found
    assert not {fold(SYSTEM.title(code)) for code in SYSTEM.codes()} & set(found)


@pytest.mark.parametrize(
    ("british", "spelling"),
    [("oedema", "edema"), ("anaemia", "anemia"), ("haemorrhage", "hemorrhage"), ("tumour", "tumor"),
     ("diarrhoea", "diarrhea"), ("oesophagus", "esophagus"), ("gout", "gout"), ("zzz", "zzz")],
)  # fmt: skip
def test_american_spelling(british: str, spelling: str) -> None:
    assert american(british, {"edema", "anemia", "hemorrhage", "tumor", "diarrhea", "esophagus", "gout"}) == spelling


def test_sides_numbers_encounters() -> None:
    assert sides("Lt femur, RIGHT hip, both eyes") == {"left", "right", "bilateral"}
    assert sides("brightly leftover") == frozenset()
    assert numbers("stage III, type 2, first degree") == {"3", "2", "1"}
    assert names_encounter("burn, subsequent encounter")
    assert names_encounter("sequelae of stroke")
    assert not names_encounter("encounter for screening")


@pytest.mark.parametrize(
    ("text", "absent"),
    [
        ("no evidence of pneumonia", True), ("rule out PE", True), ("R/O sepsis", True), ("MI ruled out", True),
        ("pneumonia unlikely", True), ("denies chest pain", True), ("anemia without bleeding", False),
        ("nodular goiter", False), ("ruling class", False), ("rule-out myocardial infarction", True),
    ],
)  # fmt: skip
def test_denials(text: str, absent: bool) -> None:
    assert is_absent(text) is absent


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ("hypertension, on lisinopril", "hypertension"),
        ("CKD stage 3, baseline Cr 1.4", "CKD stage 3"),
        ("Hyponatremia (Na 126)", "Hyponatremia"),
        ("depression - sertraline", "depression"),
        ("Malnutrition, moderate", ""),  # says more of the disease
        ("Shock (immediate) following injury", ""),  # goes on after the bracket
        ("Deep vein thrombosis, postpartum", ""),
        ("gout", ""),
    ],
)
def test_what_stands_before_a_remark(text: str, head: str) -> None:
    assert head_of(text) == head


def test_parts() -> None:
    assert parts_of("pneumonia, sepsis and AKI") == ("pneumonia", "sepsis", "AKI")
    assert parts_of("hypertension & gout; reflux") == ("hypertension", "gout", "reflux")
    assert parts_of("gout") == ()
    assert parts_of("a, b, c, d, e, f, g, h") == ()  # too many to be parts, and of one letter


def test_whom_a_text_speaks_of() -> None:
    assert speaks_of("urinary tract infection") == (True, False, False)
    assert speaks_of("anemia complicating pregnancy") == (True, True, False)
    assert speaks_of("respiratory distress of newborn") == (True, False, True)


@settings(deadline=None)
@given(st.text(max_size=80))
def test_any_text_can_be_read(text: str) -> None:
    """Nothing raises, nothing is invented: heads and parts are pieces of the text."""
    long = written_out(text)
    assert isinstance(long, str)
    head = head_of(text)
    assert head in text
    assert all(part in text for part in parts_of(text))
    assert all(re.fullmatch("[a-z0-9]+", word) for word in words(text))
    is_absent(text)


@pytest.mark.parametrize(
    ("text", "title", "opposite"),
    [
        ("bleeding esophageal varices", "Esophageal varices without bleeding", True),
        ("esophageal varices without bleeding", "Esophageal varices with bleeding", True),
        ("esophageal varices", "Esophageal varices without bleeding", False),  # nothing is said of bleeding
        ("fever", "Chills (without fever)", True),
        ("ulcer with or without bleeding", "Ulcer without bleeding", False),
        ("history of stroke", "Cerebral infarction, unspecified", True),
        ("history of stroke", "Personal history of transient ischemic attack", False),
        ("stroke", "Personal history of transient ischemic attack", True),
        ("breast cancer", "Family history of malignant neoplasm of breast", True),
        ("status post hip replacement", "Presence of right artificial hip joint", False),
        ("old myocardial infarction", "Old myocardial infarction", False),
        ("non-ST elevation myocardial infarction", "Non-ST elevation (NSTEMI) myocardial infarction", False),
    ],
)
def test_what_is_turned_round(text: str, title: str, opposite: bool) -> None:
    assert disagree(claims_of(text, is_title=False), claims_of(title, is_title=True)) is opposite


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("possible pneumonia", "pneumonia"),
        ("? sepsis", "sepsis"),
        ("pneumonia, r/o TB", "pneumonia"),
        ("gout", "gout"),
        ("likely", "likely"),
        ("", ""),
    ],
)
def test_doubts_are_left_out(text: str, left: str) -> None:
    assert bare(text) == left


def test_one_disease_on_another() -> None:
    assert stacked("AKI on CKD stage 3") == ("AKI", "CKD stage 3")
    assert stacked("gout") == ()
    assert parts_of("CHF/COPD") == ("CHF", "COPD")
    assert parts_of("CAD s/p CABG") == ("CAD", "s/p CABG")
    assert parts_of("and/or") == ()


def test_spelling_of_whole_texts() -> None:
    known = {"esophageal", "varices", "with", "bleeding", "anemia"}
    assert spelled("Oesophageal varices with bleeding, ANAEMIA", known) == "esophageal varices with bleeding, anemia"
    assert spelled("gout zzzz", known) == "gout zzzz"
    assert written_out("Type II DM; CHF/COPD") == (
        "Type 2 diabetes mellitus; congestive heart failure/chronic obstructive pulmonary disease"
    )


@pytest.mark.parametrize(
    ("text", "title", "is_opposite"),
    [
        ("methicillin resistant staphylococcus", "Pneumonia due to Methicillin susceptible Staphylococcus", True),
        ("methicillin sensitive staphylococcus", "Pneumonia due to Methicillin susceptible Staphylococcus", False),
        ("hypoglycemia in type 1 diabetes", "Type 1 diabetes mellitus with hyperglycemia", True),
        ("type 2 diabetes mellitus", "Type 1 diabetes mellitus without complications", True),
        ("stage 3a", "Chronic kidney disease, stage 3b", True),
        ("3rd degree block", "Atrioventricular block, first degree", True),
        ("1st degree block", "Atrioventricular block, first degree", False),
        ("diastolic heart failure", "Systolic (congestive) heart failure", True),
        ("diastolic heart failure", "Combined systolic (congestive) and diastolic heart failure", False),
        ("lower extremity thrombosis", "Thrombosis of deep veins of upper extremity", True),
        # One of several things that both speak of is enough to part them.
        ("hypothyroidism and stage 3 disease", "Hypothyroidism with stage 4 disease", True),
        ("hypertension", "Hypothyroidism", False),
    ],
)
def test_what_excludes_each_other(text: str, title: str, is_opposite: bool) -> None:
    assert disagree(claims_of(text, is_title=False), claims_of(title, is_title=True)) == is_opposite


@pytest.mark.parametrize(
    "text",
    [
        "(-) HTN",
        "neg for DVT",
        "w/o DVT",
        "CTPA negative for PE",
        "V/Q low prob for PE",
        "MI r/o",
        "HTN: denies",
        "DVT ppx",
    ],
)
def test_more_ways_to_say_that_it_is_not_there(text: str) -> None:
    assert is_absent(text)


def test_a_measurement_in_brackets_is_no_stage() -> None:
    assert bare("CKD [Cr 2.1]") == bare("CKD (baseline Cr 1.8)") == "CKD"
    assert bare("heart failure (EF 20%)") == "heart failure"
    assert bare("fracture (closed)") == "fracture (closed)"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("diabetes mellitus with retinopathy", "type 2 diabetes mellitus with retinopathy"),
        ("diabetic nephropathy", "type 2 diabetic nephropathy"),
        ("chronic kidney disease secondary to diabetes mellitus", None),
        ("type 1 diabetes mellitus", "type 1 diabetes mellitus"),
        ("gestational diabetes", "gestational diabetes"),
        ("diabetes insipidus", "diabetes insipidus"),
        ("diabetes secondary to pancreatitis", "diabetes secondary to pancreatitis"),
        ("family history of diabetes", "family history of diabetes"),
        ("gout", "gout"),
    ],
)
def test_diabetes_of_no_type_is_type_2(text: str, meant: str | None) -> None:
    """Official Guidelines for Coding and Reporting, I.C.4.a.2."""
    expected = meant if meant is not None else text.replace("diabetes", "type 2 diabetes")
    assert with_type_of_diabetes(text) == expected
