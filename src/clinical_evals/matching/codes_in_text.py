"""Stage 5 of reading an answer: the codes that one item states, and what remains as its text.

Valid codes are taken wherever they stand. A code-shaped token that the release lacks is a (wrong) prediction where it
can only be meant as a code: alone, in a list of codes, in brackets, after a label, before a dash or colon and a title,
or (with a dot) after one; in prose it is text. Source: protocol 2.5, point 2.

Exceptions, because the token is plainly something else. Valid, yet text: names such as HLA-B27, parvovirus B19,
enterovirus D68, coenzyme Q10, p53, an N95 mask or F18-FDG, and temperatures (fever, T 38.5). In brackets, yet text:
vertebrae (T12) and vitamins (B12).
"""

import re
from typing import NamedTuple

from clinical_evals.matching.answer_systems import vocabulary
from clinical_evals.matching.answer_words import remembered
from clinical_evals.matching.code_lookalikes import (
    NAME_BEFORE,
    is_a_name,
    is_fluid_or_vitamin,
    is_range,
    is_vertebra_or_vitamin,
)
from clinical_evals.ontology import CodeSystem


class CodesInText(NamedTuple):
    """The codes of an item in the order of the text, and the text without them."""

    codes: tuple[str, ...]
    """Canonical where valid; as written, upper-cased and without spaces, where not."""
    rest: str
    """The text without these codes, their brackets and their labels."""
    leading: bool
    """The item starts with a code."""


class _Token(NamedTuple):
    start: int
    end: int
    code: str
    valid: bool


# Where a code may start: a word with a digit in it, or capitals only (some ICD-10-PCS codes have no digit).
_WORD = re.compile(r"(?<![^\W_])(?:[A-Za-z]{0,6}\d[A-Za-z0-9]{0,9}|[A-Z]{5,10})(?![^\W_])")
_DOTTED = re.compile(r"[A-Za-z0-9]{1,7} ?\. ?([A-Za-z0-9]{1,7})(?![^\W_])")
_HYPHENED = re.compile(
    r"[A-Za-z0-9.]{1,8}[-–][A-Za-z0-9.]{0,7}[A-Za-z0-9](?![^\W_]|[-–/][^\W_])"
)  # E08-E13; LOINC 2345-7
_MISTYPED = re.compile(r"([A-Za-z]\d[A-Za-z0-9])(?:,([A-Za-z0-9]{1,4})|-(\d))(?![^\W_]|[-–/.,][^\W_])")  # J18,9; E11-9
_LABEL = re.compile(
    r"\b(?:(?:primary |secondary |diagnosis |diagnostic |billing |suggested |corresponding |possible |final )?"
    r"(?:ICD(?:[- _]?(?:9|10|11))?(?:[- _]?(?:CM|PCS))?(?:[- _]?codes?)?|codes?|LOINC(?: codes?)?|ATC(?: codes?)?)"
    r"(?:[- ]?(?:number|no\.?))?(?:\(s\))?)(?![^\W_])(?: ?(?:[:#=]|is\b|[-–—>](?= )))? ?",
    re.IGNORECASE,
)
_LABEL_END = re.compile(
    r"(?:ICD[- _]?(?:9|10|11)?[- _]?(?:CM|PCS)?|codes?(?:\(s\))?|LOINC|ATC|is|[:#=-])\W*\Z", re.IGNORECASE
)
_JOINER = re.compile(r"\b(?:and|or|to|through|plus|und|with|also)\b", re.IGNORECASE)
_BRACKET = re.compile(r"[(\[{]([^()\[\]{}]{0,200})[)\]}]")
_BEFORE_TITLE = re.compile(r" ?(?:[:=→|>]|[-–—]{1,2}>?) |[:=→|—–]|-(?=[A-Za-z]{3})|\. (?=[A-Z][a-z])")
_EMPTY = re.compile(r"[^\w]*\Z")
_EDGES = ' \t-–—:;,.|/*_`"=>→+&#~•·'


