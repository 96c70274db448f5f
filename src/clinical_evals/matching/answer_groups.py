"""What a line of an answer is to the lines below it: a group's name, a preamble, or a decision with evidence."""

import re

from clinical_evals.matching.answer_headings import (
    is_code_label,
    is_group,
    is_heading,
    is_organ_group,
    mentions_disease,
    names_disease,
    section_kind,
)
from clinical_evals.matching.answer_lines import Line
from clinical_evals.matching.answer_order_groups import heads_orders
from clinical_evals.matching.answer_order_words import is_order_field
from clinical_evals.matching.answer_orders import is_known_order
from clinical_evals.matching.answer_phrases import is_evidence, is_remark, is_sentence
from clinical_evals.matching.answer_sentences import SENTENCE_END
from clinical_evals.matching.answer_split import split_line
from clinical_evals.matching.answer_titles import is_title
from clinical_evals.matching.answer_words import words_of
from clinical_evals.matching.codes_in_text import find_codes, is_only_codes
from clinical_evals.ontology import CodeSystem

_CHANGES = [
    (word,) for word in ("elevated", "low", "decreased", "increased", "high", "positive", "abnormal", "rising")
]


def names_condition(words: str, system: CodeSystem) -> bool:
    """A disease by the ending of a word, a title of the release, or a code."""
    return mentions_disease(words) or is_title(words, system) or bool(find_codes(words, system).codes)


def is_running_text(words: str, system: CodeSystem) -> bool:
    """A sentence that states no code and is no line of official titles."""
    if not is_sentence(words) or is_title(words, system) or find_codes(words, system).codes:
        return False
    head, colon, tail = words[:600].partition(": ")
    if colon and tail and len(words_of(head)) <= 8 and is_condition(head, system):
        return False  # "Pneumonia: treated with ceftriaxone."
    first = SENTENCE_END.split(words[:600], maxsplit=1)[0]
    if len(first) < len(words[:600]) and len(words_of(first)) <= 12 and not (is_sentence(first) or is_remark(first)):
        return False  # "Sepsis. Fever and hypotension were noted."
    return len(split_line(words, system)) < 2


def is_group_line(line: Line, words: str, system: CodeSystem) -> bool:
    """Whether a line names a group of the decisions below it, and is none itself."""
    marked = [child for child in line.children if child.kind or child.level or child.rows]
    if not marked:
        return False
    codes = find_codes(words, system).codes
    if codes and not all("-" in code for code in codes):
        return False
    kids = [child.words for child in marked]
    if (stands_over := heads_orders(words, kids, system)) is not None:
        return stands_over
    coded = [kid for kid in kids if _states_code(kid, system)]
    only_codes = [kid for kid in coded if is_only_codes(kid, system)]
    if len(coded) > len(only_codes) or len(only_codes) > 1:
        return True
    if codes or only_codes:
        return False
    if is_organ_group(words) and not is_title(words, system) and all(is_condition(kid, system) for kid in kids):
        return True
    if is_group(words) and not is_title(words, system):
        return any(is_short_phrase(kid, system) for kid in kids) or is_heading(words)
    if not (line.words.endswith(":") or (line.level and not line.order) or not line.kind) or not all(
        is_short_phrase(kid, system) for kid in kids
    ):
        return False
    if is_sentence(words) or all(set(words_of(words)) & set(words_of(kid)) for kid in kids):
        return True
    if is_title(words, system):
        return False
    return is_organ_group(words) or not (names_disease(words) or len(words_of(words)) > 3)


def introduces(line: Line, words: str, system: CodeSystem) -> bool:
    """Whether a line without marker, which is no decision itself, stands above a list of decisions."""
    if line.kind or line.order or heads_orders(words, [child.words for child in line.children], system) is False:
        return False
    if names_condition(words.rstrip(": "), system) and not is_running_text(words, system):
        return False
    marked = [child for child in line.children if child.kind or child.level or child.rows]
    if any(child.kind.split(" ")[0] in ("number", "letter", "roman") and child.goes_on for child in marked):
        return True
    heading = line.level or line.is_bold or words.endswith(":")
    kids = [child.words for child in marked or (line.children if heading else [])]
    return sum(is_condition(kid, system) for kid in kids) * 2 > len(kids)


def is_condition(words: str, system: CodeSystem) -> bool:
    """A short phrase that names one: most likely a decision."""
    return is_short_phrase(words, system) and names_condition(words, system)


def _states_code(words: str, system: CodeSystem) -> bool:
    head = words.partition(":")[0]
    if (is_code_label(head) and ":" in words) or section_kind(head, system) or is_evidence(words):
        return False
    found = find_codes(words, system)
    return bool(found.codes) and (found.leading or not is_sentence(words))


def is_short_phrase(words: str, system: CodeSystem) -> bool:
    """A short phrase that can be a decision: no evidence, sentence, label or measurement."""
    if is_known_order(words, system):
        return True
    head, colon, _ = words.partition(":")
    if colon and is_order_field(head, system):
        return False
    if (colon and section_kind(head, system)) or words_of(words)[:1] in _CHANGES:
        return False
    return len(words_of(words)) <= 10 and not (
        is_evidence(words) or is_sentence(words) or is_remark(words) or re.search(r"\d ?(?:mg|%|/\d)", words)
    )
