"""The engines of `clinical-evals eval BACKEND`: what each takes, and how its model is loaded.

What lighteval would take and then ignore, or misunderstand, is refused by name.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from clinical_evals.tasks.models.model_files import check_model, identify_model

if TYPE_CHECKING:
    from lighteval.models.abstract_model import ModelConfig

    from clinical_evals.tasks.models.generation import Generator

_MERGE_ADAPTER = "merge the adapter into its base model first (merge_and_unload) and give the merged folder"
_MERGE_DELTA = "merge the delta into its base model first and give the merged folder"
_REFUSED = {
    "adapter_weights": _MERGE_ADAPTER,
    "delta_weights": _MERGE_DELTA,
    "trust_remote_code": "code that comes with a model is not run",
    "system_prompt": "the system role is part of the task",
}
_NOT_BY_VLLM = "vLLM has no such parameter"
_NOT_BY_API = "the OpenAI API has no such parameter"
_OWN_SEED = "each sampled answer has a seed of its own; give --seed"


def _identify_weights(config: Any) -> dict[str, Any]:
    tokenizer = getattr(config, "tokenizer", None)
    identity: dict[str, Any] = {"weights": identify_model(config.model_name, config.revision)}
    return identity | ({"tokenizer": identify_model(str(tokenizer), config.revision)} if tokenizer else {})


class Backend(NamedTuple):
    """One engine."""

    batch_size: int | None
    """Rows that are generated together when nothing else is said; None: the configuration knows."""
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
    find_model: Callable[[str, str], str] = check_model
    """The name to load a model by, of the one that was given and a revision."""
    identify: Callable[[Any], dict[str, Any]] = _identify_weights
    """What tells the model of a configuration from all others."""
    about: Mapping[str, str] = {}
    """What else the header of a log should say of such models."""


def _transformers_config() -> "type[ModelConfig]":
    from lighteval.models.transformers.transformers_model import TransformersModelConfig

    config: type[ModelConfig] = TransformersModelConfig
    return config


def _load_transformers(config: Any, seed: int) -> "Generator":
    from clinical_evals.tasks.models.transformers_generator import load

    return load(config, seed)


def _vllm_config() -> "type[ModelConfig]":
    from clinical_evals.tasks.models.vllm_generator import VllmConfig

    return VllmConfig


def _check_vllm(config: Any) -> None:
    from clinical_evals.tasks.models.vllm_generator import check_installed

    check_installed(config)


def _ray_address(config: Any) -> str:
    """Where the copies of a data-parallel run are, unless on a cluster that Ray starts here for them."""
    from clinical_evals.tasks.models.ray_engines import names_a_cluster

    address = names_a_cluster() if config.data_parallel_size > 1 else ""
    return f"Ray cluster {address}" if address else ""  # no address of its own: its workers may be anywhere


def _load_vllm(config: Any, seed: int) -> "Generator":
    from clinical_evals.tasks.models.vllm_generator import load

    return load(config, seed)


def _endpoint_config() -> "type[ModelConfig]":
    from clinical_evals.tasks.models.endpoint_config import EndpointConfig

    return EndpointConfig


def _check_endpoint(config: Any) -> None:
    from clinical_evals.tasks.models.endpoint_config import check_endpoint

    check_endpoint(config)


def _endpoint_address(config: Any) -> str:
    from clinical_evals.tasks.models.endpoint_config import remote_address

    return remote_address(config)


def _load_endpoint(config: Any, seed: int) -> "Generator":
    from clinical_evals.tasks.models.endpoint_generator import load

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
            "seed": _OWN_SEED,
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
            "seed": _OWN_SEED,
            "truncate_prompt": "prompts are cut to the model before they are sent",
        },
        config_class=_vllm_config,
        check=_check_vllm,
        sends_to=_ray_address,
        load=_load_vllm,
    ),
    "endpoint": Backend(
        batch_size=None,
        launcher="NONE",
        refused={
            "api_key": "others may see a command; set OPENAI_API_KEY, or name a variable: api_key_env=NAME",
            "cache_dir": "nothing is loaded",
            "max_tokens": "the longest answer is --answer-tokens, the budget of a run --max-tokens",
            "system_prompt": "the system role is part of the task",
        },
        refused_generation=dict.fromkeys(
            (
                "block_size",
                "cache_implementation",
                "early_stopping",
                "length_penalty",
                "min_new_tokens",
                "min_p",
                "num_blocks",
                "repetition_penalty",
                "top_k",
            ),
            _NOT_BY_API,
        )
        | {
            "response_format": "answers are read as text",
            "seed": _OWN_SEED,
            "truncate_prompt": "prompts are cut to context=… before they are sent",
        },
        config_class=_endpoint_config,
        check=_check_endpoint,
        sends_to=_endpoint_address,
        load=_load_endpoint,
        find_model=lambda name, _: name,
        identify=lambda config: {"endpoint": config.address, "name": config.model_name},
        about={
            "endpoint": "The weights behind an endpoint are not known, nor whether they stay the same; token counts "
            "are those that its server reports."
        },
    ),
}
