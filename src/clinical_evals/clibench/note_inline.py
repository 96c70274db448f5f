"""Headings within a line: "PMH: HTN. Hospital course: …"."""

import re
from collections.abc import Iterator
from functools import lru_cache

from clinical_evals.clibench.note_headings import is_heading_word, meaning
from clinical_evals.clibench.note_kinds import Kind, Meaning
from clinical_evals.clibench.note_lines import LONGEST, Heading, in_title_case, is_alone

_MOST_WORDS = 7
_CAPITAL_PAIR = re.compile(r"\b[A-Z]{4,20}(?: (?:[A-Z]{4,20}|ON|OF)){1,4}\b")
_WORD_START = re.compile(r"(?<![A-Za-z0-9'’])[A-Za-z]")
_STOP = re.compile(r"(?:[.;|!?)\]]\s*|[(\[{/-]|\s{2,}|\t|\s[-–—]{1,2}\s)$")
_LAST_WORD = re.compile(r"[A-Za-z]+$")


def inline_headings(line: str) -> list[Heading]:
    """The headings within a line, from left to right; one at its start is not among them.

    They end with a colon and are capitalised or stand behind a full stop, a wide gap or a separator; or they stand
    behind such a stop in capitals, in a line that is not all in capitals.
    """
    found = list(_before_colons(line)) if ":" in line else []
    if not line.isupper():
        found += _in_capitals(line)
        found.sort(key=lambda heading: heading.start)
    return found


def _before_colons(line: str) -> Iterator[Heading]:
    last = 0
    place = line.find(":")
    while place >= 0:
        if _may_end(line[max(last, place - 40) : place]):
            found = _before_colon(line, max(last, place - LONGEST), place)
            if found:
                yield found
        last = place + 1
        place = line.find(":", last)


def _may_end(text: str) -> bool:
    """The last word is one of headings: most colons are done here."""
    text = text.rstrip(" \t_(*\"'])}")
    last = _LAST_WORD.search(text[-20:])
    return _ends_headings(last.group()) if last else False


@lru_cache(maxsize=16384)
def _ends_headings(word: str) -> bool:
    return len(word) <= 2 or is_heading_word(word)


def _before_colon(line: str, begin: int, colon: int) -> Heading | None:
    starts = [word.start() for word in _WORD_START.finditer(line, begin, colon)]
    for start in starts[-_MOST_WORDS:]:
        if start == 0:
            continue
        phrase = line[start:colon]
        told = meaning(phrase)
        if told is None:
            continue
        after_stop = _after_stop(line, start)
        if _stands_inline(phrase, told, after_stop):
            alone = is_alone(line, colon + 1)
            return Heading(start, colon + 1, phrase, told, inline=True, after_stop=after_stop, alone=alone)
    return None


def _after_stop(line: str, start: int) -> bool:
    return _STOP.search(line, max(0, start - 8), start) is not None


def _stands_inline(phrase: str, told: Meaning, after_stop: bool) -> bool:
    capital = phrase[0].isupper()
    if after_stop and (capital or told.kind in (Kind.RESULTS, Kind.DISCHARGE)):
        return True
    if told.words < 2:
        return capital and told.kind is Kind.KNOWN
    return in_title_case(phrase.split()) or (after_stop and told.kind in (Kind.LATER, Kind.END))


def _in_capitals(line: str) -> Iterator[Heading]:
    for found in _CAPITAL_PAIR.finditer(line):
        start = found.start()
        if not start or not _after_stop(line, start):
            continue
        told = meaning(found.group())
        if told and told.kind in (Kind.LATER, Kind.END) and told.words >= 2:
            yield Heading(start, found.end(), found.group(), told, inline=True, after_stop=True)
