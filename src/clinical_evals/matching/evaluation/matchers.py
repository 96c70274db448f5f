"""The matchers that can be evaluated, by the names that `clinical-evals matcher evaluate --matcher` takes."""

from collections.abc import Callable, Sequence
from functools import partial

from clinical_evals.errors import UnknownNameError
from clinical_evals.matching.encoder import default_encoder, load_encoder
from clinical_evals.matching.evaluation.measured import Matches
from clinical_evals.matching.evaluation.pairs import Pair
from clinical_evals.matching.matcher import Matcher
from clinical_evals.matching.titles import further_texts
from clinical_evals.ontology import CodeSystem

NAMES = {
    "papers": "all-MiniLM-L6-v2 over the titles, the best cosine: the papers' matcher",
    "synonyms": "the same, with the official synonyms that are not held out in the index too",
}
EVERYTHING = -1.0
"""A threshold that every similarity reaches: what is nearest is looked at, not whether it is near enough."""


def matcher_of(name: str, system: CodeSystem, known: Sequence[Pair]) -> Callable[[], Matches]:
    """What makes a matcher.

    Args:
        name: a key of `NAMES`, or the folder or Hub id of a sentence-transformers model, which then takes the place of
            all-MiniLM-L6-v2 in "synonyms".
        system: the code system.
        known: pairs that the matcher may have in its index.

    Raises:
        UnknownNameError: neither a name nor a folder or Hub id.
    """
    if name == "papers":
        return partial(Matcher, system, threshold=EVERYTHING)
    if name not in NAMES and "/" not in name:
        raise UnknownNameError("matcher", name, list(NAMES), "A model is given as a folder or a Hub id (owner/name).")
    encoder = default_encoder if name in NAMES else partial(load_encoder, name)
    texts = [(pair.text, code) for pair in known for code in pair.codes[:1]]
    further = further_texts(system, texts, f"further names of {system.name} {system.release}")
    return partial(Matcher, system, encoder, EVERYTHING, further=further)
