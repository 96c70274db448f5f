"""What a text can be matched to: titles and further names of one code system, each distinct one once."""

import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from clinical_evals.ontology import CodeSystem

_VARIANTS = str.maketrans(
    {
        **dict.fromkeys("‐‑‒–—―−﹘", "-"),
        **dict.fromkeys("‘’‚‛′`´", "'"),
        **dict.fromkeys("“”„‟″«»＂", '"'),
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"),  # invisible: removed
    }
)
_AFTER = " .,;:!?…。、，；：！？"
_AROUND = " '\"*_"


def fold(text: str) -> str:
    """A text as titles are compared: without differences of case, white space, dashes, quotes and end punctuation.

    >>> fold("  Crohn’s disease of small intestine – with  complications. ")
    "crohn's disease of small intestine - with complications"
    """
    if not text.isascii():
        composed = unicodedata.normalize("NFKC", text.translate(_VARIANTS))
        text = unicodedata.normalize("NFKC", composed.casefold()).translate(_VARIANTS)
    text = " ".join(text.casefold().replace("`", "'").split())
    before = None
    while before != text:  # quotes and punctuation may be nested: «Gout».
        before = text
        text = text.strip(_AROUND).rstrip(_AFTER)
    return text


class Titles(NamedTuple):
    """Titles with the code that each stands for, in the order that decides ties; the two lists are parallel."""

    source: str
    """What they are the titles of, as progress bars and cache folders name it."""
    codes: list[str]
    titles: list[str]


def titles_of(system: CodeSystem) -> Titles:
    """The distinct titles a text is compared with: of codes and their headers, not of ranges such as E08-E13.

    Several codes may have one title: A08.3 and A08.39 are both "Other viral enteritis" (726 titles of ICD-10-CM April
    2026). The one that `CodeSystem.preference` says is taken, and of equal ones the first of the release. A title that
    is the code itself, since its release has no name for it, is none that a text could be.

    After the titles stand the names of `CodeSystem.names` that are no title, each with its code by the same rule.
    """
    shaped = list(filter(system.code_shape.fullmatch, system.codes()))
    place: dict[str, int] = {}
    chosen = Titles(f"{system.name} {system.release}", [], [])
    for code in shaped:
        if (title := system.title(code)) != code:
            _choose(chosen, place, system, code, title)
    titled = frozenset(place)
    for code in shaped:
        for name in system.names(code):
            if fold(name) not in titled:
                _choose(chosen, place, system, code, name)
    return chosen


def further_texts(system: CodeSystem, texts: Iterable[tuple[str, str]], source: str) -> Titles:
    """Texts that stand beside the titles of `titles_of`, such as synonyms, each with its code; what is there is not
    repeated, and of several codes the one is taken that a title would get.

    Args:
        system: the code system.
        texts: texts with their canonical codes.
        source: what they are, as progress bars and cache folders name it.
    """
    titled = set(map(fold, titles_of(system).titles))
    place: dict[str, int] = {}
    chosen = Titles(source, [], [])
    for text, code in texts:
        if fold(text) not in titled:
            _choose(chosen, place, system, code, text)
    return chosen


def _choose(chosen: Titles, place: dict[str, int], system: CodeSystem, code: str, text: str) -> None:
    """Adds a text with its code, or puts them in the place of an equal text whose code is preferred less."""
    at = place.setdefault(fold(text), len(chosen.codes))
    if at == len(chosen.codes):
        chosen.codes.append(code)
        chosen.titles.append(text)
    elif system.preference(code) < system.preference(chosen.codes[at]):
        chosen.codes[at], chosen.titles[at] = code, text
