"""Stage 4 of reading an answer: one stated decision becomes a clean item, without label, explanation and code.

Source: protocol 2.5, points 1 and 2.
"""

import re
from typing import NamedTuple

from clinical_evals.matching.answer_explanations import (
    label_of,
    plain,
    states_nothing,
    trim,
    without_explanation,
    without_label,
)
from clinical_evals.matching.answer_headings import has_no_content, is_heading, is_label, section_kind
from clinical_evals.matching.answer_order_holds import is_withheld
from clinical_evals.matching.answer_order_words import is_group_name, is_order_heading
from clinical_evals.matching.answer_orders import is_known_order, order_name, states_no_order, without_verb
from clinical_evals.matching.answer_phrases import (
    ends_in_denial,
    is_denial,
    is_excluded,
    is_negated,
    is_remark,
    is_sentence,
    without_affirmation,
)
from clinical_evals.matching.answer_sentences import named_in_sentence
from clinical_evals.matching.answer_statements import is_cut_off, stated
from clinical_evals.matching.answer_systems import vocabulary
from clinical_evals.matching.answer_titles import is_title
from clinical_evals.matching.codes_in_text import find_codes
from clinical_evals.ontology import CodeSystem


class Decision(NamedTuple):
    """One place of the answer that states a decision, before codes are looked for."""

    text: str
    """What the answer wrote there; Markdown may be in it."""
    code_field: str = ""
    """What stood in a code column or field beside it."""
    several: bool = False
    """The text may be a comma or semicolon line of several decisions."""


class Item(NamedTuple):
    """One decision of an answer."""

    text: str
    """What is to be matched if there are no codes; empty where the answer gave only codes."""
    codes: tuple[str, ...]
    """Canonical where valid, upper-cased as written where not (a wrong prediction); (): the text is matched."""


_BOLD_HEAD = re.compile(
    r"\s*(?:\*\*|__)(?P<head>[^*_\n]{2,200}?)\s*(?P<colon>:?)\s*(?:\*\*|__)\s*(?P<tail>[:,;(\[–—→-].*|\Z)", re.DOTALL
)
_PATIENT = re.compile(
    r"(?:(?:the|this|our) )?(?:patient|pt|he|she|they|individual)(?: (?:\w+ly|also))? (?:has been|was"
    r"|is being|is|has|had|have)(?: (?:\w+ly|also|been|most|a|an|the)){0,3}"
    r"(?: (?:diagnosed (?:with|as having)|suffering from|found to have|known to have|affected by|having"
    r"|experiencing|diagnosis of|diagnoses of|showing))? ",
    re.IGNORECASE,
)
_IS_PRESENT = re.compile(
    r" (?:is|are|was|were) (?:also |likely )?(?:present|noted|documented|evident|confirmed|suspected|corrected"
    r"|resolved|managed|treated)(?: as well)?\.?\Z"
)
_LEAD = re.compile(
    r"(?:(?:the )?(?:primary |secondary |final |principal |most likely |likely |main )?diagnos[ei]s (?:is"
    r"|are|of|include|includes|would be|may be)|diagnosed with|patient (?:with|has|diagnosed with)"
    r"|evidence of|findings? consistent with|consistent with|indicative of|suggestive of|concern for"
    r"|a diagnosis of) (?:a |an |the )?",
    re.IGNORECASE,
)


def items_of(decision: Decision, system: CodeSystem, *, listed: bool = True) -> list[Item]:
    """The items that one decision gives: none if it states nothing, several if it is a sentence that names several.

    Args:
        decision: what was stated; not a line of several any more.
        system: the code system of the answer.
        listed: it stood in a list or field of its own (else only in running text, where sentences do not count).
    """
    text = plain(decision.text)
    field = find_codes(plain(decision.code_field), system, field=True).codes if decision.code_field else ()
    if is_title(text, system) and not find_codes(text, system).codes:  # titles of blocks hold their code
        return [Item(text if text.endswith("etc.") else text.strip(" .,;:\"'。"), field)]
    orders = vocabulary(system).orders
    if is_denial(text) or ends_in_denial(text, results=orders) or is_withheld(text, system):
        return []
    if (affirmed := without_affirmation(text)) != text and not orders:
        decision, text = decision._replace(text=affirmed), affirmed
    if (ordered := without_verb(text, system)) != text:
        decision, text = decision._replace(text=ordered), ordered
    if statement := stated(text):
        names = named_in_sentence(text, system)
        if len(names) > 1 and not field:
            return [item for name in names for item in items_of(Decision(name), system, listed=listed)]
        decision, text = decision._replace(text=statement), statement
    found = find_codes(text, system)
    codes = tuple(dict.fromkeys(field + found.codes))
    if codes:
        sure = field or found.leading or not _denies(found.rest, system)
        junk = has_no_content(found.rest) or is_remark(found.rest) or _BROKEN_OFF.search(found.rest)
        rest = "" if junk else _clean(decision.text, found.rest, system)
        return [Item(rest, codes)] if sure and (field or not is_excluded(found.rest)) else []
    if orders and is_known_order(name := order_name(trim(text), system), system):
        return [Item(name, ())]
    if is_cut_off(text) or not (_SAYS_ORDER if orders else _SAYS).search(text):
        return []
    if is_group_name(text, system):
        return [Item(order_name(trim(text), system), ())]
    if states_nothing(text, system):
        return []
    cleaned = _clean(decision.text, text, system)
    if (is_sentence(cleaned) and not is_title(cleaned, system)) or _PATIENT.match(cleaned):
        named = named_in_sentence(text, system)
        if (
            named
            or not listed
            or re.match(r"(?:the|this|these|patient|he|she|it|they|his|her)\b", text, re.IGNORECASE)
        ):
            return [Item(name, ()) for name in named]
    return (
        [Item(cleaned, ())]
        if cleaned
        and not states_no_order(cleaned, system)
        and (is_title(cleaned, system) or not (is_heading(cleaned) or is_order_heading(cleaned, system)))
        else []
    )


_SAYS = re.compile(r"[^\W\d_]{2}|[^\x00-\x7f]|\d{3}\.\d")
_SAYS_ORDER = re.compile(r"[^\W_][^\W_]|[^\W\d_]&[^\W\d_]|[^\x00-\x7f]")

_BROKEN_OFF = re.compile(r"\b(?:is|are|as|was|were|be|code|codes)\Z", re.IGNORECASE)  # "Sepsis is coded as (A41.9)"


def _denies(rest: str, system: CodeSystem) -> bool:
    """A code that is mentioned, not stated: in a remark, in evidence, or as what the patient does not have."""
    head, sign, _ = label_of(rest)
    section = section_kind(head, system) if sign else ""
    return not (is_title(rest, system)) and (
        is_negated(rest) or bool(section) or (is_remark(rest) and is_sentence(rest))
    )


def _clean(raw: str, text: str, system: CodeSystem) -> str:
    """The text for matching: `text` is the raw one without Markdown and codes."""
    bold = _BOLD_HEAD.match(raw[:1000])
    if bold and (bold["colon"] or bold["tail"]):
        head = find_codes(plain(bold["head"]), system).rest
        if re.search(r"[^\W\d_]{2}", head) and not is_label(head) and not section_kind(head, system):
            return order_name(without_explanation(trim(_PATIENT.sub("", head, count=1)), system), system)
    text = without_label(text, system)
    text = _IS_PRESENT.sub("", text) if len(text) < 400 else text
    text = _LEAD.sub("", text, count=1) if _LEAD.match(text) else text
    return order_name(trim(without_explanation(trim(text), system)), system)
