"""Headings, labels and fields of answers whose decisions are orders. All are False where diagnoses are asked for."""

from clinical_evals.matching.answer_headings import HEADING_WORDS
from clinical_evals.matching.answer_systems import vocabulary
from clinical_evals.matching.answer_words import remembered, words_of
from clinical_evals.ontology import CodeSystem


@remembered
def is_group_name(text: str, system: CodeSystem) -> bool:
    """Words that name a group of orders ("IV antibiotics"), and nothing else."""
    words, known = words_of(text), vocabulary(system)
    if not known.orders or not 0 < len(words) <= 8 or known.groups.isdisjoint(words):
        return False
    return all(
        word in known.groups or word in known.modifiers or word in HEADING_WORDS or word in known.own for word in words
    )


@remembered
def is_order_heading(text: str, system: CodeSystem) -> bool:
    """Words of a heading over orders ("Home medications", "New orders")."""
    words, known = words_of(text), vocabulary(system)
    if not known.orders or not 0 < len(words) <= 8:
        return False
    named = not (known.own | known.labels).isdisjoint(words) or words[-1] in ("orders", "history")
    return named and all(
        word in known.own or word in known.labels or word in known.modifiers or word in HEADING_WORDS or word.isdigit()
        for word in words
    )


def is_order_label(text: str, system: CodeSystem) -> bool:
    """A label, column or key whose content is an order ("Medication", "Lab 2")."""
    words, known = words_of(text), vocabulary(system)
    return 0 < len(words) <= 4 and not known.labels.isdisjoint(words) and is_order_heading(text, system)


@remembered
def is_order_field(text: str, system: CodeSystem) -> bool:
    """A label, column or key that tells of an order ("Dose", "Route of administration")."""
    words, known = words_of(text), vocabulary(system)
    return known.orders and 0 < len(words) <= 4 and not known.fields.isdisjoint(words) and words[0] not in known.labels
