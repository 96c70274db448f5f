"""Texts that name several diseases, or say that there is none."""

import re

from clinical_evals.matching.answer_phrases import is_excluded, is_negated

_AND = re.compile(
    r"\s*(?:;|\s\+\s|\s&\s|\s/\s|,\s+(?:and\s+)?|\s(?:and|as well as|along with|plus)\s)\s*", re.IGNORECASE
)
_RULE_OUT = re.compile(r"(?:to )?(?:rule[ds]?[ -]?out|r/o|exclude[ds]?|evaluate for)\b", re.IGNORECASE)
_RULED_OUT = re.compile(
    r"\b(?:(?:is|was|has been|were) )?(?:ruled out|excluded|unlikely|not present|absent)\s*\Z", re.IGNORECASE
)
_ABOUT = (
    r"(?:on|s/p|status post|treated|controlled|uncontrolled|managed|followed|baseline|last|diagnosed|stable|currently"
    r"|well|improving|improved|resolving|resolved|no|not|never|now|likely|presumed|thought|felt|noted|found|which|who|per|seen)"
)
_REMARK = re.compile(
    rf"\s*(?:[,;]\s+(?={_ABOUT}\b|\S*\d)|\s[-–—]\s|:\s|[(\[][^()\[\]]*[)\]]\.?\Z"
    r"|\s(?:on|s/p|status post|treated with|controlled (?:on|with)|managed with|followed by|which|who)\s).*",
    re.IGNORECASE | re.DOTALL,
)
MAX_PARTS = 6


def is_absent(text: str) -> bool:
    """Whether a text says that something is not there, or is only to be ruled out.

    >>> [is_absent(text) for text in ("no evidence of pneumonia", "r/o PE", "MI ruled out", "anemia without bleeding")]
    [True, True, True, False]
    """
    return bool(_RULE_OUT.match(text) or _RULED_OUT.search(text)) or is_negated(text) or is_excluded(text)


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
