"""The rules of CliBench's released scorer, as they are, flaws included: answer to items to codes.

Source: protocol.md 3. They exist so that scores can be compared with the published tables; the rules to prefer are
those of `answer.py`. Text is taken as it stands: no Unicode folding, and "digit" means what Python's `str.isdigit`
says of a first character (so "①" and "²" are digits) and what `\\d` says inside the patterns (so they are not).

>>> official_items("Likely:\\n\\n1. Sepsis\\n2. I10\\n\\nGet well soon!")
['1. Sepsis', '2. I10']
>>> official_text("1. Type 2 diabetes (E11.99) <sep>"), official_codes("1. Type 2 diabetes (E11.99)")
('Type 2 diabetes', ['E11.99'])
"""

import re
from typing import NamedTuple

from clinical_evals.matching.answer import Item
from clinical_evals.ontology import CodeSystem

FIRST_OF_A_LIST = ("•", "-", "*", "o")
_FEW_TEXTS = 5
_CODE = re.compile(r"[A-Z]\d+\.[A-Za-z0-9]+")
_DIGITS = re.compile(r"\d+")
# The released `\d+\.\s*(.+)`; it finds the same without trying every start inside a long run of digits.
_AFTER_NUMBER = re.compile(r"(?<!\d)\d++\.\s*(.+)")
_REMOVED = (
    "<sep>",
    "(ICD-10-CM Code: )",
    "(ICD-10-CM code: )",
    "(ICD-10-CM: )",
    "ICD-10-CM Code:",
    "ICD-10-CM code:",
    "ICD-10-CM:",
)


class OfficialAnswer(NamedTuple):
    """What the released rules read in one answer."""

    items: tuple[Item, ...]
    """Each with its valid codes; an item without any is matched by its text, even an empty one."""
    invalid: frozenset[str]
    """Distinct invalid codes; they are counted, but predict nothing."""


def read_official(answer: str, system: CodeSystem) -> OfficialAnswer:
    """The items of an answer and the invalid codes that it mentions.

    Invalid codes are sought in the items, and in the whole answer where the items hold no code or fewer than five
    distinct texts. (protocol.md says distinct; the released code counts them before it makes them so. Only this
    diagnostic depends on it.)
    """
    written = official_items(answer)
    items = tuple(Item(official_text(item), _valid(official_codes(item), system)) for item in written)
    codes = [code for item in written for code in official_codes(item)]
    if not codes or len({item.text for item in items}) < _FEW_TEXTS:
        codes = official_codes(answer)
    return OfficialAnswer(items, frozenset(codes).difference(_valid(codes, system)))


def official_items(answer: str) -> list[str]:
    """The items of an answer, not stripped; none where the released scorer would leave the row out.

    A blank line is two line feeds in a row, counted without overlap: with carriage returns there is none. The answer
    is looked at stripped of white space, but split as it stands, so that a blank line before a list hides the list.
    One to five breaks and nothing else but white space give no items: the released code fails there on the first
    character and goes on without any.
    """
    breaks = answer.count("\n\n")
    if breaks > 5:
        items = answer.split("\n\n")
    elif breaks:
        first, second = answer.split("\n\n")[:2]
        start = answer.strip()[:1]
        begins_with_list = start.isdigit() or start in FIRST_OF_A_LIST
        items = (first if begins_with_list else second).split("\n") if start else []
    elif "\n" in answer:
        items = answer.split("\n")
    elif "<br>" in answer:
        items = answer.split("<br>")
    else:
        items = _numbered(answer)
    return [item for item in items if item]


def official_codes(item: str) -> list[str]:
    """The code-like texts of an item in order, repeated ones too: a capital, digits, a dot, letters and digits.

    Codes without a dot (I10), in lower case or with a letter before the dot (M1A.0) are none.
    """
    return _CODE.findall(item)


def official_text(item: str) -> str:
    """The text of an item, freed of its number, its codes and the label of the code; stripped, perhaps empty.

    An item whose first character is a digit keeps what follows the first "digits, dot" anywhere in it, up to the end
    of that line, and nothing where there is no such place ("1) Sepsis"). Codes are removed one after the other, each
    wherever it stands: E11.9 is also taken out of a later E11.90.
    """
    text = item
    if item[:1].isdigit():
        match = _AFTER_NUMBER.search(item)
        text = match[1] if match else ""
    for code in official_codes(item):
        for form in (f"({code})", f"[{code}]", code):
            text = text.replace(form, "")
    for label in _REMOVED:
        text = text.replace(label, "")
    return text.strip()


def title_key(text: str) -> str:
    """What two texts share that the released scorer takes for equal: lower case, without the space character."""
    return text.lower().replace(" ", "")


def _valid(codes: list[str], system: CodeSystem) -> tuple[str, ...]:
    """The codes that the release has exactly as written: E1.19 is not E11.9, S72.001a not S72.001A."""
    return tuple(code for code, known in zip(codes, system.normalize_all(codes), strict=True) if code == known)


def _numbered(answer: str) -> list[str]:
    r"""All matches of `\d+\.\s(.+?)(?=\d+\.|\Z)` (dot matches newlines), in linear time.

    An item ends before the next "digits, dot" of any kind, so also inside "E11.9", and never is shorter than one
    character.
    """
    numbers = [run.span() for run in _DIGITS.finditer(answer) if answer.startswith(".", run.end())]
    items: list[str] = []
    stop = place = 0
    while place < len(numbers):
        end = numbers[place][1]
        body = end + 2  # after the dot and one white space
        if end <= stop or body >= len(answer) or not answer[end + 1].isspace():
            place += 1
            continue
        while place < len(numbers) and numbers[place][1] <= body + 1:
            place += 1
        stop = max(numbers[place][0], body + 1) if place < len(numbers) else len(answer)
        items.append(answer[body:stop])
    return items
