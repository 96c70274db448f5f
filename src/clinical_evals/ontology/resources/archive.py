"""A release file taken out of the zip archive that it is published in."""

import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.ontology.resources.manifest import Resource

_CHUNK = 1 << 20
_MOST_MEMBERS = 50_000
# All that zipfile raises on damaged archives, as thousands of them with single bytes changed have shown.
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    ValueError,
    IndexError,
    OverflowError,
    NotImplementedError,
    OSError,
)


def is_archive(path: Path) -> bool:
    """Whether a file is a zip archive, by its first bytes: the end of a cut-off one is missing, yet it is one."""
    with path.open("rb") as file:
        return file.read(4) in (b"PK\x03\x04", b"PK\x05\x06")


class Member(NamedTuple):
    """A resource in an archive."""

    name: str
    """The file name, without folders."""
    folders: tuple[str, ...]
    """The names of the folders that it lies in, for what they tell; they are no path."""
    chunks: Iterator[bytes]
    """The content bit by bit."""


def member_chunks(archive: Path, resource: Resource) -> Member:
    """The member of an archive that is a resource.

    Nothing is unpacked beside it, and no name of the archive becomes a path. How much a member may unpack to is for
    whoever takes the content to bound.

    Raises:
        InputError: not a whole zip archive; no member, or several, with the name of the resource; while the content
            is read: a member that is encrypted, packed in an unusual way or damaged.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            members = opened.infolist()
    except _DAMAGED as error:
        raise InputError(f"{archive}: the zip archive is cut off or damaged ({error}): download it again.") from error
    member = _member(archive, members, resource)
    path = PurePosixPath(member.filename)
    return Member(path.name, path.parts[:-1], _unpacked(archive, member))


def _member(archive: Path, members: list[zipfile.ZipInfo], resource: Resource) -> zipfile.ZipInfo:
    if len(members) > _MOST_MEMBERS:
        raise InputError(f"{archive}: {len(members)} members, more than any release has.")
    found = [
        member
        for member in members
        if not member.filename.endswith("/")  # is_dir() fails on a name that is empty
        and not member.filename.startswith("__MACOSX/")
        and resource.pattern.fullmatch(PurePosixPath(member.filename).name.lower())
    ]
    if len(found) != 1:
        shown = ", ".join(member.filename[:120] for member in (found or members)[:5]) or "nothing"
        kind = f"{len(found)} members that could be" if found else f"{len(members)} members, but none is"
        raise InputError(
            f"{archive}: {kind} {resource.what} (it has {shown}{', …' if len(found or members) > 5 else ''}). "
            f"Take the right one out and add it: {resource.add_command}"
        )
    return found[0]


def _unpacked(archive: Path, member: zipfile.ZipInfo) -> Iterator[bytes]:
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # the rest may take any memory
        raise InputError(
            f"{archive}: {member.filename} is packed in an unusual way (method {member.compress_type}). Unpack it and "
            "add it."
        )
    try:
        with zipfile.ZipFile(archive) as opened, opened.open(member) as file:
            while chunk := file.read(_CHUNK):
                yield chunk
    except RuntimeError as error:  # encrypted, or of a version that zipfile does not know
        raise InputError(f"{archive}: {member.filename} cannot be read ({error}). Unpack it and add it.") from error
    except _DAMAGED as error:
        raise InputError(
            f"{archive}: {member.filename} is cut off or damaged ({error}): download the archive again."
        ) from error
