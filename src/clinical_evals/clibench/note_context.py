"""Where in a note its reading stands, and what a heading does there."""

import re
from dataclasses import dataclass, field

from clinical_evals.clibench.note_kinds import Kind
from clinical_evals.clibench.note_lines import Heading, in_title_case

_ELSEWHERE = re.compile(r"\b(?:ED|EW|ER|OSH|[Ee]mergency|[Tt]riage|[Oo]utside [Hh]ospital|[Cc]linic)\b")
_SYMPTOM = re.compile(
    r"\s{0,9}(?:none|no\b|denie|yes|clear|puru|white|yellow|green|bloody|serous|foul|thick|thin|scant|copious|mild|mod"
    r"|minimal|\+|present|absent|neg|pos)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\s{0,9}\d")
_WHAT_WAS_DONE = re.compile(
    r"\s{0,9}(?:all |were |was |as )?(?:continue|held|hold|restart|resume|stop)", re.IGNORECASE
)
_HISTORIES = frozenset(
    {"history", "past history", "social history", "family history", "complaint", "allergies", "review of systems"}
)
_PROSE = frozenset({"hospital course", "assessment and plan", "follow-up", "discharge", "instructions"})
"""Dropped sections in whose text a word such as "Exam:" may begin a line."""
_LISTS = frozenset({"results", "labs", "procedure"})
"""Dropped sections without prose."""
_FULL_TITLES = frozenset({"history", "past history", "social history", "family history", "complaint", "medications"})
_MANY_LETTERS = 4000


@dataclass
class Part:
    """A dropped part of a note.

    Attributes:
        heading: its heading as it stands in the note.
        reason: the thing it tells of.
        characters: how many of its characters are no white space.
    """

    heading: str
    reason: str
    characters: int = 0


