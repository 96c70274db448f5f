"""MODEL_ARGS of the command line ("model_name=…,dtype=…" or a YAML file) into lighteval's model configuration.

What lighteval would take and then ignore, or misunderstand, is refused here by name.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from clinical_evals.errors import InputError
from clinical_evals.tasks.model_files import check_model

if TYPE_CHECKING:
    from lighteval.models.transformers.transformers_model import TransformersModelConfig

DEFAULT_BATCH_SIZE = 8

_REFUSED = {
    "adapter_weights": "merge the adapter into its base model first (merge_and_unload) and give the merged folder",
    "delta_weights": "merge the delta into its base model first and give the merged folder",
    "trust_remote_code": "code that comes with a model is not run",
    "system_prompt": "the system role is part of the task",
    "continuous_batching": "lighteval 0.13 then ignores the length of the answer; leave it out",
}


class ModelRequest(NamedTuple):
    """What was asked of the model, checked as far as that goes without loading it."""

    name: str
    revision: str
    values: dict[str, Any]
    """All values for lighteval's configuration, `model_name` included."""
    answer_tokens: int | None
    """`max_new_tokens` of the generation parameters. lighteval would cut the prompt to it."""


def parse_model_args(text: str, batch_size: int | None = None) -> ModelRequest:
    """Read and check MODEL_ARGS.

    Args:
        text: "model_name=NAME_OR_FOLDER[,key=value…]", or the path of a YAML file with `model_parameters`.
        batch_size: rows that are generated together; overrides the one in `text`.

    Raises:
        InputError, ResourceMissingError: the text cannot be read, a value is refused, or the model is not there.
    """
    values = _read_yaml(Path(text)) if text.endswith((".yaml", ".yml")) else _read_pairs(text)
    for key, why in _REFUSED.items():
        if values.get(key) not in (None, False, "False", "false"):
            raise InputError(f"MODEL_ARGS: {key} cannot be used: {why}.")
        values.pop(key, None)
    if not values.get("model_name"):
        raise InputError(
            f'MODEL_ARGS {text!r} names no model: give "model_name=FOLDER_OR_HUB_ID" (and ,key=value for more).'
        )
    revision = str(values.get("revision", "main"))
    values["model_name"] = check_model(str(values["model_name"]), revision)
    values["batch_size"] = batch_size or values.get("batch_size") or DEFAULT_BATCH_SIZE
    generation = dict(values.get("generation_parameters") or {})
    answer_tokens = generation.pop("max_new_tokens", None)
    values["generation_parameters"] = generation
    return ModelRequest(values["model_name"], revision, values, answer_tokens)


def build_config(request: ModelRequest) -> "TransformersModelConfig":
    """lighteval's configuration of the model.

    Raises:
        InputError: an unknown key, or a value of another type.
    """
    from lighteval.models.transformers.transformers_model import TransformersModelConfig
    from pydantic import ValidationError

    try:
        return TransformersModelConfig(**request.values)
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        known = ", ".join(sorted(TransformersModelConfig.model_fields.keys() - _REFUSED.keys()))
        raise InputError(f"MODEL_ARGS: {problems}. Known: {known}.") from error


def _read_pairs(text: str) -> dict[str, Any]:
    from lighteval.models.abstract_model import ModelConfig

    try:
        values: dict[str, Any] = ModelConfig._parse_args(text)
    except (ValueError, IndexError) as error:
        raise InputError(
            f'MODEL_ARGS {text!r} cannot be read ({error}): expected "model_name=…,key=value,…".'
        ) from error
    return values


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise InputError(f"{path} cannot be read as YAML: {error}") from error
    values = content.get("model_parameters") if isinstance(content, dict) else None
    if not isinstance(values, dict):
        raise InputError(f"{path}: expected a mapping `model_parameters` with model_name and other values.")
    return dict(values)
