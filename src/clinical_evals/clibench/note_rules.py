"""The rules by which the words of a heading give its meaning; each gives `None` where it does not apply."""

from itertools import pairwise

from clinical_evals.clibench.note_kinds import Kind, Meaning
from clinical_evals.clibench.note_vocabulary import (
    CONNECTING,
    EARLIER,
    EARLIER_STAY,
    ELSEWHERE,
    FIELDS,
    FILLING,
    KNOWN,
    LATER,
    OUT,
    QUALIFIERS,
    RESULTS,
    SYMPTOM,
)

Words = tuple[str, ...]

_ALL_KNOWN = frozenset[str]().union(LATER, EARLIER, RESULTS, OUT, QUALIFIERS, {"history"})
_CHANGED = frozenset({"new", "changed", "changes", "stopped"})
_AT_HOME = frozenset({"admission", "preadmission", "home", "outpatient", "prior"})
_FIRST_EXAM = frozenset({"admission", "presentation", "initial", "arrival", "preop"})


def of_the_discharge(words: Words) -> Meaning | None:
    """A heading of known words that names the discharge, unless it is that of an earlier stay."""
    bearing = _bearing(words)
    if "discharge" not in bearing or _earlier_stay(words) or not bearing <= _ALL_KNOWN:
        return None
    things = bearing - {"discharge"}
    if "date" in words and not things - {"admission"}:
        return Meaning(Kind.FIELD, "header", words=2)
    if "instructions" in things:
        return Meaning(Kind.END, "instructions", True, 2)
    if not things:
        return Meaning(Kind.DISCHARGE, "discharge", True)
    return Meaning(Kind.LATER, _thing(things), True, len(bearing))


def of_known_words(words: Words) -> Meaning | None:
    """A heading of known words that does not name the discharge."""
    bearing = _bearing(words)
    if "discharge" in bearing:
        return None
    told = _of_all_words(words, bearing)
    if told is None and bearing and bearing <= _ALL_KNOWN:
        return _of_thing(words, bearing)
    return told


def of_open_words(words: Words) -> Meaning | None:
    """A heading of which some words are not known."""
    return _of_open_course(words) or _of_open_discharge(words) or _of_open_results(words)


def _bearing(words: Words) -> frozenset[str]:
    return frozenset(words) - FILLING


def _earlier_stay(words: Words) -> bool:
    """Of another stay: "Prior discharge …", "last discharge …"."""
    return any(second == "discharge" and first in EARLIER_STAY for first, second in pairwise(words))


def _thing(words: frozenset[str]) -> str:
    for thing in ("medications", "exam", "physical", "vitals", "labs"):
        if thing in words:
            return "exam" if thing in ("physical", "vitals") else thing
    return next((OUT[word] for word in OUT if word in words), "results" if words & RESULTS else "discharge")


def _of_all_words(words: Words, bearing: frozenset[str]) -> Meaning | None:
    """A heading that is known as a whole."""
    if bearing in FIELDS or (bearing == {"admission"} and "date" in words):
        return Meaning(Kind.FIELD, "header", words=len(bearing))
    if "history" in bearing and bearing & {"prior", "previous"}:
        bearing = bearing - {"prior", "previous"} | {"past"}
    section = KNOWN.get(bearing - {"pertinent"})
    if section:
        return Meaning(Kind.KNOWN, section, words=len(words))
    if bearing == {"ros"} or (bearing == {"review"} and "systems" in words):
        return Meaning(Kind.KNOWN, "review of systems", words=len(words))
    if bearing == {"admission"}:
        return Meaning(Kind.ADMISSION, "exam")
    if bearing == {"pertinent"}:
        return Meaning(Kind.LATER, "results")
    return _of_the_hospital(words, bearing)


def _of_the_hospital(words: Words, bearing: frozenset[str]) -> Meaning | None:
    if "hospital" in words and bearing == {"course"}:
        return Meaning(Kind.LATER, "hospital course", words=2)
    if "hospital" in words and bearing == {"medications"}:
        return Meaning(Kind.LATER, "medications", words=2)
    if "problems" in words and (bearing in ({"active"}, {"acute"}) or (words[0] == "hospital" and not bearing)):
        return Meaning(Kind.LATER, "hospital course", words=2)
    return None


