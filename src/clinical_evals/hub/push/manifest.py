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


def make_manifest(files: Mapping[str, Path]) -> Manifest:
    """Read every file once.

    Raises:
        InputError: a file cannot be read, or changed while it was.
    """
    return {place: _read(path) for place, path in files.items()}


def _read(path: Path) -> Item:
    try:
        size = path.stat().st_size
        sha256, blob = hashlib.sha256(), hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
        count = 0
        with path.open("rb") as file:
            while block := file.read(BLOCK):
                sha256.update(block)
                blob.update(block)
                count += len(block)
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error})") from error
    if count != size:
        raise InputError(f"{path} changed while it was read: push when nothing writes to it any more")
    return Item(path, size, sha256.hexdigest(), blob.hexdigest())
