"""The words of clinical text as they are compared: stems, American spelling, abbreviations written out.

The abbreviations are in clinical_words.json, written for this project: what clinicians write in English notes and
problem lists, with the wording that ICD-10-CM uses for it. Ambiguous ones (MS, CP, PT) are not in it. A test holds
that the release knows every word they are written out to.
"""

import json
import re
from collections.abc import Container, Mapping
from functools import cache
from importlib.resources import files

from clinical_evals.matching.answer_words import word_set

_WORD = re.compile(r"[a-z0-9]+")
_TOKEN = re.compile(r"[A-Za-z0-9]+(?:[/&'’-][A-Za-z0-9]+)*")
_SHOUTED = 0.6
"""Share of upper-case letters from which a text is one in capitals, in which capitals say nothing."""
_LETTERS = re.compile(r"[A-Za-z]{4,}")
_TYPE = re.compile(r"\b(type) (i{1,2})\b", re.IGNORECASE)
_ARABIC = {"i": "1", "ii": "2"}
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


@cache
def abbreviations() -> Mapping[str, str]:
    """Abbreviations as they are written, with what they stand for."""
    table = json.loads((files(__package__) / "clinical_words.json").read_text(encoding="utf-8"))
    return {short: long for group in table["groups"] for short, long in group["words"].items()}


@cache
def _any_case() -> Mapping[str, str]:
    """The same by lower case, without those that are English words or could be another word in lower case."""
    table = json.loads((files(__package__) / "clinical_words.json").read_text(encoding="utf-8"))
    capitals = set(table["only_as_written"])
    return {short.lower(): long for short, long in abbreviations().items() if short not in capitals}


def written_out(text: str) -> str:
    """A text with its abbreviations written out; the text itself if it has none.

    >>> written_out("s/p CABG, HTN")
    'status post aortocoronary bypass graft, hypertension'
    """
    letters = [character for character in text if character.isalpha()]
    shouted = len(letters) > 12 and sum(map(str.isupper, letters)) > _SHOUTED * len(letters)

    def long(token: re.Match[str]) -> str:
        written = token[0]
        if not shouted and (found := abbreviations().get(written)):
            return found
        whole = _any_case().get(written.lower().replace("’", "'"))
        if whole is None and "/" in written:
            return "/".join(_TOKEN.sub(long, piece) for piece in written.split("/"))
        return whole or written

    return _TYPE.sub(lambda found: f"{found[1]} {_ARABIC[found[2].lower()]}", _TOKEN.sub(long, text))


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
