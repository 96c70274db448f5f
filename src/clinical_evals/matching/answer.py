"""From a model's answer to its items: the decisions it states, with the codes that stand in them.

Stages: plain text (`answer_text`: Unicode forms, reasoning, HTML) → structure (`answer_json`, or `answer_lines` with
`answer_tables`: lines in a tree) → decisions (here: which lines state one) → items (`answer_items`, `answer_split`) →
codes (`codes_in_text`). The words that tell a heading from a remark from evidence are in `answer_phrases`.

An answer in running text counts by what it says the diagnosis is ("The patient has pneumonia and AKI."): `_in_prose`.
Every stage takes linear time, and at most `MAX_CHARACTERS` are read (`unread_characters` counts the rest).
Source: protocol 2.5, points 1, 2 and 4.
"""

import re

from clinical_evals.matching.answer_decisions import decisions_in_lines
from clinical_evals.matching.answer_explanations import plain, without_explanation
from clinical_evals.matching.answer_html import without_html
from clinical_evals.matching.answer_items import Decision, Item, items_of
from clinical_evals.matching.answer_json import decisions_in_json
from clinical_evals.matching.answer_marks import breaks_as_entries, dashes_as_lines, without_icd9, without_unchecked
from clinical_evals.matching.answer_orders import (
    is_known_order,
    listed_orders,
    may_be_cut,
    order_name,
    without_instructions,
    without_verb,
)
from clinical_evals.matching.answer_phrases import (
    ends_in_denial,
    is_evidence,
    is_excluded,
    is_negated,
    is_sentence,
    says_nothing,
)
from clinical_evals.matching.answer_sentences import SENTENCE_END, named_in_sentence
from clinical_evals.matching.answer_split import split_line, split_pair, split_slashes
from clinical_evals.matching.answer_statements import stated
from clinical_evals.matching.answer_systems import vocabulary
from clinical_evals.matching.answer_text import one_item_a_line, plain_unicode, without_reasoning
from clinical_evals.matching.answer_titles import is_title
from clinical_evals.matching.codes_in_text import find_codes
from clinical_evals.ontology import CodeSystem

__all__ = ["MAX_CHARACTERS", "Item", "parse_answer", "unread_characters"]

MAX_CHARACTERS = 1_000_000
"""What is read of an answer: some 250,000 tokens, far more than a model writes; it bounds the time for a
runaway answer."""


def unread_characters(answer: str) -> int:
    """How many characters at the end of an answer `parse_answer` does not read: 0 up to `MAX_CHARACTERS`."""
    return len(answer) - _end_of_reading(answer)


