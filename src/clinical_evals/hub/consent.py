"""The user's word that a transfer of MIMIC's or other patients' data is allowed, and the ledger that keeps it."""

import datetime
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from clinical_evals.errors import GuardError

OPTION = '--dua-consent "NAME, DATE"'
LEDGER = "dua-consent.jsonl"
LONGEST_NAME = 200


class Consent(NamedTuple):
    """Who consents, and on which day."""

    name: str
    date: datetime.date

    def __str__(self) -> str:
        return f"{self.name}, {self.date.isoformat()}"


def parse_consent(text: str) -> Consent:
    """Read "NAME, DATE": a name and a day that has come, as in "Jane Doe, 2026-11-30".

    Raises:
        GuardError: another form, no name, no such day, or a day in the future.
    """
    name, _, day = (part.strip() for part in text.rpartition(","))
    if not any(letter.isalpha() for letter in name) or len(name) > LONGEST_NAME or not name.isprintable():
        raise GuardError(f'consent {text[:80]!r} names nobody: expected {OPTION}, as in "Jane Doe, 2026-11-30"')
    try:
        date = datetime.date.fromisoformat(day) if re.fullmatch(r"\d{4}-\d{2}-\d{2}", day, re.ASCII) else None
    except ValueError:
        date = None
    if date is None:
        raise GuardError(f"consent has the date {day[:40]!r}: expected a day as YEAR-MONTH-DAY after the last comma")
    if date > datetime.date.today():
        raise GuardError(f"consent has the date {day}, which is in the future: expected today or an earlier day")
    return Consent(name, date)


def state_folder() -> Path:
    """Where this user's records lie: CLINICAL_EVALS_STATE, else XDG_STATE_HOME or ~/.local/state with our name."""
    own = os.environ.get("CLINICAL_EVALS_STATE")
    if own:
        return Path(own).expanduser()
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "clinical-evals"


def append_to_ledger(entry: Mapping[str, object]) -> Path:
    """Add one line to the ledger, on the disk before this returns; lines are never changed. Returns the ledger's path.

    Raises:
        GuardError: it cannot be written; then nothing may be sent.
    """
    path = state_folder() / LEDGER
    line = json.dumps(entry, ensure_ascii=False).encode() + b"\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        ledger = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            _lock(ledger)  # released when it is closed
            if os.write(ledger, _line_end_if_torn(ledger) + line) < len(line):
                raise OSError("the disk is full")
            os.fsync(ledger)
        finally:
            os.close(ledger)
    except OSError as error:
        raise GuardError(
            f"nothing was sent: the ledger {path} cannot be written ({error.strerror or error}). "
            "CLINICAL_EVALS_STATE names another folder for it."
        ) from error
    return path


def _lock(ledger: int) -> None:
    """Keep other processes out until the file is closed; where that does not exist, appending alone must do."""
    try:
        import fcntl
    except ImportError:
        return
    fcntl.flock(ledger, fcntl.LOCK_EX)


def _line_end_if_torn(ledger: int) -> bytes:
    """What the last line lacks if a crash cut it off."""
    size = os.fstat(ledger).st_size
    if size == 0:
        return b""
    os.lseek(ledger, size - 1, os.SEEK_SET)
    return b"" if os.read(ledger, 1) == b"\n" else b"\n"
