"""Everything that is to be sent, looked at: folders, files, archives in archives, rows, prompts.

What is read: *all of it*, streaming, in bounded memory (blocks of 1 MiB of text, batches of at most 65,536 rows or
about 16 MiB of a table, at most 4,096 remembered numbers a column), until something is found. No row is skipped, so a
few rows of MIMIC anywhere among ten million others count. Not looked into: the tensors of weights (safetensors, torch
archives, GGUF, ONNX; their metadata and pickles are read as text, and nothing is ever unpickled), pixels, and numbers
that are neither whole nor written as text. Ids are also counted over all files together, column by column.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.hub import arrays, columnar, containers, texts
from clinical_evals.hub.evidence import Evidence, Finding
from clinical_evals.hub.formats import recognise
from clinical_evals.hub.sources import BLOCK, DEEPEST, Budget, Source, UnreadableError, source_of

UNSENT = (Path(".git"), Path(".cache/huggingface"))
"""Folders that `huggingface_hub` never uploads."""
MOST_ROWS_TOGETHER = 1_024
_ID = re.compile(r"(?<!\d)[123]\d{7}(?!\d)")

Row = str | Mapping[str, Any] | Sequence[Any]
"""A text, a row of a dataset, or the messages of a chat."""


@dataclass(frozen=True)
class Rows:
    """Rows or prompts that are to be sent without being a file.

    Args:
        rows: texts, rows, or lists of chat messages; a `datasets.Dataset` will do. It is gone through once here, so an
            iterator, which could then not be sent any more, is refused.
        info: what their dataset says of itself (description, card, header of the log they come from): it carries the
            mark where there is one. Prompts of MIMIC rows with little text, and all of other patients' rows, are
            known by it alone.
        name: what to call them in messages.
    """

    rows: Iterable[Row]
    info: str = ""
    name: str = "row"

    def __post_init__(self) -> None:
        if isinstance(self.rows, str | bytes | Iterator):
            raise InputError(f"Rows(...) takes a list of rows or texts, not {type(self.rows).__name__}")


class Found(NamedTuple):
    """A finding and where it was made."""

    where: str
    """The file (relative to the folder given; `!` goes into an archive) or the row; ids in names are blotted out."""
    finding: Finding


class Inspection(NamedTuple):
    """What looking gave."""

    found: tuple[Found, ...]
    files: tuple[Path, ...]
    """The files that were looked at, sorted: only these are cleared to be sent."""
    synthetic: bool
    """Whether something said of itself that it is synthetic."""


def inspect_paths(paths: Sequence[Path]) -> Inspection:
    """Look at files and at everything in folders, links followed, without what `huggingface_hub` never uploads.

    Raises:
        InputError: a path does not exist, or there is nothing in it.
    """
    found: list[Found] = []
    together, files, synthetic = Evidence(), [], False
    for shown, path in _walk(paths):
        files.append(path)
        evidence = Evidence()
        where = _inspect_file(path, shown, evidence)
        found += [Found(blot(where), finding) for finding in evidence.findings()]
        together.add_columns_of(evidence)
        together.add_text(f"\n{shown}\n".encode(errors="replace"), "")
        synthetic = synthetic or evidence.synthetic
    if not files:
        raise InputError(f"nothing to send: no file in {', '.join(map(str, paths)) or 'an empty list of paths'}")
    if not found:
        found = [Found("the files and their names together", finding) for finding in together.findings()]
    return Inspection(tuple(found), tuple(files), synthetic)


def inspect_rows(what: Rows) -> Inspection:
    """Look at rows or prompts, and at what their dataset says of itself."""
    evidence, first = Evidence(), 0
    evidence.add_text(f"\n{what.info}\n{_own_description(what.rows)}\n".encode(errors="replace"))
    where = f"the dataset info of the {what.name}s"
    for batch in _batches(what.rows) if not evidence.certain else ():
        evidence.add_text(_joined(batch))
        if evidence.certain:
            number = next((number for number, row in enumerate(batch) if _is_certain(row)), None)
            last = first + len(batch) - 1
            where = f"{what.name}s {first}-{last}" if number is None else f"{what.name} {first + number}"
            break
        first += len(batch)
    else:
        where = where if evidence.certain else f"the {what.name}s together"
    found = tuple(Found(where, finding) for finding in evidence.findings())
    return Inspection(found, (), evidence.synthetic)


def _own_description(rows: object) -> str:
    """What a `datasets.Dataset` carries of its origin, so that its mark counts where a caller gives no `info`."""
    return str(getattr(getattr(rows, "info", None), "description", None) or "")


def _batches(rows: Iterable[Row]) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    size = 0
    for row in rows:
        text = row if isinstance(row, str) else json.dumps(row, ensure_ascii=False, default=_plain)
        batch.append(text.encode(errors="replace"))
        size += len(batch[-1])
        if size >= BLOCK or len(batch) >= MOST_ROWS_TOGETHER:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _plain(value: object) -> object:
    """What JSON does not know: arrays as lists, bytes as text, everything else (dates for one) as it prints."""
    if isinstance(value, bytes):
        return value.decode("latin-1")
    tolist = getattr(value, "tolist", None)
    return tolist() if callable(tolist) else str(value)


def _joined(batch: Sequence[bytes]) -> bytes:
    return b"\n" + b"\n".join(batch) + b"\n"


def _is_certain(row: bytes) -> bool:
    evidence = Evidence()
    evidence.add_text(_joined([row]))
    return evidence.certain


def _walk(paths: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """Each file once, sorted, with the name to show."""
    for path in paths:
        if not os.path.lexists(path):
            raise InputError(f"{path} does not exist")
        if not path.is_dir():
            yield path.name, path
            continue
        seen: set[Path] = set()
        for folder, folders, names in os.walk(path, followlinks=True):
            here = Path(folder)
            seen.add(here.resolve())
            inner = here.relative_to(path)
            folders[:] = sorted(
                name
                for name in folders
                if inner / name not in UNSENT and name != ".git" and (here / name).resolve() not in seen
            )
            yield from (((inner / name).as_posix(), here / name) for name in sorted(names))


def _inspect_file(path: Path, shown: str, evidence: Evidence) -> str:
    """Look at one file; where in it (a member of an archive) looking ended."""
    try:
        return shown + _inspect(source_of(path), evidence, Budget())
    except UnreadableError as error:
        evidence.add_unreadable(str(error))
        return shown


def _inspect(source: Source, evidence: Evidence, budget: Budget) -> str:
    """Look at one source and all that lies in it; the path inside at which something certain was found, else nothing.

    Raises:
        UnreadableError: it cannot be read to its end.
    """
    if source.depth > DEEPEST:
        raise UnreadableError(f"archives lie in archives more than {DEEPEST} deep")
    try:
        head = source.head()
        kind, words = ("text", "") if source.as_text else recognise(head, source.name)
        if kind in ("zip", "tar"):
            return _inspect_archive(source, kind, evidence, budget)
        if kind in containers.PACKED:
            return _inspect(containers.unpacked(source, kind, budget), evidence, budget)
        _inspect_plain(source, kind, words, head, evidence)
    except UnreadableError:
        raise
    except Exception as error:  # what a damaged file raises is anyone's guess, and its words may quote content
        name = type(error).__name__
        raise UnreadableError(f"it cannot be read to its end (damaged or unusual: {name})") from None
    return ""


def _inspect_archive(source: Source, kind: str, evidence: Evidence, budget: Budget) -> str:
    with source.seekable() as file:
        members = containers.zip_members if kind == "zip" else containers.tar_members
        for member in members(source, file, budget):
            evidence.add_text(f"\n{member.name}\n".encode(errors="replace"), "")
            try:
                inner = _inspect(member, evidence, budget)
            except UnreadableError as error:
                raise UnreadableError(f"in it, {blot(member.name)}: {error}") from None
            if evidence.certain:
                return f"!{member.name}{inner}"
    return ""


def _inspect_plain(source: Source, kind: str, words: str, head: bytes, evidence: Evidence) -> None:
    if kind == "unreadable":
        raise UnreadableError(f"it is {words}")
    if kind in ("parquet", "arrow", "npy"):
        scan = {"parquet": columnar.scan_parquet, "arrow": columnar.scan_arrow, "npy": arrays.scan_npy}[kind]
        with source.seekable() as file:
            scan(file, evidence)
    elif kind == "safetensors":
        containers.scan_safetensors(source, evidence)
    elif kind == "weights":
        containers.scan_ends(source, evidence)
    else:
        _inspect_text(source, kind, head, evidence)


def _inspect_text(source: Source, kind: str, head: bytes, evidence: Evidence) -> None:
    if kind.startswith("utf"):
        source = containers.recoded(source, kind)
        head = source.head()
    if "xl/worksheets/" in source.name:
        texts.scan_sheet(source.open, evidence)
        return
    is_json = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")
    layout = None if is_json or kind == "image" or source.as_text else texts.layout_of(head, source.name)
    if layout is None:
        texts.scan_plain(source.open, evidence)
    else:
        texts.scan_delimited(source.open, layout, evidence)


def blot(name: str) -> str:
    """A name without the ids it may hold."""
    return _ID.sub("########", name)
