"""Decisions of the admission-time filter, one case each; the written notes show them at work."""

import pytest

from clinical_evals.clibench.note_headings import meaning
from clinical_evals.clibench.note_kinds import Kind
from clinical_evals.clibench.note_words import heading_words, spelled
from clinical_evals.clibench.notes import admission_record, find_leaks, radiology_report

HEAD = "Name: ___\nChief Complaint: cough\nHistory of Present Illness:\nfever\nPhysical Exam:\nrales\n"


def keeps(note: str) -> bool:
    """Whether the word SECRET of a note survives."""
    return "SECRET" in admission_record(note).record


@pytest.mark.parametrize(
    "line",
    [
        "Discharge exam unchanged, SECRET", "VS (discharge): SECRET", "Exam upon D/C SECRET", "D/C PE: SECRET",
        "At discharge the lungs were clear SECRET", "POD#3 exam: SECRET", "TRANSFER EXAM\nSECRET",
        "___ 05:40AM BLOOD WBC-4 SECRET", "Labs: SECRET", "CT Head: SECRET", "lungs clear. Labs: SECRET",
        "lungs clear; labs: SECRET", "DISCHARGE DIAGNOSIS SECRET", "Discharge Diagnosis.\nSECRET",
        "D I S C H A R G E   D I A G N O S I S\nSECRET", "DischargeDiagnosis: SECRET", "(Discharge Diagnosis) SECRET",
        '"Discharge Diagnosis": SECRET', "\u200bDischarge Diagnosis: SECRET", "IV. DISCHARGE DIAGNOSIS: SECRET",
        "lungs clear.Discharge Diagnosis: SECRET", "lungs clear. HOSPITAL COURSE - SECRET", "Dx at d/c: SECRET",
        "Hospital course is told by problem:\nSECRET", "Post-operative course was as follows: SECRET",
        "Discharge hematocrit: SECRET", "Weight on the day of discharge: SECRET", "Discharged to: SECRET",
        "Pertinent ___:\nSECRET", "Brief ___ Course:\nSECRET", "Discharge ___:\nSECRET", "Dear Ms. ___,\nSECRET",
        "NEW MEDICATIONS: SECRET", "Medications on transfer:\nSECRET", "A&P\nSECRET", "# ACTIVE ISSUES #\nSECRET",
        "Attending: SECRET", "Attending:\nSECRET",
    ],
)  # fmt: skip
def test_behind_an_exam_this_is_known_only_later(line):
    assert not keeps(f"{HEAD}{line}\n")


@pytest.mark.parametrize(
    "line",
    [
        "vaginal discharge: none SECRET", "Discharge: none SECRET", "Discharge from the nipple: bloody SECRET",
        "no\ndischarge SECRET", "was discharged from rehab last week SECRET", "Eye discharge: SECRET",
        "lost his discharge instructions SECRET", "Previous hospital course: SECRET", "ED course: SECRET",
        "OSH labs: SECRET", "Past procedures: SECRET", "Prior discharge medications: SECRET", "HC: 35 cm SECRET",
        "Last discharge: SECRET", "Code status: full SECRET", "Admission diagnosis: chest pain SECRET",
        "Discharge of ICD: SECRET", "Coarse: SECRET", "Treatment history: SECRET", "General: SECRET",
    ],
)  # fmt: skip
@pytest.mark.parametrize("section", ["History of Present Illness", "Past Medical History", "Physical Exam"])
def test_this_is_text_of_the_section_it_stands_in(section, line):
    note = admission_record(f"Name: ___\n{section}:\nx\n{line}\nmore SECRET\n")
    assert note.record.count("SECRET") == 2  # neither the line nor what follows it is cut


@pytest.mark.parametrize(
    "line",
    [
        "PMH significant for SECRET", "Past Medical History of CHF SECRET", "Physical exam showed SECRET",
        "Physical exam: improved SECRET", "PE: SECRET", "Exam: SECRET", "Medications: SECRET", "ALL: SECRET",
        "FH: SECRET", "Home meds: amlodipine held SECRET", "# Allergies: SECRET", "- Past Medical History: SECRET",
        "2. Home medications: SECRET", "On admission: SECRET", "Allergies: he had hives SECRET",
        "well. Family History: SECRET",
    ],
)  # fmt: skip
def test_within_the_course_this_brings_nothing_back(line):
    assert not keeps(f"{HEAD}Brief Hospital Course:\nAdmitted.\n{line}\nand SECRET\n")


