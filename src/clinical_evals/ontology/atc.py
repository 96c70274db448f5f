"""ATC, the WHO's Anatomical Therapeutic Chemical classification, from a WHO ATC/DDD table that the user supplies.

Source of the levels: protocol.md 2.1; the released scorer's own levels are in `atc_official`.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path

from clinical_evals.ontology.atc_file import LENGTHS, MAIN_GROUPS, SHAPE, read_atc
from clinical_evals.ontology.base import CodeSystem

_EDGES = " \t\r\n.,;:()[]{}<>\"'*_`"
_LABEL = re.compile(r"(?:WHO )?ATC(?:[ -]?codes?)?(?![^\W_])[\s:#=–—-]*", re.IGNORECASE)
_SPACES = re.compile(r"[\s\u200b]+")
_DATE = re.compile(r"(?<!\d)(?:19|20)\d\d(?:-\d\d-\d\d)?(?!\d)")

_US_NAMES = Path(__file__).with_name("atc_us_names.json")

# Groups of preparations that act where they are put. R03A is not among them: it is how bronchodilators are given.
_LOCAL_USE = (
    "A01",
    "A07",
    "B02BC",
    "B05C",
    "C05",
    "D",
    "G01",
    "G02CC",
    "M02",
    "N01B",
    "P03",
    "R01",
    "R02",
    "S",
    "V08",
)


class ATC(CodeSystem):
    """Codes of all five levels: a substance (A10BA02) or a class of them (A10BA, A10B, A10, A) may be predicted.

    A class stands for itself below its own level (protocol.md 2.6): at level 4, A10 is A10.

    Args:
        path: a WHO ATC/DDD table with the columns atc_code and atc_name, see `atc_file`.
    """

    name = "atc"
    levels = ("level1", "level2", "level3", "level4", "full")
    outside_average = ("full",)  # the paper scores levels 1 to 4
    code_shape = SHAPE

    def __init__(self, path: Path) -> None:
        self._titles = read_atc(path)
        self._codes = tuple(self._titles)
        # Of the content and not of the file, so that packing, DDDs and the order of rows leave caches valid.
        content = "\n".join(f"{code}\t{self._titles[code]}" for code in sorted(self._codes))
        date = _DATE.search(path.name)
        digest = hashlib.sha256(content.encode()).hexdigest()[:12]
        self.release = f"{date[0] if date else 'of unknown date'} ({len(self._codes):,} codes, content {digest})"

    def normalize(self, text: str) -> str | None:
        """The upper-case form of a code of any level, in any case, with label, inner spaces or brackets."""
        bare = _bare(text)
        return bare if bare in self._titles else None

    def codes(self) -> Sequence[str]:
        """The codes of all five levels in the order of the file (6,996 in the release of 2026-04-25)."""
        return self._codes

    def title(self, code: str) -> str:
        """The official name; the file has levels 1 to 3 mostly in capitals."""
        return self._titles[code]

    def names(self, code: str) -> tuple[str, ...]:
        """What US clinicians call it: Tylenol and acetaminophen for all codes of the WHO's paracetamol."""
        return self._us_names.get(self.title(code).casefold(), ())

    @cached_property
    def _us_names(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for name, who_name in us_names().items():
            found[who_name.casefold()] = (*found.get(who_name.casefold(), ()), name)
        return found

    def path(self, code: str) -> tuple[str, ...]:
        """The first 1, 3, 4 and 5 characters and the code; itself where it is shorter."""
        if code not in self._titles:
            raise KeyError(code)
        return tuple(code[:length] for length in LENGTHS)

    def sizes(self) -> tuple[int, ...]:
        """How many codes each of the five levels has (14, 94, 271, 939, 5,678 in the release of 2026-04-25)."""
        return tuple(sum(len(code) == length for code in self._codes) for length in LENGTHS)

    def preference(self, code: str) -> int:
        """A substance without a route stands for its systemic use, not for mouth washes, ointments or eye drops.

        439 substances of the release of 2026-04-25 have several codes, one for each use: prednisolone is A01AC04 in
        the mouth, D07AA03 on the skin, S01BA04 in the eye, and H02AB06 as a whole.
        """
        return super().preference(code) + 100 * code.startswith(_LOCAL_USE)

    def nearest(self, text: str) -> str | None:
        """The longest group of the release that a well-formed code of any release lies in; None where there is none.

        The code itself where the release has it. N03AX12, which a later release moved, lies in N03AX.
        """
        bare = _bare(text)
        if not SHAPE.fullmatch(bare):
            return None
        return next((bare[:length] for length in reversed(LENGTHS) if bare[:length] in self._titles), None)

    def explain(self, text: str) -> str:
        """Why a text is no code: its length, its main group, its form, or not in this release."""
        bare = _bare(text)
        return f"It is one: {bare}." if bare in self._titles else f"{self._reason(bare)} {super().explain(text)}"

    def _reason(self, bare: str) -> str:
        if len(bare) not in LENGTHS:
            return f"A code has 1, 3, 4, 5 or 7 characters, this has {len(bare)}."
        if bare[0] not in MAIN_GROUPS:
            return f"The main groups are {', '.join(MAIN_GROUPS)}; {bare[0]!r} is none."
        if not SHAPE.fullmatch(bare):
            return "A code is a letter, two digits, a letter, a letter, two digits, or a start of that, as A10BA02."
        group = str(self.nearest(bare))
        return (
            f"It is well-formed but not in this release: withdrawn or moved, or of a newer one. "
            f"The nearest group that is: {group} ({self._titles[group]})."
        )


@cache
def us_names() -> Mapping[str, str]:
    """By name in US hospitals (nonproprietary where it differs from the WHO's, common brands) the WHO's name.

    Written from general knowledge of USAN and brand names; no list copied. A brand with two active substances has the
    WHO's name for the two together; a fluid, that of the solutions it belongs to.
    """
    names: dict[str, str] = json.loads(_US_NAMES.read_text(encoding="utf-8"))
    return names


def _bare(text: str) -> str:
    """Without edges, a label and spaces, in upper case; a text with other than ASCII characters is no code."""
    bare = text.strip(_EDGES)
    if label := _LABEL.match(bare):
        bare = bare[label.end() :].strip(_EDGES)
    bare = _SPACES.sub("", bare)
    return bare.upper() if bare.isascii() else bare


@cache
def atc() -> ATC:
    """The one instance of this process, over the file that `resources.find` gives.

    Raises:
        ResourceMissingError: there is no ATC table on this machine.
        InputError: the file is no whole ATC table.
    """
    from clinical_evals.ontology.resources import find

    return ATC(find("atc"))