def _end_of_reading(answer: str) -> int:
    if len(answer) <= MAX_CHARACTERS:
        return len(answer)
    line = answer.rfind("\n", MAX_CHARACTERS // 2, MAX_CHARACTERS)  # no half line is read where there are lines
    return line + 1 if line >= 0 else MAX_CHARACTERS


def parse_answer(answer: str, system: CodeSystem) -> list[Item]:
    """The decisions that an answer states, in its order; repeated ones stay.

    Args:
        answer: what a model wrote, of any form; its first `MAX_CHARACTERS` are read.
        system: the code system whose codes the answer may state.

    Returns:
        An item for each decision: its text without bullets, numbers, labels, Markdown, explanations and codes, and its
        codes. No items for an answer that states nothing (silence, refusals, reasoning alone).

    >>> from clinical_evals.ontology import get_system
    >>> parse_answer("1. **Type 2 diabetes** (E11.9)\\n   - HbA1c 9.1\\n2. Pneumonia", get_system("icd10cm"))
    [Item(text='Type 2 diabetes', codes=('E11.9',)), Item(text='Pneumonia', codes=())]
    """
    text = without_reasoning(plain_unicode(answer[: _end_of_reading(answer)]))
    text = without_icd9(without_html(breaks_as_entries(text, system)))
    text = without_instructions(text, system)
    decisions = decisions_in_json(text, system)
    from_json = decisions is not None
    if decisions is None:
        text = without_unchecked(text)
        decisions = decisions_in_lines(dashes_as_lines(one_item_a_line(text), system), system)
    else:
        decisions = [each for decision in decisions for each in _lines_in_field(decision, system)]
    items = [
        item
        for decision in decisions
        for part in _parts(decision, decisions, system)
        for item in items_of(part, system)
    ]
    if decisions == [] and from_json and not is_sentence(text):
        return []  # its fields deny what they name
    return items or _in_prose(text, system)


def _lines_in_field(decision: Decision, system: CodeSystem) -> list[Decision]:
    """A JSON text that is itself a list in lines."""
    lines = one_item_a_line(decision.text)
    return decisions_in_lines(lines, system) if "\n" in lines.strip() and not decision.code_field else [decision]


def _parts(decision: Decision, decisions: list[Decision], system: CodeSystem) -> list[Decision]:
    """A decision that is a line of several, cut up."""
    text = plain(decision.text)
    if _LIST_IN_BRACKETS.fullmatch(text) and not find_codes(text, system).codes:
        text = text[1:-1]
    if not decision.code_field and _is_coded_prose(text, system):
        return [
            Decision(part) for sentence in SENTENCE_END.split(text) for part in _named_with_codes(sentence, system)
        ]
    if decision.code_field:
        return [decision]
    if len(find_codes(text, system).codes) > 1 and all(_is_coded_title(p, system) for p in split_line(text, system)):
        return [Decision(part) for part in split_line(text, system)]
    if len(parts := split_slashes(text, system)) > 1:
        return [Decision(part) for part in parts]
    if listed := listed_orders(text, system):
        return [Decision(part) for part in listed]
    if len(orders := _known_orders(text, system)) > 1:
        return [Decision(part) for part in orders]
    if not (decision.several or len(decisions) == 1):
        return [decision]
    if _is_one_title(text, system):
        return [decision]
    parts = (is_evidence(text) and named_in_sentence(text, system)) or split_line(text, system)
    parts = [each for part in parts for each in (stated(part) and named_in_sentence(part, system)) or [part]]
    parts = [each for part in parts for each in split_slashes(part, system)]
    parts = [each for part in parts for each in _known_orders(part, system) or [part]]
    return [Decision(part) for part in parts] if len(parts) > 1 else [decision]


def _known_orders(text: str, system: CodeSystem) -> list[str]:
    """The orders of an entry that names several, each known as one: "- Na, K, Cl"; none of other entries."""
    if (
        not may_be_cut(text, system)
        or is_title(order_name(text, system), system)
        or not any(sign in text for sign in (",", " and ", " + "))
    ):
        return []
    parts = split_pair(without_verb(text, system).replace(" + ", ", "), system)
    known = sum(is_known_order(part, system) for part in parts)
    several = len(parts) > 2 and known * 3 >= 2 * len(parts) and all(len(part.split()) < 5 for part in parts)
    return parts if several or known == len(parts) else []


def _is_coded_title(text: str, system: CodeSystem) -> bool:
    """Words with one code: "I50.33 Acute on chronic diastolic heart failure"."""
    found = find_codes(text, system)
    return len(found.codes) == 1 and re.search(r"[^\W\d_]{2}", found.rest) is not None


_LIST_IN_BRACKETS = re.compile(r"\[[^\[\]]*,[^\[\]]*\]")


def _is_one_title(text: str, system: CodeSystem) -> bool:
    """An official title, commas and all, with its explanation: "Cholera due to …, biovar cholerae - fever"."""
    if ";" in text or ". " in text or find_codes(text, system).codes:
        return False
    return is_title(without_explanation(text, system), system)


def _is_coded_prose(text: str, system: CodeSystem) -> bool:
    """A sentence, or several, with more than one code in it."""
    found = find_codes(text, system)
    return len(found.codes) > 1 and not found.leading and is_sentence(text)


def _named_with_codes(sentence: str, system: CodeSystem) -> list[str]:
    names = named_in_sentence(sentence, system)
    stated = [code for name in names for code in find_codes(name, system).codes]
    return names if stated == list(find_codes(sentence, system).codes) else [sentence]


# Running text


def _in_prose(text: str, system: CodeSystem) -> list[Item]:
    """What sentences call the diagnosis; else what they say the patient has; and the codes they state.

    "The patient has pneumonia and AKI." gives pneumonia and AKI. Sentences that name no condition in one of these ways
    (preambles, refusals, a course of events) give nothing.
    """
    sentences = [plain(sentence) for sentence in SENTENCE_END.split(text)]
    sentences = [s for s in sentences if s and not says_nothing(s)]
    for weak in (False, True):
        items: list[Item] = []
        for sentence in sentences:
            if find_codes(sentence, system).codes:
                items += _coded_items(sentence, system)
            elif not _REFUSAL.search(sentence[:400]):
                names = named_in_sentence(sentence, system, weak=weak)
                items += [Item(part, ()) for name in names for part in _known_orders(name, system) or [name]]
        if items:
            return items
    return []


def _coded_items(sentence: str, system: CodeSystem) -> list[Item]:
    """The valid codes of a sentence, each with the condition it stands beside where the sentence names one."""
    items = []
    for part in _named_with_codes(sentence, system):
        found = find_codes(part, system)
        denied = is_excluded(found.rest) or (not found.leading and is_negated(found.rest))
        if denied or ends_in_denial(part, results=vocabulary(system).orders):
            continue
        valid = tuple(code for code in found.codes if system.normalize(code))
        items += [Item("" if is_sentence(found.rest) else found.rest, valid)] if valid else []
    return items


_REFUSAL = re.compile(
    r"\b(?:i(?:'m| am)? (?:cannot|can't|can not|unable|sorry|not able|won't|do not|don't|am not)|as an ai"
    r"|language model|not a (?:doctor|physician|substitute)"
    r"|consult (?:a|your|with)|cannot (?:provide|be|determine)|no (?:diagnos[ei]s|evidence)|unable to"
    r"|without (?:more|further|additional))\b",
    re.IGNORECASE,
)
