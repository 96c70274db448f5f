"""The list of texts on which an embedding model was trained, kept in its folder: what it must not be evaluated on.

The file holds no texts, only the first 16 hexadecimal digits of the SHA-256 of each folded text.
"""

import hashlib
import json
from pathlib import Path

from clinical_evals.errors import InputError
from clinical_evals.matching.titles import fold

NAME = "trained_on.json"


class TrainedOn:
    """Tells of folded texts whether they are on the list.

    Args:
        digests: of the texts on it.
    """

    def __init__(self, digests: frozenset[str] = frozenset()) -> None:
        self._digests = digests

    def __contains__(self, folded: str) -> bool:
        return bool(self._digests) and digest(folded) in self._digests

    def __len__(self) -> int:
        return len(self._digests)


def digest(folded: str) -> str:
    """What stands in the list for a folded text."""
    return hashlib.sha256(folded.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def trained_on(folder: Path) -> TrainedOn:
    """The list in a model's folder; an empty one where there is none, as in models that nobody here trained.

    Raises:
        InputError: the file is damaged.
    """
    file = folder / NAME
    if not file.is_file():
        return TrainedOn()
    try:
        digests = json.loads(file.read_text(encoding="utf-8"))["texts"]
        if not all(isinstance(each, str) for each in digests):
            raise TypeError("an entry is no text")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{file}: not the list of texts that the training writes ({type(error).__name__}: {error}). Train the "
            "model again, or remove the file, which says what it must not be evaluated on."
        ) from error
    return TrainedOn(frozenset(digests))


def write_trained_on(folder: Path, texts: list[str], about: dict[str, object]) -> None:
    """Write the list into a model's folder."""
    digests = sorted({digest(fold(text)) for text in texts})
    (folder / NAME).write_text(json.dumps({**about, "texts": digests}, indent=0) + "\n", encoding="utf-8")
