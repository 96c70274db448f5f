"""The test that a lab order names: "Repeat CBC in AM" is a CBC, "Sodium 138" is sodium, "BMP (Na, K)" is Na and K.

Values, reference ranges, timing and priority are no part of the name; the specimen is. Where the tests of a panel are
listed beside it, they are what is ordered.
"""

import re

from clinical_evals.matching.answer_titles import is_title, shortened_to_name
from clinical_evals.matching.answer_words import words_of
from clinical_evals.matching.lab_words import ANALYTES, NAMES, NUMBERED, PANELS, SPECIMENS
from clinical_evals.matching.order_times import AMOUNT, END, START, TIMES, without_runs
from clinical_evals.ontology import CodeSystem

_UNIT = (
    r"(?:(?:m|k|µ|u|n|p|f)?(?:g|mol|eq|iu|u|units?)/(?:d?l|ml|ul|µl|g|kg|hr?|min)|mmol|meq|k/u?l|m/u?l"
    r"|x ?10\^?[39]/u?l"
    r"|[x×]?10\^?[39](?:/u?l)?|cells/u?l|/u?l|/mm3|mm ?hg|mm/hr|mosm/kg|fl|pg|seconds?|secs?|s|%)"
)
_FLAG = r"(?: ?[(\[]?(?:high|low|elevated|normal|critical|h|l|hh|ll)[)\]]?(?![^\W_]))?"
_DATE = (
    r"(?:(?:on|at|dated?) )?(?:\d{4}-\d{1,2}-\d{1,2}|\d{1,2}/\d{1,2}/\d{2,4})(?: \d{1,2}:\d{2}(?::\d{2})?)?(?![\w/-])"
)
_PART = re.compile(
    rf"{START}(?:(?P<strong>(?<![.\d]){AMOUNT} ?{_UNIT}{END}{_FLAG}|{_DATE}|(?:{TIMES}){END})"
    rf"|(?P<weak>(?:(?:normal|reference|ref)(?: range)?:?|then|starting|tomorrow|now|at|with am labs){END}))",
    re.IGNORECASE,
)
_BARE_VALUE = re.compile(
    rf"(?P<start>(?:\A|[,;|(\n:]|[.)*+•-] ) ?)(?P<name>[A-Za-z][A-Za-z0-9+ /-]{{0,39}}?)"
    rf"(?: ?[:=] ?| (?:is |of )?|(?P<open> ?\())(?P<value>[<>≤≥]? ?{AMOUNT}){_FLAG}(?(open)\))(?= ?(?:[,;|)\n]|\Z))",
    re.IGNORECASE,
)


def without_values(line: str) -> str:
    """A line of lab orders without values, ranges, dates, times and priorities; names and layout stay."""
    line = _BARE_VALUE.sub(_without_value, line)
    return _BARE_VALUE.sub(_without_value, without_runs(line, _PART))


_CODE = re.compile(r"\d{3,7}-\d")


def _without_value(written: re.Match[str]) -> str:
    name = " ".join(written["name"].lower().split())
    number = re.match(r"\d+", written["value"])
    listed = written.string[written.end() : written.end() + 1] == ")" and "(" not in written[0]  # "1) CBC 2) BMP"
    if listed or not _is_name(name) or _CODE.fullmatch(written["value"]) or (number and (name, number[0]) in NUMBERED):
        return written[0]
    return written["start"] + written["name"]


def _is_name(text: str) -> bool:
    if text in ANALYTES or text in NAMES:
        return True
    words = text.split(" ")
    if words[0] in SPECIMENS:
        words = words[1:]
    elif words[-1] in ("level", "levels"):
        words = words[:-1]
    else:
        return False
    return " ".join(words) in ANALYTES or " ".join(words) in NAMES


def is_lab(text: str, system: CodeSystem) -> bool:
    """Whether a text is the plain name of a test, or of two with a slash ("PT/INR")."""
    if len(text) > 60:
        return False
    bare = " ".join(text.lower().split()).strip(" .,;:*")
    return _is_name(bare) or ("/" in bare and all(map(_is_name, bare.split("/")))) or is_title(text, system)


def is_panel(text: str) -> bool:
    """Whether a text names a test that is several tests."""
    words = words_of(text[:80])
    return 0 < len(words) <= 6 and not PANELS.isdisjoint(words)


def qualifies_lab(text: str) -> bool:
    """Whether a text after a comma only says of which specimen or kind the test before it is."""
    words = words_of(text)
    return bool(words) and all(word in SPECIMENS for word in words)


_LISTED = re.compile(r"(?P<head>[^():\[\]]{2,60}?) ?(?:\((?P<inner>[^()]{2,300})\)|: ?(?P<tail>[^():]{2,300}))\W{0,3}")


def listed_labs(text: str, system: CodeSystem) -> list[str]:
    """The tests that are listed beside a panel or group: "BMP (Na, K, Cl)"; none for other texts."""
    listed = _LISTED.fullmatch(text) if len(text) < 400 else None
    if not listed or not is_panel(listed["head"]) or is_title(text, system):
        return []
    parts = [part.strip() for part in re.split(r",(?: ?and )?|;| and ", listed["inner"] or listed["tail"])]
    named = [part for part in parts if part]
    short = all(is_lab(part, system) for part in named) and (len(named) > 1 or bool(listed["tail"]))
    return named if short and not all(map(is_panel, named)) else []


_LEADING = re.compile(
    r"(?:(?:repeat|recheck|serial|stat|urgent|routine|baseline|initial|admission|morning|am|daily|follow-?up|trend"
    r"|trending|monitor|draw|collect|consider)(?: |\Z))+",
    re.IGNORECASE,
)
_REASON = re.compile(
    r",? ?[ (\[](?:for|to (?:assess|evaluate|rule|check|monitor|look|determine|guide|trend|confirm|screen|exclude"
    r"|identify"
    r"|detect|track)|given|due to|because|if|until|in the setting of|based on|as part of|before|prior to|once"
    r"|when)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_KEEPS_FOR = re.compile(r"\b(?:screen(?:ing)?|test(?:ing)?|culture|pcr|stain|antibod(?:y|ies)) for\b", re.IGNORECASE)
_LAST = re.compile(r"[ ,]+(?:stat|now|today|tomorrow|on|at|in|and|then|routine|\+)\W*\Z", re.IGNORECASE)


def lab_name(text: str, system: CodeSystem) -> str:
    """The name of the test that one order names, as written; the text itself where nothing else is left."""
    return shortened_to_name(text, system, _shorter)


def _shorter(text: str) -> str:
    """One step on the way to the name; the text itself at its end."""
    if (lead := _LEADING.match(text[:120])) and lead.end() < len(text):
        return text[lead.end() :]
    if (reason := _REASON.search(text[:400])) and not _KEEPS_FOR.search(text[:400]):
        return text[: reason.start()]
    if last := _LAST.search(text, max(0, len(text) - 40)):
        return text[: last.start()]
    return text
