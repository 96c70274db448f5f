"""What goes into the folder that `clinical-evals resources` keeps: read before it is taken in, and all or nothing."""

import hashlib
import logging
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock, Timeout

from clinical_evals.errors import InputError
from clinical_evals.ontology.resources.archive import is_archive, member_chunks
from clinical_evals.ontology.resources.content import file_chunks
from clinical_evals.ontology.resources.folder import Recorded, kept_folder, read_record, write_record
from clinical_evals.ontology.resources.manifest import Resource
from clinical_evals.ontology.resources.reading import Read, read_resource

_LOG = logging.getLogger(__name__)
_ASIDE = ".adding-"


class Added(NamedTuple):
    """A file that was taken in."""

    path: Path
    recorded: Recorded


class Source(NamedTuple):
    """Bytes on their way into the folder."""

    file_name: str
    chunks: Iterable[bytes]
    origin: str
    """What messages and the record call it."""


def add_file(resource: Resource, file: Path) -> Added:
    """Take in a file, or the one member of a zip archive that is the resource. A former one is replaced.

    It is read as the code system will read it; only then does it go into the folder. The file itself stays where it
    is.

    Raises:
        InputError: no such file, another kind of file, a broken one; the folder cannot be written to.
    """
    if not file.is_file():
        kind = "is a folder" if file.is_dir() else "does not exist"
        raise InputError(f"{file} {kind}, expected {resource.what}, or the zip archive that it comes in.")
    try:
        archive = is_archive(file)
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}") from error
    return keep(resource, archive_source(resource, file, str(file)) if archive else _plain_source(resource, file))


def archive_source(resource: Resource, archive: Path, origin: str) -> Source:
    """The member of an archive that is the resource.

    Raises:
        InputError: as `resources.archive.member_chunks`.
    """
    member = member_chunks(archive, resource)
    name = _kept_name(resource, member.name, (archive.name, *member.folders))
    return Source(name, member.chunks, f"{origin}, member {member.name}")


def _plain_source(resource: Resource, file: Path) -> Source:
    name = _kept_name(resource, file.name, file.absolute().parts[-3:-1])
    return Source(name, file_chunks(file), str(file))


def _kept_name(resource: Resource, name: str, around: Sequence[str]) -> str:
    """The name to keep a file by: of LOINC's names with the release, which often stands only in what it came in.

    Args:
        resource: what it is.
        name: the file's own name.
        around: the names of archive and folders that it lies in, from the outside in.
    """
    if resource.name != "loinc-names":
        return name
    from clinical_evals.ontology.loinc_names import version_named

    version = version_named((*around, name))
    return f"Loinc_{version}{''.join(Path(name).suffixes)}" if version and not version_named((name,)) else name


def keep(resource: Resource, source: Source, sha256: str = "") -> Added:
    """Write a file aside, read it, move it into the folder and record it.

    Args:
        resource: what it is said to be.
        source: where its bytes come from.
        sha256: what it must have; empty where that is not known.

    Raises:
        InputError: it is too large, has another SHA-256 or is not the resource; the folder cannot be written to.
    """
    folder = kept_folder()
    try:
        with _locked(folder), tempfile.TemporaryDirectory(dir=folder, prefix=_ASIDE) as aside:
            path = Path(aside) / source.file_name
            found, size = _write(path, source, resource)
            if sha256 and found != sha256:
                raise InputError(
                    f"{source.origin}: SHA-256 {found}, expected {sha256}: not the file that this version of "
                    f"clinical-evals knows as {resource.name}"
                )
            read = _read_aside(resource, path, source.origin)
            recorded = Recorded(
                file=f"{resource.name}/{found[:12]}/{source.file_name}",
                sha256=found,
                size=size,
                origin=source.origin,
                content=read.content,
                entries=read.entries,
                mtime_ns=path.stat().st_mtime_ns,
            )
            return _move_in(folder, resource, path, recorded)
    except OSError as error:
        raise InputError(
            f"{folder} cannot be written to ({error.strerror or error}). Make room or let XDG_DATA_HOME name a folder "
            "of yours."
        ) from error


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """The folder to ourselves; what a killed process left aside is cleared away."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        _LOG.warning("another process adds a file to %s: waiting for it", folder)
        lock.acquire()
    try:
        for left in folder.glob(f"{_ASIDE}*"):
            shutil.rmtree(left, ignore_errors=True)
        yield
    finally:
        lock.release()


def _write(path: Path, source: Source, resource: Resource) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    with path.open("wb") as file:
        for chunk in source.chunks:
            size += len(chunk)
            if size > resource.largest:
                raise InputError(
                    f"{source.origin}: larger than {resource.largest:,} bytes, which {resource.what} never is."
                )
            digest.update(chunk)
            file.write(chunk)
        file.flush()
        os.fsync(file.fileno())
    return digest.hexdigest(), size


def _read_aside(resource: Resource, path: Path, origin: str) -> Read:
    try:
        return read_resource(resource, path)
    except InputError as error:
        raise InputError(str(error).replace(str(path), origin)) from error


def _move_in(folder: Path, resource: Resource, path: Path, recorded: Recorded) -> Added:
    """The record is what makes it visible: written last, by a rename."""
    record = read_record(folder)
    target = folder / recorded.file
    target.parent.mkdir(parents=True, exist_ok=True)
    os.replace(path, target)
    write_record(folder, record | {resource.name: recorded})
    for other in (folder / resource.name).iterdir():
        if other != target.parent:
            shutil.rmtree(other, ignore_errors=True)
    for other in target.parent.iterdir():
        if other != target:  # the same bytes by another name, such as one without the release
            other.unlink()
    return Added(target, recorded)
