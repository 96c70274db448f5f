"""One line that states several decisions: "Pneumonia, hypertension and CKD" is three; a title with commas is one.

Source: protocol 2.5, point 1 ("a single comma or semicolon line").
"""

import re
from itertools import pairwise

from clinical_evals.matching.answer_headings import is_heading, mentions_disease, section_kind
from clinical_evals.matching.answer_orders import goes_on_with_order, is_known_order
from clinical_evals.matching.answer_phrases import is_evidence, is_remark, is_sentence
from clinical_evals.matching.answer_systems import vocabulary
from clinical_evals.matching.answer_titles import is_title
from clinical_evals.matching.answer_words import word_set, words_of
from clinical_evals.matching.codes_in_text import find_codes, is_only_codes
from clinical_evals.ontology import CodeSystem

_MAX_TITLE_PARTS = 8
_COMMA = re.compile(r"(?<!\d),|,(?!\d)|、")
_STOP = re.compile(r"\. (?=[A-Z])")
_SEMICOLON = re.compile(r";")
_BAR = re.compile(r" [|/•·●▪] |\s?[•●▪]\s?")
_BRACKETS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
_AND = re.compile(r"(?:and|und|as well as|along with|plus|&) ", re.IGNORECASE)
_INNER_AND = re.compile(r" (?:and|&|as well as|along with) ")
# After a comma these go on with what stands before it.
_GOES_ON = word_set(
    "unspecified initial subsequent sequela sequelae without with due secondary likely probable probably "
    "possible possibly presumed presumably suspected not nos nec in on at by of for from status s/p during "
    "including excluding except complicated complicating requiring most which that who where resulting related "
    "associated caused based given as to per consistent supported evidenced manifested characterized noted "
    "seen but now currently so"
)
_QUALIFIERS = word_set(
    "left right bilateral unilateral acute subacute chronic mild moderate severe recurrent current primary "
    "type stage grade class systolic diastolic combined stable unstable improving improved worsening resolved "
    "resolving controlled uncontrolled uncomplicated complicated intractable persistent paroxysmal permanent "
    "intermittent new old initial lower upper middle lobe lobes side sided limb extremity anterior posterior "
    "lateral medial distal proximal nonobstructive obstructive insulin dependent active inactive healed benign "
    "malignant bacterial viral nondisplaced displaced closed open traumatic nontraumatic confirmed and or on "
    "of the unspecified i ii iii iv v a b c d end well poorly eye ear arm leg hip knee foot hand i/ii multiple "
    "single diffuse focal generalized localized first second third fourth trimester degree decompensated "
    "compensated exacerbation remission episode organism site recent remote nonpressure pressure postoperative "
    "preoperative idiopathic congenital acquired hereditary symptomatic asymptomatic"
)


def split_line(text: str, system: CodeSystem) -> list[str]:
    """The decisions of one line. A title of the release, and whatever only reads on after a comma, stays whole."""
    found = find_codes(text, system)
    if is_title(text, system) or (len(found.codes) == 1 and is_title(found.rest, system)):
        return [text]
    for separator in (_SEMICOLON, _BAR):
        parts = _cut(text, separator)
        if len(parts) > 1:
            return _paired(parts, system) if separator is _BAR else [_without_and(part) for part in parts]
    parts = _cut(text, _STOP)
    if len(parts) > 1 and not any(map(_is_no_phrase, parts)):
        return parts
    parts = _cut(text, _COMMA)
    parts = [part for part in parts if not (":" in part and section_kind(part.partition(":")[0], system))] or parts
    if len(parts) < 2:
        return parts
    if any(is_only_codes(part, system) for part in parts):
        return _paired(parts, system)
    groups = _joined(parts, system)
    running = is_sentence(text) and not any(find_codes(part, system).codes for part in parts)
    if running and not all(is_title(group, system) or is_known_order(group, system) for group in groups):
        return [text]
    return _split_last(groups, system)


_ABBREVIATION = re.compile(r"[A-Z][A-Za-z0-9]{0,4}[A-Z0-9]")


def split_slashes(text: str, system: CodeSystem) -> list[str]:
    """The decisions of "HTN/HLD/T2DM", three at least, each an abbreviation or a title; else the text."""
    head, comma, tail = text.partition(",")
    parts = [part.strip() for part in head.split("/")] if len(head) <= 300 else []
    if len(parts) < 3 or not vocabulary(system).slashes or is_title(text, system) or is_title(head, system):
        return [text]  # EFV/FTC/TDF is one drug
    named = [
        _ABBREVIATION.fullmatch(part)
        or is_known_order(part, system)
        or is_title(part, system)
        or (len(words_of(part)) < 4 and mentions_disease(part))
        for part in parts
    ]
    if not all(named) or any(map(is_heading, parts)):  # GI/GU/MSK
        return [text]
    others = split_line(parts[-1] + comma + tail, system)
    return [*parts[:-1], *(part for other in others for part in split_slashes(other, system))]


