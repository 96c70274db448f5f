"""What a heading of a discharge note stands for, and whether it is known at admission (protocol.md 2.2).

Headings are told by their words, not by a list of their spellings: a time ("discharge", "admission") and a thing
("exam", "medications"). A thing of a later time is out; so are header fields, procedures, results, the course,
diagnoses and follow-up at any time, except what another hospital or the emergency room did before the admission.
"""

from functools import lru_cache

from clinical_evals.clibench.note_kinds import Kind, Meaning
from clinical_evals.clibench.note_rules import of_known_words, of_open_words, of_the_discharge
from clinical_evals.clibench.note_vocabulary import (
    CONNECTING,
    DOUBTFUL,
    EARLIER,
    ELSEWHERE,
    FIELDS,
    FILLING,
    KNOWN,
    LATER,
    OUT,
    QUALIFIERS,
    RESULTS,
)
from clinical_evals.clibench.note_words import heading_words, is_abbreviation, spelled

BLANK = "___"
"""Stands in MIMIC for what was taken out."""

_HEADING_WORDS = frozenset[str]().union(
    FILLING, LATER, EARLIER, RESULTS, OUT, QUALIFIERS, CONNECTING, {"discharged", "exam", "history"}, *FIELDS, *KNOWN
)


@lru_cache(maxsize=16384)
def meaning(phrase: str) -> Meaning | None:
    """What a phrase means as a heading; `None` for an unknown heading and for what is none.

    Args:
        phrase: the heading without its text, with or without colon, e.g. "D/C Dx:"; a blank (`___`) before it counts.

    >>> meaning("D/C Dx:").kind.name, meaning("PMHx").kind.name, meaning("Vaginal discharge:")
    ('LATER', 'KNOWN', None)
    """
    told = _of_words(heading_words(phrase))
    if told and phrase.startswith(BLANK):
        return _behind_blank(phrase.removeprefix(BLANK).lstrip(), told)
    if told and phrase.strip(" :").lower() in DOUBTFUL:
        return Meaning(Kind.AMBIGUOUS, told.section)
    return told


def is_heading_word(word: str) -> bool:
    """Whether a word, in any spelling, is one of those that headings are made of."""
    word = word.lower()
    return is_abbreviation(word) or spelled(word) in _HEADING_WORDS


@lru_cache(maxsize=16384)
def _of_words(words: tuple[str, ...]) -> Meaning | None:
    if not words:
        return None
    for part in (words, _before_source(words)):
        told = of_the_discharge(part) or of_known_words(part)
        if told is not None:
            return told
    return of_open_words(words)


def _before_source(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words before "per ___ pharmacy", "from …", "at …", unless the end names the discharge."""
    if words[-1] in LATER or words[:2] in (("discharge", "from"), ("discharge", "per")):
        return words  # "Discharge from the nipple" is a symptom
    for place, word in enumerate(words[1:], 1):
        if word in ("per", "from", "at"):
            return words[:place] if not ELSEWHERE & set(words[place:]) else words
    return words


def _behind_blank(phrase: str, told: Meaning) -> Meaning:
    """A heading whose first word was taken out as if it were a name: "___ Medications:" behind the course."""
    if not phrase[:1].isupper():
        return told
    if told.kind is Kind.AMBIGUOUS and told.section == "medications":
        return Meaning(Kind.LATER, "medications", words=2)
    if told.section == "instructions":
        return Meaning(Kind.END, "instructions", words=2)
    return told
