"""Whether a file of the kept folder still is the one that was added."""

from pathlib import Path

from clinical_evals.errors import InputError
from clinical_evals.ontology.resources.content import sha256_of
from clinical_evals.ontology.resources.folder import Recorded
from clinical_evals.ontology.resources.manifest import Resource


def require_unchanged(resource: Resource, path: Path, recorded: Recorded) -> None:
    """Compare a kept file with its record. It is hashed only where its size or time is another one than recorded.

    Args:
        resource: what it is.
        path: the file.
        recorded: what the record says of it.

    Raises:
        InputError: it has another SHA-256, or cannot be read.
    """
    try:
        now = path.stat()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    if now.st_size != recorded.size or (recorded.mtime_ns and now.st_mtime_ns != recorded.mtime_ns):
        require_hash(resource, path, recorded, sha256_of(path))  # a copied folder has other times


def require_hash(resource: Resource, path: Path, recorded: Recorded, sha256: str) -> None:
    """An InputError where the SHA-256 of a kept file is not the recorded one."""
    if sha256 != recorded.sha256:
        raise InputError(
            f"{path}: SHA-256 {sha256}, but it had {recorded.sha256} when it was added: it was changed or damaged "
            f"since. Add it again: {resource.add_command} (`clinical-evals resources verify` tells when all is well)"
        )
