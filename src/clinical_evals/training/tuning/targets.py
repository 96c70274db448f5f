"""What a model is taught to answer: the gold of a row as text, one decision a line (protocol.md 2.7)."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from clinical_evals.errors import UnknownNameError

TARGETS = {
    "titles-with-codes": "the official title, and the code in brackets",
    "titles": "the official titles alone",
    "codes": "the codes alone",
    "official": "as the authors released them: codes without dots, MIMIC's labels of labs, names of drugs",
}
"""The forms of an answer, the default first."""

DEFAULT_TARGET = next(iter(TARGETS))


def completion(row: Mapping[str, Any], task: str, target: str = DEFAULT_TARGET) -> str:
    """The answer that a model should give to a row.

    >>> completion({"codes": ["E11.9", "I10"], "titles": ["Type 2 diabetes", "Hypertension"]}, "diagnosis")
    'Type 2 diabetes (E11.9)\\nHypertension (I10)'
    >>> completion({"codes": ["E11.9", "I10"], "titles": ["Type 2 diabetes", "Hypertension"]}, "diagnosis", "official")
    'E119\\nI10'

    Args:
        row: of the `clibench` dataset; `codes` and `titles` are parallel.
        task: its config.
        target: one of `TARGETS`.

    Returns:
        One line a code, in the order of `codes`; empty where the row has none.

    Raises:
        UnknownNameError: no such target.
        ResourceMissingError: `official` of labs, but the map of MIMIC's lab items is not on this machine.
    """
    if target not in TARGETS:
        raise UnknownNameError("target", target, TARGETS)
    say = _official(task) if target == "official" else _SAY[target]
    lines = map(say, row["codes"], row["titles"])
    return "\n".join(dict.fromkeys(" ".join(line.split()) for line in lines))


_Say = Callable[[str, str], str]
_SAY: Mapping[str, _Say] = {
    "titles-with-codes": lambda code, title: f"{title} ({code})",
    "titles": lambda _, title: title,
    "codes": lambda code, _: code,
}


def _official(task: str) -> _Say:
    match task:
        case "lab_order":
            labels = _lab_labels()
            return lambda code, title: labels.get(code, title)
        case "prescription":
            return _SAY["titles"]
        case _:
            return lambda code, _: code.replace(".", "")


@cache
def _lab_labels() -> dict[str, str]:
    """By LOINC number what MIMIC calls the first of its items that have it."""
    from clinical_evals.ontology.lab_items import lab_items

    labels: dict[str, str] = {}
    for item in lab_items().items.values():
        if item.loinc:
            labels.setdefault(item.loinc, item.label)
    return labels
