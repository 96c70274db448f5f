"""What the model learns of: a text, a text of the same code, and a title near to it that is of another code."""

import random
from collections.abc import Sequence
from typing import NamedTuple

from clinical_evals.matching.pairs import Pair
from clinical_evals.matching.titles import fold
from clinical_evals.ontology import CodeSystem

_NEAREST = 0.6
"""Share of the negatives of the same subcategory where there are any; the others are of the category or block."""
_SECOND_NAMES = 0.5
"""Share of the texts that are also paired with another further name of their code."""


class Triple(NamedTuple):
    """One row of the training data."""

    anchor: str
    """A further name of a code."""
    positive: str
    """Its title, or another further name of it."""
    negative: str
    """The title of another code close by."""


def texts_to_learn(system: CodeSystem, known: Sequence[Pair], not_these: Sequence[Pair]) -> list[tuple[str, str]]:
    """Further names and names in notes with their codes, none of which is among the texts that are kept from training.

    Args:
        system: the code system.
        known: pairs that may be learnt.
        not_these: pairs that must not be: what is held out for evaluation, and what the hybrid matcher's ranker needs.
    """
    left_out = {fold(pair.text) for pair in not_these} | {fold(system.title(code)) for code in system.codes()}
    named = [(pair.text, pair.codes[0]) for pair in known]
    shaped = filter(system.code_shape.fullmatch, system.codes())
    noted = [(text, code) for code in shaped for text in system.noted_names(code)]
    chosen = {pair: None for pair in (*named, *noted) if fold(pair[0]) not in left_out}
    return list(chosen)


def triples_of(system: CodeSystem, texts: Sequence[tuple[str, str]], seed: int) -> list[Triple]:
    """The training data in a seeded order.

    Args:
        system: the code system.
        texts: texts with their codes.
        seed: decides negatives, second names and order.
    """
    draw = random.Random(seed)
    near = _Near(system)
    names: dict[str, list[str]] = {}
    for text, code in texts:
        names.setdefault(code, []).append(text)
    triples = [Triple(text, system.title(code), near.negative(code, draw)) for text, code in texts]
    for text, code in texts:
        others = [other for other in names[code] if other != text]
        if others and draw.random() < _SECOND_NAMES:
            triples.append(Triple(text, draw.choice(others), near.negative(code, draw)))
    draw.shuffle(triples)
    return triples


class _Near:
    """Codes that stand close to a code in the hierarchy."""

    def __init__(self, system: CodeSystem) -> None:
        self._system = system
        self._below: dict[tuple[int, str], list[str]] = {}
        for code in filter(system.code_shape.fullmatch, system.codes()):
            for level, ancestor in enumerate(system.path(code)[:-1]):
                self._below.setdefault((level, ancestor), []).append(code)

    def negative(self, code: str, draw: random.Random) -> str:
        """The title of another code: of the same subcategory as a rule, else from further away."""
        path = self._system.path(code)[:-1]
        deepest = len(path) - 1
        first = deepest if draw.random() < _NEAREST else max(0, deepest - 1)
        title = self._system.title(code)
        for level in range(first, -1, -1):
            others = [other for other in self._below[level, path[level]] if self._system.title(other) != title]
            if others:
                return self._system.title(draw.choice(others))
        return title
