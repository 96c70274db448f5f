"""The engines of `clinical-evals eval BACKEND`: what each takes, and how its model is loaded.

What lighteval would take and then ignore, or misunderstand, is refused by name.
"""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from lighteval.models.abstract_model import ModelConfig

    from clinical_evals.tasks.generation import Generator

_MERGE_ADAPTER = "merge the adapter into its base model first (merge_and_unload) and give the merged folder"
_MERGE_DELTA = "merge the delta into its base model first and give the merged folder"
_REFUSED = {
    "adapter_weights": _MERGE_ADAPTER,
    "delta_weights": _MERGE_DELTA,
    "trust_remote_code": "code that comes with a model is not run",
    "system_prompt": "the system role is part of the task",
}
_NOT_BY_VLLM = "vLLM has no such parameter"


class Backend(NamedTuple):
    """One engine."""

    batch_size: int
    """Rows that are generated together when nothing else is said."""
    launcher: str
    """Its name among lighteval's `ParallelismManager`s."""
    refused: Mapping[str, str]
    """Values of MODEL_ARGS that cannot be used, with the reason."""
    refused_generation: Mapping[str, str]
    """The same for generation parameters."""
    config_class: "Callable[[], type[ModelConfig]]"
    check: Callable[[Any], None]
    """Whether it can run a configuration on this machine, before anything is loaded."""
    sends_to: Callable[[Any], str]
    """The address to which a configuration sends prompts; empty where they stay on this machine."""
    load: "Callable[[Any, int], Generator]"
    """The generator of a configuration and a seed."""


def _transformers_config() -> "type[ModelConfig]":
    from lighteval.models.transformers.transformers_model import TransformersModelConfig

    config: type[ModelConfig] = TransformersModelConfig
    return config


def _load_transformers(config: Any, seed: int) -> "Generator":
    from clinical_evals.tasks.transformers_generator import load

    return load(config, seed)


def _vllm_config() -> "type[ModelConfig]":
    from clinical_evals.tasks.vllm_generator import VllmConfig

    return VllmConfig


def _check_vllm(config: Any) -> None:
    from clinical_evals.tasks.vllm_generator import check_installed

    check_installed(config)


def _ray_address(config: Any) -> str:
    """Where the copies of a data-parallel run are, unless on a cluster that Ray starts here or finds here itself."""
    address = os.environ.get("RAY_ADDRESS", "") if config.data_parallel_size > 1 else ""
    return "" if address in ("auto", "local") else address


def _load_vllm(config: Any, seed: int) -> "Generator":
    from clinical_evals.tasks.vllm_generator import load

    return load(config, seed)


BACKENDS: dict[str, Backend] = {
    "accelerate": Backend(
        batch_size=8,
        launcher="ACCELERATE",
        refused=_REFUSED
        | {"continuous_batching": "lighteval 0.13 then ignores the length of the answer; leave it out"},
        refused_generation={},
        config_class=_transformers_config,
        check=lambda _: None,
        sends_to=lambda _: "",
        load=_load_transformers,
    ),
    "vllm": Backend(
        batch_size=64,
        launcher="VLLM",
        refused=_REFUSED
        | {
            "is_async": "answers are generated batch by batch; leave it out",
            "seed": "each sampled answer has a seed of its own; give --seed",
            "subfolder": "vLLM reads the top folder of a model; give the folder itself",
            "swap_space": "vLLM has no such argument any more; leave it out",
        },
        refused_generation=dict.fromkeys(
            (
                "block_size",
                "cache_implementation",
                "early_stopping",
                "length_penalty",
                "num_blocks",
                "response_format",
            ),
            _NOT_BY_VLLM,
        )
        | {
            "seed": "each sampled answer has a seed of its own; give --seed",
            "truncate_prompt": "prompts are cut to the model before they are sent",
        },
        config_class=_vllm_config,
        check=_check_vllm,
        sends_to=_ray_address,
        load=_load_vllm,
    ),
}
