"""The log of a model's answers: appended as they come, and the place from which an interrupted run goes on.

One JSON line each: first a header (what was run, and with which versions), then one line a row. Rows are appended
batch by batch, written in one piece and flushed to the disk, so that a batch is in the log whole or, if the process or
the machine died while it was written, not at all: a torn tail is cut off when the log is opened again. Nothing is ever
changed.

It stands in for lighteval's own sample cache, which knows a row by its number only. Here a row is known by the hash of
the run (task, prompt version, model weights, settings), of its data and of the prompt as sent.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from filelock import FileLock, Timeout

from clinical_evals.errors import InputError, RunError

FORMAT = 1


class Kind(NamedTuple):
    """One kind of log."""

    name: str
    """In the header: no kind is taken for another."""
    called: str
    """In messages."""
    file: str
    """What its file is called in a run's folder."""


PREDICTIONS = Kind("clinical-evals predictions", "prediction log", "predictions.jsonl")

Line = dict[str, Any]

_OVER = "If it is the log of a run, remove it to start over."


def hash_text(text: str) -> str:
    """SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def hash_json(value: object) -> str:
    """SHA-256 of a value's canonical JSON."""
    return hash_text(json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")))


def hash_row(row: Mapping[str, Any]) -> str:
    """SHA-256 of the data of a row: the same data gives the same hash in any column order and process.

    Columns whose name starts with two underscores are not data (lighteval adds such) and are left out.
    """
    return hash_json({column: value for column, value in row.items() if not column.startswith("__")})


def row_key(run: Mapping[str, Any], data_sha256: str, prompt_sha256: str) -> str:
    """What a finished row is known by: another run, another row or another prompt is another key."""
    return hash_json([hash_json(run), data_sha256, prompt_sha256])


class PredictionLog:
    """The answers of one run, open for more of them.

    Args:
        path: the file; its folder is made if need be.
        run: everything that decides the answers, as JSON: task, prompt version, model, settings.
        about: what else the header should tell: where the rows come from, versions of package and libraries.
        write: False only reads (the other processes of a data-parallel run).
        kind: what is in it.

    Attributes:
        rows: the lines of the finished rows by `key`.

    Raises:
        RunError: another process writes to the log, or it is damaged elsewhere than at its end, or it is another
            run's.
    """

    def __init__(
        self,
        path: Path,
        run: Mapping[str, Any],
        about: Mapping[str, Any],
        write: bool = True,
        kind: Kind = PREDICTIONS,
    ) -> None:
        self.path = path
        self.run = dict(run)
        self._file: IO[bytes] | None = None
        self._lock = FileLock(path.with_name(f".{path.name}.lock"), timeout=0) if write else None
        self._lock_log()
        try:
            header, lines, self._length = _read(path, kind)
            if header is not None and not _is_ours(header, kind):
                raise RunError(
                    f"{path} does not start with the header of a {kind.name} log of format {FORMAT}. Remove it to "
                    "start over."
                )
            if header is not None and header.get("run") != self.run:
                found, expected = hash_json(header.get("run")), hash_json(self.run)
                raise RunError(f"{path} is the log of another run: {found}, expected {expected}.")
            if write:
                self._open(header or {"kind": kind.name, "format": FORMAT, "run": self.run, **about}, header is None)
        except BaseException:
            self.close()
            raise
        self.rows = {line["key"]: line for line in lines}

    def append(self, batch: Sequence[Line]) -> None:
        """Add the rows of one batch; when this returns they are on the disk."""
        if self._file is None:
            raise RunError(f"{self.path} is not open for writing.")
        if not batch:
            return
        lines = [line | {"batch": [place, len(batch)]} for place, line in enumerate(batch)]
        self._write("".join(map(_to_line, lines)))
        self.rows |= {line["key"]: line for line in lines}

    def close(self) -> None:
        """Let other processes write to the log."""
        if self._file is not None:
            self._file.close()
            self._file = None
        if self._lock is not None:
            self._lock.release()

    def _lock_log(self) -> None:
        if self._lock is None:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._lock.acquire()
        except Timeout as error:
            raise RunError(f"{self.path}: another process is writing to this log. Wait for it, or stop it.") from error

    def _open(self, header: Line, new: bool) -> None:
        self._file = self.path.open("ab", buffering=0)
        self._file.truncate(self._length)
        if new:
            self._write(_to_line(header))

    def _write(self, text: str) -> None:
        assert self._file is not None
        data = memoryview(text.encode())
        try:
            while data:
                data = data[self._file.write(data) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            raise RunError(
                f"{self.path} cannot be written ({error.strerror or error}). What was logged before is kept: make "
                "room, and run the same command again."
            ) from error


def read_log(path: Path, whole: bool = False, kind: Kind = PREDICTIONS) -> tuple[Line, list[Line]]:
    """Header and rows of a log, for scoring and reports; a torn tail is left out.

    Args:
        path: the file.
        whole: True takes a torn tail, as a killed run may leave it, for an error.
        kind: what is to be in it.

    Raises:
        InputError: the file is not there or is not such a log, or it is torn.
        RunError: it is damaged elsewhere than at its end.
    """
    if not path.is_file():
        raise InputError(
            f"no {kind.called} at {path}. `clinical-evals eval` writes {kind.file} into its output folder."
        )
    try:
        size = path.stat().st_size
        header, lines, end = _read(path, kind)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error
    if header is None:
        raise InputError(f"{path} is not a {kind.called}: it does not start with a whole header line.")
    if not _is_ours(header, kind):
        raise InputError(
            f"{path} is not a {kind.called}: its first line is not the header of {kind.name} of format {FORMAT}. "
            f"Give the {kind.file} of a run."
        )
    if whole and end < size:
        raise InputError(
            f"{path} is torn: the last {size - end} bytes are no whole batch of rows. The run was killed while it "
            "wrote them, or is writing now: wait, or run the same `clinical-evals eval` again, which goes on from the "
            "last whole batch."
        )
    return header, lines


def is_kind(path: Path, kind: Kind) -> bool:
    """Whether a file starts with the header of such a log."""
    try:
        with path.open("rb") as file:
            header = _parse(file.readline())
    except OSError:
        return False
    return header is not None and _is_ours(header, kind)


def read_header(path: Path, kind: Kind = PREDICTIONS) -> Line:
    """The header of a log alone.

    Raises:
        InputError: the file does not start with one.
    """
    with path.open("rb") as file:
        header = _parse(file.readline())
    if header is None or not _is_ours(header, kind):
        raise InputError(f"{path} is not a {kind.called}: it does not start with a whole header line.")
    return header


def _read(path: Path, kind: Kind) -> tuple[Line | None, list[Line], int]:
    """Header, rows and the number of bytes up to the end of the last whole batch; a foreign file has no rows."""
    if not path.exists():
        return None, [], 0
    entries: list[tuple[Line, int]] = []  # each line, and where it ends
    end = 0
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            line = _parse(raw)
            if line is None:
                if number == 1 and file.read(1):
                    raise InputError(f"{path} is not a {kind.called}: it does not start with a whole header line.")
                if file.read(1):
                    raise RunError(f"{path}, line {number}: no JSON object, though it is not the last line. {_OVER}")
                break
            if not entries and not _is_ours(line, kind):
                return line, [], path.stat().st_size
            if entries and not _is_row(line):
                raise RunError(
                    f"{path}, line {number}: no row of a {kind.called}, it has no place in a batch. {_OVER}"
                )
            end += len(raw)
            entries.append((line, end))
    if not entries:
        return None, [], 0
    header, start = entries.pop(0)
    while entries and entries[-1][0]["batch"][0] + 1 < entries[-1][0]["batch"][1]:
        entries = entries[: -(entries[-1][0]["batch"][0] + 1)]
    return header, [line for line, _ in entries], entries[-1][1] if entries else start


def _is_ours(header: Line, kind: Kind) -> bool:
    return header.get("kind") == kind.name and header.get("format") == FORMAT


def _is_row(line: Line) -> bool:
    match line.get("batch"):
        case [int(place), int(size)]:
            return 0 <= place < size and isinstance(line.get("key"), str)
    return False


def _parse(raw: bytes) -> Line | None:
    if not raw.endswith(b"\n"):
        return None
    try:
        line = json.loads(raw)
    except ValueError:
        return None
    return line if isinstance(line, dict) else None


def _to_line(line: Line) -> str:
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"
