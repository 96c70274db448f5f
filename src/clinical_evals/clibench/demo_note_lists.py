"""The lists of a note: results of one time on a line, drugs as they are ordered, numbered lines."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TypeVar

from clinical_evals.clibench.demo_stay import Drug, Lab

T = TypeVar("T")
LONGEST_LIST = 14
"""Lines of a list, at most."""
_BY_MOUTH = {"PO", "PO/NG", "ORAL", "IH", "SC", "SUBCUT", "TD", "SL"}
_TIMES = {"1": "DAILY", "2": "BID", "3": "TID", "4": "QID"}
_NOT_AT_HOME = ("heparin", "flush", "sodium chloride", "dextrose", "glucagon", "vaccine", "glucose gel", "bag")


def result_lines(labs: Sequence[Lab]) -> Iterator[str]:
    """Results of one time and fluid on a line: "___ 06:39AM BLOOD Hemoglobin-9.2* Hematocrit-29.6*"."""
    for (time, fluid), group in groupby(sorted(labs, key=_by_draw), key=lambda lab: (lab.charttime, lab.fluid)):
        results = " ".join(f"{lab.label.replace(' ', '')}-{lab.value}{'*' * lab.abnormal}" for lab in group)
        yield f"___ {clock(time)} {fluid.upper()} {results}"


def _by_draw(lab: Lab) -> tuple[str, ...]:
    return lab.charttime, lab.fluid, lab.label, lab.value


def clock(time: str) -> str:
    """The time of day as notes write it; "___" where a time has none.

    >>> clock("2180-05-06 22:25:00"), clock("2180-05-06 00:05:00"), clock("2180-05-06")
    ('10:25PM', '12:05AM', '___')
    """
    hour, minute = time[11:13], time[14:16]
    if not (hour.isdigit() and minute.isdigit()):
        return "___"
    return f"{(int(hour) - 1) % 12 + 1:02}:{minute}{'PM' if int(hour) >= 12 else 'AM'}"


def first_of_each(labs: Iterable[Lab]) -> list[Lab]:
    """The first result of each item."""
    first: dict[str, Lab] = {}
    for lab in labs:
        first.setdefault(lab.label, lab)
    return list(first.values())


def drugs_at_home(drugs: Iterable[Drug]) -> list[Drug]:
    """The drugs that a patient may take at home, by their name, at most `LONGEST_LIST`."""
    return [
        drug
        for drug in by_name(drug for drug in drugs if drug.route in _BY_MOUTH)
        if not any(part in drug.name.lower() for part in _NOT_AT_HOME)
    ][:LONGEST_LIST]


def by_name(drugs: Iterable[Drug]) -> list[Drug]:
    """The first order of each drug, by its name."""
    first: dict[str, Drug] = {}
    for drug in drugs:
        first.setdefault(drug.name.lower(), drug)
    return [first[name] for name in sorted(first)]


def order_line(drug: Drug) -> str:
    """A line of a list of drugs: "Furosemide 20 mg PO DAILY"."""
    dose = f"{drug.dose} {drug.unit}".strip()
    return " ".join(part for part in (drug.name, dose, drug.route, _TIMES.get(drug.times, "PRN")) if part)


def numbered(lines: Iterable[str]) -> list[str]:
    """The lines with numbers from 1."""
    return [f"{number}. {line}" for number, line in enumerate(lines, 1)]


def distinct(items: Sequence[T]) -> list[T]:
    """The items without repetition, in their order; equal ones need not be hashable."""
    kept: list[T] = []
    for item in items:
        if item not in kept:
            kept.append(item)
    return kept
