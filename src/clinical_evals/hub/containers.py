"""What lies in packed files and archives, without writing any of it under its own name; and the outside of weights."""

import bz2
import codecs
import gzip
import lzma
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from typing import BinaryIO

from clinical_evals.hub.evidence import Evidence
from clinical_evals.hub.sources import BLOCK, HEAD, Budget, Source, UnreadableError, as_file, read_up_to

PACKED = ("gzip", "bzip2", "xz", "zstd")
MOST_MEMBERS = 100_000
LZMA_MEMORY = 256 << 20
WEIGHTS_ENDS = 4 << 20
"""Bytes looked at on either end of weights: that is where their metadata is."""
_TORCH_STORAGE = re.compile(r"(?:^|/)(?:data/\d+|version|byteorder|\.format_version|\.storage_alignment|\.data/\w+)$")
TORCH_NAMES = (".bin", ".pt", ".pth", ".ckpt")


def unpacked(source: Source, kind: str, budget: Budget) -> Source:
    """What a file packed as `kind` (one of `PACKED`) holds."""
    name = (
        source.name.rsplit(".", 1)[0] if source.name.lower().endswith((".gz", ".bz2", ".xz", ".zst")) else source.name
    )
    return Source(name, lambda: as_file(_unpack(source, kind, budget)), source.depth + 1)


def _unpack(source: Source, kind: str, budget: Budget) -> Iterator[bytes]:
    with source.open() as file:
        for chunk in _xz_chunks(file) if kind == "xz" else _chunks(_opened(file, kind)):
            budget.spend(len(chunk))
            yield chunk


def _opened(file: BinaryIO, kind: str) -> BinaryIO:
    if kind == "gzip":
        return gzip.GzipFile(fileobj=file)  # type: ignore[return-value]  # a file in all but its class
    if kind == "bzip2":
        return bz2.BZ2File(file)  # type: ignore[return-value]  # the same
    try:
        import zstandard
    except ImportError:
        raise UnreadableError("it is packed with Zstandard: pip install zstandard, or unpack it") from None
    reader: BinaryIO = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(file, read_across_frames=True)
    return reader


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(BLOCK):
        yield chunk


def _xz_chunks(file: BinaryIO) -> Iterator[bytes]:
    """All streams of an xz file, with bounded memory (`lzma.open` has no bound)."""
    rest = file.read(HEAD)
    while rest:
        stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=LZMA_MEMORY)
        while not stream.eof:
            if stream.needs_input and not rest:
                raise UnreadableError("it is an xz file that ends too early")
            yield stream.decompress(rest, BLOCK)
            rest = file.read(HEAD) if stream.needs_input and not stream.eof else b""
        rest = (stream.unused_data or file.read(HEAD)).lstrip(b"\0")


def zip_members(source: Source, file: BinaryIO, budget: Budget) -> Iterator[Source]:
    """The members of a zip archive, one after the other.

    Weights that torch saved are such archives: of these the pickles are read as text (never unpickled) and the tensors
    are left out.

    Raises:
        UnreadableError: a member is encrypted or there are too many.
    """
    archive = zipfile.ZipFile(file)
    members = [info for info in archive.infolist() if not info.is_dir()]
    if len(members) > MOST_MEMBERS:
        raise UnreadableError(f"it holds more than {MOST_MEMBERS:,} files")
    is_torch = source.name.lower().endswith(TORCH_NAMES) and any(m.filename.endswith("/data.pkl") for m in members)
    for info in members:
        if is_torch and _TORCH_STORAGE.search(info.filename):
            continue
        if info.flag_bits & 1:
            raise UnreadableError("it is an encrypted zip archive")
        member = _member(source, info.filename, partial(_open_in_zip, archive, info), budget)
        yield member._replace(as_text=is_torch and info.filename.endswith(".pkl"))


def tar_members(source: Source, file: BinaryIO, budget: Budget) -> Iterator[Source]:
    """The regular files of a tar archive, one after the other."""
    with tarfile.open(fileobj=file, mode="r:") as archive:
        for number, info in enumerate(archive):
            if number >= MOST_MEMBERS:
                raise UnreadableError(f"it holds more than {MOST_MEMBERS:,} files")
            if info.isfile():
                yield _member(source, info.name, partial(_open_in_tar, archive, info), budget)


def _open_in_zip(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> BinaryIO:
    return archive.open(info)  # type: ignore[return-value]  # a file in all but its class


def _open_in_tar(archive: tarfile.TarFile, info: tarfile.TarInfo) -> BinaryIO:
    file = archive.extractfile(info)
    if file is None:
        raise UnreadableError("it holds something that is no file")
    return file  # type: ignore[return-value]  # the same


def _member(source: Source, name: str, opened: Callable[[], BinaryIO], budget: Budget) -> Source:
    def spend(file: BinaryIO) -> Iterator[bytes]:
        with file:
            for chunk in _chunks(file):
                budget.spend(len(chunk))
                yield chunk

    return Source(name, lambda: as_file(spend(opened())), source.depth + 1)


def scan_safetensors(source: Source, evidence: Evidence) -> None:
    """Look at the header of a safetensors file: names and `__metadata__`. The tensors themselves are weights.

    Raises:
        UnreadableError: the header is longer than the file.
    """
    with source.open() as file:
        length = int.from_bytes(read_up_to(file, 8), "little")
        header = read_up_to(file, length)
    if len(header) != length:
        raise UnreadableError("it looks like a safetensors file whose header is cut off")
    evidence.add_marks(header)


def scan_ends(source: Source, evidence: Evidence) -> None:
    """Look for marks in the first and last 4 MiB of weights in another format."""
    with source.open() as file:
        first, last = read_up_to(file, WEIGHTS_ENDS), b""
        while chunk := file.read(WEIGHTS_ENDS):
            last = (last + chunk)[-WEIGHTS_ENDS:]
    evidence.add_marks(first)
    evidence.add_marks(first[-64:] + last)


def recoded(source: Source, encoding: str) -> Source:
    """A text in UTF-16 or UTF-32 (with its byte order mark) as UTF-8."""

    def chunks() -> Iterator[bytes]:
        decoder = codecs.getincrementaldecoder(encoding)()
        with source.open() as file:
            for chunk in _chunks(file):
                yield decoder.decode(chunk).encode(errors="replace")
            yield decoder.decode(b"", final=True).encode()

    return Source(source.name, lambda: as_file(chunks()), source.depth)
