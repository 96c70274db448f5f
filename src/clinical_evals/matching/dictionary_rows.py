"""What the official protocol matches texts to, whichever table it is from (protocol.md 3, "candidates")."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple


class Candidates(NamedTuple):
    """Titles to match against, in the order that decides ties; several codes may have one title."""

    name: str
    """What they are, without regard to how the file was packed: progress bar and cache folder of their index."""
    codes: tuple[str, ...]
    """What each stands for: see `ids`. A code that the release lacks is as its source writes it."""
    titles: tuple[str, ...]
    """The title of each, as its source writes it."""
    source: str
    """Where they are from, and how many, for results and logs."""
    from_mimic: bool
    """Whether they are MIMIC's own, as in the published tables."""
    left_out: tuple[str, ...] = ()
    """Codes of the source, as written there, that the release does not have and that are no candidates."""
    equal_to: tuple[str, ...] = ()
    """What a text must equal to be taken for each without embeddings; empty: its title."""
    ids: Literal["code", "itemid", "ndc"] = "code"
    """Whether `codes` are codes of the system, or MIMIC's numbers of lab items or drugs."""
    classes: Mapping[str, tuple[str, ...]] = {}
    """Of drugs: the ATC codes of each NDC; one without any contributes nothing."""


def sha256_of(path: Path) -> str:
    """The first 16 digits of a file's SHA-256, as `Candidates.source` has it."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
