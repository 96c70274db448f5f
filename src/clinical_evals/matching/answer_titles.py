"""Whether a piece of an answer is a title of the release: such a text is never cut and never taken for prose."""

import re
from collections.abc import Callable
from weakref import WeakKeyDictionary

from clinical_evals.matching.answer_words import remembered
from clinical_evals.matching.titles import fold
from clinical_evals.ontology import CodeSystem

_TITLES: "WeakKeyDictionary[CodeSystem, frozenset[str]]" = WeakKeyDictionary()
_QUALIFIED = re.compile(r", unspecified(?: [\w ]*)?\Z|, not elsewhere classified\Z| NOS\Z", re.IGNORECASE)
_ASIDE = re.compile(r" ?(?:\([^()]*\)|\[[^\[\]]*\])")


@remembered
def is_title(text: str, system: CodeSystem) -> bool:
    """Whether a text is a title, name or synonym, also without its "unspecified" or its bracketed words."""
    if len(text) > 400:
        return False
    titles = _TITLES.get(system)
    if titles is None:
        titles = _TITLES[system] = frozenset(_title_forms(system))
    return fold(text) in titles


_MOST_STEPS = 8
_EDGES = " ,;:-–=<>@"


def shortened_to_name(text: str, system: CodeSystem, step: Callable[[str], str]) -> str:
    """What is left of an order when `step` has cut it until it is a title or nothing more comes off.

    The text before a cut stays where the cut would leave no letter.
    """
    for _ in range(_MOST_STEPS):
        if is_title(text, system):
            return text
        shorter = step(text).strip(_EDGES)
        if shorter == text or not any(map(str.isalpha, shorter)):
            break
        text = shorter
    return text


def _title_forms(system: CodeSystem) -> set[str]:
    forms: set[str] = set()
    for code in system.codes():
        for title in (system.title(code), *system.synonyms(code), *system.names(code)):
            whole = fold(title)
            forms.add(whole)
            if "unspecified" in whole or "classified" in whole or whole.endswith(" nos"):
                forms.add(_QUALIFIED.sub("", whole))
            if "(" in whole or "[" in whole:
                forms.add(fold(_ASIDE.sub("", whole)))
    return forms
