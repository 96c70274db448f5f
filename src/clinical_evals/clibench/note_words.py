"""The words of a note's headings in one spelling.

Headings of discharge notes come in any case, abbreviated ("D/C Dx", "PMHx"), dotted ("H.P.I."), in the plural, with
misspelt words ("Dischage") and with blanks where something was taken out (`___`). Here each becomes a list of plain
words: "Dishcarge Diagnoses (___):" is `("discharge", "diagnosis")`.
"""

import re
from functools import lru_cache

from clinical_evals.clibench.note_vocabulary import MISSPELT, ONLY_ALONE, OTHER_WORDS, SHORT_FORMS, SPELLINGS

MOST_WORDS = 12
"""A phrase with more words than this is no heading."""

_SAME = {spelling: word for word, spellings in SPELLINGS.items() for spelling in spellings.split()}
_TRUE = MISSPELT | frozenset(SPELLINGS)
_LONG = sorted(word for word in _TRUE.union(_SAME) if len(word) >= 5)
_NEAR = {letter: tuple(word for word in _LONG if word[0] == letter) for letter in {word[0] for word in _LONG}}
"""By first letter: the words that a misspelt one may be."""

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z][a-z])")
_DOTTED = re.compile(r"\b([A-Za-z])\.([A-Za-z])\.(?:([A-Za-z])\.?)?(?:([A-Za-z])\.?)?(?![A-Za-z])")
_SLASHED = {"d/c": "discharge", "f/u": "followup", "a/p": "ap", "a&p": "ap", "c/c": "cc"}
_SLASH = re.compile(r"\b(?:d/c|f/u|a/p|a&p|c/c)(?![a-z])")
_OPERATIVE = re.compile(r"\b(pre|post)[ -]?op(?:erative)?\b")
_BRACKETS = re.compile(r"\(([^()]{0,60})\)")
_WORD = re.compile(r"[a-z0-9]+")


def heading_words(phrase: str) -> tuple[str, ...]:
    """The words of a phrase in their one spelling; blanks (`___`), numbers, punctuation and what is in brackets go.

    Brackets that tell of a later time ("Exam (on discharge)") stay. A phrase of more than `MOST_WORDS` gives none.

    >>> heading_words("D/C Dx (___):"), heading_words("Hosp. Course"), heading_words("Follow-up Instr.")
    (('discharge', 'diagnosis'), ('hospital', 'course'), ('followup', 'up', 'instructions'))
    """
    found = [word for word in _WORD.findall(_plain(phrase)) if not word.isdigit()]
    if len(found) > MOST_WORDS:
        return ()
    return tuple(word for raw in found for word in _expanded(raw, len(found)))


def is_abbreviation(word: str) -> bool:
    """Whether a word in lower case stands for several words of a heading, e.g. `pmhx`."""
    return word in SHORT_FORMS


@lru_cache(maxsize=16384)
def spelled(word: str) -> str:
    """A heading's word in its one spelling, misspellings included; any other word as it is.

    A long word may be one letter off, two from ten letters on: replaced, lost, added or swapped with its neighbour.

    >>> spelled("dishcarge"), spelled("dx"), spelled("medcial"), spelled("discharged"), spelled("coarse")
    ('discharge', 'diagnosis', 'medical', 'discharged', 'coarse')
    """
    if word in _SAME:
        return _SAME[word]
    if word in _TRUE or word in OTHER_WORDS or not 5 <= len(word) <= 16:
        return word
    allowed = 2 if len(word) >= 10 else 1
    near = [
        (distance, known)
        for known in _NEAR.get(word[0], ())
        if abs(len(known) - len(word)) <= allowed and (distance := _edits(word, known)) <= allowed
    ]
    nearest = min(near, default=(0, word))[1]
    return _SAME.get(nearest, nearest)


def _plain(phrase: str) -> str:
    """Lower case, with abbreviations of several letters in one piece; each step only where it can matter."""
    if not phrase.islower():
        phrase = _CAMEL.sub(" ", phrase)
    if "." in phrase:
        phrase = _DOTTED.sub(lambda dotted: "".join(letter for letter in dotted.groups() if letter), phrase)
    phrase = phrase.lower()
    if "/" in phrase or "&" in phrase:
        phrase = _SLASH.sub(lambda found: _SLASHED[found.group()], phrase)
    if "op" in phrase:
        phrase = _OPERATIVE.sub(r"\1op", phrase)
    if "(" in phrase:
        phrase = _BRACKETS.sub(lambda found: found.group() if _tells_later(found.group(1)) else " ", phrase)
    return phrase.replace("'s", "")


def _tells_later(text: str) -> bool:
    return "disch" in text or "dc" in text.split() or "transfer" in text


def _expanded(word: str, words: int) -> tuple[str, ...]:
    if word in SHORT_FORMS and (words == 1 or word not in ONLY_ALONE):
        return tuple(SHORT_FORMS[word].split())
    return (spelled(word),)


def _edits(one: str, other: str) -> int:
    """How many letters must be replaced, lost, added or swapped with their neighbour."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        before, last, row = row, before, [i]
        for j, its in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != its))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == its:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return row[-1]
