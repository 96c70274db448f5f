"""What a text or a title says to be there, not to be there, or to be past: what must not be turned round.

"bleeding esophageal varices" against "Esophageal varices without bleeding": turned round
"history of stroke" against "Cerebral infarction": the past is not the present
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


class Claims(NamedTuple):
    """What is said; stems of words."""

    denied: frozenset[str]
    affirmed: frozenset[str]
    past: bool
    """Of a text: whether it speaks of something past; of a title: whether it can mean something past."""
    only_past: bool
    """Of a title: whether it means something past and nothing else."""
    family: bool


def claims_of(text: str, is_title: bool) -> Claims:
    """What a text or a title says."""
    plain = _EITHER.sub(" ", text)
    denied = frozenset(word for found in _DENIED.finditer(plain) for word in words(found[1]))
    affirmed = frozenset(words(_DENIED.sub(" ", plain))) - denied
    past = (_PAST_TITLE if is_title else _PAST).search(plain) is not None
    only_past = is_title and _PERSONAL_PAST.search(plain) is not None
    return Claims(denied, affirmed, past, only_past, _FAMILY.search(plain) is not None)


def disagree(text: Claims, title: Claims) -> bool:
    """Whether a title says the opposite of a text, or takes the past for the present."""
    if text.denied & title.affirmed and not text.denied & title.denied:
        return True
    if title.denied & text.affirmed:
        return True
    return text.family != title.family or (text.past and not title.past) or (title.only_past and not text.past)
