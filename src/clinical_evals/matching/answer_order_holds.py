"""Orders that are held, stopped, avoided or put off: they are no orders ("Hold metoprolol", "Lisinopril - held")."""

import re

from clinical_evals.matching.answer_systems import vocabulary
from clinical_evals.matching.answer_titles import is_title
from clinical_evals.ontology import CodeSystem

_HOLD = (
    r"(?:hold(?:ing)?(?: off(?: on)?)?|held|stop(?:ped|ping)?|discontinu(?:e|ed|ing)|d/c(?:'d|ed)?|avoid(?:ing)?"
    r"|cancel(?:l?ed|l?ing)?|withhold(?:ing)?|withheld|defer(?:red|ring)?|do not (?:give|start|use|order|perform"
    r"|continue"
    r"|administer|resume|check|send|place)|don't (?:give|start|use|order)|cease|refrain from)"
)
_STOP = rf"(?:{_HOLD}|no(?: need for| indication for)?|nothing|not (?:indicated|needed|recommended|ordered))"
_STOPPED_FIRST = re.compile(rf"(?:please |would |will |should |i would )?{_STOP}(?: |: ?)(?=\S)", re.IGNORECASE)
_STOPPED_LAST = re.compile(
    r"(?: ?[-–—:,] ?| ?[(\[]| (?:is |was |are |were |to be |be )?)(?:currently |now |will be )?(?:on hold|hold|held"
    r"|stop"
    r"|stopped|discontinued?|d/c'?d?|deferred?|cancell?ed|withheld|postponed|declined|avoid(?:ed)?|contraindicated"
    r"|not (?:indicated|needed|ordered|recommended|required|performed|given|done|necessary))"
    r"(?: (?:at this time|for now|on admission|today))?"
    r"(?: (?:in (?:the )?setting of|given|due to|because|for|until|while|as|pending"
    r"|with) [^\n]{0,100})?[)\].! ]{0,3}\Z",
    re.IGNORECASE,
)
_RESTART = re.compile(
    rf"(?P<marker>^[ \t]*(?:(?:[-*+•]|\d{{1,3}}[.)])[ \t]+)?){_STOP} [^;\n]{{1,80}}?(?:;|,|\.| and| then)"
    r"(?: and| then)? (?=(?:start|begin|initiate|give|switch to|transition to|change to|resume)\b)",
    re.IGNORECASE | re.MULTILINE,
)


def is_withheld(text: str, system: CodeSystem) -> bool:
    """An order that is not given, or taken back: "Hold metoprolol", "Lisinopril - held", "No antibiotics"."""
    if not vocabulary(system).orders or is_title(text, system):
        return False
    return _STOPPED_FIRST.match(text[:80]) is not None or (
        _STOPPED_LAST.search(text, max(0, len(text) - 140)) is not None
    )


def without_stopped(text: str) -> str:
    """Lines that stop one order and start another, from where they start: "Stop heparin; start apixaban"."""
    return _RESTART.sub(r"\g<marker>", text)


def is_hold(value: str) -> bool:
    """A value that says what is done with an order, and takes it back: "Hold", "discontinued"; not "no change"."""
    return _HELD_VALUE.match(value.strip()[:80]) is not None


_HELD_VALUE = re.compile(rf"(?:on )?{_HOLD}(?![^\W_])", re.IGNORECASE)
