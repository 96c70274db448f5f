"""Where headings stand in the lines of a note: at the start of a line, over two lines, or within a line."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from clinical_evals.clibench.note_headings import BLANK, is_heading_word, meaning
from clinical_evals.clibench.note_kinds import Kind, Meaning

LONGEST = 100
"""Characters: no heading is longer."""
_FULL_LINE = 55
"""Characters: a line as long as this may have been broken by the width of the page."""
_AHEAD = 200
"""Characters that are looked at to tell whether text follows on the line."""

_LEAD = re.compile(r"[^A-Za-z0-9#]{0,40}")
_NUMBER = re.compile(r"(?:#{1,3}\d{0,2}\s*|\(?\d{1,2}[.)]\s*|[A-Za-z][.)]\s+)")
_FIRST_WORD = re.compile(r"[A-Za-z]+(?P<dotted>[./&](?=[A-Za-z]))?")
_DISCHARGE = re.compile(r"disch|d/c|\bdc\b", re.IGNORECASE)
_GAP = re.compile(r"\t|\s{2,}|\s[-–—]{1,2}(?=\s|$)|\s?=>|\s=\s|;|\]|>|\s?[*=]{2,}|\s-{2,}|[-–—]{2,}")
_CAPITALS = re.compile(r"[A-Z][A-Z/&.'-]*(?: (?:[A-Z][A-Z/&.'-]+|of|on|or|and|at|by))*(?!\w)")
_CAPITALISED = re.compile(r"[A-Z][\w/&'-]*(?: (?:[A-Z][\w/&'-]*|of|on|or|and|at|by)){1,6}(?=\.(?:\s|$))")
_FIRST_WORDS = tuple(
    re.compile(rf"[A-Z][\w/&'-]{{0,20}}(?: [\w/&'-]{{1,20}}){{{more}}}(?= )") for more in (4, 3, 2, 1)
)
_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">", '"': '"', "'": "'"}
_SPACED_LETTERS = re.compile(r"[A-Z](?: {1,3}[A-Z]){5,60}\s*:?\s*$")
_VISIBLE = re.compile(r"[^\s_:*=\-\[\]<>.]")
_SMALL = frozenset({"of", "on", "or", "and", "at", "by", "to", "the", "for", "from", "per", "in", "is"})
_VERBS = frozenset({"was", "were", "is", "see"})
_SENTENCE = re.compile(
    r"(?:was|were|is|are|has|had|have|includ|show|complicat|notable|review|unclear|unknown|of|from|at|with|and|per|then|in"
    r"|on|by|to|for|not|did|will|would|as|that|which|list|sign|instruct)",
    re.IGNORECASE,
)
"""How a sentence goes on that merely begins like a heading."""


@dataclass(frozen=True)
class Heading:
    """A heading found in a line.

    Attributes:
        start: where it begins, in characters of the line; the marks before it belong to it.
        end: where its text begins.
        words: the heading as it stands there.
        meaning: what it means.
        mark: what stands before it: `"-"`, `"#"`, `"1"` (a number) or nothing.
        inline: it stands within the line.
        after_stop: within the line, behind a full stop, a wide gap or a separator.
        alone: no text follows on its line.
        after_blank: the line before is empty (or there is none).
    """

    start: int
    end: int
    words: str
    meaning: Meaning
    mark: str = ""
    inline: bool = False
    after_stop: bool = False
    alone: bool = False
    after_blank: bool = False


def first_heading(line: str, before: str, behind: str) -> Heading | None:
    """The heading at the start of a line, if there is one.

    Args:
        line: the line without its end.
        before: the line before it, or an empty text.
        behind: the line behind it: a heading may be broken over both.
    """
    begin, mark = _after_marks(line)
    body = line[begin : begin + LONGEST]
    if not _may_begin(body):
        return None
    return _over_two_lines(line, before, behind) or _at_start(line, begin, mark, before)


def in_title_case(words: list[str]) -> bool:
    """Every word but the small ones begins with a capital."""
    return all(word[:1].isupper() or word.lower() in _SMALL or not word[:1].isalpha() for word in words)


def is_alone(line: str, end: int) -> bool:
    """No text stands behind a place of a line."""
    return _VISIBLE.search(line, end, end + _AHEAD) is None


def _after_marks(line: str) -> tuple[int, str]:
    """Where the words of a line begin, and the mark of a list before them."""
    lead = _LEAD.match(line)
    begin = lead.end() if lead else 0
    marks = line[:begin].strip()  # also quotation marks, brackets and characters of no width
    number = _NUMBER.match(line, begin)
    if number:
        return number.end(), "#" if number.group().startswith("#") else "1"
    return begin, "-" if marks in ("-", "*", "•", "~", ">") else ""


def _may_begin(body: str) -> bool:
    """The first word is one of headings, or the text names the discharge: most lines are done here."""
    first = _FIRST_WORD.match(body)
    if first is None:
        return False
    return bool(first["dotted"]) or _heads(first.group()) or bool(_DISCHARGE.search(body))


@lru_cache(maxsize=16384)
def _heads(word: str) -> bool:
    return len(word) == 1 or is_heading_word(word)


def _at_start(line: str, begin: int, mark: str, before: str) -> Heading | None:
    body = line[begin : begin + LONGEST]
    if _SPACED_LETTERS.match(body) and len(line) <= begin + LONGEST:
        told = meaning(_joined_letters(body))
        return _made(line, len(line), body, told, mark, before) if told else None
    blank = f"{BLANK} " if BLANK in line[:begin] else ""
    for end, skip, certain in _ends(body, line[begin - 1 : begin] if begin else ""):
        phrase = body[:end]
        told = meaning(blank + phrase)
        if told is None:
            continue
        if certain and not _runs_on(phrase, body[end + skip :], before):
            return _made(line, begin + end + skip, phrase, told, mark, before)
        if not certain and _looks_like_title(phrase, told, before, body):
            return _made(line, begin + end + skip, phrase, told, mark, before)
    return None


def _made(line: str, end: int, phrase: str, told: Meaning, mark: str, before: str) -> Heading:
    return Heading(0, end, phrase.strip(), told, mark, alone=is_alone(line, end), after_blank=not before.strip())


def _ends(body: str, opened: str) -> Iterator[tuple[int, int, bool]]:
    """Where the heading at the start of a text may end: (end, characters to skip, it ends at a colon)."""
    colon = body.find(":")
    if colon >= 0:
        yield colon, 1, True
    closed = body.find(_CLOSING[opened]) if opened in _CLOSING else -1
    if closed > 0:
        yield closed, 1, False
    gap = _GAP.search(body)
    if gap and gap.start():
        yield gap.start(), gap.end() - gap.start(), False
    blank = body.find(BLANK)
    if blank > 0:
        yield blank, 0, False
    if len(body) < LONGEST:
        whole = body.rstrip(" *=-_\t")
        yield len(whole), len(body) - len(whole), False
    stop = _CAPITALISED.match(body)
    if stop:
        yield stop.end(), 1, False
    if body[:1].isupper():
        yield from _ends_within(body)


def _ends_within(body: str) -> Iterator[tuple[int, int, bool]]:
    """Text follows behind a blank only: "HOSPITAL COURSE Patient was …"."""
    for pattern in _FIRST_WORDS:
        first = pattern.match(body)
        if first:
            yield first.end(), 0, False
    capitals = _CAPITALS.match(body)
    if capitals and capitals.end() < len(body):
        yield capitals.end(), 0, False


def _runs_on(phrase: str, rest: str, before: str) -> bool:
    """A line in lower case that goes on with the sentence of a full line before it is text, not a heading.

    In a note that is all in lower case that cannot be told; there it is a heading.
    """
    return phrase[:1].islower() and bool(rest.strip()) and _broken_off(before) and not before.islower()


def _broken_off(before: str) -> bool:
    before = before.rstrip()
    return len(before) >= _FULL_LINE and before[-1] not in ".:;!?"


def _looks_like_title(phrase: str, told: Meaning, before: str, body: str) -> bool:
    """Without a colon a heading must look like one."""
    behind = body[len(phrase) :]
    rest = behind.strip(" \t*=-_")
    phrase = phrase.rstrip()
    if phrase.endswith((".", ",")):
        return False
    if told.kind is Kind.FIELD:
        return phrase[:1].isupper() or behind.startswith("_")
    if rest and (_goes_on(behind, told) or (phrase.isupper() == body.isupper() and _broken_off(before))):
        return False
    words = phrase.split()
    if phrase.isupper():
        return told.words >= 2 or not rest or len(words) > 1
    if not phrase[:1].isupper():
        stands_apart = _FIRST_WORD.search(before) is None  # behind an empty or a ruled line
        return not rest and (stands_apart or told.words >= 2) and len(words) <= 4 and not _broken_off(before)
    if in_title_case(words):
        return told.words >= 2 or not rest or (told.kind is Kind.KNOWN and rest != behind.strip())
    if told.words < 2 or _VERBS & set(phrase.lower().split()):
        return False
    return not rest or (told.kind in (Kind.LATER, Kind.END) and not _SENTENCE.match(rest))


def _goes_on(behind: str, told: Meaning) -> bool:
    """What is known at admission needs a colon, a gap or a dash: "PMH significant for …" is a sentence."""
    known = told.kind in (Kind.KNOWN, Kind.AMBIGUOUS, Kind.ADMISSION)
    return known and behind[:1] in (" ", "_") and not _GAP.match(behind)


def _joined_letters(text: str) -> str:
    """`D I S C H A R G E   D I A G N O S I S` without the spaces between its letters."""
    return " ".join(word.replace(" ", "") for word in re.split(r" {2,3}", text.strip().rstrip(":")))


def _over_two_lines(line: str, before: str, behind: str) -> Heading | None:
    """A heading of which the line holds the first words only."""
    first = line[:LONGEST].strip()
    if ":" in first or len(first) > 40 or len(first.split()) > 4 or not first[0].isupper():
        return None
    rest = behind[:LONGEST].strip()
    second = rest.partition(":")[0]
    if not second or len(second.split()) > 3 or (":" not in rest and not second[0].isupper()):
        return None
    told, alone = meaning(f"{first} {second}"), meaning(first)
    if told is None or meaning(second) == told or (alone is not None and alone.words >= 2):
        return None
    return Heading(0, len(line), f"{first} {second}", told, alone=True, after_blank=not before.strip())
