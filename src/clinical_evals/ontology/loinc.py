"""LOINC's laboratory tests, from the files of a LOINC release that the user supplies.

Source of the levels: protocol.md 2.1, the three groups below Laboratory; the released scorer's own levels, counted
from the root, are in `loinc_official`.
"""

import hashlib
import logging
from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path

from clinical_evals.ontology.base import CodeSystem
from clinical_evals.ontology.loinc_files import GROUP_LEVELS, read_hierarchy
from clinical_evals.ontology.loinc_names import NO_NAMES, read_names
from clinical_evals.ontology.loinc_number import PART, SHAPE, check_digit, has_right_check_digit, read_spelling
from clinical_evals.ontology.loinc_short_names import short_form, short_names

_LOG = logging.getLogger(__name__)
_SHOWN = 5


class LOINC(CodeSystem):
    """LOINC numbers below Laboratory, with their groups. Groups (LP…) are levels only, never codes.

    A title is the LONG_COMMON_NAME of Loinc.csv, else the CODE_TEXT of the hierarchy, else COMPONENT and SYSTEM of
    Loinc.csv, else the number itself (`nameless`). A group without a CODE_TEXT is called by its code.

    Args:
        hierarchy: ComponentHierarchyBySystem.csv, see `loinc_files`.
        names: Loinc.csv, see `loinc_names`; without it the hierarchy's own texts are the titles.
    """

    name = "loinc"
    levels = ("class", "group", "subgroup", "full")
    code_shape = SHAPE

    def __init__(self, hierarchy: Path, names: Path | None = None) -> None:
        found = read_hierarchy(hierarchy)
        self._groups = found.groups
        self._codes = tuple(found.groups)
        self._texts = found.texts
        self._names = read_names(names, found.groups) if names else NO_NAMES
        # LOINC numbers that are no codes here: their STATUS where Loinc.csv tells it, such as DEPRECATED
        self._elsewhere = dict.fromkeys(found.elsewhere, "") | dict(self._names.others)
        self.malformed = self._names.malformed
        """Rows of Loinc.csv whose number is none."""
        self.nameless = tuple(code for code in self._codes if self.title(code) == code)
        """The numbers without a name in either file: their title is the number, which no text should be matched to."""
        self.release = f"{self._names.version or 'of unknown version'} ({len(self._codes):,} codes, {self._digest()})"
        self.note = self._gaps()

    def _digest(self) -> str:
        # Of the content and not of the files, so that packing and another root leave caches valid.
        content = hashlib.sha256()
        for code in sorted(self._codes):
            content.update("\t".join((*self.path(code), self.title(code), "\n")).encode())
        return f"content {content.hexdigest()[:12]}"

    def normalize(self, text: str) -> str | None:
        """The number with its hyphen, in any usual spelling, with a label, spaces, brackets, another dash.

        Without its hyphen a number is read only where a label says that it is one (LOINC 23457), and the check digit
        is right: MIMIC's item ids and other plain numbers would too often hit one. The release decides what is valid:
        it has twelve old numbers with a wrong check digit (5895-7), which are valid as they are.
        """
        spelling = read_spelling(text)
        if spelling is None or spelling.code not in self._groups:
            return None
        hyphen = spelling.hyphen or (spelling.labelled and has_right_check_digit(spelling.code))
        return spelling.code if hyphen else None

    def codes(self) -> Sequence[str]:
        """All LOINC numbers with a path below Laboratory, in the order of the hierarchy file."""
        return self._codes

    def title(self, code: str) -> str:
        """The official name, or the number itself where neither file has a name."""
        if code not in self._groups:
            raise KeyError(code)
        return self._names.titles.get(code) or self._texts.get(code) or self._names.composed.get(code) or code

    def level_title(self, level: str, ancestor: str) -> str:
        """The name of a group, or its code where the file has none; the title of a number.

        Raises:
            KeyError: no code of the release has that ancestor at that level.
            UnknownNameError: no such level.
        """
        if ancestor not in self.ancestors(level):
            raise KeyError(ancestor)
        return self.title(ancestor) if ancestor in self._groups else self._texts.get(ancestor, ancestor)

    def path(self, code: str) -> tuple[str, ...]:
        """The three parts below Laboratory and the number; the number itself where its path is shorter."""
        groups = self._groups[code]
        return groups + (code,) * (GROUP_LEVELS + 1 - len(groups))

    def synonyms(self, code: str) -> tuple[str, ...]:
        """Further official names: the hierarchy's text, and DisplayName, SHORTNAME, CONSUMER_NAME of Loinc.csv.

        COMPONENT is none: the substance alone (Glucose) names hundreds of tests.
        """
        title = self.title(code)
        names = (self._texts.get(code, ""), *self._names.further.get(code, ()))
        return tuple(name for name in dict.fromkeys(names) if name and name != title)

    def names(self, code: str) -> tuple[str, ...]:
        """What clinicians call it where they mean this test: Sodium and Na for 2951-2; see `loinc_short_names`."""
        return self._short_names.get(code, ())

    @cached_property
    def _short_names(self) -> dict[str, tuple[str, ...]]:
        titles = {code: title for code in self._codes if (title := self.title(code)) != code}
        components = {code: short_form(self._names.composed[code]) for code in titles if code in self._names.composed}
        return short_names(titles, components)

    @cached_property
    def nameless_groups(self) -> tuple[str, ...]:
        """The groups at the three levels that the file gives no name, in sorted order."""
        groups = set[str]().union(*self._groups.values())
        return tuple(sorted(groups.difference(self._texts)))

    def _gaps(self) -> str:
        gaps = []
        if self.nameless:
            gaps.append(f"{len(self.nameless):,} of {len(self._codes):,} LOINC numbers have no name in the files")
        if self.malformed:
            rows = ", ".join(f"{row.found!r} ({row.where.rpartition(', ')[2]})" for row in self.malformed[:_SHOWN])
            gaps.append(f"{len(self.malformed):,} rows of the file of names have no LOINC number: {rows}")
        return "; ".join(gaps)

    def explain(self, text: str) -> str:
        """Why a text is no code: its form, its check digit, outside Laboratory, or not in this release."""
        return f"{self._reason(text)} {super().explain(text)}"

    def _reason(self, text: str) -> str:
        if PART.fullmatch(text.strip().upper()):
            return "It is the code of a part, such as a group of the hierarchy; a LOINC number has digits only."
        spelling = read_spelling(text)
        if spelling is None:
            return "A LOINC number is up to seven digits, a hyphen and a check digit, as 2345-7."
        code, number = spelling.code, spelling.code[:-2]
        if self.normalize(text):
            return f"It is one: {code}."
        if not spelling.hyphen:
            nearest = f" ({code} is {self.title(code)!r})" if code in self._groups else ""
            return f"A LOINC number has a hyphen before its check digit{nearest}. An itemid of MIMIC is none."
        if code in self._elsewhere:
            status = f" ({self._elsewhere[code]})" if self._elsewhere[code] else ""
            return f"It is a LOINC number{status}, but not below Laboratory in this release."
        if not has_right_check_digit(code):
            right = f"{number}-{check_digit(number)}"
            known = f"is {self.title(right)!r}" if right in self._groups else "is not in this release either"
            return f"Its check digit is wrong: after {number} it would be {right[-1]}; {right} {known}."
        return (
            "Its check digit is right, but this release has no such number below Laboratory: it is of another "
            "release, or withdrawn, or no laboratory test."
        )


@cache
def loinc() -> LOINC:
    """The one instance of this process, over the files that `resources.find` gives; Loinc.csv may be absent.

    Raises:
        ResourceMissingError: there is no hierarchy file on this machine.
        InputError: a file is not what it should be.
    """
    from clinical_evals.ontology.resources import find, find_optional

    system = LOINC(find("loinc-hierarchy"), find_optional("loinc-names"))
    if system.note:
        _LOG.info("loinc %s: %s", system.release, system.note)
    return system
