"""What a line of an answer is to the orders after it or below it: their group or purpose, or an order with its "
"reason."""

import re

from clinical_evals.matching.answer_headings import mentions_disease, section_kind
from clinical_evals.matching.answer_order_words import is_group_name, is_order_field, is_order_heading, is_order_label
from clinical_evals.matching.answer_orders import VERBS, is_known_order, listed_orders
from clinical_evals.matching.answer_phrases import is_evidence, is_sentence
from clinical_evals.matching.answer_systems import vocabulary
from clinical_evals.matching.answer_titles import is_title
from clinical_evals.matching.answer_words import words_of
from clinical_evals.matching.codes_in_text import is_only_codes
from clinical_evals.matching.lab_names import is_lab, is_panel, qualifies_lab
from clinical_evals.ontology import CodeSystem


def labels_orders(head: str, tail: str, system: CodeSystem) -> bool:
    """Whether what stands before a colon says what the orders after it are for: "Antibiotics: ceftriaxone"."""
    known = vocabulary(system)
    words = words_of(head)
    if not known.orders or not tail or not 0 < len(words) <= 6 or is_order_field(head, system):
        return False
    if is_only_codes(head, system):
        return False
    if listed_orders(f"{head}: {tail}", system) or is_order_label(head, system):
        return True
    if is_evidence(tail) or is_sentence(tail) or section_kind(head, system):
        return False
    if all(word in VERBS or word in known.modifiers for word in words):
        return True
    if system.name == "loinc":  # "CBC: anemia" gives a reason
        return qualifies_lab(head) or (is_group_name(head, system) and not is_panel(head))
    if is_title(head, system) and not is_group_name(head, system):
        return False
    purpose = words[-1] in known.purposes or (known.for_conditions and mentions_disease(head))
    return is_group_name(head, system) or purpose or names_order_first(tail, system)


def names_order_first(text: str, system: CodeSystem) -> bool:
    """Whether a list begins with a text that is certainly the name of an order."""
    first = re.split(r",|;| and ", text[:200], maxsplit=1)[0].strip()
    return is_known_order(first, system) and not mentions_disease(first)


def heads_orders(words: str, below: list[str], system: CodeSystem) -> bool | None:
    """Whether a line with entries nested under it is their group ("Antibiotics", "BMP", "Pneumonia").

    None where orders have no rule of their own, and always where diagnoses are asked for.
    """
    known = vocabulary(system)
    if not known.orders:
        return None
    words = words.rstrip(": ")
    named = is_group_name(words, system) or is_known_order(words, system)
    orders = [
        line for line in below if not (is_order_field(line.partition(":")[0], system) or _tells_of_order(line, system))
    ]
    if not orders:
        return False if named else None
    if is_panel(words) and system.name == "loinc":
        return all(is_lab(line, system) for line in orders)
    if is_group_name(words, system) or is_order_heading(words, system):
        return True
    if named:
        return False
    purpose = not known.purposes.isdisjoint(words_of(words)[-1:]) or (known.for_conditions and mentions_disease(words))
    return True if purpose else None


def _tells_of_order(line: str, system: CodeSystem) -> bool:
    return not is_known_order(line, system) and (is_evidence(line) or is_sentence(line) or len(words_of(line)) > 8)
