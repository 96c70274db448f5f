"""A small code system of real ICD-10-CM titles."""

from collections.abc import Sequence

from clinical_evals.ontology import CodeSystem, get_system

# 264 codes, ranges such as K35-K38 among them; ten titles occur twice or three times.
PREFIXES = ("A08", "B20", "E11", "I10", "I21", "I50", "J18", "K35", "N39", "R39", "R68", "T12")


class SmallSystem(CodeSystem):
    """ICD-10-CM with the codes of a few categories only."""

    name = "icd10cm"

    def __init__(self, prefixes: tuple[str, ...] = PREFIXES) -> None:
        self._whole = get_system("icd10cm")
        self.release = f"{self._whole.release}, part"
        self.levels, self.code_shape = self._whole.levels, self._whole.code_shape
        self._codes = tuple(code for code in self._whole.codes() if code.startswith(prefixes))

    def normalize(self, text: str) -> str | None:
        code = self._whole.normalize(text)
        return code if code in self._codes else None

    def codes(self) -> Sequence[str]:
        return self._codes

    def title(self, code: str) -> str:
        return self._whole.title(code)

    def path(self, code: str) -> tuple[str, ...]:
        return self._whole.path(code)

    def synonyms(self, code: str) -> tuple[str, ...]:
        return self._whole.synonyms(code)