@remembered
def find_codes(text: str, system: CodeSystem, *, field: bool = False) -> CodesInText:
    """The codes that an item states.

    Args:
        text: one item; white space folded, Markdown removed.
        system: any code system; its `code_shape` and `normalize` decide.
        field: the text is a code column or field: whatever has the shape of a code there is meant as one.
    """
    if whole_codes := _orders_alone(text, system):
        return CodesInText(whole_codes, "", True)
    tokens = _tokens(text, system)
    if not tokens:
        code = _spaced_code(text, system)
        return CodesInText((code,) if code else (), "" if code else text, bool(code))
    alone = _nothing_else(text, 0, len(text), tokens)
    whole = _spaced_code(text, system) if alone and not all(token.valid for token in tokens) else None
    if whole:
        return CodesInText((whole,), "", True)
    brackets = {} if alone else _brackets_of_codes(text, tokens)
    taken = []
    for index, token in enumerate(tokens):
        labelled = _LABEL_END.search(text, max(0, token.start - 24), token.start) is not None
        bracketed = token in brackets and not is_vertebra_or_vitamin(text, token.start, token.end)
        if field or alone or labelled:
            taken.append(token)
        elif token.valid:
            name = _is_a_name(text, token.start, token.end) or (is_range(token.code) and token not in brackets)
            taken += [] if name else [token]
        elif (bracketed and not is_range(token.code)) or _beside_title(text, index, tokens):
            taken.append(token)
    codes = tuple(token.code for token in taken)
    leading = bool(taken) and _EMPTY.match(_LABEL.sub("", text[: taken[0].start])) is not None
    return CodesInText(codes, "" if alone and taken else _without(text, taken, brackets), leading)


@remembered
def is_only_codes(text: str, system: CodeSystem) -> bool:
    """Whether a text holds one or more codes (valid or of their shape), labels and separators, and nothing else."""
    if _orders_alone(text, system):
        return True
    tokens = _tokens(text, system)
    return (bool(tokens) and _nothing_else(text, 0, len(text), tokens)) or _spaced_code(text, system) is not None


def _orders_alone(text: str, system: CodeSystem) -> tuple[str, ...]:
    """The codes that a whole text of orders is: one with inner spaces (J01 DD04), or numbers of other systems.

    Of the latter each is a (wrong) prediction, as they can be meant as nothing else.
    """
    known = vocabulary(system)
    bare = _LABEL.sub("", text).strip(_EDGES + "()[]{}") if known.orders and len(text) < 400 else ""
    if not bare or is_fluid_or_vitamin(bare, system):
        return ()
    if known.other_codes and all(map(known.other_codes.fullmatch, parts := _BETWEEN_CODES.split(bare))):
        return tuple(parts)
    whole = re.fullmatch(r"[A-Za-z0-9]+(?: [A-Za-z0-9]+){1,3}", bare) and any(map(str.isdigit, bare))
    spelled = bare.replace(" ", "") if whole or system.code_shape.fullmatch(bare.upper()) else ""
    code = system.normalize(spelled) if spelled else None
    return (code,) if code else ()


_BETWEEN_CODES = re.compile(r" ?[,;/] ?| ")


def _tokens(text: str, system: CodeSystem) -> list[_Token]:
    found: list[_Token] = []
    for word in _WORD.finditer(text):
        if found and word.start() < found[-1].end:
            continue
        if (token := _token_at(text, word.start(), word.end(), system)) is not None:
            found.append(token)
    return found


def _token_at(text: str, start: int, end: int, system: CodeSystem) -> _Token | None:
    """The longest code that starts here, else a token that has the shape of one."""
    if _attached(text, start, system) or is_fluid_or_vitamin(text[start:end], system):
        return None
    dotted = _DOTTED.match(text, start)
    if (range_ := _HYPHENED.match(text, start)) and (code := _normal(range_[0], system)):
        return _Token(start, range_.end(), code, True)
    if (typed := _MISTYPED.match(text, start)) and (code := _normal(f"{typed[1]}.{typed[2] or typed[3]}", system)):
        return _Token(start, typed.end(), code, True)
    if dotted and (code := _normal(dotted[0].replace(" ", ""), system)):
        return _Token(start, dotted.end(), code, True)
    if (
        dotted
        and " " not in dotted[0]
        and _has_shape(dotted[0], system)
        and not re.fullmatch(r"[a-z]{2,}|[A-Z][a-z]+", dotted[1])
    ):
        return _Token(start, dotted.end(), dotted[0].upper(), False)  # E11.99 is not E11
    if code := _normal(text[start:end], system):
        return _Token(start, end, code, True)
    for stop in (range_.end() if range_ else end, end):
        if _has_shape(text[start:stop], system):
            return _Token(start, stop, text[start:stop].upper(), False)
    return None


def _is_a_name(text: str, start: int, end: int) -> bool:
    """As `is_a_name`, a comma typed for the dot read as the dot ("fever, T 38,5")."""
    first = max(0, start - 200)
    before, written, after = text[first:start], text[start:end].replace(",", "."), text[end : end + 200]
    return is_a_name(before + written + after, start - first, end - first)


def _normal(written: str, system: CodeSystem) -> str | None:
    return system.normalize(written) if _may_be_code(written) else None


def _has_shape(written: str, system: CodeSystem) -> bool:
    upper = written.upper()
    return any(map(str.isdigit, upper)) and system.code_shape.fullmatch(upper) is not None


