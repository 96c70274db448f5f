"""MIMIC's notes, found by their form: the headings of a discharge summary or report beside de-identification blanks.

MIMIC-IV-Note replaces every name, date and place by exactly three underscores; MIMIC-III wrote `[**...**]`. Headings
alone are how any hospital writes, and blanks alone are how any quiz is printed: a finding needs both, close together.
"""

import re
from typing import NamedTuple

WINDOW = 8_192
"""Bytes looked at together, around a blank."""

BLANK = re.compile(rb"(?<!_)___(?!_)")
BRACKETS = re.compile(rb"\[\*\*[^*\]\n]{0,80}\*\*\]")
SECTIONS = re.compile(  # a space stands for an underscore too: sections as keys of a JSON object
    rb"(unit no|chief complaint|major surgical or invasive procedure|history of (?:the )?present(?:ing)? illness"
    rb"|past medical history|past surgical history|social history|family history|physical exam|pertinent results"
    rb"|admission physical|admission labs|discharge physical|discharge labs|brief hospital course|hospital course"
    rb"|transitional issues|medications on admission|discharge medications|discharge disposition|discharge diagnosis"
    rb"|discharge condition|discharge instructions|follow-?up instructions)[^\w\s]{0,3}\s?:".replace(b" ", b"[ _]"),
    re.IGNORECASE,
)
REPORT_SECTIONS = re.compile(rb"(?:EXAMINATION|INDICATION|TECHNIQUE|COMPARISON|FINDINGS|IMPRESSION|WET READ):")
HEADER_FIELDS = re.compile(  # line ends also as JSON writes them
    rb"(Name|DATE|COMPARISON|(?i:unit no|admission date|discharge date|date of birth|attending)):"
    rb"(?:\s|\\[nrt]){0,12}___(?!_)"
)
AGE = re.compile(rb"(?<!_)___[\s-]{0,2}(?:year|yr|y\.?/?o\b)", re.IGNORECASE)
PERSON = re.compile(rb"\b(?:dr|mr|ms|mrs)\.?\s{1,3}___(?!_)", re.IGNORECASE)
_ESCAPED = re.compile(rb"\\+_")  # as Markdown writes an underscore


class NoteSigns(NamedTuple):
    """What was counted in the window that gave a note away."""

    blanks: int
    sections: int
    """Distinct section headings, as "Chief Complaint:"."""
    phrases: int
    """Kinds of phrase around a blank: "___ year old", "Dr. ___", each header field such as "Admission Date:  ___"."""


def find_note(text: bytes) -> NoteSigns | None:
    """The first window of the text that reads like a note of MIMIC, or None.

    That is a window with two blanks and two other signs (distinct sections, kinds of phrase); a window with five
    blanks and a section or an age; or two of MIMIC-III's brackets anywhere.

    Args:
        text: UTF-8 or any superset of ASCII; line ends may be escaped as in JSON.
    """
    if b"[**" in text:
        brackets = len(BRACKETS.findall(text))
        if brackets >= 2:
            return NoteSigns(brackets, 0, 0)
    if b"\\_" in text:
        text = _ESCAPED.sub(b"_", text)
    place = text.find(b"___")
    while place >= 0:
        signs = _count(text[max(0, place - WINDOW // 2) : place + WINDOW // 2])
        if signs is not None:
            return signs
        place = text.find(b"___", place + WINDOW // 4)
    return None


def _count(window: bytes) -> NoteSigns | None:
    blanks = len(BLANK.findall(window))
    if blanks < 2:
        return None
    sections = {re.sub(rb"[\s_]", b" ", section.lower()) for section in SECTIONS.findall(window)}
    sections |= set(REPORT_SECTIONS.findall(window))
    age = AGE.search(window) is not None
    fields = {field.lower() for field in HEADER_FIELDS.findall(window)}
    phrases = age + (PERSON.search(window) is not None) + len(fields)
    if len(sections) + phrases >= 2 or (blanks >= 5 and (sections or age)):
        return NoteSigns(blanks, len(sections), phrases)
    return None
