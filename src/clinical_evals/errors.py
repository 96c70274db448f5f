"""The errors that clinical-evals raises on purpose.

    ClinicalEvalsError
    ├── InputError            what the user gave cannot be used (also a ValueError)
    │   └── UnknownNameError  a name that is none of ours; the nearest ones are in the message
    ├── ResourceMissingError  a model, table or release file that is not on this machine
    ├── RunError              a run that cannot go on; what it had finished is saved
    └── GuardError            something MIMIC-derived, or unreadable, was about to leave this machine; nothing was sent

Each message names the file, row or column, what was found, what was expected and what helps. The command line prints
the message without a traceback and exits with `exit_code`.
"""

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches


class ClinicalEvalsError(Exception):
    """Base of every error this package raises on purpose."""

    exit_code = 1


class InputError(ClinicalEvalsError, ValueError):
    """What the user gave cannot be used."""

    exit_code = 2


class UnknownNameError(InputError):
    """A task, metric, level or code system that does not exist."""

    def __init__(self, kind: str, name: str, known: Iterable[str], hint: str = "") -> None:
        known = sorted(known)
        near = _near(name.lower(), known)
        message = f"unknown {kind} {name!r}. "
        message += f"Did you mean {' or '.join(map(repr, near))}? " if near else ""
        message += f"Known: {', '.join(known)}."
        super().__init__(f"{message} {hint}".strip())


def _near(name: str, known: list[str]) -> list[str]:
    """The names most like it: at most three, and none that is much less like it than the nearest."""
    found = get_close_matches(name, known, n=3, cutoff=0.4)
    likeness = [SequenceMatcher(None, other, name).ratio() for other in found]
    return [other for other, like in zip(found, likeness, strict=True) if like >= likeness[0] - 0.15]


class ResourceMissingError(ClinicalEvalsError):
    """A model, table or release file that is not on this machine; the message carries the command that brings it."""

    exit_code = 3


class RunError(ClinicalEvalsError):
    """A run that cannot go on; what it had finished is saved."""

    exit_code = 4


class GuardError(ClinicalEvalsError):
    """Something MIMIC-derived, or something that cannot be read, was about to leave this machine; nothing was sent."""

    exit_code = 5