def _of_thing(words: Words, bearing: frozenset[str]) -> Meaning | None:
    later = bool(bearing & LATER)
    if later and bearing <= LATER | {"floor", "icu"}:
        return Meaning(Kind.DISCHARGE, "discharge")
    if "history" in bearing:
        return Meaning(Kind.LATER, "hospital course", words=2) if "interval" in bearing else None
    out = next((word for word in OUT if word in bearing), None)
    if out:
        return _of_later_thing(out, words, bearing)
    if bearing & RESULTS:
        if bearing & ELSEWHERE and "admission" not in bearing:
            return None
        of_the_stay = bearing & {"pertinent", "admission"}
        return Meaning(Kind.LATER if of_the_stay else Kind.RESULTS, "results", words=len(bearing))
    if "medications" in bearing:
        return _of_medications(bearing, later)
    if bearing & {"exam", "physical"}:
        return _of_exam(bearing, later)
    return Meaning(Kind.RESULTS, "exam", words=len(bearing)) if later and "vitals" in bearing else None


def _of_later_thing(out: str, words: Words, bearing: frozenset[str]) -> Meaning | None:
    if bearing & ELSEWHERE or (out in ("diagnosis", "condition") and bearing & EARLIER):
        return None
    if bearing == {"issues", "medical"}:
        return None
    if out == "instructions" and "followup" not in bearing and "patient" in words:
        return Meaning(Kind.END, "instructions", words=2)
    return Meaning(Kind.LATER, OUT[out], words=len(words) if out == "course" else len(bearing))


def _of_medications(bearing: frozenset[str], later: bool) -> Meaning:
    if (later and "osh" not in bearing) or bearing & _CHANGED:
        return Meaning(Kind.LATER, "medications", words=len(bearing))
    if bearing & _AT_HOME:
        return Meaning(Kind.KNOWN, "medications", words=len(bearing))
    return Meaning(Kind.AMBIGUOUS, "medications")


def _of_exam(bearing: frozenset[str], later: bool) -> Meaning:
    if later:
        return Meaning(Kind.LATER, "exam", words=len(bearing))
    if bearing & _FIRST_EXAM or bearing == {"physical", "exam"}:
        return Meaning(Kind.KNOWN, "exam", words=len(bearing))
    return Meaning(Kind.AMBIGUOUS, "exam")


def _of_open_course(words: Words) -> Meaning | None:
    """`Hospital course is told by problem`, `Postoperative course was remarkable for`."""
    pairs = set(pairwise(words))
    if pairs & {("hospital", "course"), ("postop", "course")} and not ELSEWHERE & set(words):
        return Meaning(Kind.LATER, "hospital course", words=2)
    return None


def _of_open_discharge(words: Words) -> Meaning | None:
    """`Discharge hematocrit`, `Weight on the day of discharge`, `Discharged to`."""
    if words in (("discharged", "to"), ("discharged", "home"), ("discharged", "home", "to")):
        return Meaning(Kind.LATER, "disposition", True)
    if "discharge" not in words or _earlier_stay(words) or SYMPTOM & set(words):
        return None
    if words[0] == "discharge" and 2 <= len(words) <= 5:
        return Meaning(Kind.LATER, "discharge", True)
    if words[-1] == "discharge" and len(words) > 1 and words[-2] in CONNECTING:
        return Meaning(Kind.END if "instructions" in words else Kind.LATER, "discharge", True)
    return None


def _of_open_results(words: Words) -> Meaning | None:
    """`CT head`, `Blood culture`: results where they stand behind an exam (see `Meaning.words`)."""
    if words[0] in RESULTS and 2 <= len(words) <= 4 and not ELSEWHERE & set(words):
        return Meaning(Kind.RESULTS, "results", words=0)
    return None
