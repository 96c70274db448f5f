"""Matchers asked for the codes of held-out texts: how often right at each level, how fast, with how much memory."""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from clinical_evals.matching.matcher import Match
from clinical_evals.matching.pairs import Pair
from clinical_evals.ontology import CodeSystem
from clinical_evals.scoring.intervals import wilson

WARM_UP = 32
"""Texts that are matched before the clock runs: models and indexes are then loaded, as in any run."""


class Matches(Protocol):
    """A matcher, as far as it is asked here."""

    def match(self, texts: Sequence[str]) -> list[Match | None]:
        """The match of each text; None where there is none."""


class Share(NamedTuple):
    """How many of the texts are right at a level, 0-1."""

    value: float
    low: float
    high: float
    """Wilson's 95 % interval."""


class Measured(NamedTuple):
    """What one matcher gave."""

    name: str
    accuracy: dict[str, Share]
    """By level, coarsest first; a text without a match is wrong."""
    texts: int
    unmatched: int
    seconds: float
    """A text, of all held-out ones in one call, models and indexes loaded."""
    memory: float
    """GB that the process holds more than before the matcher was made."""
    found: list[Match | None]
    """Of each text, in the order of the held-out ones."""

    def same_codes(self, other: "Measured") -> float:
        """Share of the texts that both take for the same code, or for none; 0-1."""
        codes = zip(self.found, other.found, strict=True)
        return sum((one and one.code) == (two and two.code) for one, two in codes) / self.texts


def measure(name: str, make: Callable[[], Matches], held_out: Sequence[Pair], system: CodeSystem) -> Measured:
    """Ask a matcher for the codes of held-out texts.

    Args:
        name: of the matcher.
        make: makes it.
        held_out: the texts with their codes.
        system: the code system of both.
    """
    before = _resident()
    matcher = make()
    texts = [pair.text for pair in held_out]
    matcher.match([f"{text} (warm-up)" for text in texts[:WARM_UP]])
    start = time.perf_counter()
    found = matcher.match(texts)
    seconds = (time.perf_counter() - start) / len(texts)
    return Measured(
        name,
        accuracy_by_level(found, held_out, system),
        len(texts),
        sum(match is None for match in found),
        seconds,
        max(0.0, _resident() - before),
        found,
    )


def accuracy_by_level(found: Sequence[Match | None], held_out: Sequence[Pair], system: CodeSystem) -> dict[str, Share]:
    """At each level the share of the texts whose match stands for the same as one of their codes."""
    accuracy = {}
    for place, level in enumerate(system.levels):
        right = sum(
            match is not None and system.path(match.code)[place] in {system.path(code)[place] for code in pair.codes}
            for match, pair in zip(found, held_out, strict=True)
        )
        accuracy[level] = Share(right / len(held_out), *wilson(right, len(held_out)))
    return accuracy


def _resident() -> float:
    """GB of memory that the process holds now."""
    import psutil

    return float(psutil.Process().memory_info().rss) / 2**30
