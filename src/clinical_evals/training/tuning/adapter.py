"""A LoRA adapter on the disk, and whether it belongs to a base model: by its own word, and by the shapes."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.tasks.models.model_files import hash_file, hash_folder, hub_snapshot

WEIGHTS = "adapter_model.safetensors"
CONFIG = "adapter_config.json"
_LORA = re.compile(r"base_model\.model\.(?P<module>.+)\.lora_(?P<side>[AB])\.(?:\w+\.)?weight")
Shape = tuple[int, ...]


class Adapter(NamedTuple):
    """What an adapter says of itself."""

    folder: Path
    base: str
    """The base model, as it was named when it was trained."""
    config: Mapping[str, Any]


def read_adapter(folder: Path) -> Adapter:
    """Read an adapter's own word.

    Raises:
        InputError: it is no LoRA adapter that PEFT saved, or its weights are a pickle.
    """
    path = folder / CONFIG
    if not path.is_file():
        there = ", ".join(sorted(each.name for each in folder.iterdir())[:8]) if folder.is_dir() else "no folder"
        hint = "It is a whole model already: nothing to merge." if (folder / "config.json").is_file() else ""
        raise InputError(
            f"{folder} holds no adapter: expected {CONFIG} and {WEIGHTS}, found {there or 'nothing'}. {hint}".strip()
        )
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is not readable JSON: {error}") from error
    if not isinstance(config, dict) or config.get("peft_type") != "LORA":
        kind = config.get("peft_type") if isinstance(config, dict) else type(config).__name__
        raise InputError(f"{path}: expected peft_type LORA, found {kind}: only LoRA adapters are merged.")
    if not (folder / WEIGHTS).is_file():
        raise InputError(
            f"{folder} has no {WEIGHTS}. Weights in another format, such as a pickle (.bin), are not read: save them "
            "with save_pretrained of a current PEFT."
        )
    return Adapter(folder, str(config.get("base_model_name_or_path") or ""), config)


def find_base(adapter: Adapter, base: str | None, is_copy: bool) -> str:
    """The base model to merge into.

    Args:
        adapter: as read.
        base: the one that is given; None: the one that the adapter names.
        is_copy: the user's word that the one given is a copy of it.

    Raises:
        InputError: the adapter was trained on another one, or names none and none is given.
    """
    if base is None:
        if not adapter.base:
            raise InputError(f"{adapter.folder / CONFIG} names no base model. Give it: --base FOLDER.")
        return adapter.base
    if is_copy or not adapter.base or is_same_model(adapter.base, base):
        return base
    raise InputError(
        f"{adapter.folder} is an adapter for {adapter.base}, not for {base}: merged into another base it would give "
        "nonsense. Leave --base out, or, if it is a copy of that model at another place, say so: --copy-of-base."
    )


def hash_weights(adapter: Adapter) -> str:
    """SHA-256 of the adapter's matrices, by which a model tells what was merged into it.

    Raises:
        InputError: they cannot be read.
    """
    path = adapter.folder / WEIGHTS
    try:
        return hash_file(path)
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error}).") from error


def check_shapes(adapter: Adapter, base: str) -> None:
    """Compare the adapter's matrices with the base's, without loading either.

    Raises:
        InputError: the base has no such module, or one of another shape; the first is named.
    """
    theirs = dict(_shapes(weight_files(base)))
    for name, shape in _shapes([adapter.folder / WEIGHTS]):
        match = _LORA.fullmatch(name)
        if match is None:
            continue
        wanted = theirs.get(f"{match['module']}.weight")
        if wanted is None:
            raise InputError(
                f"{adapter.folder} does not fit {base}: it changes {match['module']}, which that model does not have. "
                f"It was trained on {adapter.base or 'an unnamed model'}."
            )
        side, inner = (1, shape[-1]) if match["side"] == "A" else (0, shape[0])
        if wanted[side] != inner:
            raise InputError(
                f"{adapter.folder} does not fit {base}: its {match['module']} is for {inner} "
                f"{'inputs' if side else 'outputs'}, that model's has {wanted[side]} (shape {list(wanted)}). It was "
                f"trained on {adapter.base or 'an unnamed model'}."
            )


def weight_files(model: str) -> list[Path]:
    """The safetensors files of a model: of a folder, or of the Hub cache.

    Raises:
        InputError: there are none.
    """
    folder = Path(model) if Path(model).is_dir() else hub_snapshot(model)
    files = sorted(folder.glob("*.safetensors")) if folder else []
    if not files:
        raise InputError(
            f"the base model {model!r} is not on this machine, or has no *.safetensors. Give its folder (--base), or "
            f"bring it: hf download {model}"
        )
    return files


def _shapes(files: Sequence[Path]) -> Iterator[tuple[str, Shape]]:
    from safetensors import SafetensorError, safe_open

    for path in files:
        try:
            with safe_open(path, framework="numpy") as tensors:
                for name in tensors.keys():  # noqa: SIM118  # no dict
                    yield name, tuple(tensors.get_slice(name).get_shape())
        except (SafetensorError, OSError) as error:
            raise InputError(f"{path} is no readable safetensors file: {error}") from error


def is_same_model(one: str, other: str) -> bool:
    """Whether two names are of one model: the same name or place, or two folders with the same files."""
    first, second = Path(one), Path(other)
    if one == other or (first.exists() and second.exists() and first.resolve() == second.resolve()):
        return True
    return first.is_dir() and second.is_dir() and hash_folder(first) == hash_folder(second)
