"""Answers whose decisions are orders: procedures, labs and drugs, in the words that only orders have.

What this adds to the reading of an answer: instructions are taken out of its lines before they are read
(`without_instructions`), and the name of what is ordered is taken out of an item (`order_name`). The words of headings
are in `answer_order_words`, held orders in `answer_order_holds`, what each system calls its orders in `drug_names`,
`lab_names` and `procedure_names`. For diagnoses nothing here does anything. Source: protocol 2.5, points 1 to 3.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from clinical_evals.matching.answer_headings import is_heading
from clinical_evals.matching.answer_order_holds import without_stopped
from clinical_evals.matching.answer_order_words import is_group_name
from clinical_evals.matching.answer_phrases import says_nothing
from clinical_evals.matching.answer_systems import vocabulary
from clinical_evals.matching.answer_titles import is_title
from clinical_evals.matching.answer_words import remembered, word_set
from clinical_evals.matching.drug_names import drug_name, joins_drugs, listed_drugs, without_dosage
from clinical_evals.matching.lab_names import (
    is_lab,
    lab_name,
    listed_labs,
    qualifies_lab,
    without_values,
)
from clinical_evals.matching.procedure_names import (
    is_procedure,
    procedure_name,
    qualifies_procedure,
    without_other_codes,
)
from clinical_evals.ontology import CodeSystem


def _nothing_listed(text: str, system: CodeSystem) -> list[str]:
    return []


class _Names(NamedTuple):
    """How the orders of one system are named."""

    prepare: Callable[[str], str]
    """A line without what is no part of a name or layout."""
    name: Callable[[str, CodeSystem], str]
    known: Callable[[str, CodeSystem], bool]
    """Whether a text is certainly the name of an order."""
    goes_on: Callable[[str], bool]
    """Whether a text after a comma belongs to the order before it."""
    listed: Callable[[str, CodeSystem], list[str]] = _nothing_listed
    """The orders that an order consists of, where the text lists them."""


def _drugs_of_group(text: str, system: CodeSystem) -> list[str]:
    """The drugs beside the name of their group: "Antibiotics (vancomycin and cefepime)"."""
    head, parts = listed_drugs(text)
    known = any(is_title(part, system) for part in parts) and all(len(part.split()) < 4 for part in parts)
    return parts if known and is_group_name(without_verb(head, system), system) else []


_NAMES = {
    "icd10pcs": _Names(without_other_codes, procedure_name, is_procedure, qualifies_procedure),
    "loinc": _Names(without_values, lab_name, is_lab, qualifies_lab, listed_labs),
    "atc": _Names(without_dosage, drug_name, is_title, lambda text: False, _drugs_of_group),
}

# Lines


def without_instructions(text: str, system: CodeSystem) -> str:
    """An answer of orders without doses, times, values and foreign codes in its lines; of diagnoses the same."""
    names = _NAMES.get(system.name)
    if names is None:
        return text
    return "\n".join(names.prepare(line) for line in without_stopped(text).split("\n"))


@remembered
def is_known_order(text: str, system: CodeSystem) -> bool:
    """Whether a text is certainly the name of an order, whatever else it may look like ("Na", "PT")."""
    names = _NAMES.get(system.name)
    return names is not None and names.known(text, system)


def goes_on_with_order(text: str, system: CodeSystem) -> bool:
    """Whether a text after a comma belongs to the order before it: "Troponin T, serum"."""
    names = _NAMES.get(system.name)
    return names is not None and names.goes_on(text)


def listed_orders(text: str, system: CodeSystem) -> list[str]:
    """The orders that an order lists itself ("BMP (Na, K, Cl)"); none for other texts."""
    names = _NAMES.get(system.name)
    return names.listed(text, system) if names and not is_title(text, system) else []


def may_be_cut(text: str, system: CodeSystem) -> bool:
    """Whether a text that names several orders names them apart; "piperacillin and tazobactam" is one drug."""
    return vocabulary(system).orders and not (system.name == "atc" and joins_drugs(text))


def states_no_order(text: str, system: CodeSystem) -> bool:
    """As `says_nothing`, but for names of orders: Na is sodium where labs are asked for."""
    return says_nothing(text) and not is_known_order(text, system)


# Items

VERBS = word_set(
    "continue start resume initiate add give begin order check perform restart increase change administer prescribe "
    "obtain"
)
"""Verbs that may stand before a colon and orders: "Continue: aspirin"."""
_VERB = re.compile(
    r"(?:(?:on (?:admission|arrival)|initially|first|next|today),? )?"
    r"(?:(?:please |i would |we would |i will |then |also |would |will )?"
    r"(?:start|begin|tak|appl|infus|continu|resum|restart|initiat|giv|administer|prescrib|order|add|increas|decreas"
    r"|reduc|titrat|switch"
    r"|transition|chang|replet|us(?=e|ing)|provid|obtain|check|send|get|perform|plac|insert|proceed|schedul|recommend"
    r"|consider|draw|collect)(?:e|es|s|ing|ed|t|ted|y)?"
    r"(?: back)?(?: (?:to|with|on))?(?: (?:an?|the|his|her|their|home|dose|of|patient's|another))*(?::? |\Z))+",
    re.IGNORECASE,
)


def order_name(text: str, system: CodeSystem) -> str:
    """The name of the order that an item states; the item itself where diagnoses are asked for."""
    names = _NAMES.get(system.name)
    if names is None or is_title(text, system):
        return text
    return " ".join(names.name(without_verb(text, system), system).split())


def without_verb(text: str, system: CodeSystem) -> str:
    """What is ordered: "home levothyroxine" from "Continue home levothyroxine"; diagnoses as they are."""
    verb = _VERB.match(text[:120]) if vocabulary(system).orders else None
    return text[verb.end() :].strip() if verb and verb.end() < len(text) else text


_ORDERED = re.compile(
    r"\b(?:(?:should|will|would|must|needs? to|to|can|may|i|we|then|also|and) )?(?:be )?"
    r"(?:(?:started|placed|treated|kept|managed|given|ordered|prescribed|continued)(?: on| with)?|underwent"
    r"|undergo(?:es|ing)?|receiv(?:e|es|ed|ing)|had|(?:likely )?(?:requires?|needs?)"
    r"|(?:order|prescribe|start|give|administer|obtain|perform|check|send|recommend|initiate|continue|include|have))"
    r":? (?:the following:? )?(?!(?:the )?(?:medications?|drugs?|labs?|tests?|procedures?|orders?)\b)(?P<o>.+)",
    re.IGNORECASE | re.DOTALL,
)
_AGAIN = re.compile(
    r",?(?: and)? (?:(?:was|were|be|then) )*(?:started|placed|continued|given|treated|kept|received|underwent)"
    r"(?: on| with)? ",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"(?:\bnot|n't|\bno|\bnever|\bavoid|\bwithout)\b[^,;.]{0,20}\Z", re.IGNORECASE)


def ordered_in_sentence(text: str, system: CodeSystem) -> str:
    """What a sentence says is ordered, given or done; empty for other sentences, and where diagnoses are asked for."""
    if not vocabulary(system).orders:
        return ""
    ordered = _ORDERED.search(text[:2000])
    if not ordered or _NEGATED.search(text, max(0, ordered.start() - 30), ordered.start()):
        return ""
    return "" if is_heading(ordered["o"].strip(" .:")) else _AGAIN.sub(", ", ordered["o"]).strip()
