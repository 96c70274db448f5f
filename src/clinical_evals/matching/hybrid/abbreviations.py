"""Abbreviations of clinical notes, written out: the table of clinical_words.json and its sources."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from clinical_evals.matching.hybrid.words import words

_TOKEN = re.compile(r"\bw/(?![ou]\b)|[A-Za-z0-9]+(?:[/&'’-][A-Za-z0-9]+)*", re.IGNORECASE)
_SHOUTED = 0.6
"""Share of upper-case letters from which a text is one in capitals, in which capitals say nothing."""
_TYPE = re.compile(r"\b(type) (i{1,2})\b", re.IGNORECASE)
_ROMAN = re.compile(r"[IVX]+")
_ARABIC = {"i": "1", "ii": "2", "iii": "3", "iv": "4", "v": "5"}
_SPACED = (
    (re.compile(r"\b([Aa])[ .]{1,2}(?=[Ff]ib\b)"), r"\1"),  # "A fib", "a. fib"
    (re.compile(r"\b(?:f|fam|family)\.?[ /]?hx\b(?: of\b)?|\bFH of\b", re.IGNORECASE), "family history of"),
    (re.compile(r"\bN?IDDM,? type (2|II)\b"), "type 2 diabetes mellitus"),  # on insulin, but no type 1
)
_STAGE = re.compile(
    r"\b(CKD|chronic kidney disease),? ?(?:stage )?([1-5]|I{1,3}|IV|V)(?=[ab]?(?![\w/.%]))", re.IGNORECASE
)


class Abbreviation(NamedTuple):
    """An entry of the table."""

    short: str
    """As clinicians write it."""
    long: str
    """What it is written out to for matching: the wording of the code system."""
    stands_for: str
    """What it is short for; often the same."""
    sources: tuple[str, ...]
    """Keys of `sources`, or "icd10cm:CODE" where the release itself spells it out at that code."""
    is_clipped: bool
    """Whether it is the beginning of the word that it stands for, which needs no source."""
    systems: frozenset[str]
    """The code systems of whose answers it is written out."""
    unless: re.Pattern[str] | None
    """Texts in which it is read otherwise, and left: "on RA" is room air."""


@cache
def _table() -> Mapping[str, Any]:
    table: Mapping[str, Any] = json.loads((files(__package__) / "clinical_words.json").read_text(encoding="utf-8"))
    return table


@cache
def entries() -> Sequence[Abbreviation]:
    """All of the table, in its order."""
    return [
        Abbreviation(
            short,
            entry["as"],
            entry.get("stands_for", entry["as"]),
            tuple(entry.get("in", ())),
            entry.get("clipped", False),
            frozenset(group["systems"]),
            re.compile(entry["unless"], re.IGNORECASE) if "unless" in entry else None,
        )
        for group in _table()["groups"]
        for short, entry in group["words"].items()
    ]


def sources() -> Mapping[str, str]:
    """The published lists that were looked at, by the key that entries name them with."""
    return dict(_table()["sources"])


@cache
def _of(system: str) -> Mapping[str, Abbreviation]:
    """Those of a code system, as they are written."""
    return {entry.short: entry for entry in entries() if system in entry.systems}


@cache
def _any_case(system: str) -> Mapping[str, Abbreviation]:
    """The same by lower case, without those that are English words or could be another word in lower case."""
    capitals = set(_table()["only_as_written"])
    return {short.lower(): entry for short, entry in _of(system).items() if short not in capitals}


def written_out(text: str, system: str = "icd10cm") -> str:
    """A text with its abbreviations written out; the text itself if it has none.

    One that only repeats in brackets what stands before it is left: "angioedema [AE]".

    Args:
        text: any text.
        system: the name of the code system that is meant.

    >>> written_out("s/p CABG, HTN")
    'status post aortocoronary bypass graft, hypertension'
    >>> written_out("Chronic kidney disease (CKD)")
    'Chronic kidney disease (CKD)'
    >>> written_out("Ca"), written_out("Ca", "loinc")
    ('malignant neoplasm', 'Ca')
    """
    letters = [character for character in text if character.isalpha()]
    shouted = len(letters) > 12 and sum(map(str.isupper, letters)) > _SHOUTED * len(letters)
    as_written, any_case = _of(system), _any_case(system)

    def long(token: re.Match[str]) -> str:
        written = token[0]
        found = None if shouted else as_written.get(written)
        found = found or any_case.get(written.lower().replace("’", "'"))
        if found is None and written.endswith("s") and written[:-1].isupper():  # "UTIs"
            found = as_written.get(written[:-1])
        if found is None and "/" in written:
            return "/".join(_TOKEN.sub(long, piece) for piece in written.split("/"))
        if found is None or (found.unless and found.unless.search(text)):
            return written
        if _repeats(found, token.string[: token.start()]) or _is_explained(written, token.string[token.end() :]):
            return written
        glued = written.endswith("/") and token.string[token.end() :][:1].isalnum()  # "w/sepsis"
        return f"{found.long} " if glued else found.long

    for spaced, joined in _SPACED:
        text = spaced.sub(joined, text)
    text = _STAGE.sub(lambda found: f"{found[1]} stage {_ARABIC.get(found[2].lower(), found[2])}", text)
    return _TYPE.sub(lambda found: f"{found[1]} {_ARABIC[found[2].lower()]}", _TOKEN.sub(long, text))


def _repeats(found: Abbreviation, before: str) -> bool:
    """Whether an abbreviation stands in brackets behind words that it is short for, in whatever reading."""
    if before[-1:] not in ("(", "["):
        return False
    told = set(words(before))
    return _initials(before).endswith(found.short.lower()) or any(
        set(words(reading)) <= told for reading in (found.long, found.stands_for)
    )


def _is_explained(written: str, after: str) -> bool:
    """Whether the brackets behind an abbreviation say what its letters are: "PVD (posterior vitreous detachment)"."""
    inside = re.match(r" ?[(\[]([^)\]]+)[)\]]", after)
    if inside is None:
        return False
    return len(written) > 1 and _initials(inside[1]) == written.lower()


def _initials(text: str) -> str:
    """The first letters of a text's words, in lower case; Roman numbers are none."""
    return "".join(part[0] for part in re.findall(r"[A-Za-z]+", text) if not _ROMAN.fullmatch(part)).lower()
