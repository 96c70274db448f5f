"""What a push takes of a folder: the files with their places in the repository, and what stays here."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from clinical_evals.errors import InputError
from clinical_evals.hub.inspection import UNSENT

_NEVER = re.compile(
    r"(?:^|/)(?:__pycache__|\.ipynb_checkpoints)/|\.pyc$|(?:^|/)(?:\.DS_Store|\.[^/]+\.(?:lock|part))$"
)
"""What tools leave in folders: bytecode, locks, files that were being written."""


@dataclass(frozen=True)
class Parcel:
    """Files that are to be sent.

    Args:
        origin: the file or folder that was named.
        files: by place in the repository (with slashes), sorted.
        left_out: files of the folder that are not sent, by the same kind of place, sorted.
        notes: what the user should know of them.
    """

    origin: Path
    files: dict[str, Path]
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @contextmanager
    def laid_out(self) -> Iterator[Path]:
        """A folder of links to the files, as the repository will have them: what the guard looks at."""
        with TemporaryDirectory(prefix="clinical-evals-push-") as name:
            for place, path in self.files.items():
                link = Path(name, place)
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(path.absolute())
            yield Path(name)


def parcel_of(path: Path, leave: re.Pattern[str] | None = None, take: re.Pattern[str] | None = None) -> Parcel:
    """The files of a folder, links followed, or one file.

    Args:
        path: the folder or file.
        leave: places that stay here.
        take: the only places that are sent; a file that was named itself is always sent.

    Raises:
        InputError: there is no such path, or nothing to send in it.
    """
    if not path.is_dir():
        if not os.path.lexists(path):
            raise InputError(f"{path} does not exist: expected a folder, a file or the name of one of ours")
        return Parcel(path, {path.name: path})
    files, left_out = {}, []
    for place, file in _walk(path):
        if _NEVER.search(place):
            continue
        if (leave and leave.search(place)) or (take and not take.search(place)):
            left_out.append(place)
        else:
            files[place] = file
    if not files:
        there = f"; it holds {', '.join(left_out[:5])}, which this kind of push leaves out" if left_out else ""
        raise InputError(f"nothing to send in {path}{there}")
    return Parcel(path, files, tuple(left_out))


def _walk(folder: Path) -> Iterator[tuple[str, Path]]:
    """Every file with its place, sorted; without what `huggingface_hub` never uploads."""
    seen: set[Path] = set()
    found: list[tuple[str, Path]] = []
    for here_name, folders, names in os.walk(folder, followlinks=True):
        here = Path(here_name)
        seen.add(here.resolve())
        inner = here.relative_to(folder)
        folders[:] = sorted(
            name
            for name in folders
            if name != ".git" and inner / name not in UNSENT and (here / name).resolve() not in seen
        )
        found += [((inner / name).as_posix(), here / name) for name in names]
    yield from sorted(found)
