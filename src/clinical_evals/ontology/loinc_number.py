"""LOINC numbers as text: their form, their check digit, and the ways in which people write them."""

import re
from typing import NamedTuple

HYPHENS = "-‐‑‒–—−﹣－"
"""What stands for the hyphen: also typographic dashes and the minus sign."""
NUMBER = re.compile(r"[0-9]{1,7}-[0-9]")
"""The whole of a LOINC number in its canonical form."""
PART = re.compile(r"LP[0-9]{1,7}-[0-9]")
"""The whole of a part's code: a group of the hierarchy, never a LOINC number."""
SHAPE = re.compile(rf"[0-9]{{1,7}}[{HYPHENS}][0-9]")
"""As `NUMBER`, with any of `HYPHENS`."""

_LONGEST = 100
_EDGES = " \t\r\n.,;:()[]{}<>\"'*_`#/"
_SPACES = re.compile(r"[\s\u200b\u2060\ufeff]+")
_TO_HYPHEN = str.maketrans(dict.fromkeys(HYPHENS, "-"))
_SPELLING = re.compile(
    r"(?P<label>(?:HTTPS?://)?(?:WWW\.)?LOINC\.ORG/"
    r"|LOINC(?:®|\(R\))?(?:[-_]?(?:CODES?|NUM|NUMBERS?|NO\.?|ID))?[]):=#/|.-]{0,3})?"
    r"(?P<number>[0-9]{1,7})(?P<hyphen>-?)(?P<check>[0-9])"
)


class Spelling(NamedTuple):
    """A text that can be read as a LOINC number."""

    code: str
    """In canonical form, whether any release has it or not."""
    hyphen: bool
    """The hyphen is written."""
    labelled: bool
    """The text says that it is a LOINC number ("LOINC 2345-7", "http://loinc.org/2345-7")."""


class MalformedCode(NamedTuple):
    """A value of a file that is no LOINC number; the rest of the file is used."""

    where: str
    """File and line."""
    found: str
    """What stands there."""
    why: str
    """What is wrong with it."""


def check_digit(number: str) -> int:
    """The check digit (Mod 10) of the digits before the hyphen. Source: LOINC Users' Guide.

    From the right every second digit, the last one first, is doubled; the sum of all digits is completed to a ten.

    >>> check_digit("2345")  # doubled 5 and 3: 10, 6; digits 1+0 + 4 + 6 + 2 = 13, to 20 are 7
    7
    """
    doubled = (str(int(digit) * (2 - place % 2)) for place, digit in enumerate(reversed(number)))
    return -sum(int(digit) for digit in "".join(doubled)) % 10


def has_right_check_digit(code: str) -> bool:
    """Whether a number in canonical form ends with its check digit."""
    return check_digit(code[:-2]) == int(code[-1])


def read_spelling(text: str) -> Spelling | None:
    """What a text says as a LOINC number: any case, label, hyphen, spaces, brackets, trailing punctuation.

    >>> read_spelling("LOINC: 2345 – 7."), read_spelling("Glucose")
    (Spelling(code='2345-7', hyphen=True, labelled=True), None)
    """
    if len(text) > _LONGEST:
        return None
    bare = _SPACES.sub("", text.strip(_EDGES)).translate(_TO_HYPHEN).upper()
    match = _SPELLING.fullmatch(bare)
    if match is None:
        return None
    return Spelling(f"{match['number']}-{match['check']}", bool(match["hyphen"]), bool(match["label"]))


def explain_form(text: str) -> str:
    """Why a text is no LOINC number as far as its form and check digit tell; empty where both are right."""
    if not NUMBER.fullmatch(text):
        return "expected digits, a hyphen and a check digit, as 2345-7"
    if not has_right_check_digit(text):
        return f"its check digit is wrong: after {text[:-2]} it would be {check_digit(text[:-2])}"
    return ""
