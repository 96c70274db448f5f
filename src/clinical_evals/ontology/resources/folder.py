"""Folders with release files: the user's own, and the one that `clinical-evals resources` keeps, with its record."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.ontology.resources.manifest import Resource
from clinical_evals.write_aside import written_aside

FOLDER_VARIABLE = "CLINICAL_EVALS_RESOURCES"
"""The environment variable that names the user's own folder of release files."""
RECORD = "resources.json"
"""In the kept folder: which file is which resource, its SHA-256 and where it came from."""


class Recorded(NamedTuple):
    """What the record of the kept folder says of one resource."""

    file: str
    """Relative to the folder."""
    sha256: str
    size: int
    """In bytes."""
    origin: str
    """The file or address that it came from, and which member of an archive it was."""
    content: str
    """What its reader found in it, such as "78,220 codes"."""
    entries: int = 0
    """How many codes, items or rows that are; 0 in a record of an earlier version."""
    mtime_ns: int = 0
    """When the file was last written, in nanoseconds; 0 in a record of an earlier version."""


def own_folder() -> Path | None:
    """The folder that CLINICAL_EVALS_RESOURCES names; None where the variable is not set.

    Raises:
        InputError: it names something that is no folder.
    """
    value = os.environ.get(FOLDER_VARIABLE, "")
    if not value:
        return None
    folder = Path(value).expanduser()
    if not folder.is_dir():
        raise InputError(
            f"{FOLDER_VARIABLE} names {folder}, which is no folder. Let it name the folder with your release files, "
            "or unset it."
        )
    return folder


def kept_folder() -> Path:
    """The folder that `clinical-evals resources` keeps; it need not exist."""
    data = os.environ.get("XDG_DATA_HOME", "")
    base = (
        Path(data) if os.path.isabs(data) else Path.home() / ".local" / "share"
    )  # XDG: a relative one does not count
    return base / "clinical-evals" / "resources"


def matching_file(folder: Path, resource: Resource) -> Path | None:
    """The one file in a folder that has the name of a resource; None where there is none.

    Raises:
        InputError: there are several, so that the release is not clear; or the folder cannot be read.
    """
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if entry.is_file())
    except OSError as error:
        raise InputError(f"{folder} cannot be read: {error.strerror or error}") from error
    found = [name for name in names if resource.pattern.fullmatch(name.lower())]
    if len(found) > 1:
        choose = f", or choose with: {resource.add_command}" if folder == kept_folder() else ""
        raise InputError(
            f"{folder} has {len(found)} files for {resource.name}: {', '.join(found)}. One release is used at a time: "
            f"keep only one of them in that folder{choose}"
        )
    return folder / found[0] if found else None


def read_record(folder: Path) -> dict[str, Recorded]:
    """What the record of the kept folder says, by resource; nothing where there is none.

    Raises:
        InputError: the record is damaged.
    """
    path = folder / RECORD
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return {name: Recorded(**entry) for name, entry in content.items()}
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path} is damaged ({error}). Delete it and add the files again: clinical-evals resources add NAME FILE"
        ) from error


def write_record(folder: Path, record: Mapping[str, Recorded]) -> None:
    """Write the record; the caller holds the folder's lock.

    Raises:
        OSError: the folder cannot be written to.
    """
    content = {name: entry._asdict() for name, entry in sorted(record.items())}
    with written_aside(folder / RECORD) as aside:
        aside.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
