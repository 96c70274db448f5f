"""Files that are there whole, or as they were before: written beside their place, then renamed into it."""

import glob
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

ABANDONED = 3600.0
"""Seconds after which what a killed process left aside is removed by the next one that writes the same file."""


@contextmanager
def written_aside(path: Path, alone: bool = False) -> Iterator[Path]:
    """A name to write to; what is there at the end of the block takes the place of `path`.

    Where the block fails, it is removed and `path` stays as it was. It lies in the folder of `path`, its name begins
    with a dot, and only its owner can read it, as rows of patients need. It is on the disk before it is renamed.

    Args:
        path: the file; its folder exists.
        alone: whether no other process writes the same file now: what a killed one left aside then goes at once.

    Raises:
        OSError: the folder cannot be written to, or is full.
    """
    _remove_abandoned(path, 0.0 if alone else ABANDONED)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    os.close(handle)
    aside = Path(name)
    try:
        yield aside
        with aside.open("rb+") as stream:
            os.fsync(stream.fileno())
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


def made_once(folder: Path, whole: str, make: Callable[[Path], None]) -> Path:
    """A folder that is made aside and renamed, unless it is there; several processes may make it, the first one wins.

    Args:
        folder: where it is to be.
        whole: a file in it that says that it is whole.
        make: fills the empty folder that it is given.

    Raises:
        OSError: the folder above cannot be written to, or is full.
    """
    if (folder / whole).is_file():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        make(aside)
        os.rename(aside, folder)
    except OSError:
        if not (folder / whole).is_file():
            raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return folder


def _remove_abandoned(path: Path, after: float) -> None:
    for aside in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        with suppress(OSError):
            if time.time() - aside.stat().st_mtime >= after:
                aside.unlink()
