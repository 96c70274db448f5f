"""The procedure that an answer names, without numbers of other systems, reasons and "status post".

A number of CPT or ICD-9 beside a name says no more than the name; alone it is a prediction all the same, and wrong
(protocol 2.5, point 2).
"""

import re

from clinical_evals.matching.answer_titles import is_title, shortened_to_name
from clinical_evals.matching.answer_words import word_set, words_of
from clinical_evals.ontology import CodeSystem

_NUMBER = r"(?:\d{5}|\d{2}\.\d{1,2})"
_MARKER = r"^(?P<marker>[ \t]*(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+)?(?:\*\*)?)"
_LABELLED = re.compile(
    r"[(\[]?\b(?:CPT|HCPCS|ICD[- ]?9(?:[- ]?(?:CM|PCS))?)(?: (?:procedure )?codes?)?(?:®)? ?[:#]? ?"
    rf"(?:{_NUMBER}|[A-Z]\d{{4}}|\d{{4}})(?![\w.])[)\]]?[,;]?",
    re.IGNORECASE,
)
_SHORT_LABEL = re.compile(r"(?<![\w-])PCS(?= codes?\b| ?:)")
_BRACKETED = re.compile(rf" ?[(\[]{_NUMBER}[)\]]")
_BEFORE_NAME = re.compile(
    rf"{_MARKER}(?:CPT:? )?{_NUMBER}(?:\*\*)? ?(?:[-–—:] ?|(?= )) ?(?=[A-Za-z]{{2}})", re.IGNORECASE | re.MULTILINE
)
_UNITS = re.compile(r",? (?:x ?)?\d{1,2} units?\b(?: of\b)?", re.IGNORECASE)


def without_other_codes(line: str) -> str:
    """A line of procedures without CPT and ICD-9 numbers that stand beside a name."""
    line = _SHORT_LABEL.sub("ICD-10-PCS", line)
    bare = _LABELLED.sub("", line)
    line = bare if re.search(r"[^\W\d_]{2}", bare) else line  # alone they are predictions
    line = _BEFORE_NAME.sub(lambda number: number["marker"], line)
    return _UNITS.sub("", _BRACKETED.sub("", line))


_READ_AMISS = re.compile(r"(?:I ?& ?D|D ?& ?[CE]|T ?& ?A)(?: .*)?")
_GOES_ON = word_set("approach device qualifier opening endoscopic endoscopically hours day days technique")
_FIRST = word_set(
    "percutaneous open external via diagnostic intermittent continuous single multiple laparoscopic laparoscopically "
    "robotic robotic-assisted endoscopic initial subsequent manual elective emergent bedside greater less using"
)


def is_procedure(text: str, system: CodeSystem) -> bool:
    """Whether a text is certainly the name of a procedure: a title, or an abbreviation that is read amiss."""
    return (len(text) <= 60 and _READ_AMISS.fullmatch(text) is not None) or is_title(text, system)


def qualifies_procedure(text: str) -> bool:
    """Whether a text after a comma goes on with the procedure before it: "percutaneous approach", "left"."""
    words = words_of(text)
    if not words or len(words) > 8:
        return False
    return words[-1] in _GOES_ON or all(word in _FIRST for word in words)


_LEADING = re.compile(
    r"(?:(?:s/p|status[- ]post|post[- ]op(?:erative)?|planned|scheduled|urgent|emergent|elective|bedside|consider"
    r"|proceed (?:with|to)|place|insert|undergo|underwent|schedule|perform|placement of (?=an? ))"
    r"(?: (?:an?|the))?(?: |\Z))+",
    re.IGNORECASE,
)
_REASON = re.compile(
    r",? ?[ (\[](?:for|to (?:assess|evaluate|rule|check|monitor|look|determine|guide|confirm|exclude|identify"
    r"|relieve|treat"
    r"|manage|drain|control|remove|obtain|protect|restore|prevent)|given|due to|because|if|in the setting of"
    r"|secondary to|based on|indicated)\b.*",
    re.IGNORECASE | re.DOTALL,
)


def procedure_name(text: str, system: CodeSystem) -> str:
    """The procedure that one decision names, as written; the text itself where nothing else is left."""
    return shortened_to_name(text, system, _shorter)


def _shorter(text: str) -> str:
    if (lead := _LEADING.match(text[:120])) and lead.end() < len(text):
        return text[lead.end() :]
    reason = _REASON.search(text[:400])
    return text[: reason.start()] if reason else text
