"""Probabilities that an answer writes beside departments: 骨科 10%, 皮肤科 85%; 80% 骨科; {"骨科": 0.2}."""

import re

from clinical_evals.ior_bench.department_names import FOREIGN, MENTION

_PERCENT = r"(?P<percent>[0-9]{1,3}(?:\.[0-9]{1,4})?)[ ]?%"
_AFTER = re.compile(
    rf"(?:,(?=占|概率|可能性))?[^,。;!?\n%0-9{MENTION}{FOREIGN}]{{0,14}}(?:{_PERCENT}|(?P<share>0\.[0-9]{{1,4}})(?![0-9.]))"
)
_BEFORE = re.compile(rf"{_PERCENT}(?:的?(?:可能性?|概率|把握))?(?:是|为|属于|考虑|[ :]){{0,3}}\Z")
_REACH = 24


def has_shares(text: str) -> bool:
    """Whether a folded text can hold a probability at all."""
    return "%" in text or "0." in text


def share_beside(text: str, start: int, end: int) -> float | None:
    """The probability beside a name, in per cent; None where there is none.

    Args:
        text: a folded, marked text.
        start: where the mention begins.
        end: where it ends.
    """
    if found := _AFTER.match(text, end):
        return float(found["percent"]) if found["percent"] else 100 * float(found["share"])
    before = _BEFORE.search(text, max(0, start - _REACH), start)
    return float(before["percent"]) if before else None
