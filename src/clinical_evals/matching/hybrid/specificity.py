"""No more than the text says: sides and encounters that it does not name are not invented, and where it says no more
than the heading above several codes, the "unspecified" one of them is meant.

    "fracture of femur shaft", S72.301A (right femur, initial encounter)   S72.309: unspecified femur, no encounter
    "hemiplegia", G81.93 (right nondominant side)                          G81.90: unspecified side
    "heart failure", I50 (a heading)                                       I50.9: unspecified
"""

from collections.abc import Mapping
from functools import cached_property

from clinical_evals.matching.answer_words import word_set
from clinical_evals.matching.hybrid.entries import LEFT_OR_RIGHT, names_encounter, sides
from clinical_evals.matching.hybrid.words import words
from clinical_evals.ontology import CodeSystem

_SAYS_NOTHING = word_set("part site type organism side region kind form cause eye ear limb affecting")


class Specificity:
    """The tree of ICD-10-CM's codes, walked up and down.

    Other systems have no "unspecified" codes and headings: there a code stays what it is.
    """

    def __init__(self, system: CodeSystem) -> None:
        self._system = system

    def settle(self, code: str, text: str) -> str:
        """The code that says no more than the text.

        Args:
            code: what the text was taken for.
            text: with abbreviations written out.
        """
        return self.down(self.up(code, text), text)

    def up(self, code: str, text: str) -> str:
        """Without a side or an encounter that the text does not name: the code of no side, or a heading."""
        if self._system.name != "icd10cm":
            return code
        named = sides(text)
        while (parent := self._parents.get(code)) is not None:
            title = self._system.title(code)
            if names_encounter(title) and not names_encounter(text):
                code = parent
            elif sides(title) - named:
                code = self._unspecified_side(code, parent) or parent
            else:
                break
        return code

    def down(self, code: str, text: str) -> str:
        """The "unspecified" code below a heading, as far as there is exactly one that adds nothing else."""
        if self._system.name != "icd10cm":
            return code
        said = set(words(text)) | set(words(self._system.title(code))) | _SAYS_NOTHING
        while children := self._children.get(code):
            open_ones = [child for child in children if self._is_open(child, said, text)]
            if len(open_ones) != 1:
                break
            code = open_ones[0]
        return code

    def _is_open(self, code: str, said: set[str], text: str) -> bool:
        title = self._system.title(code)
        if "unspecified" not in title.lower() and "NOS" not in title.split():
            return False
        if names_encounter(title) and not names_encounter(text):
            return False
        return not sides(title) - sides(text) and set(words(title)) <= said

    def _unspecified_side(self, code: str, parent: str) -> str | None:
        def rest(title: str) -> list[str]:
            return [word for word in words(title) if word not in LEFT_OR_RIGHT]

        wanted = rest(self._system.title(code))
        for sibling in self._children.get(parent, ()):
            title = self._system.title(sibling)
            if "unspecified" in title.lower() and not sides(title) and rest(title) == wanted:
                return sibling
        return None

    @cached_property
    def _parents(self) -> Mapping[str, str]:
        bare = {
            code.replace(".", ""): code for code in filter(self._system.code_shape.fullmatch, self._system.codes())
        }
        parents = {}
        for short, code in bare.items():
            above = next((bare[short[:end]] for end in range(len(short) - 1, 2, -1) if short[:end] in bare), None)
            if above is not None:
                parents[code] = above
        return parents

    @cached_property
    def _children(self) -> Mapping[str, list[str]]:
        children: dict[str, list[str]] = {}
        for code, parent in self._parents.items():
            children.setdefault(parent, []).append(code)
        return children
