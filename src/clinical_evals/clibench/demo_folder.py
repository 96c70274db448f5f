"""A folder that appears whole or not at all, and says what it was made of, so that a second run knows it."""

import errno
import hashlib
import json
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from clinical_evals.errors import InputError, RunError
from clinical_evals.write_aside import ABANDONED

RECORD = "demo-data.json"
"""What the folder was made of, its counts and the checksum of each file."""


def write_record(folder: Path, made_of: Mapping[str, Any], counts: Mapping[str, int]) -> None:
    """Write the record of a folder whose files are all there.

    Args:
        folder: the folder.
        made_of: what decides its content; JSON values.
        counts: what is in it.
    """
    files = checksums((path for path in folder.rglob("*") if path.is_file()), folder)
    record = {"made_of": dict(made_of), "counts": dict(counts), "files": files}
    (folder / RECORD).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def read_record(folder: Path, made_of: Mapping[str, Any]) -> dict[str, int] | None:
    """The counts of a folder that an earlier run made of the same; None if there is no folder, or an empty one.

    Raises:
        InputError: it is a file, holds something else, was made of something else, or was changed since.
    """
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return None
    if not folder.is_dir():
        raise InputError(f"{folder} is a file. Give another --out FOLDER.")
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        before, counts = record["made_of"], {name: int(number) for name, number in record["counts"].items()}
        files = {name: folder / name for name in record["files"]}
        changed = [name for name, path in files.items() if not path.is_file() or _differs(path, record["files"][name])]
        unlike = [key for key in made_of if before.get(key) != made_of[key]]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{folder} holds something else than the data of this command ({error}). Give another --out FOLDER."
        ) from error
    if changed:
        raise InputError(
            f"{folder}: {', '.join(changed)} changed since it was written. Delete {folder}, or give another --out."
        )
    if unlike:
        shown = [f"{key} ({before.get(key)}, now {made_of[key]})" if key == "seed" else key for key in unlike]
        raise InputError(f"{folder} was made of other {', '.join(shown)}. Delete it, or give another --out FOLDER.")
    return counts


def _differs(path: Path, digest: str) -> bool:
    return _checksum(path) != digest


def checksums(paths: Iterable[Path], root: Path) -> dict[str, str]:
    """SHA-256 of files, by their path below `root`, sorted."""
    return {path.relative_to(root).as_posix(): _checksum(path) for path in sorted(paths)}


def _checksum(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


class WrittenMeanwhileError(InputError):
    """A folder that was not there, or empty, when the work began, has something in it when it is done."""


@contextmanager
def folder_aside(out: Path) -> Iterator[Path]:
    """A folder beside `out` that takes its place at the end of the block; where the block fails, it is removed.

    Args:
        out: a folder that is not there, or is empty.

    Raises:
        RunError: it cannot be written, e.g. because the disk is full; nothing is left behind.
        WrittenMeanwhileError: another process has written to `out` meanwhile; that stays as it is.
    """
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(out)
        aside = Path(tempfile.mkdtemp(dir=out.parent, prefix=f".{out.name}.", suffix=".part"))
        try:
            yield aside
            aside.chmod(0o755)
            _put_in_place(aside, out)
        except BaseException:
            shutil.rmtree(aside, ignore_errors=True)
            raise
    except OSError as error:
        raise RunError(
            f"{out} cannot be written ({error.strerror or error}); nothing was left there. Free some space or give "
            "another --out FOLDER."
        ) from error


def _put_in_place(aside: Path, out: Path) -> None:
    try:
        aside.replace(out)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise
        raise WrittenMeanwhileError(
            f"{out} is there already: another run has written it meanwhile, and it stays as it is. Give another "
            "--out FOLDER, or let one run at a time write there."
        ) from error


def _remove_abandoned(out: Path) -> None:
    """Removes what runs that were killed left aside."""
    for aside in out.parent.iterdir():
        if aside.name.startswith(f".{out.name}.") and aside.name.endswith(".part"):
            with suppress(OSError):
                if time.time() - aside.stat().st_mtime >= ABANDONED:
                    shutil.rmtree(aside)
