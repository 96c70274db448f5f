"""Where title indexes are kept: one folder for each set of titles, encoder and precision.

    <cache>/title-index/icd10cm-april-2026-…-<key>/
        header.json    what the vectors are of, their size and checksum; written last
        vectors.npy    float16 (titles, dimension)
        chunks/        only during a build: finished ranges, each with its checksum in the name
        lock

Every file is written aside and renamed, so it is whole or not there; the header is written last, so that only a
finished index has one.
"""

import hashlib
import json
import os
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import xxhash
from numpy.typing import NDArray

from clinical_evals.matching.titles import Titles
from clinical_evals.write_aside import written_aside

if TYPE_CHECKING:
    from filelock import FileLock

Kept = TypeVar("Kept")

FORMAT = 1
"""Raised when what is stored, or the order in which it is built, changes: older indexes are then not looked at."""
CHUNK_TITLES = 4096
"""Titles in one chunk: what a killed build loses at most (about six seconds' work on two cores)."""


def cache_folder() -> Path:
    """Where this package keeps what it can make again.

    CLINICAL_EVALS_CACHE if it is set, else `clinical-evals` in XDG_CACHE_HOME, else in ~/.cache.
    """
    if own := os.environ.get("CLINICAL_EVALS_CACHE"):
        return Path(own).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "clinical-evals"


