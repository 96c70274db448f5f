"""Who speaks: the names by which tables mark the turns of a dialogue, and the lines that begin with one.

A name that is not known is no harmless thing: what the doctor says, the answer included, would be taken for the
patient's words and shown to the model. So names are read generously, and what still looks like a speaker is an error.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_PATIENT = r"病人|患者|家属|家长|(?:病人|患者)(?:家属|家长|本人)|用户|咨询者|提问者?|问|patient|user|client|parent"
_DOCTOR = (
    r"(?:智能|AI)?(?:导诊|分诊|预检)(?:台|员|护士|助手|人员|医生)?|(?:AI|智能)?(?:助手|助理|机器人)|AI|客服|回答者?|答"
    r"|(?:[\u4e00-\u9fff]{1,2}|AI)?(?:医生|医师|大夫|护士|主任)|doctor|dr\.?|nurse|assistant|bot"
)
_NUMBER = r"\s?[0-9A-Z一二三四五甲乙丙]?"
_NAME = rf"(?:(?P<patient>{_PATIENT})|(?P<doctor>{_DOCTOR})){_NUMBER}"
_KNOWN = re.compile(_NAME, re.IGNORECASE)
_TIME = r"(?:\d{4}[-/.年]\d{1,2}[-/.月]\d{1,2}日?[ T]*)?(?:\d{1,2}[:：]\d{2}(?:[:：]\d{2})?)?"
_MARKS = r"\[\](){}【】（）*_#"
_END = r",，.。;；!！?？、:："
_LINE = re.compile(  # a bounded label between possessive runs: linear
    rf"\s*+[\[(（【]?{_TIME}[\])）】]?\s*+[{_MARKS}]*+\s*+(?P<label>[^\s{_MARKS}{_END}](?:[^{_MARKS}{_END}\n]{{0,15}}?)?)"
    rf"[*_]*+[\])）】]?+[*_]*+\s*+(?:[\[(（【]{_TIME}[^\])）】\n]{{0,20}}[\])）】])?[*_]*+\s*+"
    r"(?P<colon>[:：]|$|(?<=[】\]）)])|(?<=[】\]）)][ \t]))[*_]*+(?P<said>.*)",
    re.IGNORECASE,
)
_BREAK = re.compile(r"<br\s*/?>|(?:\\r)?\\n|\r\n?|[\u2028\u2029\x0b\x0c\x85]", re.IGNORECASE)
_INSIDE = re.compile(rf"(?<=[\s。！？!?；;])(?=(?:{_PATIENT}|{_DOCTOR}){_NUMBER}\s?[:：])", re.IGNORECASE)
_LONGEST = 8


class Marked(NamedTuple):
    """A line that begins a turn."""

    role: str
    """"patient" or "doctor"."""
    said: str


def role_of(name: object) -> str | None:
    """ "patient" or "doctor" for the name of a speaker, None for one that is not known.

    >>> role_of("患者"), role_of("王医生"), role_of("AI助手"), role_of("Assistant"), role_of("症状")
    ('patient', 'doctor', 'doctor', 'doctor', None)
    """
    text = unicodedata.normalize("NFKC", str(name))
    found = _KNOWN.fullmatch("".join(text.split()))
    if found is None:
        return None
    return "patient" if found["patient"] else "doctor"


def lines_of(text: str) -> list[str]:
    """The lines of a dialogue; <br>, a written-out \\n and a speaker's mark within a line begin one, too."""
    return [part for line in _BREAK.sub("\n", text).split("\n") for part in _INSIDE.split(line)]


def read_mark(line: str) -> Marked | None:
    """The turn that a line begins: 患者：…, 【医生】…, **医生**：…, 医生（10:23）：…, or a name alone on its line."""
    found = _LINE.fullmatch(line)
    role = role_of(found["label"]) if found else None
    return Marked(role, found["said"].strip()) if found and role else None


def unknown_speakers(lines: Iterable[str]) -> list[str]:
    """Names before a colon that begin two lines or more and are no speaker that is known, the most frequent first."""
    return [name for name, times in Counter(_unknown(lines)).most_common() if times > 1]


def _unknown(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        found = _LINE.fullmatch(line)
        label = found["label"].strip() if found and found["colon"] else ""
        if 0 < len(label) <= _LONGEST and not any(char.isdigit() for char in label) and role_of(label) is None:
            yield label
