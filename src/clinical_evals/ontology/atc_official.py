"""ATC at the levels of CliBench's released scorer, as they are, flaws included. Source: protocol.md 3.

It cuts characters where WHO's levels are not: 1, 2 and 3 characters, and at the fourth level one character less than
the code has. The published candidates (14 / 17 / 83 / 182) are counts of such prefixes.

>>> official_path("A10BA"), official_path("A10BA02")
(('A', 'A1', 'A10', 'A10B'), ('A', 'A1', 'A10', 'A10BA0'))
>>> [sorted(level) for level in at_official_levels(["A10BA", "A02BC"])]
[['A'], ['A0', 'A1'], ['A02', 'A10'], ['A02B', 'A10B']]
"""

from collections.abc import Callable, Iterable

OFFICIAL_LEVELS = ("level1", "level2", "level3", "level4")
"""There is no full code among the official levels."""
SHORTEST_GOLD = 6
"""Characters that the NDC of a gold drug has at least; "0" and other stand-ins fall out by it."""


def official_path(code: str) -> tuple[str, str, str, str]:
    """What a code stands for at each official level: 1, 2 and 3 characters, then all but its last one.

    Args:
        code: an ATC code of any release; what is no code is cut in the same way.
    """
    return code[:1], code[:2], code[:3], code[:-1]


def at_official_levels(codes: Iterable[str]) -> tuple[frozenset[str], ...]:
    """The set that the codes of one row make at each official level."""
    paths = [official_path(code) for code in codes]
    return tuple(frozenset(path[level] for path in paths) for level in range(len(OFFICIAL_LEVELS)))


def predicted_codes(ndcs: Iterable[str], classes: Callable[[str], Iterable[str]]) -> frozenset[str]:
    """The ATC codes that the predicted drugs of a row stand for.

    Args:
        ndcs: the drugs, each by its NDC.
        classes: all ATC codes of an NDC; none where it has none, and it then contributes nothing, not even an error.
    """
    return frozenset(code for ndc in ndcs for code in classes(ndc))


def gold_codes(ndcs: Iterable[str], classes: Callable[[str], Iterable[str]]) -> frozenset[str]:
    """As `predicted_codes`, for the gold drugs of a row; those with an NDC of up to 5 characters do not count."""
    return predicted_codes((ndc for ndc in ndcs if len(ndc) >= SHORTEST_GOLD), classes)
