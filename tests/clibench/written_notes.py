"""The written notes of tests/clibench/notes: synthetic discharge notes in which every part is labelled.

A file holds notes one behind the other, each under a line `=== name | what it varies`. `{+}` begins a part that is
known at admission, `{-}` one that is known only later (a note begins with such a part); each `@` becomes a marker of
its own: `kept01x` in a part of the first kind, `cut02x` in one of the second. The notes of unseen.txt and
unseen_second.txt were written after the filter.
"""

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "notes"
TITLE = re.compile(r"^=== (\S+) \| (.*)\n", re.MULTILINE)
TAG = re.compile(r"(\{[+-]\})")


@dataclass(frozen=True)
class Span:
    """A labelled part: `text[begin:end]` of its note, in characters."""

    begin: int
    end: int
    known: bool


@dataclass(frozen=True)
class Note:
    name: str
    varies: str
    text: str
    spans: tuple[Span, ...]

    def markers(self, known: bool) -> list[str]:
        return re.findall(r"kept\d+x" if known else r"cut\d+x", self.text)


def read_note(name: str, varies: str, marked: str) -> Note:
    """A note from its marked text."""
    text, spans, known, count = "", [], False, 0
    for piece in TAG.split(marked):
        if piece in ("{+}", "{-}"):
            known = piece == "{+}"
            continue
        begin = len(text)
        for index, plain in enumerate(piece.split("@")):
            if index:
                count += 1
                text += f"{'kept' if known else 'cut'}{count:02d}x"
            text += plain
        spans.append(Span(begin, len(text), known))
    return Note(name, varies, text, tuple(spans))


def read_notes(file: str) -> list[Note]:
    """The notes of one file."""
    pieces = TITLE.split((FOLDER / file).read_text(encoding="utf-8"))
    return [read_note(*pieces[start : start + 3]) for start in range(1, len(pieces), 3)]
