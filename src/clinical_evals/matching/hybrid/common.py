"""Names that mean a code wherever nothing else is said: common diagnoses, and titles without their "unspecified"."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from clinical_evals.matching.pairs import Pair
from clinical_evals.matching.titles import fold
from clinical_evals.ontology import CodeSystem

_OPEN = re.compile(
    r",? (?:unspecified|(?:unspecified|not specified) (?:site|organism|type|part)"
    r"|(?:site|cause|type|organism|part) (?:unspecified|not specified)|nos)\Z"
    r"|\Aunspecified (?=\S)"
)
_SAYS_PREGNANCY = re.compile(
    r"pregnan|gestation|obstetric|labou?r\b|deliver|partum|puerper|maternal|trimester|gravid|abortion|ectopic|molar"
    r"|f(?:o?e)tal|f(?:o?e)tus|placent|amnio|cesarean|lactation|breast ?feed|nipple|mother|antenatal|prenatal"
    r"|childbirth|uterine|perineal|membranes|twin|triplet|multiparity|pelvi|cord\b",
    re.IGNORECASE,
)
_SAYS_NEWBORN = re.compile(
    r"newborn|neonat|perinatal|birth|infant|f(?:o?e)tal|f(?:o?e)tus|preterm|prematur|maternal|mother|meconium|baby"
    r"|congenital|obstetric|deliver|breast ?feed|umbilic|intrauterine|cradle",
    re.IGNORECASE,
)


@cache
def common_names(system: CodeSystem) -> list[Pair]:
    """Common names with their codes; none of systems but ICD-10-CM, and none whose code the release does not have."""
    table = json.loads((files(__package__) / "common_names.json").read_text(encoding="utf-8"))
    named = table.get(system.name, {})
    return [Pair(name, (code,)) for code, names in named.items() if system.normalize(code) == code for name in names]


def open_titles_of(system: CodeSystem) -> Mapping[str, str]:
    """Folded titles without the words that leave something open, with their code, where they mean one code alone.

    "Pneumonia, unspecified organism" (J18.9) gives "pneumonia"; what is a title itself is not in it.
    """
    titled = {fold(system.title(code)) for code in system.codes()}
    found: dict[str, set[str]] = {}
    for code in filter(system.code_shape.fullmatch, system.codes()):
        title = fold(system.title(code))
        bare = _OPEN.sub("", title, count=1)
        if bare != title and bare not in titled and " " in f"{bare} ":
            found.setdefault(bare, set()).add(code)
    return {bare: next(iter(codes)) for bare, codes in found.items() if len(codes) == 1}


def special(codes: Sequence[str], system: CodeSystem) -> NDArray[np.int8]:
    """Whom each code is of: 1 pregnancy, 2 newborns, 0 anybody."""
    if system.name != "icd10cm":
        return np.zeros(len(codes), dtype=np.int8)
    return np.array([1 if code.startswith("O") else 2 if code.startswith("P") else 0 for code in codes], dtype=np.int8)


def speaks_of(text: str) -> tuple[bool, bool, bool]:
    """Of which codes as `special` numbers them a text may be: a code of pregnancy needs a word that says so."""
    return True, _SAYS_PREGNANCY.search(text) is not None, _SAYS_NEWBORN.search(text) is not None