@pytest.mark.parametrize(
    "heading",
    [
        "Medications on Admission:", "MEDICATIONS ON ADMISSION", "Meds on admission:", "Medications prior to arrival:",
        "Past Medical History:", "PMHx:", "PREVIOUS MEDICAL HISTORY:", "Family Hx:", "Allergies:", "Physical Exam:",
        "PHYSICAL EXAMINATION ON ADMISSION:", "HISTORY OF THE PRESENT ILLNESS:", "CC/HPI:", "Chief\nComplaint:",
    ],
)  # fmt: skip
def test_these_titles_end_the_course(heading):
    assert keeps(f"{HEAD}Brief Hospital Course:\nAdmitted.\n{heading}\nSECRET\n")


@pytest.mark.parametrize(
    "last",
    [
        "Discharge Instructions:", "DISCHARGE INSTRUCTIONS", "D/C Instr: rest", "Discharge Instuctions:",
        "Post-discharge instructions:", "Instructions on discharge:", "Discharge Instructions/Followup:",
        "Patient instructions:", "___ Instructions:", "Dear Mr. ___,",
        "INSTRUCTIONS GIVEN TO THE PATIENT AT THE TIME OF DISCHARGE:",
    ],
)  # fmt: skip
def test_behind_the_instructions_nothing_returns(last):
    """protocol.md 2.2: "everything from Discharge Instructions on"."""
    assert not keeps(f"{HEAD}{last}\nPast Medical History:\nSECRET\nAllergies:\nSECRET\n")


def test_the_list_behind_the_admission_medications_is_that_of_the_discharge():
    assert not keeps(f"{HEAD}Medications on Admission:\naspirin\n\n___ Medications:\nSECRET\n")
    assert not keeps(f"{HEAD}Medications on Admission:\naspirin\n\nMedications:\nSECRET\n")


def test_results_belong_to_a_history_that_tells_of_the_emergency_room():
    history = "Name: ___\nHistory of Present Illness:\n"
    assert keeps(f"{history}In the ED, febrile.\nLabs: SECRET\n")
    assert not keeps(f"{history}Febrile.\nLabs: SECRET\n")
    assert not keeps(f"{history}In the ED, febrile.\n\nPERTINENT RESULTS: SECRET\n")
    assert not keeps(f"{history}In the ED, febrile.\n\nIMAGING:\nSECRET\n")


def test_points_of_a_list_belong_to_the_history():
    assert keeps("Name: ___\nHistory of Present Illness:\nFebrile.\n- Exam notable for: rales\n- Labs: SECRET\n")


def test_a_sentence_broken_by_the_width_of_the_page_is_no_heading():
    full_line = "She came back from ___ with a bag in which she carried her"
    assert keeps(f"Name: ___\nHistory of Present Illness:\n{full_line}\ndischarge medications: SECRET\n")
    assert not keeps("Name: ___\nHistory of Present Illness:\nShe came back.\ndischarge medications: SECRET\n")


def test_results_of_earlier_years_belong_to_the_past_history():
    history = "Name: ___\nPast Medical History:\nCAD\n"
    assert keeps(f"{history}Studies: SECRET\n")
    assert not keeps(f"{history}Pert. Results:\nSECRET\n")
    assert not keeps(f"{history}Admission labs: SECRET\n")


def test_a_symptom_behind_the_title_of_a_day_is_no_symptom():
    assert not keeps(f"{HEAD}On discharge: no vaginal discharge SECRET\n")


def test_the_exam_of_the_discharge_on_the_line_of_the_title():
    history = "Name: ___\nChief Complaint: cough\n"
    note = admission_record(f"{history}Physical Exam: rales KEPT. At discharge clear SECRET\n").record
    assert "KEPT" in note
    assert "SECRET" not in note
    assert not keeps(f"{history}Physical Exam: afebrile at time of discharge SECRET\n")
    assert keeps(f"{history}Physical Exam: unable to transfer SECRET\n")


