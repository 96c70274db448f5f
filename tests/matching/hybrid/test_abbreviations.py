"""The table of abbreviations: its sources, what it writes out, and what it leaves."""

import re
from collections.abc import Iterator

import pytest
import simple_icd_10_cm as tabular
from hypothesis import given
from hypothesis import strategies as st

from clinical_evals.matching.hybrid.abbreviations import Abbreviation, entries, sources, written_out
from clinical_evals.matching.hybrid.words import american, words
from clinical_evals.ontology import get_system

SYSTEM = get_system("icd10cm")
RELEASE = "icd10cm:"


@pytest.mark.parametrize(
    ("written", "long"),
    [
        ("CHF", "congestive heart failure"),
        ("HTN, HLD", "hypertension, hyperlipidemia"),
        ("htn", "hypertension"),
        ("s/p CABG", "status post aortocoronary bypass graft"),
        ("all extremities", "all extremities"),  # ALL is a leukaemia in capitals only
        ("ALL in remission", "acute lymphoblastic leukemia in remission"),
        ("PE", "pulmonary embolism"),
        ("PAIN IN BOTH KNEES FOR ALL OF THE YEAR", "PAIN IN BOTH KNEES FOR ALL OF THE YEAR"),  # a text in capitals
        ("MS", "MS"),  # multiple sclerosis or mitral stenosis: not for us to say
        ("5 mm nodule, ad lib", "5 mm nodule, ad lib"),  # no multiple myeloma, no Alzheimer's disease
        ("s/p CEA", "status post CEA"),  # carotid endarterectomy, or an antigen
        # Readings that the words around them rule out.
        ("hypoxia on RA", "hypoxia on RA"),  # room air
        ("RA flare", "rheumatoid arthritis flare"),
        ("GBS bacteremia", "GBS bacteremia"),  # a streptococcus
        ("elevated Ca", "elevated Ca"),  # calcium
        ("PE: no murmur", "PE: no murmur"),  # physical examination
        ("HD 5", "HD 5"),  # day in hospital
        ("abd TTP", "abdominal TTP"),  # tender to palpation
        ("able to do >4 METs", "able to do >4 METs"),
        ("abnormal liver fx", "abnormal liver fx"),  # function
        ("PVD (posterior vitreous detachment)", "PVD (posterior vitreous detachment)"),
        ("PE w/u", "pulmonary embolism w/u"),
        # Spellings of one thing.
        ("A fib with RVR", "atrial fibrillation with rapid ventricular response"),
        ("recurrent UTIs", "recurrent urinary tract infection"),
        ("CKD IV", "chronic kidney disease stage 4"),
        ("CKD3", "chronic kidney disease stage 3"),
        ("CKD, stage IIIa", "chronic kidney disease stage 3a"),
        ("CKD 2/2 DM", "chronic kidney disease secondary to diabetes mellitus"),
        ("FHx CAD", "family history of coronary artery disease"),
        ("fam hx of breast ca", "family history of breast malignant neoplasm"),
        ("IDDM type 2", "type 2 diabetes mellitus"),
        ("IDDM", "type 1 diabetes mellitus"),
        ("", ""),
        ("acute HFmrEF", "acute systolic heart failure"),  # AHA Coding Clinic, 2020 Q3, p. 32
        ("sepsis 2/2 UTI", "sepsis secondary to urinary tract infection"),
        ("T2DM w/ neuropathy", "type 2 diabetes mellitus with neuropathy"),
        ("T2DM w/neuropathy, w/o CKD", "type 2 diabetes mellitus with neuropathy, without chronic kidney disease"),
        ("FUO", "fever of unknown origin"),
        # In brackets behind what it stands for, in whatever reading, an abbreviation says nothing new.
        ("Chronic kidney disease (CKD)", "Chronic kidney disease (CKD)"),
        ("Anal intraepithelial neoplasia III [AIN III]", "Anal intraepithelial neoplasia III [AIN III]"),
        (
            "heart failure with reduced ejection fraction (HFrEF)",
            "heart failure with reduced ejection fraction (HFrEF)",
        ),
        ("acute renal failure (ARF)", "acute renal failure (ARF)"),
        # But a reason in brackets is one.
        ("dyspnea (CHF)", "dyspnea (congestive heart failure)"),
        ("(CHF)", "(congestive heart failure)"),
        ("pulmonary HTN, hypertension", "pulmonary hypertension, hypertension"),
    ],
)
def test_written_out(written: str, long: str) -> None:
    assert written_out(written) == long