def _may_be_code(written: str) -> bool:
    return any(map(str.isdigit, written)) or (len(written) >= 5 and written.isupper())


def _attached(text: str, start: int, system: CodeSystem) -> bool:
    """Part of a longer name (HLA-B27, EV-D68, 2.5, 1/2): not where a code can start."""
    if start < 2 or text[start - 1] not in "-.,/" or not text[start - 2].isalnum():
        return False
    before = re.search(r"[A-Za-z0-9.]{1,12}\Z", text[max(0, start - 13) : start - 1])
    word = before[0] if before else ""
    if text[start - 1] in ".,":
        return word.isdigit() and text[start].isdigit()
    if (
        system.normalize(word)
        or system.code_shape.fullmatch(word.upper())
        or re.fullmatch(r"10|cm|pcs|icd\w*|code", word.lower())
    ):
        return False
    return text[start - 1] == "-" and (len(word) < 6 or word.lower() in NAME_BEFORE)


def _spaced_code(text: str, system: CodeSystem) -> str | None:
    """The one code that a whole item is, when it is written with inner spaces (I 10, E 11 . 9)."""
    bare = _LABEL.sub("", text).strip(_EDGES + "()[]{}") if len(text) < 60 else ""
    squeezed = bare.replace(" ", "")
    if " " not in bare or len(squeezed) > 10 or not _may_be_code(squeezed):
        return None
    if re.fullmatch(r"T (?:3[4-9]|4[0-2])(?: ?\.\d)?|[PR] [1-9]\d", bare, re.IGNORECASE):
        return None  # a temperature, pulse or respiratory rate
    return system.normalize(squeezed)


def _nothing_else(text: str, start: int, end: int, tokens: list[_Token]) -> bool:
    """Whether a stretch of text holds codes, labels and separators only."""
    parts, last = [], start
    for token in tokens:
        if start <= token.start and token.end <= end:
            parts.append(text[last : token.start])
            last = token.end
    between = "|".join([*parts, text[last:end]])
    return _EMPTY.match(_JOINER.sub("", _LABEL.sub("", between))) is not None


def _brackets_of_codes(text: str, tokens: list[_Token]) -> dict[_Token, tuple[int, int]]:
    """The tokens in brackets that hold codes and nothing else, with the place of their bracket."""
    found: dict[_Token, tuple[int, int]] = {}
    position = 0
    for bracket in _BRACKET.finditer(text):
        inside = []
        while position < len(tokens) and tokens[position].end <= bracket.end():
            if tokens[position].start > bracket.start():
                inside.append(tokens[position])
            position += 1
        if inside and _nothing_else(text, bracket.start(), bracket.end(), inside):
            found |= dict.fromkeys(inside, bracket.span())
    return found


def _beside_title(text: str, index: int, tokens: list[_Token]) -> bool:
    """First in the item, before a dash or colon and a title; or, with its dot, last and after a dash."""
    token = tokens[index]
    if index == 0 and _EMPTY.match(text[: token.start]):
        sign = _BEFORE_TITLE.match(text, token.end)
        return sign is not None and re.match(r"\W*[A-Za-z]", text[sign.end() : sign.end() + 8]) is not None
    dashed = re.search(r"(?: [-–—]|[:–—]) ?\Z", text[max(0, token.start - 3) : token.start]) is not None
    return dashed and "." in token.code and _EMPTY.match(text, token.end) is not None


# What remains


_HOLLOW = re.compile(r"[(\[{][\s,;:/&-]{0,20}[)\]}]")
_TWO_SEPARATORS = re.compile(r"([,;:/–—-]) (?=[,;:/–—-] )")


def _without(text: str, taken: list[_Token], brackets: dict[_Token, tuple[int, int]]) -> str:
    """The text without the codes, the brackets that held only them, and their labels."""
    if not taken:
        return text
    cuts = [brackets.get(token, (token.start, token.end)) for token in taken]
    parts, last = [], 0
    for start, end in sorted(set(cuts)):
        parts.append(text[last:start])
        last = max(last, end)
    parts.append(text[last:])
    rest = " ".join([*map(_strip_label_end, parts[:-1]), parts[-1]])
    rest = _HOLLOW.sub(" ", " ".join(rest.split()))
    rest = " ".join(_TWO_SEPARATORS.sub("", rest).split())
    return rest.strip(_EDGES + "([{" if rest.count("(") > rest.count(")") else _EDGES)


def _strip_label_end(part: str) -> str:
    """A part that ends with the label of the code that followed it, without that label."""
    for label in _LABEL.finditer(part, max(0, len(part) - 60)):
        if _EMPTY.match(part[label.end() :]):
            return part[: label.start()]
    return part
