"""What a text or a title says to be there, not to be there, or to be past: what must not be turned round.

"bleeding esophageal varices" against "Esophageal varices without bleeding": turned round
"history of stroke" against "Cerebral infarction": the past is not the present
"methicillin resistant" against "Methicillin susceptible": one of two things that exclude each other
"""

import re
from typing import NamedTuple

from clinical_evals.matching.hybrid.words import words

_EITHER = re.compile(r"\bwith (?:or|and) without\b[^,;()]*", re.IGNORECASE)
_DENIED = re.compile(
    r"\b(?:without|no|not|non|denies|negative for)\b[ -]?([^,;()]*?)(?=\bwith\b|\bbut\b|[,;()]|\Z)", re.IGNORECASE
)
_PAST = re.compile(
    r"\b(?:history|hx|prior|previous(?:ly)?|old|past|remote|former|ex|status post|s/p|healed|resolved)\b",
    re.IGNORECASE,
)
_PAST_TITLE = re.compile(
    r"\b(?:history|old|sequelae?|following|status|aftercare|presence of|absence of|healed|late|encounter"
    r"|attention to)\b",
    re.IGNORECASE,
)
_PERSONAL_PAST = re.compile(r"\bpersonal history\b|\bold\b", re.IGNORECASE)
_FAMILY = re.compile(r"\bfamily history\b|\bfamilial history\b|\bf/?hx?\b", re.IGNORECASE)
_EXCLUSIVE = {
    "resistance": re.compile(r"\b(resist|suscept|sensitiv)(?:ant|ible|e)\b", re.IGNORECASE),
    "degree": re.compile(r"\b(first|second|third|1st|2nd|3rd)[ -]degree\b", re.IGNORECASE),
    "stage": re.compile(r"\bstage (\d[ab]?)\b", re.IGNORECASE),
    "type": re.compile(r"\btype (\d) diabetes\b", re.IGNORECASE),
    "phase": re.compile(r"\b(systolic|diastolic)\b", re.IGNORECASE),
    "limb": re.compile(r"\b(upper|lower) (?:extremit|limb)", re.IGNORECASE),
}
"""Of each of these, what a title says must be what the text says, where both say something."""
_TOO = re.compile(r"\b(hypo|hyper)-?(\w{5,})", re.IGNORECASE)
_SAME = {"sensitiv": "suscept", "1st": "first", "2nd": "second", "3rd": "third"}


class Claims(NamedTuple):
    """What is said; stems of words."""

    denied: frozenset[str]
    affirmed: frozenset[str]
    past: bool
    """Of a text: whether it speaks of something past; of a title: whether it can mean something past."""
    only_past: bool
    """Of a title: whether it means something past and nothing else."""
    family: bool
    exclusive: frozenset[tuple[str, str]]
    """What is said of `_EXCLUSIVE`, and of what there is too little or too much."""


def claims_of(text: str, is_title: bool) -> Claims:
    """What a text or a title says."""
    plain = _EITHER.sub(" ", text)
    denied = frozenset(word for found in _DENIED.finditer(plain) for word in words(found[1]))
    affirmed = frozenset(words(_DENIED.sub(" ", plain))) - denied
    past = (_PAST_TITLE if is_title else _PAST).search(plain) is not None
    only_past = is_title and _PERSONAL_PAST.search(plain) is not None
    return Claims(denied, affirmed, past, only_past, _FAMILY.search(plain) is not None, _exclusive(plain))


def _exclusive(text: str) -> frozenset[tuple[str, str]]:
    said = [(kind, found[1].lower()) for kind, pattern in _EXCLUSIVE.items() for found in pattern.finditer(text)]
    amounts = [(f"too {found[2].lower()[:5]}", found[1].lower()) for found in _TOO.finditer(text)]
    return frozenset((kind, _SAME.get(what, what)) for kind, what in (*said, *amounts))


def disagree(text: Claims, title: Claims) -> bool:
    """Whether a title says the opposite of a text, or takes the past for the present."""
    if text.denied & title.affirmed and not text.denied & title.denied:
        return True
    if title.denied & text.affirmed:
        return True
    if text.exclusive and title.exclusive:
        both = {kind for kind, _ in text.exclusive} & {kind for kind, _ in title.exclusive}
        if both - {kind for kind, _ in text.exclusive & title.exclusive}:
            return True
    return text.family != title.family or (text.past and not title.past) or (title.only_past and not text.past)
