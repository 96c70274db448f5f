"""Sizes and hashes of files, as the Hub lists them."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from clinical_evals.errors import InputError

BLOCK = 1 << 20


class Item(NamedTuple):
    """A file that is to be sent."""

    path: Path
    size: int
    """In bytes."""
    sha256: str
    """Of its bytes: the Hub's name of it where it is kept outside git."""
    blob: str
    """git's SHA-1 of it: the Hub's name of it otherwise."""


Manifest = dict[str, Item]
"""Files by place in the repository."""
Stamp = tuple[int, ...]


def stamp(path: Path) -> Stamp | None:
    """What changes when a file does: device, inode, size in bytes, nanoseconds; None where there is no file."""
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns


def make_manifest(files: Mapping[str, Path], stamps: Mapping[str, Stamp | None]) -> Manifest:
    """Read every file once.

    Args:
        files: by place.
        stamps: of the files before the guard looked at them.

    Raises:
        InputError: a file cannot be read, or changed since.
    """
    manifest = {place: _read(path) for place, path in files.items()}
    for place, item in manifest.items():
        if stamp(item.path) != stamps[place]:
            raise InputError(f"{item.path} changed while it was looked at: push when nothing writes to it any more")
    return manifest


def _read(path: Path) -> Item:
    try:
        size = path.stat().st_size
        sha256, blob = hashlib.sha256(), hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
        with path.open("rb") as file:
            while block := file.read(BLOCK):
                sha256.update(block)
                blob.update(block)
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error})") from error
    return Item(path, size, sha256.hexdigest(), blob.hexdigest())
