"""Goes through a note line by line and tells which of its characters are known at admission (protocol.md 2.2)."""

import re
from dataclasses import dataclass, field

from clinical_evals.clibench.note_context import Context
from clinical_evals.clibench.note_inline import inline_headings
from clinical_evals.clibench.note_kinds import Kind, Meaning
from clinical_evals.clibench.note_lines import Heading, first_heading

_LINE_ENDS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
_LETTER = re.compile(r"\s{0,20}Dear\s+(?:Mr|Ms|Mrs|Miss|Dr|Sir|Madam|___)\b", re.IGNORECASE)
_LAB_LINE = re.compile(r"\s{0,20}_{2,4}\s+\d{1,2}:\d{2}\s?[AP]M\b", re.IGNORECASE)
_LATER_EXAM = re.compile(
    r"\b(?:on|at|upon|before|prior to|day of|time of)\s{1,5}(?:the\s{1,5})?(?:(?:day|time)\s{1,5}of\s{1,5})?"
    r"(?:discharge|d/c|dc|transfer|call-?out)\b(?!\s{1,5}from)"
    r"|\b(?:discharge|d/c|dc)\s{1,5}(?:physical|exam|pe|vitals?|vs|labs?|day|weight|wt)\b",
    re.IGNORECASE,
)


@dataclass
class Sections:
    """The reading of one note; after every line was `read`, `kept` and `context.parts` are complete.

    Attributes:
        kept: ranges of characters that are known at admission, in order.
        context: where in the note the reading stands.
    """

    kept: list[tuple[int, int]] = field(default_factory=list)
    context: Context = field(default_factory=Context)
    _before: str = ""

    def read(self, line: str, behind: str, at: int, size: int) -> None:
        """Reads the next line.

        Args:
            line: its text without the line end.
            behind: the text of the line behind it.
            at: where it begins in the note, in characters.
            size: its characters with the line end.
        """
        context, done, any_kept = self.context, 0, False
        context.begin_line()
        for heading in self._headings(line, behind):
            if context.ended:
                break
            any_kept |= self._take(line, at, done, heading.start)
            done = heading.start
            context.meet(heading, line)
            if context.only_header_so_far:
                self.kept.clear()
        any_kept |= self._take(line, at, done, len(line))
        if any_kept or context.keeps:
            self._keep(at + len(line), at + size)
        context.end_line(line)
        self._before = line

    def _headings(self, line: str, behind: str) -> list[Heading]:
        if _LETTER.match(line):
            return [Heading(0, 0, "Dear …", Meaning(Kind.END, "letter to the patient", True, 2))]
        if self.context.in_exam and _LAB_LINE.match(line):
            return [Heading(0, 0, "___ 00:00AM", Meaning(Kind.RESULTS, "results", words=2))]
        first = first_heading(line, self._before, behind)
        found = inline_headings(line)
        if first:
            found = [first, *(heading for heading in found if heading.start >= first.end)]
        in_exam = self.context.in_exam or any(_begins_exam(heading) for heading in found)
        if in_exam and not any(heading.meaning.discharge for heading in found):
            found = sorted([*found, *_later_exam(line)], key=lambda heading: heading.start)
        return found

    def _take(self, line: str, at: int, begin: int, end: int) -> bool:
        if not self.context.keeps:
            self.context.count(line[begin:end])
            return False
        self._keep(at + begin, at + end)
        return bool(line[begin:end].strip())

    def _keep(self, begin: int, end: int) -> None:
        if begin == end:
            return
        if self.kept and self.kept[-1][1] == begin:
            self.kept[-1] = (self.kept[-1][0], end)
        else:
            self.kept.append((begin, end))


def read_sections(text: str) -> Sections:
    """Reads a whole note."""
    sections, at = Sections(), 0
    pieces = text.splitlines(keepends=True)
    lines = [piece.rstrip(_LINE_ENDS) for piece in pieces]
    for place, (piece, line) in enumerate(zip(pieces, lines, strict=True)):
        sections.read(line, lines[place + 1] if place + 1 < len(lines) else "", at, len(piece))
        at += len(piece)
        if sections.context.ended:
            sections.context.count(text[at:])
            break
    return sections


def _begins_exam(heading: Heading) -> bool:
    told = heading.meaning
    return told.section == "exam" and told.kind in (Kind.KNOWN, Kind.AMBIGUOUS) and not heading.mark


def _later_exam(line: str) -> list[Heading]:
    """The sentence of an exam's line that tells of the discharge or a transfer: from its beginning on."""
    told = _LATER_EXAM.search(line)
    if told is None:
        return []
    stop = line.rfind(". ", 0, told.start())
    start = stop + 2 if stop >= 0 else 0
    return [Heading(start, start, told.group(), Meaning(Kind.LATER, "exam", True, 2))]
