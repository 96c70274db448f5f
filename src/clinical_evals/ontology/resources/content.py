"""The bytes of a file and their SHA-256."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from clinical_evals.errors import InputError

_CHUNK = 1 << 20


def file_chunks(file: Path) -> Iterator[bytes]:
    """The content of a file bit by bit.

    Raises:
        InputError: it cannot be read.
    """
    try:
        with file.open("rb") as opened:
            while chunk := opened.read(_CHUNK):
                yield chunk
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}") from error


def sha256_of(file: Path) -> str:
    """The SHA-256 of a file in hexadecimal digits. InputError where it cannot be read."""
    digest = hashlib.sha256()
    for chunk in file_chunks(file):
        digest.update(chunk)
    return digest.hexdigest()
