"""Synthetic radiology reports, in the layout of MIMIC-IV-Note, from the tables of the open demo.

Findings are described, and the impression names no diagnosis of the stay by its billing title. Some reports belong to
no admission (an outpatient visit before it), and some have an addendum, as in MIMIC.
"""

from collections.abc import Sequence
from datetime import timedelta
from random import Random
from typing import NamedTuple

from clinical_evals.clibench.demo_note_styles import wrap_line
from clinical_evals.clibench.demo_notes import Note
from clinical_evals.clibench.demo_stay import Stay
from clinical_evals.clibench.demo_words import Speech, condition_of, words

LABEL = "[Synthetic report written by clinical-evals; no real report.]"
"""The last line of each report. Reports are input as a whole, so it is short and says nothing of the patient."""
_WIDTH = 75
_ADDENDA = (
    "The findings were discussed with Dr. ___ by telephone at ___.",
    "Additional history was provided. The impression is unchanged.",
    "A typographical error was corrected: the study was without oral contrast.",
)


class Report(NamedTuple):
    """A report or an addendum to one."""

    note: Note
    kind: str
    """RR (radiology report) or AR (addendum)."""
    in_stay: bool
    """False: it belongs to no admission."""


def radiology_reports(stay: Stay, seed: int) -> list[Report]:
    """The reports of a stay, the earliest first; there may be none.

    Args:
        stay: the admission.
        seed: another seed gives other reports; the same one the same.
    """
    random = Random(f"{seed} radiology {stay.hadm_id}")
    speech = Speech(stay, random)
    reports = [_report(stay, name, random, speech) for name in _pictures(stay, random)]
    if random.random() < 0.15:
        reports.append(_report(stay, "chest", random, speech, before=True))
    for report in list(reports):
        if random.random() < 0.08:
            reports.append(_addendum(report, random))
    return sorted(reports)


def _pictures(stay: Stay, random: Random) -> list[str]:
    known = [condition_of(diagnosis).picture for diagnosis in stay.diagnoses]
    told = sorted({name for name in known if name})
    names = random.sample(told, min(len(told), random.choice((1, 2, 2, 3))))
    return names if names and random.random() < 0.6 else [*names, "chest"][random.random() < 0.15 :]


def _report(stay: Stay, name: str, random: Random, speech: Speech, before: bool = False) -> Report:
    picture = words()["pictures"][name]
    length = max((stay.discharged - stay.admitted).total_seconds() / 60, 60)
    minutes = -random.randrange(1440, 60 * 1440) if before else random.randrange(-90, int(min(length, 4320)))
    charted = stay.admitted.replace(second=0) + timedelta(minutes=minutes)
    stored = charted + timedelta(minutes=random.randrange(10, 480))
    findings = [part for part in _sentences(picture["findings"]) if speech.tells_nothing(part)]
    impression = speech.choose([picture["impression"]], "As above.")
    who = "woman" if stay.gender == "F" else "man"
    why = speech.choose(
        ["evaluate for acute process", "please assess for interval change", "pain, rule out acute process"]
    )
    indication = f"History: ___ year old {who} // {why}"
    exam = random.choice(picture["exam"])
    return Report(Note(charted, stored, _lay_out(exam, indication, findings, impression, random)), "RR", not before)


def _sentences(text: str) -> Sequence[str]:
    return [part if part.endswith(".") else f"{part}." for part in text.split(". ")]


def _lay_out(exam: str, indication: str, findings: Sequence[str], impression: str, random: Random) -> str:
    described = " ".join(findings)
    layouts = (
        (f"EXAMINATION:  {exam}", "", f"INDICATION:  {indication}", "", "TECHNIQUE:  Standard views.", "",
         "COMPARISON:  ___", "", "FINDINGS: ", "", described, "", "IMPRESSION: ", "", impression),
        (f"INDICATION:  {indication}", "", "COMPARISONS:  None.", "", f"{exam}:  {described}", "",
         f"IMPRESSION:  {impression}"),
        (f"REASON FOR EXAMINATION:  {indication}", "", f"{exam.title()} was reviewed in comparison to ___.", "",
         described, "", impression),
        (f"HISTORY:  {indication}", f"STUDY:  {exam}", f"FINDINGS:  {described}", "", "CONCLUSION:",
         f"1.  {impression}"),
    )  # fmt: skip
    return _text(random.choice(layouts))


def _addendum(report: Report, random: Random) -> Report:
    charted = report.note.charttime + timedelta(minutes=random.randrange(60, 2880))
    stored = charted + timedelta(minutes=random.randrange(5, 240))
    text = _text(("ADDENDUM", "", random.choice(_ADDENDA)))
    return Report(Note(charted, stored, text), "AR", report.in_stay)


def _text(lines: Sequence[str]) -> str:
    return "".join(f"{part}\n" for line in (*lines, "", LABEL) for part in wrap_line(line, _WIDTH))