def _is_no_phrase(part: str) -> bool:
    """Running text, or no more than the beginning of an abbreviation ("E." coli)."""
    return len(part) < 3 or len(words_of(part)) > 12 or is_sentence(part) or is_evidence(part) or is_remark(part)


def split_pair(text: str, system: CodeSystem) -> list[str]:
    """What a sentence names ("pneumonia and hypertension"): as `split_line`, and cut at its "and" too."""
    parts = split_line(text, system)
    return _split_last(parts, system, least=1)


def _cut(text: str, separator: re.Pattern[str]) -> list[str]:
    """The parts between separators that stand outside brackets (unless a bracket is never closed)."""
    marks = [(m.start(), m.end()) for m in separator.finditer(text)]
    if not marks:
        return [text]
    balanced = text.count("(") == text.count(")") and text.count("[") == text.count("]")
    depth, place, last = 0, 0, 0
    parts = []
    for start, end in marks:
        if balanced:
            for character in text[place:start]:
                depth = max(0, depth + _BRACKETS.get(character, 0))
            place = start
        if depth == 0:
            parts.append(text[last:start])
            last = end
    parts.append(text[last:])
    return [part.strip() for part in parts if part.strip(" .,;")]


def _paired(parts: list[str], system: CodeSystem) -> list[str]:
    """Codes and titles in turn ("E11.9, Type 2 diabetes, I10, Hypertension") are one decision for each pair."""
    codes = [is_only_codes(part, system) for part in parts]
    if all(codes):
        return parts
    if codes[0] and not any(codes[1:]) and len(_joined(parts[1:], system)) == 1:
        return [f"{parts[0]} - {', '.join(parts[1:])}"]
    if len(parts) % 2 == 0 and all(codes[i] != codes[i + 1] and codes[i] == codes[0] for i in range(0, len(parts), 2)):
        pairs = [(parts[i], parts[i + 1]) if codes[0] else (parts[i + 1], parts[i]) for i in range(0, len(parts), 2)]
        return [f"{code} - {title}" for code, title in pairs]
    groups: list[str] = []
    for start, end in _runs(codes):
        groups += parts[start:end] if codes[start] else _joined(parts[start:end], system)
    return [_without_and(group) for group in groups]


def _runs(flags: list[bool]) -> list[tuple[int, int]]:
    edges = [0, *(i for i in range(1, len(flags)) if flags[i] != flags[i - 1]), len(flags)]
    return list(pairwise(edges))


def _joined(parts: list[str], system: CodeSystem) -> list[str]:
    """Parts put together again where they make an official title or where one only goes on with the one before."""
    capitals = sum(part[:1].isupper() for part in parts[1:])
    mostly_capital = len(parts) > 2 and capitals * 2 > len(parts) - 1
    groups: list[str] = []
    i = 0
    while i < len(parts):
        end = next(
            (
                j
                for j in range(min(len(parts), i + _MAX_TITLE_PARTS), i + 1, -1)
                if is_title(", ".join(parts[i:j]), system)
            ),
            i + 1,
        )
        part = ", ".join(parts[i:end])
        part = part if is_title(part, system) else _without_and(part)
        if groups and end == i + 1 and _goes_on(groups[-1], part, mostly_capital, system):
            groups[-1] += ", " + part
        else:
            groups.append(part)
        i = end
    return groups


def _goes_on(before: str, part: str, mostly_capital: bool, system: CodeSystem) -> bool:
    words = words_of(part)
    if not words or len(before) > 400:
        return not words
    if is_known_order(part, system):
        return False
    if goes_on_with_order(find_codes(part, system).rest, system):
        return True
    if all(word in _QUALIFIERS or word in _GOES_ON or word.isdigit() for word in words):
        return True
    if is_title(part, system) and (len(words) > 1 or words[0] not in _GOES_ON):
        return is_title(f"{part} {before}", system)
    if words[0] in _GOES_ON or part.lower().startswith("s/p") or is_evidence(part):
        return True
    if is_title(f"{part} {before}", system):
        return True
    return mostly_capital and part[:1].islower() and not vocabulary(system).orders


def _split_last(groups: list[str], system: CodeSystem, least: int = 2) -> list[str]:
    """The "and" without a comma before it: "diabetes, hypertension and CKD" ends with two decisions."""
    if not groups:  # of a text of commas only
        return groups
    last = groups[-1]
    halves = _INNER_AND.split(last)
    if (
        len(groups) < least
        or len(halves) != 2
        or is_title(last, system)
        or not all(re.search(r"[^\W\d_]{2}", h) for h in halves)
    ):
        return groups
    if (
        words_of(halves[1])[:1]
        and words_of(halves[1])[0] in _GOES_ON | _QUALIFIERS
        and not is_title(halves[1], system)
    ):
        first = words_of(halves[1])[0]
        if first in _GOES_ON or len(words_of(halves[1])) == 1:
            return groups
    return [*groups[:-1], *halves]


def _without_and(part: str) -> str:
    return _AND.sub("", part, count=1) if _AND.match(part) else part
