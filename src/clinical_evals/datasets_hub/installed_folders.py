"""Folders that `install` puts into the caches of `datasets` and `evaluate`, each with a manifest of its files in it.

Folder and manifest come and go as one, by a rename inside the cache: a run killed at any moment leaves an installed
folder, or none, and perhaps a folder named `ASIDE…`, where neither library looks.
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clinical_evals.errors import InputError

MANIFEST = "clinical_evals_install.json"
"""In each installed folder: the names of its files and the SHA-256 of each."""
ASIDE = ".clinical-evals-"
"""Begins the name of a folder in a cache where others are built or taken apart."""

_DERIVED = ("cache-*.arrow", "__pycache__/*.pyc")  # what the libraries and Python add to an installed folder
_DEPTH = 4  # of an installed folder in its cache: NAME/CONFIG/VERSION/HASH, evaluate_modules/metrics/NAME/HASH


@contextmanager
def aside(cache: Path) -> Iterator[Path]:
    """A folder of our own in a cache, removed afterwards.

    Raises:
        InputError: the cache cannot be written.
    """
    try:
        cache.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=ASIDE, dir=cache))
    except OSError as error:
        raise InputError(
            f"the cache {cache} cannot be written ({error.strerror}). Set HF_HOME (or HF_DATASETS_CACHE and "
            "HF_MODULES_CACHE) to a folder of yours, the same for this command and for the programs that load."
        ) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_manifest(folder: Path) -> None:
    """List the files of a folder just built."""
    files = {path.name: _sha256(path) for path in sorted(folder.iterdir())}
    (folder / MANIFEST).write_text(json.dumps(files, indent=1), encoding="utf-8")


def put(built: Path, target: Path) -> bool:
    """Move a built folder to its place and make it the newest; False where it is there already, whole.

    Raises:
        InputError: see `take_away`.
    """
    written = not is_whole(target)
    if written:
        if target.exists():
            take_away(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            built.rename(target)
        except OSError:
            if not is_whole(target):  # else another install was faster
                raise
    os.utime(target)
    return written


def take_away(folder: Path) -> None:
    """Remove an installed folder with what was derived from it, then its parents as far as they are empty.

    Raises:
        InputError: a file in it is neither ours nor derived from ours; nothing was removed.
    """
    ours = {*_read_manifest(folder), MANIFEST}
    files = {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}
    others = [name for name, path in files.items() if name not in ours and not any(map(path.match, _DERIVED))]
    if others:
        raise InputError(
            f"{folder} holds files that clinical-evals did not write: {', '.join(others[:8])}. "
            "Move them elsewhere and run the command again."
        )
    with aside(folder.parents[_DEPTH - 1]) as apart:
        folder.rename(apart / "old")
    for parent in list(folder.parents)[: _DEPTH - 1]:
        if any(parent.iterdir()):
            break
        parent.rmdir()


def is_whole(folder: Path) -> bool:
    """Whether a folder is an installed one, with every file as it was written."""
    files = _read_manifest(folder)
    return bool(files) and all(
        (folder / name).is_file() and _sha256(folder / name) == digest for name, digest in files.items()
    )


def _read_manifest(folder: Path) -> dict[str, str]:
    try:
        files = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return files if isinstance(files, dict) else {}


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