@dataclass
class Context:
    """The state of the reading.

    Attributes:
        parts: what was dropped so far.
        ended: "Discharge Instructions" was met: nothing returns.
        in_exam: within a physical exam, of the admission or a later one.
    """

    parts: list[Part] = field(default_factory=list)
    ended: bool = False
    in_exam: bool = False
    _keeping: bool = True
    _section: str = "start"
    _elsewhere: bool = False
    _any_known: bool = False
    _in_block: bool = False
    _in_field: bool = False
    _value_seen: bool = False
    _on_field_line: bool = False

    @property
    def keeps(self) -> bool:
        """What comes next is kept."""
        return self._keeping and not self._in_field

    @property
    def only_header_so_far(self) -> bool:
        """Nothing but the header was met: what stands before its first field (a hospital's name) belongs to it."""
        return self._section == "header" and not self._any_known

    def count(self, text: str) -> None:
        """Adds a dropped text to the last part."""
        if self.parts:
            self.parts[-1].characters += sum(map(len, text.split()))

    def begin_line(self) -> None:
        """A header field within kept text ends with the line that holds its value."""
        if self._in_field and self._value_seen:
            self._in_field = False

    def end_line(self, line: str) -> None:
        """What the text of a line tells: the value of a header field, the emergency room."""
        if self._in_field and not self._value_seen and not self._on_field_line:
            self._value_seen = bool(line.strip())
        self._on_field_line = False
        if self._keeping and _ELSEWHERE.search(line[:_MANY_LETTERS]):
            self._elsewhere = True

    def meet(self, heading: Heading, line: str) -> None:
        """What changes where a heading stands."""
        kind = heading.meaning.kind
        if kind is Kind.END:
            self.ended = True
            self._drop(heading)
        elif kind is Kind.FIELD:
            self._meet_field(heading)
        elif kind is Kind.DISCHARGE:
            self._meet_bare_discharge(heading, line)
        elif kind in (Kind.LATER, Kind.RESULTS):
            if not (self._keeping and self._part_of_history(heading, line)):
                self._drop(heading)
        elif self._is_second_list(heading):
            self._drop(heading)
        elif self._is_known_here(heading, line):
            self._keep(heading)

    def _is_second_list(self, heading: Heading) -> bool:
        """An unqualified title "Medications" behind the medications on admission is the list of the discharge."""
        told = heading.meaning
        again = self._section == "medications" and told.section == "medications" and self._keeping
        return again and told.kind is Kind.AMBIGUOUS and heading.alone and not heading.mark

    def _drop(self, heading: Heading) -> None:
        section = heading.meaning.section
        self._in_block = heading.alone or (self._in_block and not self._keeping)
        self._keeping, self._in_field, self._section = False, False, section
        self.in_exam = self.in_exam and section in ("exam", "discharge")
        self.parts.append(Part(heading.words, section))

    def _keep(self, heading: Heading) -> None:
        self._elsewhere = self._elsewhere and heading.meaning.section == "review of systems"
        self._section = heading.meaning.section
        self.in_exam = self._section == "exam"
        self._keeping, self._in_field, self._any_known = True, False, True

    def _meet_field(self, heading: Heading) -> None:
        if not self._any_known:
            self._drop(heading)
            return
        of_person = self._section in ("social history", "family history")
        if self._keeping and not of_person and (heading.after_stop or not heading.inline):
            self._in_field, self._value_seen, self._on_field_line = True, not heading.alone, True
            self.parts.append(Part(heading.words, "header"))

    def _meet_bare_discharge(self, heading: Heading, line: str) -> None:
        """`Discharge:` is a time in an exam, unless a symptom follows; elsewhere only where it is a title."""
        words = heading.words.lower()
        one_word = len(words.split()) == 1
        if one_word and _SYMPTOM.match(line, heading.end):
            return
        of_discharge = "disch" in words or "d/c" in words
        if self.in_exam or (of_discharge and (heading.alone or not one_word)):
            self._drop(heading)

    def _part_of_history(self, heading: Heading, line: str) -> bool:
        """Work-up of the emergency room, studies of earlier years and points of a list, within the history."""
        told = heading.meaning
        if told.discharge:
            return heading.inline and told.section in ("discharge", "exam") and self._section in _HISTORIES
        if told.words == 0 or (told.kind is Kind.RESULTS and heading.inline and heading.words.islower()):
            return not self.in_exam
        if heading.words.lower() == "hc" and _NUMBER.match(line, heading.end):
            return True  # a child's head circumference
        if self._section not in _HISTORIES:
            return False
        if heading.mark == "-" and told.section != "hospital course":
            return True
        if told.kind is not Kind.RESULTS:
            return False
        title = heading.alone and (heading.after_blank or heading.words.isupper())
        of_earlier_years = self._section == "past history" and not heading.alone and not heading.after_blank
        return of_earlier_years or (self._elsewhere and not title)

    def _is_known_here(self, heading: Heading, line: str) -> bool:
        told = heading.meaning
        if told.kind is Kind.ADMISSION:
            return self.in_exam
        if not self._keeping:
            return self._returns(heading, line)
        unsure = heading.inline and not heading.after_stop and told.words < 2
        return not unsure and not (told.kind is Kind.AMBIGUOUS and self._exam_of_emergency_room(heading))

    def _exam_of_emergency_room(self, heading: Heading) -> bool:
        """ "- Exam notable for:" in the history is no section of its own."""
        told = heading.words.lower().startswith("exam") and self._elsewhere and self._section == "history"
        return told or heading.mark in ("-", "#")

    def _returns(self, heading: Heading, line: str) -> bool:
        """Whether a heading of what is known at admission ends a dropped part."""
        told = heading.meaning
        if self._section == "header":
            return True
        if heading.mark in ("-", "#"):
            return False
        if told.kind is Kind.AMBIGUOUS:
            return self._section in _LISTS and (
                told.section in _HISTORIES or (heading.alone and told.section == "exam")
            )
        if told.section == "medications" and self._section in _PROSE and not heading.alone:
            of_admission = "adm" in heading.words.lower()
            if _WHAT_WAS_DONE.match(line, heading.end) or (self._in_block and not of_admission):
                return False
        full = told.section in _FULL_TITLES
        title = in_title_case(heading.words.split())
        if heading.inline or heading.mark:
            return (full and title and not self._in_block) or self._section not in _PROSE
        if full or heading.alone or self._section not in _PROSE:
            return True
        return title and (told.words >= 2 or heading.words.isupper() or heading.after_blank)
