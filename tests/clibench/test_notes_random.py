"""Notes put together at random, and any text at all."""

import sys
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinical_evals.clibench.notes import admission_record

LATER = (
    "Major Surgical or Invasive Procedure", "MAJOR SURGICAL OR INVASIVE PROCEDURES", "Procedures",
    "Pertinent Results", "PERTINENT RESULTS", "Pert. Results", "Admission Labs", "LABS ON DISCHARGE",
    "Discharge labs", "Last labs prior to discharge", "Brief Hospital Course", "BRIEF HOSPITAL COURSE BY PROBLEM",
    "Hospital course", "Hosp. Course", "Breif Hospital Course", "Hospital Course by System",
    "Transitional Issues", "TRANSITIONAL ISSUES", "Active issues", "A/P", "Assessment and Plan",
    "Discharge Medications", "DISCHARGE MEDS", "D/C meds", "Meds on discharge", "Medications at Discharge",
    "Dischage Medications", "Discharge Disposition", "Dispo", "Facility", "Discharge Diagnosis",
    "Discharge Diagnoses", "D/C Dx", "DC Dx", "Final Diagnosis", "Primary Diagnosis", "Dishcarge Diagnosis",
    "Discharge Condition", "Condition at discharge", "Discharge Physical Exam", "DISCHARGE EXAM",
    "Physical exam on discharge", "Discharge PE", "On discharge", "Exam on day of discharge",
    "Vitals on discharge", "Discharge Weight", "Follow-up", "Followup Instructions", "F/u", "Addendum",
    "Consults", "Pending results", "Hospital Summary",
)  # fmt: skip
KNOWN = (
    "Chief Complaint", "CHIEF COMPLAINT", "chief complaint", "CC", "History of Present Illness", "HPI", "H.P.I.",
    "HISTORY OF PRESENT ILLNESS", "History of Presnet Illness", "Past Medical History", "PMH", "PMHx",
    "PAST MEDICAL HISTORY", "Past Surgical History", "PSH", "Social History", "SOCIAL HISTORY", "SHx",
    "Family History", "FHx", "family history", "Medications on Admission", "MEDICATIONS ON ADMISSION",
    "Admission Medications", "Preadmission medications", "Physical Exam", "PHYSICAL EXAM",
    "Physical Examination", "ADMISSION PHYSICAL EXAM", "Physical Exam on Admission", "Admission Exam",
    "ALLERGIES",
)  # fmt: skip
FIELDS = ("Name", "Unit No", "Admission Date", "Discharge Date", "Date of Birth", "Sex", "Service", "Attending")
LAST = ("Discharge Instructions", "DISCHARGE INSTRUCTIONS", "D/C instructions", "Discharge Instuctions", "DC Instr")
TEXTS = (
    "She felt well until two days ago", "aspirin 81 mg daily", "no vaginal discharge",
    "was discharged from rehab last week", "purulent discharge from the wound", "denies fever, chills",
    "BP 120/80 HR 70", "brother with diabetes", "lives alone", "he lost his discharge papers",
    "improved with fluids", "course breath sounds", "smokes; drinks socially", "___ in ___",
)  # fmt: skip

Section = tuple[str, str, str, bool]
words = st.lists(st.sampled_from(TEXTS), min_size=1, max_size=4)
alone = st.sampled_from([":\n", " :\n", ":  \n"])
same_line = st.sampled_from([": ", ":", " : ", ":\t"])


def sections(
    headings: tuple[str, ...], known: bool, colons: st.SearchStrategy[str] = alone | same_line
) -> st.SearchStrategy[Section]:
    return st.tuples(st.sampled_from(headings), colons, words.map("\n".join), st.just(known))


# with text on its line "Home Medications: held" is a sentence of the course
any_section = sections(LATER, False) | sections(KNOWN, True) | sections(("Home Medications", "HOME MEDS"), True, alone)


def written(parts: list[Section], gap: str) -> tuple[str, list[str], list[str]]:
    """A note with a marker in every section: (text, markers known at admission, markers known later)."""
    text, known, later = "", [], []
    for number, (heading, colon, body, is_known) in enumerate(parts):
        marker = f"marker{number:02d}x"
        (known if is_known else later).append(marker)
        text += f"{heading}{colon}{body} {marker}\nand {marker}{gap}"
    return text, known, later


@settings(max_examples=400, deadline=None)
@given(
    parts=st.lists(any_section, min_size=1, max_size=14),
    gap=st.sampled_from(["\n", "\n\n", "\n \n"]),
    fields=st.lists(st.sampled_from(FIELDS), unique=True),
    behind=st.lists(any_section, max_size=4),
    last=st.sampled_from(LAST),
)
def test_sections_in_any_order_and_spelling(parts, gap, fields, behind, last):
    header = "".join(f"{name}: hidden{number:02d}x\n" for number, name in enumerate(fields))
    text, known, later = written(parts, gap)
    tail, _, _ = written([(last, ":\n", "Dear Ms. ___", False), *behind], gap)
    # the tail's markers are told from those before by their case
    record = admission_record(header + text + tail.replace("marker", "Tail")).record
    assert not [marker for marker in later if marker in record]
    assert all(record.count(marker) == 2 for marker in known)
    assert "hidden" not in record
    assert "Tail" not in record


def is_subsequence(part: str, whole: str) -> bool:
    rest = iter(whole)
    return all(letter in rest for letter in part)


LETTERS = st.text(
    alphabet=st.sampled_from(list(":.\n\r\t -#*_()[]/ADdischrgeoinmpl:___\u200b\u00a0é病1")), max_size=200
)
PIECES = st.lists(st.sampled_from([*LATER, *KNOWN, *FIELDS, *LAST, ":", "\n", " ", "  ", ". ", "Discharge", "___"]))


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=300) | LETTERS | PIECES.map("".join))
def test_any_text_gives_a_part_of_itself(text):
    note = admission_record(text)
    assert is_subsequence(note.record, text)
    assert note.record == "".join(text[begin:end] for begin, end in note.kept).strip()
    ends = [place for span in note.kept for place in span]
    assert ends == sorted(set(ends)) and all(0 <= place <= len(text) for place in ends)  # noqa: PT018
    dropped = sum(part.characters for part in note.dropped)
    assert dropped + sum(map(len, note.record.split())) <= len("".join(text.split()))


@settings(max_examples=100, deadline=None)
@given(PIECES.map("".join))
def test_the_same_note_gives_the_same_record(text):
    assert admission_record(text) == admission_record(text)


def steps(work: Callable[[], object]) -> int:
    """How many calls a piece of work makes, those of built-in functions included."""
    count = 0

    def tally(*_: object) -> None:
        nonlocal count
        count += 1

    sys.setprofile(tally)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    "piece",
    [
        ":", "a:", "Discharge: ", "on discharge ", "Discharge Diagnosis: ", ". Labs: ", "Medications on Admission: ",
        "A B C D E F G ", "HOSPITAL COURSE ", "[", "- ", "Dear ", "to  ", "d.c.", "(", "\n", "Major Surgical or\n",
        "x", "Attending: ___\n", "\r",
    ],
)  # fmt: skip
def test_work_grows_with_the_length_only(piece):
    """Ten times the text makes at most about ten times the calls (a square would make a hundred)."""
    head = "Chief Complaint: x\nPhysical Exam:\n"
    small, large = head + piece * 300, head + piece * 3000
    admission_record(large)  # what is remembered of words and phrases is filled
    few, many = steps(lambda: admission_record(small)), steps(lambda: admission_record(large))
    assert many <= 12 * few
