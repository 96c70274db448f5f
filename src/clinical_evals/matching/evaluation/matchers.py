"""The matchers that can be evaluated, by the names that `clinical-evals matcher evaluate --matcher` takes."""

from collections.abc import Callable, Sequence
from functools import partial

from clinical_evals.errors import InputError
from clinical_evals.matching.evaluation.measured import Matches
from clinical_evals.matching.hybrid.matcher import HybridMatcher
from clinical_evals.matching.matcher import Matcher
from clinical_evals.matching.matchers import MatcherName, matcher_name
from clinical_evals.matching.pairs import Pair, further_names
from clinical_evals.matching.titles import fold
from clinical_evals.matching.trained_on import trained_on
from clinical_evals.ontology import CodeSystem

EVERYTHING = -1.0
"""A threshold that every similarity reaches: what is nearest is looked at, not whether it is near enough."""


def matcher_of(
    name: str, system: CodeSystem, known: Sequence[Pair], held_out: Sequence[Pair]
) -> Callable[[], Matches]:
    """What makes a matcher that takes the best code of every text.

    Args:
        name: as `matchers.matcher_name` reads it.
        system: the code system.
        known: pairs that the matcher may have in its index and learn of.
        held_out: pairs that it must not have seen.

    Raises:
        UnknownNameError: neither a name nor a folder or Hub id.
        InputError: the model was trained on some of the held-out texts.
        ResourceMissingError: the model is not on this machine.
    """
    asked = matcher_name(name)
    _check_training(asked, held_out)
    if asked.kind == "papers":
        return partial(Matcher, system, asked.encoder, threshold=EVERYTHING)
    if asked.kind == "hybrid":
        hidden = frozenset(fold(pair.text) for pair in held_out)
        return partial(
            HybridMatcher,
            system,
            asked.encoder,
            threshold=EVERYTHING,
            confidence=0.0,
            known=known,
            hidden=hidden,
            billable=False,
        )
    whole = further_names(system, sorted({*known, *held_out}))  # embedded once, whatever is held out
    further = further_names(system, known)
    return partial(Matcher, system, asked.encoder, EVERYTHING, further=further, further_of=whole)


def _check_training(asked: MatcherName, held_out: Sequence[Pair]) -> None:
    if not asked.model:
        return
    folder = asked.encoder().folder
    seen = trained_on(folder)
    learnt = [pair.text for pair in held_out if fold(pair.text) in seen]
    if learnt:
        raise InputError(
            f"{folder} was trained on {len(learnt)} of the {len(held_out)} held-out texts, e.g. {learnt[0]!r}: what "
            "it says of them is no evidence. Give the --items and --seed that it was trained with, or train it with "
            "these."
        )
