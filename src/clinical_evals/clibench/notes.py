"""The part of a discharge note that is known at admission (protocol.md 2.2), and what leaked through.

Kept: chief complaint, histories (with the work-up of the emergency room), review of systems, allergies, medications on
admission, the exam of the admission, and what stands under an unknown heading among these.

Dropped: header fields (name, unit number, dates, sex, service, attending), procedures, results (the admission's too:
they are pertinent results), the course, assessment and plan, diagnoses, every list of drugs, exam, vital sign or
result of the discharge, of a transfer or of another later day, consults, disposition, condition, follow-up, addenda,
and everything from "Discharge Instructions" (or a letter to the patient) on: behind it nothing returns.

A dropped section ends at the next heading of what is known at admission; an unknown heading does not end it, nor does
one that may belong to its text: "Exam:", "Medications:", "PE:" or a point of a list ("# Allergies: …") in the course.
An admission diagnosis is kept; results within the history are kept where it tells of the emergency room or another
hospital; "discharge" as a symptom or of an earlier stay is text. What may be of a later day is dropped in doubt.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from clinical_evals.clibench.note_sections import read_sections

FORBIDDEN = (
    "major surgical", "invasive procedure", "pertinent results", "hospital course", "transitional issues",
    "discharge medications", "discharge meds", "medications on discharge", "meds on discharge",
    "discharge disposition", "discharge diagnosis", "discharge diagnoses", "discharge dx", "final diagnosis",
    "discharge condition", "condition on discharge", "discharge labs", "labs on discharge", "discharge exam",
    "discharge physical exam", "exam on discharge", "discharge instructions", "followup instructions",
    "follow up instructions", "admission date", "discharge date", "date of birth", "unit no",
)  # fmt: skip
"""Headings that `find_leaks` looks for, in plain words."""

_LONGEST_HEADING = 60
_NOT_WORDS = re.compile(r"[\W_]+")


NOTES_VERSION = "1"
"""Raised with every change of what is kept of a note."""


@dataclass(frozen=True)
class Dropped:
    """A part of a note that is known only later.

    Attributes:
        heading: its heading as it stands in the note.
        reason: the thing that it tells of, e.g. `hospital course`.
        characters: how many characters of it, without white space, were dropped.
    """

    heading: str
    reason: str
    characters: int


@dataclass(frozen=True)
class FilteredNote:
    """A discharge note without what is known only later.

    Attributes:
        record: the text known at admission, without white space at both ends.
        kept: the ranges of characters of the note that the record is made of, in order.
        dropped: what was taken out, in order.
    """

    record: str
    kept: tuple[tuple[int, int], ...]
    dropped: tuple[Dropped, ...]


@dataclass(frozen=True)
class Leaks:
    """What a record at admission should not hold.

    Attributes:
        forbidden_headings: headings of `FORBIDDEN` that stand in it as headings.
        titles: titles of the gold codes that stand in it word for word.
    """

    forbidden_headings: tuple[str, ...]
    titles: tuple[str, ...]


def admission_record(text: str) -> FilteredNote:
    """The part of a discharge note that is known at admission.

    Args:
        text: the whole note, as in MIMIC-IV-Note's `discharge` table.

    >>> admission_record("Name: ___\\nChief Complaint: cough\\nBrief Hospital Course: pneumonia").record
    'Chief Complaint: cough'
    """
    sections = read_sections(text)
    dropped = tuple(Dropped(part.heading, part.reason, part.characters) for part in sections.context.parts)
    record = "".join(text[begin:end] for begin, end in sections.kept).strip()
    return FilteredNote(record, tuple(sections.kept), dropped)


def radiology_report(text: str) -> str:
    """A radiology report as it is shown: whole (protocol.md 2.2), without white space at both ends."""
    return text.strip()


def find_leaks(record: str, gold_titles: Sequence[str]) -> Leaks:
    """What of the answer stands in a record at admission.

    The headings are looked for before a colon and at the end of a short line, by plain words and not by the rules of
    `admission_record`; an earlier stay told in the history ("Prior hospital course:") is found too. A title counts
    where all its words stand one behind the other, whatever their case and punctuation; that need not be a fault of
    the filter: a history may name what the patient has had for years.

    Args:
        record: the record of one admission.
        gold_titles: the titles of its gold codes.

    >>> find_leaks("PMH: essential (primary) hypertension", ["Essential (primary) hypertension"]).titles
    ('Essential (primary) hypertension',)
    """
    stands = [f" {part}" for part in _heading_places(record)]
    headings = tuple(heading for heading in FORBIDDEN if any(part.endswith(f" {heading}") for part in stands))
    folded = f" {_folded(record)} "
    titles = tuple(title for title in gold_titles if _folded(title) and f" {_folded(title)} " in folded)
    return Leaks(headings, titles)


def _heading_places(record: str) -> Iterator[str]:
    """The folded texts that stand where a heading may stand: before a colon, or as the whole of a line."""
    for line in record.splitlines():
        *before_colons, rest = line.split(":")
        yield from map(_folded, before_colons)
        if not before_colons and len(rest) <= _LONGEST_HEADING:
            yield _folded(rest)


def _folded(text: str) -> str:
    return _NOT_WORDS.sub(" ", text.casefold()).strip()
