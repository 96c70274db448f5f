"""Amounts, routes and times in orders, as parts of regular expressions, and how runs of them are taken out of a line.

"Ceftriaxone 1 g IV q24h for pneumonia" is an order of ceftriaxone; what follows the name says how it is given. All
work is linear in the length of the line.
"""

import re

NUMBER = r"\d[\d,]{0,9}(?:\.\d{1,5})?"
AMOUNT = rf"(?:[~≈<>≤≥] ?)?{NUMBER}(?: ?(?:-|–|to|/) ?{NUMBER})?"
"""A number or a range, with commas and a decimal point."""
_CLOCK = r"(?:hours?|hrs?|h|days?|d|minutes?|mins?|min|weeks?|wks?|months?)"
TIMES = (
    rf"q ?\d{{1,2}}(?: ?[-–] ?\d{{1,2}})? ?{_CLOCK}|q ?(?:hs|am|pm|day|d|od|wk|week|weekly|ac|shift|hour|hourly)"
    r"|b\.?i\.?d\.?|t\.?i\.?d\.?|q\.?i\.?d\.?|qd|qod|daily|nightly|hourly|weekly|monthly|stat"
    r"|(?:once|twice|thrice|(?:one|two|three|four|\d) times?)(?: (?:a|per|each|every) (?:day|week|month|night)"
    r"| (?:daily|weekly))?"
    rf"|every(?: other)? (?:\d{{1,3}}(?: ?(?:-|–|to) ?\d{{1,3}})? ?)?(?:{_CLOCK}|day|morning|evening|night|am|pm"
    rf"|shift)"
    rf"|[x×] ?\d{{1,3}}(?: ?(?:doses?|sets?|{_CLOCK}))?"
    rf"|for \d{{1,3}}(?: ?[-–] ?\d{{1,3}})?(?: more)? ?(?:doses?|{_CLOCK})"
    rf"|over \d{{1,3}}(?: ?[-–] ?\d{{1,3}})? ?{_CLOCK}"
    r"|in \d{1,2} ?(?:hours|hrs|days|minutes|mins|weeks)(?! urine)|(?:at|before) bedtime|(?:with|before|after) meals"
    r"|(?:in|every) (?:the )?(?:am|pm|a\.m\.|p\.m\.|morning|evening)"
    r"|around the clock|prn(?! (?:meds?|medications?|orders?|drugs?|agents?)\b)|as needed|if needed"
)
"""How often and when, without the reason of a PRN order."""
END = r"(?![^\W_])"
"""No word goes on here."""
START = r"(?<![^\W_])"
"""No word goes on from before."""

_GAP = re.compile(r" {0,3}[,/–-]? {0,3}")
_SPACES = re.compile(r"(?<=\S) {2,}")
_HOLLOW = re.compile(r" ?[(\[] {0,3}[,;/–-]{0,3} {0,3}[)\]](?!\()| (?=/[A-Za-z])")
_WORD_AHEAD = re.compile(r" {1,3}[^\W\d_]")


def without_runs(line: str, part: re.Pattern[str], tail: re.Pattern[str] | None = None) -> str:
    """A line without the runs of instructions in it.

    Args:
        line: one line, or a whole text.
        part: one instruction; its group "strong" is one by itself, its group "weak" only beside a strong one.
        tail: what may follow a run and belongs to it, such as a reason.
    """
    found = list(part.finditer(line))
    kept: list[str] = []
    place, last = 0, 0
    while place < len(found):
        stop = place + 1
        while stop < len(found) and _GAP.fullmatch(line, found[stop - 1].end(), found[stop].start()):
            stop += 1
        run = _without_next_name(line, found[place:stop])
        if any(each["strong"] for each in run):
            kept.append(line[last : run[0].start()])
            last = run[-1].end()
            if tail and (reason := tail.match(line, last)):
                last = reason.end()
        place += len(run)
        while place < len(found) and found[place].start() < last:
            place += 1
    if not kept:
        return line
    shorter = " ".join([*kept, line[last:]])
    return _SPACES.sub(" ", _HOLLOW.sub("", shorter))


def _without_next_name(line: str, run: list[re.Match[str]]) -> list[re.Match[str]]:
    """Without a weak word at the end that begins what follows a comma: "1 g IV, oral vancomycin"."""
    if len(run) > 1 and not run[-1]["strong"] and "," in line[run[-2].end() : run[-1].start()]:
        return run[:-1] if _WORD_AHEAD.match(line, run[-1].end()) else run
    return run