class IndexStore:
    """The files of one index."""

    writable: bool = True
    """False once a file could not be written; nothing more is then kept."""
    damage: str = ""
    """Why the last `read` could not use what it found; empty if nothing was there."""

    def __init__(self, folder: Path, identity: dict[str, str | int]) -> None:
        self.folder = folder
        self.identity = identity

    @classmethod
    def of(cls, titles: Titles, encoder: str, precision: str, cache_dir: str | Path | None = None) -> "IndexStore":
        """The store of these titles (codes, titles and their order) as this encoder (its identity) embeds them."""
        content = hashlib.sha256()
        for pair in zip(titles.codes, titles.titles, strict=True):
            content.update("\0".join(pair).encode("utf-8", "surrogatepass") + b"\n")
        identity: dict[str, str | int] = {
            "format": FORMAT,
            "source": titles.source,
            "content_sha256": content.hexdigest(),
            "encoder_sha256": encoder,
            "precision": precision,
            "titles": len(titles.titles),
        }
        key = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:16]
        name = re.sub(r"[^a-z0-9]+", "-", titles.source.lower())[:60].strip("-")
        return cls(Path(cache_dir or cache_folder()) / "title-index" / f"{name}-{key}", identity)

    # The finished index

    def read(self) -> NDArray[np.float16] | None:
        """The vectors, memory-mapped, if their checksum is right; None if there are none, or if `damage` says why."""
        self.damage = ""
        vectors_file = self.folder / "vectors.npy"
        try:
            header = json.loads((self.folder / "header.json").read_text(encoding="utf-8"))
            found = {name: header.get(name) for name in self.identity}
            if found != self.identity:
                self.damage = "header.json is of another index"
            elif (size := vectors_file.stat().st_size) != header.get("bytes"):
                self.damage = f"vectors.npy has {size} bytes, expected {header.get('bytes')}"
            elif _checksum(vectors_file) != header.get("xxh3_128"):
                self.damage = "the checksum of vectors.npy is wrong"
            else:
                vectors: NDArray[np.float16] = np.load(vectors_file, mmap_mode="r", allow_pickle=False)
                if vectors.dtype == np.float16 and vectors.ndim == 2 and len(vectors) == self.identity["titles"]:
                    shutil.rmtree(
                        self.folder / "chunks", ignore_errors=True
                    )  # left by a build that was killed at its end
                    return vectors
                self.damage = f"vectors.npy holds {vectors.dtype} {vectors.shape}"
        except (FileNotFoundError, NotADirectoryError):
            if (self.folder / "header.json").exists():
                self.damage = "vectors.npy is missing"
        except (OSError, ValueError, AttributeError) as error:  # ValueError: no JSON, no UTF-8, no array
            self.damage = f"{type(error).__name__}: {error}"
        return None

    def write(self, vectors: NDArray[np.float16]) -> NDArray[np.float16]:
        """Keeps the vectors, removes the chunks. Returns them memory-mapped, or as they are if they cannot be kept."""
        stored = self._keep(lambda: self._write(vectors))
        return vectors if stored is None else stored

    def _write(self, vectors: NDArray[np.float16]) -> NDArray[np.float16]:
        file = self.folder / "vectors.npy"
        _save(file, vectors)
        header = {
            **self.identity,
            "dimension": vectors.shape[1],
            "bytes": file.stat().st_size,
            "xxh3_128": _checksum(file),
        }
        text = json.dumps(header, indent=1, sort_keys=True) + "\n"
        with written_aside(self.folder / "header.json", alone=True) as aside:
            aside.write_text(text, encoding="utf-8")
        shutil.rmtree(self.folder / "chunks", ignore_errors=True)
        stored: NDArray[np.float16] = np.load(file, mmap_mode="r", allow_pickle=False)
        return stored

    # The build

    @contextmanager
    def locked(self) -> Iterator[None]:
        """One process builds; others wait for it and then read."""
        lock = self._keep(self._lock)
        try:
            yield
        finally:
            if lock:
                lock.release()

    def _lock(self) -> "FileLock":
        from filelock import FileLock, Timeout

        self.folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.folder / "lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            print(f"Another process is building {self.folder}: waiting for it.", file=sys.stderr)
            lock.acquire()
        return lock

    def read_chunk(self, start: int, rows: int) -> NDArray[np.float16] | None:
        """A finished range of an earlier, interrupted build; None if it is not there or not whole."""
        for file in (self.folder / "chunks").glob(f"{start:08d}.*.npy"):
            try:
                if _checksum(file) == file.name.split(".")[1]:
                    chunk: NDArray[np.float16] = np.load(file, allow_pickle=False)
                    if chunk.dtype == np.float16 and chunk.ndim == 2 and len(chunk) == rows:
                        return chunk
            except (OSError, ValueError):
                continue
        return None

    def write_chunk(self, start: int, chunk: NDArray[np.float16]) -> None:
        """Keeps a finished range until the index is finished."""
        self._keep(lambda: self._write_chunk(start, chunk))

    def _write_chunk(self, start: int, chunk: NDArray[np.float16]) -> None:
        folder = self.folder / "chunks"
        folder.mkdir(exist_ok=True)
        part = folder / "part"
        with part.open("wb") as stream:
            np.save(stream, chunk, allow_pickle=False)
        part.replace(folder / f"{start:08d}.{_checksum(part)}.npy")

    def _keep(self, write: Callable[[], Kept]) -> Kept | None:
        """Runs what writes. A folder that cannot be written to (any more) costs one warning, not the run."""
        if not self.writable:
            return None
        try:
            return write()
        except OSError as error:
            self.writable = False
            warnings.warn(
                f"{self.folder} cannot be written to ({error}), so the title index is not kept and is built again "
                "next time. Let CLINICAL_EVALS_CACHE name a folder that can be written to.",
                RuntimeWarning,
                stacklevel=2,
            )
            return None


def _save(file: Path, vectors: NDArray[np.float16]) -> None:
    with written_aside(file, alone=True) as aside, aside.open("wb") as stream:  # np.save would add .npy to a name
        np.save(stream, vectors, allow_pickle=False)


def _checksum(file: Path) -> str:
    digest = xxhash.xxh3_128()  # against torn files, not against people: 75 MB in some milliseconds
    with file.open("rb") as stream:
        while block := stream.read(1 << 22):
            digest.update(block)
    return digest.hexdigest()
