"""The matchers by the names that options take.

papers          all-MiniLM-L6-v2 over the titles, the best cosine: what the protocols say
synonyms        the same with the official further names in the index
hybrid          words, spelling and meaning weighed together (`hybrid.matcher`)
FOLDER|HUB_ID   "synonyms" with that sentence-transformers model in place of MiniLM
hybrid:FOLDER   "hybrid" with it
…+int8          any of them with the model in 8 bits, by ONNX Runtime where it is installed
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from clinical_evals.errors import InputError, UnknownNameError
from clinical_evals.matching.encoder import Encoder, default_encoder, load_encoder
from clinical_evals.matching.matcher import Matcher
from clinical_evals.matching.pairs import further_names, known_pairs
from clinical_evals.matching.protocols import check_protocol
from clinical_evals.matching.scorer import CodeScorer
from clinical_evals.ontology import CodeSystem, get_system

if TYPE_CHECKING:
    from clinical_evals.matching.hybrid.matcher import HybridMatcher

Kind = Literal["papers", "synonyms", "hybrid"]
NAMES: tuple[Kind, ...] = ("papers", "synonyms", "hybrid")
PROTOCOL = "papers"
"""The matcher that protocol.md 2.5 names: the default, with which numbers can be compared."""


class MatcherName(NamedTuple):
    """What an option asks for."""

    name: str
    kind: Kind
    model: str = ""
    """Folder or Hub id of a model in place of all-MiniLM-L6-v2; empty: that one."""
    int8: bool = False
    """Whether the model runs in 8 bits."""

    @property
    def encoder(self) -> Callable[[], Encoder]:
        """What finds the model."""
        whole = partial(load_encoder, self.model) if self.model else default_encoder
        return partial(_in_int8, whole) if self.int8 else whole


def matcher_name(name: str) -> MatcherName:
    """Read the name of a matcher.

    Raises:
        UnknownNameError: neither one of `NAMES` nor a folder or Hub id, which have a "/".
    """
    if not isinstance(name, str):
        raise InputError(f"matcher={name!r} is no text: give one of {', '.join(NAMES)}, or a folder or Hub id.")
    bare = name.removesuffix("+int8")
    int8 = bare != name
    for kind in NAMES:
        if bare == kind:
            return MatcherName(name, kind, int8=int8)
    hybrid, colon, model = bare.partition(":")
    if colon and hybrid == "hybrid" and "/" in model:
        return MatcherName(name, "hybrid", model, int8)
    if "/" in bare:
        return MatcherName(name, "synonyms", bare, int8)
    raise UnknownNameError(
        "matcher",
        name,
        NAMES,
        "A model is given as a folder (./NAME) or a Hub id (OWNER/NAME), with hybrid: before it for both; +int8 may "
        "stand at the end.",
    )


def _in_int8(whole: Callable[[], Encoder]) -> Encoder:
    from clinical_evals.matching.encoder_int8 import Int8Encoder

    found = whole()
    return Int8Encoder(found.folder, f"{found.name} in int8")


def make_matcher(name: str, system: CodeSystem) -> "Matcher | HybridMatcher":
    """The matcher of a name, as scoring uses it; nothing is loaded yet.

    Raises:
        UnknownNameError: see `matcher_name`.
    """
    asked = matcher_name(name)
    if asked.kind == "papers":
        return Matcher(system, asked.encoder)
    if asked.kind == "hybrid":
        from clinical_evals.matching.hybrid.matcher import HybridMatcher  # scipy and scikit-learn come with it

        return HybridMatcher(system, asked.encoder)
    return Matcher(system, asked.encoder, further=further_names(system, known_pairs(system)))


def make_scorer(
    system: str = "icd10cm", protocol: str = "standard", dictionary: str | Path | None = None, matcher: str = PROTOCOL
) -> CodeScorer:
    """The scorer of a protocol with the matcher of a name.

    Raises:
        UnknownNameError: no such system, protocol or matcher.
        InputError: see `CodeScorer`; also a matcher for "official", which matches as the papers did.
    """
    check_protocol(protocol)
    matcher_name(matcher)
    if matcher == PROTOCOL:
        return CodeScorer(system, protocol, dictionary=dictionary)
    if protocol != "standard":
        raise InputError(
            f"matcher={matcher!r} has no use with protocol={protocol!r}, which matches as the papers did. Leave one "
            "out."
        )
    return CodeScorer(system, protocol, dictionary=dictionary, matcher=make_matcher(matcher, get_system(system)))