def test_short_titles_end_results_but_not_the_course():
    """ "SH:" and "PE:" may be diseases in a course; among results they are titles."""
    behind = "SH:\nKEPT\nFH: KEPT\nPE:\nKEPT\n"
    assert admission_record(f"{HEAD}Labs/Studies:\nWBC 5\nDischarge labs:\nWBC 4\n{behind}").record.count("KEPT") == 3
    assert "KEPT" not in admission_record(f"{HEAD}Hospital Course:\nwell\n{behind}").record


def test_a_header_field_among_known_text_goes_alone():
    note = f"{HEAD}Attending:\n\nDr. SECRET\nwheezes KEPT\nService: SECRET\nno edema KEPT\n"
    assert not keeps(note)
    assert admission_record(note).record.count("KEPT") == 2


@pytest.mark.parametrize("mark", ["- ", "# ", "* "])
def test_a_point_of_a_list_brings_nothing_back(mark):
    assert not keeps(f"{HEAD}Hospital Course: well\n{mark}Past Medical History: SECRET\n")
    assert keeps(f"{HEAD}Hospital Course: well\nPast Medical History: SECRET\n")


def test_what_stands_before_the_first_field_belongs_to_the_header():
    assert not keeps("SECRET hospital\nName: ___\nChief Complaint: cough\n")
    assert keeps("SECRET years old\nChief Complaint: cough\n")


def test_what_was_dropped_is_told():
    note = admission_record("Name: ___\nChief Complaint: cough\nBrief Hospital Course: well now\nDischarge Dx: flu")
    assert note.record == "Chief Complaint: cough"
    assert [(part.heading, part.reason) for part in note.dropped] == [
        ("Name", "header"), ("Brief Hospital Course", "hospital course"), ("Discharge Dx", "diagnosis"),
    ]  # fmt: skip
    # "Name:" and "___"; "Brief", "Hospital", "Course:", "well" and "now"; "Discharge", "Dx:" and "flu"
    assert [part.characters for part in note.dropped] == [8, 27, 15]


def test_an_empty_note_gives_an_empty_record():
    assert admission_record("") == admission_record(" \n").__class__("", (), ())


@pytest.mark.parametrize(
    ("phrase", "kind"),
    [
        ("D/C Dx:", Kind.LATER), ("Dishcarge Diagnoses", Kind.LATER), ("H.P.I.", Kind.KNOWN), ("All:", Kind.AMBIGUOUS),
        ("Exam (on discharge)", Kind.LATER), ("Exam (___)", Kind.AMBIGUOUS), ("On discharge", Kind.DISCHARGE),
        ("On admission", Kind.ADMISSION), ("Date of Discharge", Kind.FIELD), ("Micro", Kind.RESULTS),
        ("Discharge Medications from ___ pharmacy", Kind.LATER), ("Physical Exam at ___ on discharge", Kind.LATER),
    ],
)  # fmt: skip
def test_the_meaning_of_a_heading(phrase, kind):
    told = meaning(phrase)
    assert told is not None
    assert told.kind is kind


def test_a_phrase_of_many_words_is_no_heading():
    assert heading_words("one two three four five six seven eight nine ten eleven twelve thirteen") == ()


@pytest.mark.parametrize("word", ["discharged", "coarse", "physician", "conditions", "medial", "heart", "pain"])
def test_true_words_are_not_taken_for_misspelt_ones(word):
    assert spelled(word) == word


def test_a_radiology_report_is_shown_whole():
    assert radiology_report(" \nEXAM: CHEST\n\nIMPRESSION: clear \n") == "EXAM: CHEST\n\nIMPRESSION: clear"


def test_leaks_are_found_whatever_their_spelling():
    leaks = find_leaks(
        "HPI: sepsis due to\nEscherichia coli\nDISCHARGE   DIAGNOSIS: x\nBrief Hospital Course\nwell",
        ["Sepsis due to Escherichia coli [E. coli]", "Sepsis, due to Escherichia Coli", "Pneumonia", "…"],
    )
    assert leaks.forbidden_headings == ("hospital course", "discharge diagnosis")
    assert leaks.titles == ("Sepsis, due to Escherichia Coli",)


def test_prose_about_a_discharge_is_no_leak():
    text = "HPI: she lost her discharge instructions and the hospital course was long: three weeks. No pneumonias."
    assert find_leaks(text, ["Pneumonia"]) == find_leaks("", [])
