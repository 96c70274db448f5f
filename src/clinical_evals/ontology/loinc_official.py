"""LOINC at the levels of CliBench's released scorer, as they are, flaws included. Source: protocol.md 2.1 and 3.

MIMIC's itemid is looked up as if it were a LOINC number without its check digit, and the levels are counted from the
root of the hierarchy: item 50912 (creatinine) gets the path of LOINC number 50912-5, a wholly different test.

>>> official_levels(("LP29693-6", "LP7790-1", "LP31434-1", "LP16808-5", "LP388197-8"))
('LP29693-6', 'LP7790-1', 'LP31434-1', 'LP388197-8')
>>> official_levels(("LP29693-6", "LP7790-1"))
('LP29693-6', 'LP7790-1', None, 'LP7790-1')
"""

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from clinical_evals.ontology.loinc_files import hierarchy_rows

OFFICIAL_LEVELS = ("level1", "level2", "level3", "leaf")
"""The leaf is the immediate parent, not the LOINC number."""

Levels = tuple[str | None, str | None, str | None, str | None]
"""The part at each of `OFFICIAL_LEVELS`; None where the path is too short."""
NO_PATH: Levels = (None, None, None, None)


def official_levels(ancestors: Sequence[str]) -> Levels:
    """The parts at the official levels: the first three from the root, and the immediate parent.

    Args:
        ancestors: parts from the root down to the immediate parent.
    """
    first = [*ancestors[:3], None, None, None]
    return first[0], first[1], first[2], ancestors[-1] if ancestors else None


def without_check_digit(code: str) -> str:
    """What stands before the hyphen."""
    return code.partition("-")[0]


class OfficialLOINC:
    """The official levels of MIMIC's lab items; the last path of the hierarchy file counts where there are several.

    Args:
        hierarchy: ComponentHierarchyBySystem.csv, see `loinc_files`. Its edition decides: with LP432695-7 above
            Laboratory every level moves down by one, as it does in the released scorer.
    """

    def __init__(self, hierarchy: Path) -> None:
        self._levels: dict[str, Levels] = {}
        one_of: dict[Levels, Levels] = {}  # equal tuples are kept once
        for ancestors, code, _ in hierarchy_rows(hierarchy):
            if not code.startswith("LP"):
                levels = official_levels(ancestors)
                self._levels[without_check_digit(code)] = one_of.setdefault(levels, levels)

    def levels_of(self, number: str) -> Levels:
        """The parts of a number that may have a check digit: an itemid (50912) as released, or a LOINC number."""
        return self._levels.get(without_check_digit(number), NO_PATH)

    def path(self, itemid: str, side: Literal["gold", "predicted"]) -> tuple[str, str, str, str]:
        """What an item stands for at each official level.

        Where it has no part it is the item itself, by its side: the released gold ids are numbers and the predicted
        ones text, so that there even equal items never match.
        """
        first, second, third, leaf = (part or f"{side} item {itemid}" for part in self.levels_of(itemid))
        return first, second, third, leaf

    def at_levels(self, itemids: Iterable[str], side: Literal["gold", "predicted"]) -> tuple[frozenset[str], ...]:
        """The set that the items of one row make at each official level."""
        paths = [self.path(itemid, side) for itemid in itemids]
        return tuple(frozenset(path[level] for path in paths) for level in range(len(OFFICIAL_LEVELS)))


@cache
def official_loinc() -> OfficialLOINC:
    """The one instance of this process, over the hierarchy that `resources.find` gives.

    Raises:
        ResourceMissingError: it is not on this machine.
        InputError: the file is not what it should be.
    """
    from clinical_evals.ontology.resources import find

    return OfficialLOINC(find("loinc-hierarchy"))
