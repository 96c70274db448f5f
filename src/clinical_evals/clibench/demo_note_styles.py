"""How discharge notes are laid out: headings, order of the sections, blank lines, line breaks.

The styles are those seen in discharge summaries of MIMIC-IV-Note 2.2: its template ("Name:  ___   Unit No:   ___",
a line with one blank between sections, breaks at about 75 characters), the same in capitals, with abbreviated headings
on the line of their text, with sections in other orders, and without blank lines.
"""

import textwrap
from collections.abc import Mapping, Sequence
from typing import NamedTuple

TEMPLATE = {
    "service": "Service:",
    "allergies": "Allergies:",
    "attending": "Attending:",
    "complaint": "Chief Complaint:",
    "procedure": "Major Surgical or Invasive Procedure:",
    "illness": "History of Present Illness:",
    "history": "Past Medical History:",
    "social": "Social History:",
    "family": "Family History:",
    "exam": "Physical Exam:",
    "results": "Pertinent Results:",
    "course": "Brief Hospital Course:",
    "home_drugs": "Medications on Admission:",
    "discharge_exam": "Discharge Physical Exam:",
    "discharge_drugs": "Discharge Medications:",
    "disposition": "Discharge Disposition:",
    "diagnosis": "Discharge Diagnosis:",
    "condition": "Discharge Condition:",
    "instructions": "Discharge Instructions:",
    "followup": "Followup Instructions:",
}
"""Headings of MIMIC's template by section, in its order. From `instructions` on nothing is known at admission."""
_SHORT = {
    "complaint": "CC:",
    "procedure": "Procedures:",
    "illness": "HPI:",
    "history": "PMH:",
    "social": "SH:",
    "family": "FH:",
    "exam": "PE:",
    "results": "Labs/Studies:",
    "course": "Hospital Course:",
    "home_drugs": "Home Meds:",
    "discharge_exam": "PE on discharge:",
    "discharge_drugs": "D/C Meds:",
    "disposition": "Dispo:",
    "diagnosis": "D/C Dx:",
    "condition": "Condition on discharge:",
    "followup": "Follow up:",
}
_SURGICAL = {
    "complaint": "Reason for Admission:",
    "history": "PMHx:",
    "exam": "Admission Physical Exam:",
    "results": "Laboratory and Imaging:",
    "course": "Summary of Hospital Course by Problem:",
    "home_drugs": "Meds on Admission:",
    "diagnosis": "Final Diagnosis:",
    "followup": "Follow-up Instructions:",
}
_MEDICINE = {
    "illness": "HISTORY OF THE PRESENT ILLNESS -",
    "history": "PAST MEDICAL & SURGICAL HISTORY:",
    "exam": "ADMISSION PHYSICAL EXAMINATION:",
    "discharge_exam": "DISCHARGE EXAM:",
    "results": "PERTINENT LABS:",
    "home_drugs": "Preadmission medications:",
    "diagnosis": "Discharge Diagnoses:",
}


class Style(NamedTuple):
    """A way to lay a note out."""

    name: str
    headings: Mapping[str, str]
    order: Sequence[str]
    same_line: frozenset[str]
    """Sections whose text begins on the line of the heading."""
    gap: str
    """What stands between two sections."""
    line_end: str
    """What stands before each line break: the template leaves a blank."""
    width: int
    """Characters of a line, at most."""
    capitals: bool
    """Whether the header fields are in capitals too."""


def _moved(section: str, before: str) -> tuple[str, ...]:
    order = [name for name in TEMPLATE if name != section]
    order.insert(order.index(before), section)
    return tuple(order)


_CAPITALS = {name: heading.upper() for name, heading in TEMPLATE.items()}
_ALWAYS = frozenset({"service", "attending"})

STYLES = (
    Style("template", TEMPLATE, tuple(TEMPLATE), _ALWAYS, " \n", " ", 75, False),
    Style("template, narrow", TEMPLATE, _moved("home_drugs", "exam"), _ALWAYS, " \n", " ", 68, False),
    Style("medicine", TEMPLATE | _MEDICINE, tuple(TEMPLATE), _ALWAYS | {"complaint"}, "\n", "", 75, False),
    Style("capitals", _CAPITALS, _moved("allergies", "home_drugs"), _ALWAYS | {"complaint"}, "\n\n", "", 78, True),
    Style(
        "abbreviated",
        TEMPLATE | _SHORT,
        _moved("home_drugs", "social"),
        _ALWAYS | {"allergies", "complaint", "illness", "history", "social", "family", "disposition"},
        "\n",
        " ",
        75,
        False,
    ),
    Style(
        "surgical",
        TEMPLATE | _SURGICAL,
        _moved("diagnosis", "course"),
        _ALWAYS | {"complaint"},
        " \n",
        "",
        72,
        False,
    ),
    Style("dense", TEMPLATE, _moved("procedure", "course"), _ALWAYS | {"complaint", "family"}, "", "", 75, False),
    Style(
        "dense capitals",
        {name: heading.upper() for name, heading in (TEMPLATE | _SHORT).items()},
        _moved("results", "social"),
        _ALWAYS | {"complaint", "allergies", "condition"},
        "",
        " ",
        80,
        True,
    ),
)  # fmt: skip


def lay_out(style: Style, sex: str, sections: Mapping[str, Sequence[str]], last_line: str) -> str:
    """The text of a note.

    Args:
        style: its layout.
        sex: F or M.
        sections: the lines of each section, by the names of `TEMPLATE`; an empty line stays one.
        last_line: what ends the note, below the last section.
    """
    parts = [_header(style, sex)]
    for name in style.order:
        if name in sections:
            parts.append(_section(style, name, sections[name]))
    return style.gap.join(parts) + style.gap + last_line + "\n"


def _header(style: Style, sex: str) -> str:
    lines = (
        "",
        "Name:  ___                     Unit No:   ___",
        "",
        "Admission Date:  ___              Discharge Date:   ___",
        "",
        f"Date of Birth:  ___             Sex:   {sex}",
    )
    kept = lines if style.gap else [line for line in lines if line]
    text = "".join(f"{line or ' '}{style.line_end if line else ''}\n" for line in kept)
    return text.upper() if style.capitals else text


def _section(style: Style, name: str, lines: Sequence[str]) -> str:
    heading = style.headings[name]
    lines = list(lines) or ["___"]
    if name in style.same_line:
        lines[0] = f"{heading} {lines[0]}"
    else:
        lines.insert(0, heading)
    wrapped = [part for line in lines for part in wrap_line(line, style.width)]
    return "".join(f"{line}{style.line_end if line else ''}\n" for line in wrapped)


def wrap_line(line: str, width: int) -> list[str]:
    """The lines that a line becomes at a width in characters; an empty line stays one."""
    return textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False) or [""]
