"""Bytes that are to be looked at: a file, or a member of an archive, that can be opened more than once."""

import io
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

HEAD = 65_536
"""Bytes from which a format is recognised."""
BLOCK = 1 << 20
OVERLAP = 8_192
"""Bytes that two blocks of a text share, so that nothing is cut apart for both."""
IN_MEMORY = 32 << 20
"""Unpacked bytes kept in memory before a temporary file is used, for formats that must be read out of order."""
MOST_UNPACKED = 8 << 30
"""Unpacked bytes read for one file that is to be sent; what unpacks to more is refused."""
DEEPEST = 6
"""Archives within archives."""


class UnreadableError(Exception):
    """Internal: something cannot be looked at; the message says why and quotes nothing of it."""


class Budget:
    """The unpacked bytes that may still be read for one file."""

    def __init__(self, left: int = MOST_UNPACKED) -> None:
        self.left = left

    def spend(self, count: int) -> None:
        """Take bytes off.

        Raises:
            UnreadableError: no more are left.
        """
        self.left -= count
        if self.left < 0:
            raise UnreadableError(
                f"it unpacks to more than {MOST_UNPACKED >> 30} GiB: send it as plain text or Parquet"
            )


class Source(NamedTuple):
    """Something that can be opened and read."""

    name: str
    """Its name or, in an archive, its path there; decides nothing but how text without a mark of its own is split."""
    open: Callable[[], BinaryIO]
    depth: int = 0
    """How many archives it lies in."""
    path: Path | None = None
    """Where it lies as a file of its own."""
    as_text: bool = False
    """Whether it is read as text whatever it is: pickles of weights, which are never unpickled."""

    def head(self) -> bytes:
        """The first bytes, up to `HEAD`."""
        with self.open() as file:
            return read_up_to(file, HEAD)

    @contextmanager
    def seekable(self) -> Iterator[BinaryIO]:
        """The bytes as a file that can be read out of order, unpacked to memory or a temporary file if need be."""
        if self.path is not None:
            with self.path.open("rb") as file:
                yield file
            return
        with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY) as spool:
            with self.open() as packed:
                while chunk := packed.read(BLOCK):
                    spool.write(chunk)
            spool.seek(0)
            yield spool  # type: ignore[misc]  # a file in all but its class


def source_of(path: Path) -> Source:
    """A file of this machine.

    Raises:
        UnreadableError: it is no regular file, or may not be read.
    """
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        raise UnreadableError(f"it cannot be opened ({type(error).__name__})") from None
    if not stat.S_ISREG(mode):
        raise UnreadableError("it is neither a file nor a folder")
    return Source(path.name, lambda: path.open("rb"), path=path)


def read_up_to(file: BinaryIO, count: int) -> bytes:
    """The next `count` bytes, fewer only at the end: a single read of a packed stream may give less."""
    chunks = []
    while count > 0 and (chunk := file.read(count)):
        chunks.append(chunk)
        count -= len(chunk)
    return b"".join(chunks)


def blocks(file: BinaryIO) -> Iterator[bytes]:
    """A text in overlapping blocks of about 1 MiB, with a line end before its first and after its last byte."""
    block = b"\n"
    while chunk := file.read(BLOCK):
        block += chunk
        if len(block) >= BLOCK:
            yield block
            block = block[-OVERLAP:]
    yield block + b"\n"


class ChunkReader(io.RawIOBase):
    """An iterator of bytes as a file that can be read once, front to back."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = b""

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # typeshed: any writable buffer
        """Fill the buffer with what comes next; 0 at the end."""
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = chunk
        count = min(len(buffer), len(self._rest))
        buffer[:count], self._rest = self._rest[:count], self._rest[count:]
        return count


def as_file(chunks: Iterator[bytes]) -> BinaryIO:
    """A file over chunks of bytes."""
    return io.BufferedReader(ChunkReader(chunks), HEAD)
