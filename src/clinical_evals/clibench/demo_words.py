"""The words that the synthetic notes of `clinical-evals demo-data` are made of: how notes call what codes name.

They are in demo_words.json. What stands in a note at admission says in plain or clinical words what is wrong; the
billing titles themselves, which are the answers, come only at discharge.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from clinical_evals.clibench.demo_stay import Coded, Stay

_FILE = Path(__file__).with_name("demo_words.json")
_LETTERS = {
    "A": "infection", "B": "infection", "C": "neoplasm", "D": "blood", "E": "endocrine", "F": "mental", "G": "nervous",
    "H": "senses", "I": "circulation", "J": "breathing", "K": "digestion", "L": "skin", "M": "movement",
    "N": "urinary", "O": "urinary", "S": "injury", "T": "injury", "V": "other", "W": "injury",
}  # fmt: skip
_ICD9_FROM = (
    (1, "infection"), (140, "neoplasm"), (240, "endocrine"), (280, "blood"), (290, "mental"), (320, "nervous"),
    (360, "senses"), (390, "circulation"), (460, "breathing"), (520, "digestion"), (580, "urinary"), (680, "skin"),
    (710, "movement"), (740, "other"), (800, "injury"), (1000, "other"),
)  # fmt: skip
"""First category of each chapter of ICD-9-CM."""


class Condition(NamedTuple):
    """How notes speak of a diagnosis."""

    short: str
    """What clinicians call it; empty where it is only for billing (a history, an allergy, a place)."""
    chronic: bool
    complaint: tuple[str, ...]
    story: tuple[str, ...]
    course: tuple[str, ...]
    findings: Mapping[str, str]
    fever: bool
    picture: str
    """The imaging that goes with it; empty where there is none."""


@cache
def words() -> Mapping[str, Any]:
    """The content of demo_words.json."""
    content: Mapping[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))
    return content


def condition_of(diagnosis: Coded) -> Condition:
    """The first condition that a billing title fits; without one, the words of its chapter."""
    title = diagnosis.title.lower()
    for entry in words()["conditions"]:
        fits = any(part in title for part in entry["title"])
        if fits and not any(part in title for part in entry.get("not", ())):
            return _condition(entry)
    system = words()["systems"][system_of(diagnosis)]
    return _condition({"short": _plain(title), **system})


def _condition(entry: Mapping[str, Any]) -> Condition:
    return Condition(
        entry["short"],
        entry.get("chronic", False),
        tuple(entry.get("complaint", ())),
        tuple(entry.get("story", ())),
        tuple(entry.get("course", ())),
        entry.get("findings", {}),
        entry.get("fever", False),
        entry.get("picture", ""),
    )


def _plain(title: str) -> str:
    """A title without what only billing needs: "viral warts, unspecified" becomes "viral warts"."""
    plain = title.split(",")[0].split("(")[0].split("[")[0].strip()
    for start in ("other and unspecified ", "other specified ", "other nonspecific ", "unspecified ", "other "):
        plain = plain.removeprefix(start)
    return plain


def system_of(diagnosis: Coded) -> str:
    """The organ system of a code's chapter, as demo_words.json names it.

    >>> system_of(Coded("I509", "10", "")), system_of(Coded("4280", "9", "")), system_of(Coded("V5811", "9", ""))
    ('circulation', 'circulation', 'other')
    """
    code = diagnosis.code
    if diagnosis.version == "10":
        return "neoplasm" if code[:1] == "D" and code[1:2] < "5" else _LETTERS.get(code[:1], "other")
    if not code[:3].isdigit():
        return "other"
    return [name for first, name in _ICD9_FROM if first <= max(int(code[:3]), 1)][-1]


def procedure_words(procedure: Coded) -> str:
    """What a procedure is called in a note, by the longest beginning of its code that is known."""
    known: Mapping[str, str] = words()["procedures"].get(procedure.version, {})
    for length in range(len(procedure.code), 0, -1):
        if procedure.code[:length] in known:
            return known[procedure.code[:length]]
    return "procedure"


class Speech:
    """Chooses words for one note: with the patient's pronouns, and never a billing title of the admission.

    Args:
        stay: the admission.
        random: what chooses.
    """

    def __init__(self, stay: Stay, random: Random) -> None:
        self.random = random
        she, her, self_ = ("she", "her", "herself") if stay.gender == "F" else ("he", "his", "himself")
        self._pronouns = {"she": she, "She": she.capitalize(), "her": her, "herself": self_}
        self._object = "her" if stay.gender == "F" else "him"
        self._titles = tuple(sorted({folded(item.title) for item in stay.diagnoses if item.title}))

    def say(self, text: str) -> str:
        """The text with the patient's pronouns."""
        for verb in ("found {her} ", "saw {her} ", "noticed {her} ", "finds {her} "):
            text = text.replace(verb, verb.replace("{her}", self._object))
        return text.format(**self._pronouns)

    def choose(self, texts: Sequence[str], otherwise: str = "") -> str:
        """One of the texts; `otherwise` where there is none that holds no title."""
        allowed = [said for said in map(self.say, texts) if self.tells_nothing(said)]
        return self.random.choice(allowed) if allowed else otherwise

    def tells_nothing(self, text: str) -> bool:
        """Whether a text holds no billing title of the admission."""
        text = folded(text)
        return not any(title in text for title in self._titles)


def folded(text: str) -> str:
    """A text as titles are compared: lower case, single spaces.

    >>> folded("Syncope  and\\ncollapse")
    'syncope and collapse'
    """
    return " ".join(text.lower().split())
