"""National Drug Codes: 11 digits kept as text, from the forms in which they are written.

A drug package has a labeler, product and package segment of 5, 4 and 2 digits. Printed, one of them may lack its
leading zero (4-4-2, 5-3-2, 5-4-1); hyphens then tell which. Ten digits without hyphens do not, and are not guessed.

>>> [normalize_ndc(text) for text in ("00002821501", "0002-8215-01", "54868-518-00", "0002821501", "0")]
['00002821501', '00002821501', '54868051800', None, None]
"""

import re

SEGMENTS = (5, 4, 2)
"""Digits of labeler, product and package in the 11-digit form."""
DIGITS = sum(SEGMENTS)
_HYPHENED = {(5, 4, 2), (4, 4, 2), (5, 3, 2), (5, 4, 1)}
_LABEL = re.compile(r"NDC(?:[ -]?(?:code|number|no\.?))?\s*[:#=]?\s*", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]*)?(?:[eE]\+?[0-9]+)?")
_ZEROS = re.compile(r"(?:0+(?:-0+)*)?")
_PLAIN = re.compile(r"[0-9]+")
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—−", "-"))


def normalize_ndc(text: str) -> str | None:
    """The 11 digits of an NDC; None where there is none or where it cannot be told for certain (see `explain_ndc`)."""
    parts = _segments(text)
    if parts is None:
        return None
    ndc = parts[0] if len(parts) == 1 else "".join(map(str.zfill, parts, SEGMENTS))
    return ndc if ndc.strip("0") else None


def is_no_ndc(text: str) -> bool:
    """Whether a text says that there is no NDC: empty, or zeros only (MIMIC writes "0")."""
    return _ZEROS.fullmatch(_bare(text)) is not None


def explain_ndc(text: str) -> str:
    """Why `normalize_ndc` gives None, and what helps."""
    bare = _bare(text)
    if ndc := normalize_ndc(text):
        return f"It is one: {ndc}."
    if is_no_ndc(text):
        return "There is no NDC: it is empty or zero."
    if _PLAIN.fullmatch(bare):
        return _explain_digits(len(bare))
    if _NUMBER.fullmatch(bare):
        return (
            "It was read as a number, so its leading zeros are lost; also where 11 digits are left, the shorter ones "
            "of that column are no longer certain. Read the column as text."
        )
    if re.fullmatch(r"[0-9]+-[0-9]+", bare):
        return "It has two segments: it names a product; the package segment is missing."
    return "Expected 11 digits, or labeler-product-package as 5-4-2, 4-4-2, 5-3-2 or 5-4-1 digits."


def _explain_digits(count: int) -> str:
    if count == DIGITS - 1:
        return (
            "Ten digits without hyphens are ambiguous (4-4-2, 5-3-2 and 5-4-1 put the missing zero at different "
            "places), and are not guessed: write the hyphens, or all 11 digits."
        )
    if count < DIGITS:
        return f"It has {count} digits, expected 11: read as a number, its leading zeros are lost. Read it as text."
    return f"It has {count} digits, expected 11."


def _bare(text: str) -> str:
    bare = text.strip().translate(_DASHES)
    label = _LABEL.match(bare)
    return bare[label.end() :] if label else bare


def _segments(text: str) -> tuple[str, ...] | None:
    parts = tuple(_bare(text).split("-"))
    if not all(map(_PLAIN.fullmatch, parts)):
        return None
    lengths = tuple(map(len, parts))
    return parts if lengths == (DIGITS,) or lengths in _HYPHENED else None
