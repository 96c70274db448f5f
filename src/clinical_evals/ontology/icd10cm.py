"""ICD-10-CM, from the release that the package simple-icd-10-cm carries."""

import importlib.metadata
import re
from collections.abc import Sequence
from functools import cache

from clinical_evals.ontology.base import CodeSystem

_SEPARATORS = re.compile(r"[\s.\u00a0\u200b]+")
_EDGES = " \t\r\n.,;:()[]{}<>\"'*_`"
_BLOCK = re.compile(r"[A-Z][0-9A-Z]{2}-[A-Z][0-9A-Z]{2}")
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—−", "-"))


class ICD10CM(CodeSystem):
    """Codes of ICD-10-CM: categories and everything below them, and blocks such as E08-E13; chapters are levels only.

    >>> system = ICD10CM()
    >>> [system.normalize(text) for text in ("E119", "e11.9", "I25 . 10", "M1A.00X0", "E11.99")]
    ['E11.9', 'E11.9', 'I25.10', 'M1A.00X0', None]
    >>> system.path("S72.001A")
    ('19', 'S70-S79', 'S72', 'S72.0', 'S72.001A')
    """

    name = "icd10cm"
    levels = ("chapter", "block", "category", "subcategory", "full")
    code_shape = re.compile(
        r"[A-TV-Z][0-9][0-9AB](?:\.?[0-9A-Z]{1,4})?|U[0-9][0-9](?:\.?[0-9]{1,3})?|QA0(?:\.?[0-9]{1,4})?"
    )

    def __init__(self) -> None:
        import simple_icd_10_cm as source  # parses 10 MB of XML on import (1.4 s): only when needed

        self._source = source
        version = importlib.metadata.version("simple-icd-10-cm")
        self.release = f"{_release_of(source)} (simple-icd-10-cm {version})"
        self._paths: dict[str, tuple[str, ...]] = {}
        for code in dict.fromkeys(source.get_all_codes(True)):
            if not source.is_chapter(code):
                self._paths[code] = self._path(code)
        self._codes = tuple(self._paths)
        self._undotted = {code.replace(".", ""): code for code in self._codes}

    def _path(self, code: str) -> tuple[str, ...]:
        # A block that has the name of its only category (B20, F99) is that category: the package then answers for it.
        line = [code, *self._source.get_ancestors(code)]
        chapter = line[-1]
        if "-" in code:
            return (chapter, code, code, code, code)
        # T07.XXXA has no ancestor of four characters in the release (its X are fillers): there it stands for itself.
        return (chapter, line[-2], line[-3], line[-4] if len(line) > 3 else code, code)

    def normalize(self, text: str) -> str | None:
        """The dotted upper-case form of a code in any case, with or without dot, spaces, trailing punctuation."""
        bare = _SEPARATORS.sub("", text.strip(_EDGES)).upper()
        if len(bare) > 8:
            return None
        return self._undotted.get(bare) or self._undotted.get(bare.translate(_DASHES))

    def codes(self) -> Sequence[str]:
        """All categories and codes below them, and the blocks, in tabular order (98,4xx in the April 2026 release)."""
        return self._codes

    def title(self, code: str) -> str:
        """The official title."""
        if code not in self._paths:
            raise KeyError(code)
        return str(self._source.get_description(code))

    def path(self, code: str) -> tuple[str, ...]:
        """Chapter, block, category, the ancestor of four characters, the code; itself where it has none."""
        return self._paths[code]

    def synonyms(self, code: str) -> tuple[str, ...]:
        """The inclusion terms of the tabular list."""
        if code not in self._paths:
            raise KeyError(code)
        return tuple(self._source.get_inclusion_term(code))

    def chapter_title(self, chapter: str) -> str:
        """The title of a chapter, "1" to "22"."""
        return str(self._source.get_description(chapter))


def _release_of(source: object) -> str:
    name = str(getattr(getattr(source, "simple_icd_10_cm", source), "_all_codes_package_file_name", ""))
    match = re.search(r"code-list-(\w+)-(\d{4})", name)
    return f"{match[1]} {match[2]}" if match else "release unknown"


@cache
def icd10cm() -> ICD10CM:
    """The one instance of this process."""
    return ICD10CM()
