"""What headings of discharge notes can mean."""

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """What a heading does to the text behind it."""

    KNOWN = "known at admission: its text is kept"
    AMBIGUOUS = "kept where it stands among kept text, but it does not end a dropped section"
    ADMISSION = "'Admission' or 'On admission' alone: the time within an exam"
    DISCHARGE = "'Discharge', 'On discharge' or 'Post-op' alone: a time within an exam, or a symptom"
    FIELD = "a field of the header: the field is dropped"
    RESULTS = "results: dropped, but a part of the history where it tells of the emergency room"
    LATER = "known only later: dropped until the next heading of what is known at admission"
    END = "Discharge Instructions: dropped with everything behind it"


@dataclass(frozen=True)
class Meaning:
    """What a heading means.

    Attributes:
        kind: what it does to the text behind it.
        section: the thing it tells of, e.g. `exam`, `medications`, `history`.
        discharge: the heading itself names the discharge.
        words: how many of its words carry meaning; 0 for results with words that are not known ("CT head").
    """

    kind: Kind
    section: str
    discharge: bool = False
    words: int = 1
