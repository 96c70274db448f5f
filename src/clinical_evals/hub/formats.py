"""What kind of bytes these are, by their first ones; names are believed only where bytes cannot tell."""

import re

MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"PAR1", "parquet"),
    (b"ARROW1", "arrow"),
    (b"\xff\xff\xff\xff", "arrow"),
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"\x93NUMPY", "npy"),
    (b"GGUF", "weights"),
    (b"\x89PNG\r\n\x1a\n", "image"),
    (b"\xff\xd8\xff", "image"),
    (b"GIF8", "image"),
)
UNREADABLE: tuple[tuple[bytes, str], ...] = (
    (b"PARE", "an encrypted Parquet file"),
    (b"%PDF", "a PDF"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"ORC", "an ORC file"),
    (b"Obj\x01", "an Avro file"),
    (b"\xd0\xcf\x11\xe0", "an old or encrypted Office file"),
    (b"\x80\x02", "a pickle"),
    (b"\x80\x03", "a pickle"),
    (b"\x80\x04", "a pickle"),
    (b"\x80\x05", "a pickle"),
)
UTF_16_32 = (
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
WEIGHT_NAMES = re.compile(
    r"\.onnx$|\.spm$|^(?:tokenizer|spiece|sentencepiece(?:\.bpe)?)\.model$|^events\.out\.tfevents\."
)
"""Binary files of a model folder that have no magic bytes: graphs, SentencePiece vocabularies, curves."""
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def recognise(head: bytes, name: str) -> tuple[str, str]:
    """The kind of a file and, where that is "unreadable", what it is in words.

    Args:
        head: its first bytes, at most 64 KiB.
        name: its name.

    Returns:
        kind: parquet, arrow, gzip, bzip2, xz, zstd, zip, tar, npy, safetensors, weights, image, utf-16, utf-32, text
        or unreadable.
    """
    for magic, kind in MAGIC:
        if head.startswith(magic):
            return kind, ""
    for magic, words in UNREADABLE:
        if head.startswith(magic) and _CONTROL.search(head):
            return "unreadable", words
    if head[257:262] == b"ustar":
        return "tar", ""
    if len(head) > 8 and head[8:9] == b"{" and 2 <= int.from_bytes(head[:8], "little") <= 100_000_000:
        return "safetensors", ""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image", ""
    for magic, kind in UTF_16_32:
        if head.startswith(magic):
            return kind, ""
    if not _CONTROL.search(head):
        return "text", ""
    if WEIGHT_NAMES.search(name.lower().rsplit("/", 1)[-1]):
        return "weights", ""
    return "unreadable", "binary data in no format that is known here"
