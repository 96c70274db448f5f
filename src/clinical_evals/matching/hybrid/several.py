"""Texts that name several diseases, or say that there is none."""

import re

from clinical_evals.matching.answer_phrases import is_excluded, is_negated

_AND = re.compile(
    r"\s*(?:;|\s\+\s|\s&\s|\s/\s|(?<=[A-Za-z0-9]{2})(?<!and)/(?=[A-Za-z]{2})|,\s+(?:and\s+)?|\svs?\.?\s|\sversus\s"
    r"|\s(?:and(?!/or)|as well as|along with|plus)\s|\s(?=s/p\s|status post\s))\s*",
    re.IGNORECASE,
)
_ON = re.compile(r"\s(?:on top of|superimposed on|on)\s", re.IGNORECASE)
_MAYBE = re.compile(
    r"(?:(?:possible|possibly|probable|probably|likely|suspected|presumed|questionable|concern for|\?)\s*)+(?=\S)",
    re.IGNORECASE,
)
_TO_EXCLUDE = re.compile(r"[,;]?\s+(?:r/o|rule out|to rule out|to exclude)\s.*", re.IGNORECASE | re.DOTALL)
_NOT = re.compile(
    r"\(-\) |(?:not|never|without|w/o|denies|neg(?:ative)? for|unlikely"
    r"|non-?(?:smoker|smoking|diabetic|drinker|obese|pregnant|hypertensive))\b",
    re.IGNORECASE,
)
_RULE_OUT = re.compile(r"(?:to )?(?:rule[ds]?[ -]?out|r/o|exclude[ds]?|evaluate for)\b", re.IGNORECASE)
_RULED_OUT = re.compile(
    r"\b(?:(?:is|was|has been|were) )?(?:ruled out|excluded|unlikely|not present|absent|r/o|ppx|prophylaxis)\s*\Z"
    r"|: ?(?:denies|denied|neg(?:ative)?)\s*\Z",
    re.IGNORECASE,
)
_TESTED = re.compile(r"\S+(?: \S+)? (?:neg(?:ative)?|low prob(?:ability)?) for\b", re.IGNORECASE)
"""A test that found nothing: "CTPA negative for PE"."""
_VALUE = re.compile(
    r"\s*[\[(](?:baseline|cr|creat\w*|e?gfr|(?:lv)?ef|hgb|hb|(?:hb)?a1c|bun|wbc|plts?|inr|trop\w*|lactate|bnp|na|k|glucose)\b"
    r"[^\[\]()]*\d[^\[\]()]*[\])]",
    re.IGNORECASE,
)
"""A measurement in brackets, whose number is none of the disease: "CKD [Cr 2.1]"."""
_ABOUT = (
    r"(?:on|s/p|status post|treated|controlled|uncontrolled|managed|followed|baseline|last|diagnosed|stable|currently"
    r"|well|improving|improved|resolving|resolved|no|not|never|now|likely|presumed|thought|felt|noted|found|which|who|per|seen)"
)
_REMARK = re.compile(
    rf"\s*(?:[,;]\s+(?={_ABOUT}\b|\S*\d)|\s[-–—]\s|:\s|[(\[][^()\[\]]*[)\]]\.?\Z"
    r"|\s(?:on|s/p|status post|treated with|controlled (?:on|with)|managed with|followed by|which|who)\s).*",
    re.IGNORECASE | re.DOTALL,
)
MAX_PARTS = 12


def is_absent(text: str) -> bool:
    """Whether a text says that something is not there, or is only to be ruled out.

    >>> [is_absent(text) for text in ("no evidence of pneumonia", "r/o PE", "MI ruled out", "anemia without bleeding")]
    [True, True, True, False]
    """
    stated = _RULE_OUT.match(text) or _RULED_OUT.search(text) or _NOT.match(text) or _TESTED.match(text)
    return stated is not None or is_negated(text) or is_excluded(text)


def bare(text: str) -> str:
    """A text without what makes it doubtful, what is only to be ruled out, and measurements in brackets.

    >>> bare("possible pneumonia"), bare("pneumonia, r/o TB")
    ('pneumonia', 'pneumonia')
    """
    return _TO_EXCLUDE.sub("", _MAYBE.sub("", _VALUE.sub("", text), count=1)) if text.strip() else text


def stacked(text: str) -> tuple[str, ...]:
    """The two diseases of "AKI on CKD stage 3"; empty if it is no such text."""
    parts = tuple(part.strip() for part in _ON.split(text))
    return parts if len(parts) == 2 and all(len(part) > 1 for part in parts) else ()


def parts_of(text: str) -> tuple[str, ...]:
    """What a text names if its commas and "and"s stand between diseases; empty if there is nothing to cut.

    Whether they do is the matcher's to say: each part must be matched more surely than the whole.
    """
    parts = tuple(part for part in _AND.split(text) if part)
    return parts if 2 <= len(parts) <= MAX_PARTS and all(len(part) > 1 for part in parts) else ()


def head_of(text: str) -> str:
    """What stands before a remark, "hypertension" in "hypertension, on lisinopril"; empty if there is no remark."""
    head = _REMARK.sub("", text, count=1).strip()
    return head if len(head) > 1 and head != text.strip() else ""
