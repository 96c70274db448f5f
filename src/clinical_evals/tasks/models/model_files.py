"""Whether a model is there, before anything heavy is loaded, and which weights exactly it has."""

import hashlib
import os
from pathlib import Path

from clinical_evals.errors import InputError, ResourceMissingError
from clinical_evals.json_file import read_object
from clinical_evals.tasks.prediction_log import hash_json

_NOT_THE_MODEL = (".md", ".yaml", ".txt.lock", ".log", ".png", ".msgpack", ".h5", ".gguf", ".onnx", ".pt", ".pth")
_TOKENIZERS = (
    "tokenizer.json",
    "tokenizer_config.json",
    "tokenizer.model",
    "vocab.json",
    "spiece.model",
    "tekken.json",
)


def check_model(name: str, revision: str = "main") -> str:
    """The name to load the model by, if it looks loadable.

    Args:
        name: a folder, or the id of a model on the Hugging Face Hub.
        revision: the Hub revision.

    Raises:
        InputError: the folder is missing, or is no model.
        ResourceMissingError: the model is not in the Hub cache and the Hub may not be asked.
    """
    folder = Path(name).expanduser()
    if name and folder.is_dir():
        _check_folder(folder)
        return str(folder)
    _check_hub_id(name, "model", "config.json, weights and tokenizer")
    if hub_snapshot(name, revision) is None and _offline():
        raise _not_here(name, "model", f" (revision {revision})", f" --revision {revision}")
    return name


def check_tokenizer(name: str) -> str:
    """The name to load the tokenizer of a model by; unlike `check_model` it asks for no weights.

    Args:
        name: a folder, or the id of a model on the Hugging Face Hub.

    Raises:
        InputError: the folder is missing.
        ResourceMissingError: it is not in the Hub cache and the Hub may not be asked.
    """
    folder = Path(name).expanduser()
    if name and folder.is_dir():
        return str(folder)
    _check_hub_id(name, "tokenizer", "tokenizer.json and tokenizer_config.json")
    if _offline() and all(hub_snapshot(name, file=file) is None for file in _TOKENIZERS):
        raise _not_here(name, "tokenizer")
    return name


def _check_hub_id(name: str, what: str, holds: str) -> None:
    if name and Path(name).expanduser().exists():
        raise InputError(f"{name} is a file, expected a folder with {holds}, or a model id of the Hub.")
    if name.startswith((".", "~", os.sep)) or name.count("/") > 1 or not name:
        raise InputError(
            f"no {what} folder at {name!r}. Give a folder that holds {holds.split(',')[0].split(' ')[0]}, or a model "
            "id of the Hub (org/name)."
        )


def _not_here(name: str, what: str, which: str = "", flags: str = "") -> ResourceMissingError:
    return ResourceMissingError(
        f"{name!r} is neither a folder on this machine nor a {what} in the Hub cache{which}, and HF_HUB_OFFLINE "
        f"forbids asking the Hub. Get it where there is network: hf download {name}{flags}"
    )


def hub_snapshot(name: str, revision: str = "main", file: str = "config.json") -> Path | None:
    """The folder of a model in the Hub cache that holds the file; its name is the commit. None if it is not there."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        found = try_to_load_from_cache(name, file, revision=revision)
    except HFValidationError as error:
        raise InputError(
            f"{name!r} is neither a folder on this machine nor a possible model id of the Hub: {error}"
        ) from error
    return Path(found).parent if isinstance(found, str) else None


def identify_model(name: str, revision: str = "main") -> dict[str, str]:
    """What tells these weights from all others: the Hub's commit, or a hash of every file of a local folder.

    The path of a local folder does not count: new weights at an old path are another model, a moved folder is the
    same.
    """
    folder = Path(name)
    if folder.is_dir():
        return {"sha256": hash_folder(folder)}
    snapshot = hub_snapshot(name, revision)
    return {"id": name, "commit": snapshot.name if snapshot else revision}


def hash_folder(folder: Path) -> str:
    """SHA-256 over names and contents of the files of a model folder (weights, configuration, tokenizer, template)."""
    files = {
        path.relative_to(folder).as_posix(): path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix not in _NOT_THE_MODEL and not path.name.startswith(".")
    }
    return hash_json({name: hash_file(path) for name, path in files.items()})


def hash_file(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check_folder(folder: Path) -> None:
    if not (folder / "config.json").is_file():
        if (folder / "adapter_config.json").is_file():
            raise InputError(
                f"{folder} holds an adapter, not a whole model. Merge it into its base model and give the folder of "
                f"the result: clinical-evals tuned merge {folder} --out MERGED (merge_and_unload of PEFT, checked)"
            )
        there = ", ".join(sorted(path.name for path in folder.iterdir())[:8]) or "nothing"
        raise InputError(
            f"{folder} is no model: it has no config.json (it holds {there}). Give the folder that save_pretrained "
            "wrote."
        )
    config = read_object(folder / "config.json")
    if "model_type" not in config:
        raise InputError(
            f"{folder / 'config.json'} names no model_type: it is not the configuration of a transformers model."
        )
    if not list(folder.glob("*.safetensors")):
        raise InputError(
            f"{folder} has no weights: expected *.safetensors. Write them with model.save_pretrained({str(folder)!r})."
        )
    if not any((folder / file).is_file() for file in _TOKENIZERS):
        raise InputError(
            f"{folder} has no tokenizer: expected {_TOKENIZERS[0]}. Write it with "
            f"tokenizer.save_pretrained({str(folder)!r})."
        )


def _offline() -> bool:
    from huggingface_hub import constants

    return bool(constants.HF_HUB_OFFLINE)
