"""The words of clinical text as they are compared: stems, in American spelling."""

import re
from collections.abc import Container

from clinical_evals.matching.answer_words import word_set

_WORD = re.compile(r"[a-z0-9]+")
_LETTERS = re.compile(r"[A-Za-z]{4,}")
_STOP = word_set(
    "of the in and or with to due nos by for a an on as from at other unspecified specified not elsewhere classified "
    "nec is be was has which that"
)
# British spelling and its American one, tried in this order on words that the release does not know.
_VARIANTS = (
    ("oe", "e"),
    ("ae", "e"),
    ("our", "or"),
    ("ise", "ize"),
    ("isa", "iza"),
    ("yse", "yze"),
    ("sulph", "sulf"),
    ("gramme", "gram"),
    ("tre", "ter"),
    ("bre", "ber"),
    ("ll", "l"),
    ("c", "k"),
)


def spelled(text: str, known: Container[str]) -> str:
    """A text in the spelling of words that the release knows.

    Args:
        text: any text.
        known: words in lower case.

    >>> spelled("Oesophageal varices, anaemia", {"esophageal", "varices", "anemia"})
    'esophageal varices, anemia'
    """
    return _LETTERS.sub(lambda word: word[0] if word[0].lower() in known else _known(word[0], known), text)


def _known(word: str, known: Container[str]) -> str:
    found = american(word.lower(), known)
    return found if found in known else word


def stem(word: str) -> str:
    """A word without its plural: crude, alike for texts and titles."""
    if len(word) > 5 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 5 and word.endswith("es") and word[-3] in "sxz":
        return word[:-2]
    if len(word) > 4 and word.endswith("s") and word[-2] not in "siu":
        return word[:-1]
    return word


def words(text: str) -> list[str]:
    """The stems of a text that say something, in order.

    >>> words("Other fractures of the left femur, unspecified")
    ['fracture', 'left', 'femur']
    """
    return [stem(word) for word in _WORD.findall(text.lower()) if word not in _STOP]


def american(word: str, known: Container[str]) -> str:
    """The spelling of a stem that the release knows, if it knows one; else the stem.

    >>> american("oedema", {"edema"}), american("anaemia", {"anemia"}), american("gout", {"gout"})
    ('edema', 'anemia', 'gout')
    """
    if word in known:
        return word
    for british, spelling in _VARIANTS:
        if british in word and (changed := word.replace(british, spelling)) in known:
            return changed
    both = word.replace("oe", "e").replace("ae", "e").replace("our", "or")
    return both if both in known else word