def test_laboratory_items_and_drugs_are_no_diagnoses() -> None:
    """ "Ca" is calcium on a list of laboratory orders and cancer on a problem list; "ALT" is the same on both."""
    for system in ("loinc", "atc"):
        assert written_out("Ca, HD, MI", system) == "Ca, HD, MI"
        assert written_out("ALT", system) == "alanine transaminase"
    assert written_out("lung Ca") == "lung malignant neoplasm"


def test_the_release_knows_every_word_of_the_table() -> None:
    """An abbreviation is of use only where it is written out to words that titles or further names have."""
    known = {
        word
        for code in SYSTEM.codes()
        for text in (SYSTEM.title(code), *SYSTEM.synonyms(code), *SYSTEM.noted_names(code))
        for word in words(text)
    }
    for entry in entries():
        strange = [word for word in words(entry.long) if american(word, known) not in known]
        assert not strange, f"{entry.short} = {entry.long}: {strange}"


def test_every_entry_has_a_source() -> None:
    table = entries()
    assert len(table) == len({entry.short for entry in table}) > 280
    known = sources()
    for entry in table:
        assert entry.sources or entry.is_clipped, f"{entry.short} has no source"
        for key in entry.sources:
            assert key.partition(":")[0] in known, f"{entry.short}: {key}"
        if entry.is_clipped:  # "insuff" is the beginning of "insufficiency": nobody needs to say so
            assert entry.long.startswith(entry.short), entry
    named = {key.partition(":")[0] for entry in table for key in entry.sources}
    assert named == known.keys(), "a source that no entry names"
    assert [entry.short for entry in table if "usage" in entry.sources] == ["2/2"]
    lists = {"vanderbilt", "columbia", "wikipedia", "berman", "medabb", "icd10cm"}
    twice = [entry for entry in table if len({key.partition(":")[0] for key in entry.sources} & lists) >= 2]
    assert len(twice) > 200  # most readings stand in two lists or more, which were made without each other


def _texts(code: str) -> Iterator[str]:
    yield tabular.get_description(code)
    for each in (tabular.get_inclusion_term, tabular.get_includes, tabular.get_excludes1, tabular.get_excludes2):
        yield from each(code)
    yield tabular.get_use_additional_code(code)


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        pytest.param(entry, key.removeprefix(RELEASE), id=entry.short)
        for entry in entries()
        for key in entry.sources
        if key.startswith(RELEASE)
    ],
)
def test_the_release_spells_it_out_where_the_table_says(entry: Abbreviation, code: str) -> None:
    """At that code stands a text with the abbreviation as a word of its own and all words of its reading."""
    alone = re.compile(rf"(?<![\w-]){re.escape(entry.short)}(?![\w-])")
    reading = set(words(entry.stands_for))
    assert any(reading <= set(words(text)) for text in _texts(code) if alone.search(text)), list(_texts(code))


@given(st.text(alphabet=st.sampled_from("qQ zZ()[]/-,.’'üß0")), st.sampled_from(["icd10cm", "loinc"]))
def test_what_is_no_abbreviation_stays(text: str, system: str) -> None:
    """No entry is made of these letters alone, so nothing changes; nothing raises either."""
    assert written_out(text, system) == text


@given(st.sampled_from(entries()), st.text(alphabet="xyz ", max_size=8), st.text(alphabet="xyz ", max_size=8))
def test_an_abbreviation_is_written_out_wherever_it_stands(entry: Abbreviation, before: str, after: str) -> None:
    text = f"{before}, {entry.short}, {after}"
    long = written_out(text)
    if "icd10cm" in entry.systems and sum(map(str.isalpha, text)) <= 12:  # longer ones may be texts in capitals
        assert long == f"{before}, {entry.long}, {after}"


def test_what_rules_a_reading_out_speaks_of_it() -> None:
    """Alone, every abbreviation is written out: no pattern rules it out everywhere."""
    for entry in entries():
        if entry.unless:
            assert not entry.unless.search(entry.short), entry.short
            assert written_out(entry.short) == entry.long
