"""Reads the tabular list of an ICD-10-CM release, the XML file that the CDC publishes.

It names most codes. Those with a seventh character are made from its rules, which allow a few that do not exist: the
list of codes (`icd10cm_files`) settles which do, and, without it, the one exception that the tabular list itself
states (S06 with D and S: the 76 codes of April 2026 that the rules make and the list of codes does not have).
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.ontology.icd10cm_notes import included_names, referred_names
from clinical_evals.ontology.table_file import read_text

CHAPTERS = 21
"""A release has at least so many: 21 until 2020, 22 since."""
_TABULAR = "the tabular list of an ICD-10-CM release (icd10cm-tabular-RELEASE.xml)"
_HINT = "Give icd10cm-tabular-RELEASE.xml of the CDC: clinical-evals resources fetch icd10cm-release"

_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_RELEASE = re.compile(rf"(?:({_MONTHS})[ _-](?:[0-9]{{1,2}}[ _-])?)?(20[0-9]{{2}})(?![0-9])", re.IGNORECASE)
_BLOCK = re.compile(r"[A-Z][0-9A-Z]{2}(-[A-Z][0-9A-Z]{2})?")
_CODE = re.compile(r"[A-Z][0-9A-Z]{2}(\.[0-9A-Z]{1,4})?")
_EXCEPTION = re.compile(
    r"7th characters? ([0-9A-Z](?:(?:, | and )[0-9A-Z])*) do(?:es)? not apply to codes in category ([A-Z][0-9A-Z]{2}) "
    r"with 6th character (.*)"
)

Path5 = tuple[str, str, str, str, str]


class TabularList(NamedTuple):
    """What a release holds, in tabular order. Codes have their dot; ranges such as E08-E13 are among them."""

    release: str
    """As far as the files tell: "April 2026", "2024" or "release unknown"."""
    chapters: dict[str, str]
    """Title of each chapter, "1" to "22"."""
    blocks: dict[str, str]
    """Title of each block; 39 of 2026 have the name of their only category."""
    titles: dict[str, str]
    """Title of each code."""
    paths: dict[str, Path5]
    """Chapter, block, category, subcategory and the code itself of each code."""
    inclusion_terms: dict[str, tuple[str, ...]]
    """Of the codes that have any."""
    noted_names: dict[str, tuple[str, ...]]
    """What notes call a code (`icd10cm_notes`), of the codes that have any."""
    billable: set[str]
    """The codes with nothing below them, without dot."""


def release_of(name: str) -> str:
    """The release in a file's name, as the CDC names its files; "" where there is none.

    >>> [release_of(name) for name in ("icd10c-tabular-April-1-2026.xml", "icd10cm_tabular_2021.xml", "tabular.xml")]
    ['April 2026', '2021', '']
    """
    found = _RELEASE.search(name)
    return " ".join(part for part in (found[1] and found[1].title(), found[2]) if part) if found else ""


def read_tabular(path: Path, listed: frozenset[str] | None) -> TabularList:
    """Read a tabular list.

    Args:
        path: the XML file.
        listed: what `read_list` found; None makes every seventh character that the rules allow.

    Raises:
        InputError: it is another file, cut off or damaged, or has a code twice or without title.
    """
    try:
        root = ET.fromstring(read_text(path, _TABULAR, _HINT))
    except (ET.ParseError, ValueError) as error:
        raise InputError(f"{path}: not XML, or cut off ({error}). {_HINT}") from error
    chapters = root.findall("chapter")
    numbers = [chapter.findtext("name") for chapter in chapters]
    if root.tag != "ICD10CM.tabular" or numbers != [str(i + 1) for i in range(max(CHAPTERS, len(chapters)))]:
        shown = ", ".join(map(str, numbers))[:100] or "none"
        raise InputError(
            f"{path}: its root is <{root.tag[:60]}> with the chapters {shown}; expected <ICD10CM.tabular> with the "
            f"chapters 1 to {CHAPTERS} or more. {_HINT}"
        )
    release = release_of(path.name) or release_of(root.findtext("version") or "") or "release unknown"
    reader = _Reader(path, TabularList(release, {}, {}, {}, {}, {}, {}, set()), listed, _exceptions(root))
    for chapter in chapters:
        reader.read_chapter(chapter)
    for name, code in referred_names(root):
        reader.add_noted(code, (name,))
    return reader.found


class _Exception(NamedTuple):
    """Seventh characters that codes of a category do not take after some sixth characters."""

    category: str
    sixth: frozenset[str]
    seventh: frozenset[str]


def _exceptions(root: ET.Element) -> list[_Exception]:
    notes = (_EXCEPTION.search(note.text or "") for note in root.iter("note"))
    return [
        _Exception(
            found[2], frozenset(re.findall(r"\b([0-9A-Z]) - ", found[3])), frozenset(re.findall(r"\b\w\b", found[1]))
        )
        for found in notes
        if found
    ]


class _Reader:
    """Walks the tree and fills the tables."""

    def __init__(
        self, path: Path, found: TabularList, listed: frozenset[str] | None, exceptions: list[_Exception]
    ) -> None:
        self.path, self.found, self.listed, self.exceptions = path, found, listed, exceptions

    def read_chapter(self, chapter: ET.Element) -> None:
        name = chapter.findtext("name") or ""
        self.found.chapters[name] = self._title(chapter, f"chapter {name}")
        seventh = self._seventh(chapter, {})
        for section in chapter.iterfind("section"):
            block = section.get("id") or ""
            if not _BLOCK.fullmatch(block):
                raise self._wrong(f"{block!r} is a section of chapter {name}, expected such as A00-A09 or B20")
            if block in self.found.blocks:
                raise self._wrong(f"the block {block} stands there a second time")
            self.found.blocks[block] = self._title(section, f"block {block}")
            if "-" in block:
                self._add(block, self.found.blocks[block], (name,), section)
            inherited = self._seventh(section, seventh)
            for category in section.iterfind("diag"):
                self._read_code(category, (name, block), inherited)

    def _read_code(self, diag: ET.Element, above: tuple[str, ...], seventh: Mapping[str, str]) -> None:
        code = diag.findtext("name") or ""
        # A category stands below chapter and block; every other code goes on from the one that it stands below.
        expected = len(code) == 3 if len(above) == 2 else code.startswith(above[-1]) and len(code) > len(above[-1])
        if not _CODE.fullmatch(code) or not expected:
            raise self._wrong(f"{code!r} stands below {above[-1]}, expected such as A00.0 below A00")
        title = self._title(diag, code)
        self._add(code, title, above, diag)
        seventh = self._seventh(diag, seventh)
        below = diag.findall("diag")
        for child in below:
            self._read_code(child, (*above, code), seventh)
        extended = list(self._extended(code, seventh)) if not below and len(code) < 8 else []
        for longer, meaning in extended:
            self._add(longer, f"{title}, {meaning}", (*above, code), None)
        if not below:
            self.found.billable.update(longer.replace(".", "") for longer in [one for one, _ in extended] or [code])

    def _seventh(self, element: ET.Element, inherited: Mapping[str, str]) -> Mapping[str, str]:
        """The seventh characters of the codes below, with their meaning: the element's own, else those from above."""
        own: dict[str, str] = {}
        for definition in element.iterfind("sevenChrDef"):
            last = ""
            for child in definition:
                if child.tag == "extension":
                    last = child.get("char") or ""
                    if not re.fullmatch("[0-9A-Z]", last):
                        raise self._wrong(f"{last!r} is given as a seventh character, expected a digit or a letter")
                    own[last] = child.text or ""
                elif child.tag == "note" and last and child.text is not None:
                    own[last] += f"/{child.text}"  # as simple-icd-10-cm writes it, so titles stay what they were
        return own or inherited

    def _extended(self, code: str, seventh: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        filled = (code if len(code) > 3 else f"{code}.").ljust(7, "X")
        refused = {
            character
            for exception in self.exceptions
            if code.startswith(exception.category) and filled[6] in exception.sixth
            for character in exception.seventh
        }
        for character, meaning in seventh.items():
            extended = filled + character
            exists = extended.replace(".", "") in self.listed if self.listed is not None else character not in refused
            if exists:
                yield extended, meaning

    def _add(self, code: str, title: str, above: tuple[str, ...], element: ET.Element | None) -> None:
        if code in self.found.titles:
            raise self._wrong(f"the code {code} stands there a second time")
        self.found.titles[code] = title
        # Chapter, block, category, subcategory, and the code itself wherever it has no ancestor.
        line = (*above, code, code, code, code)[:4]
        self.found.paths[code] = (line[0], line[1], line[2], line[3], code)
        terms = element.iterfind("inclusionTerm/note") if element is not None else ()
        if named := tuple(term.text for term in terms if term.text is not None):
            self.found.inclusion_terms[code] = named
        if element is not None and (included := included_names(element)):
            self.add_noted(code, included)

    def add_noted(self, code: str, names: tuple[str, ...]) -> None:
        """Names that notes give a code; those of codes that the release does not have are left out."""
        if code in self.found.titles:
            noted = self.found.noted_names
            noted[code] = tuple(dict.fromkeys((*noted.get(code, ()), *names)))

    def _title(self, element: ET.Element, what: str) -> str:
        title = element.findtext("desc") or ""
        if not title.strip():
            raise self._wrong(f"{what} has no title (<desc>)")
        return title

    def _wrong(self, found: str) -> InputError:
        return InputError(f"{self.path}: {found}. {_HINT}")
