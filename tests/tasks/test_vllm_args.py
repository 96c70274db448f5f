"""From MODEL_ARGS to lighteval's VLLMModelConfig, to the arguments of vLLM's LLM, here and on Ray."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from clinical_evals.errors import InputError
from clinical_evals.tasks.models.model_args import build_config, parse_model_args
from clinical_evals.tasks.models.vllm_engine import ENVIRONMENT, About, Engine, start_engine
from clinical_evals.tasks.models.vllm_generator import VllmConfig, engine_arguments

VALUES: dict[str, Any] = {
    "dtype": "float16",
    "revision": "v2",
    "tensor_parallel_size": 2,
    "data_parallel_size": 4,
    "pipeline_parallel_size": 3,
    "gpu_memory_utilization": 0.85,
    "enable_prefix_caching": False,
    "max_model_length": 8192,
    "quantization": "awq",
    "load_format": "safetensors",
    "max_num_seqs": 32,
    "max_num_batched_tokens": 4096,
    "add_special_tokens": False,
    "override_chat_template": True,
    "enforce_eager": True,
    "batch_size": 16,
}
GENERATION = {
    "temperature": 0.7,
    "top_p": 0.9,
    "top_k": 20,
    "min_p": 0.05,
    "repetition_penalty": 1.1,
    "presence_penalty": 0.2,
    "frequency_penalty": 0.3,
    "min_new_tokens": 4,
    "max_new_tokens": 99,
    "stop_tokens": ["END"],
}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A folder that looks like a model; nothing is loaded here."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "llama"}')
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "tokenizer.json").write_text("{}")
    return folder


def config_of(text: str, batch_size: int | None = None) -> VllmConfig:
    config = build_config(parse_model_args(text, batch_size, "vllm"))
    assert isinstance(config, VllmConfig)
    return config


def as_text(model: Path, values: dict[str, Any], generation: dict[str, Any]) -> str:
    pairs = "".join(f",{name}={value}" for name, value in values.items())
    return f"model_name={model}{pairs},generation_parameters={json.dumps(generation)}"


def as_yaml(model: Path, values: dict[str, Any], generation: dict[str, Any]) -> str:
    parameters = {"model_name": str(model), **values, "generation_parameters": generation}
    path = model.parent / "config.yaml"
    path.write_text(json.dumps({"model_parameters": parameters}))  # JSON is YAML
    return str(path)


@pytest.mark.parametrize("write", [as_text, as_yaml])
def test_every_value_arrives_with_its_type(model: Path, write: Any) -> None:
    text = write(model, VALUES, GENERATION)
    config = config_of(text)
    for name, value in VALUES.items():
        found = getattr(config, name)
        assert (found, type(found)) == (value, type(value)), name
    parameters = config.generation_parameters.model_dump(exclude_none=True)
    assert parameters == {name: value for name, value in GENERATION.items() if name != "max_new_tokens"}
    assert parse_model_args(text, None, "vllm").answer_tokens == 99  # the length of the answer, as everywhere here
    assert engine_arguments(config) == {
        "model": str(model), "revision": "v2", "max_model_len": 8192, "dtype": "float16", "tensor_parallel_size": 2,
        "pipeline_parallel_size": 3, "gpu_memory_utilization": 0.85, "enable_prefix_caching": False,
        "quantization": "awq", "load_format": "safetensors", "max_num_seqs": 32, "max_num_batched_tokens": 4096,
        "enforce_eager": True,
    }  # fmt: skip


def test_what_is_not_given_is_lightevals_default_or_vllms(model: Path) -> None:
    config = config_of(f"model_name={model}")
    assert config.batch_size == 64
    assert engine_arguments(config) == {
        "model": str(model), "revision": "main", "dtype": "bfloat16", "tensor_parallel_size": 1,
        "pipeline_parallel_size": 1, "gpu_memory_utilization": 0.9, "max_num_seqs": 128,
        "max_num_batched_tokens": 2048, "enforce_eager": False,
    }  # fmt: skip


def test_another_tokenizer_is_vllms_too(model: Path) -> None:
    arguments = engine_arguments(config_of(f"model_name={model},tokenizer=org/other,revision=r1"))
    assert (arguments["tokenizer"], arguments["tokenizer_revision"]) == ("org/other", "r1")


def test_the_batch_size_of_the_command_goes_first(model: Path) -> None:
    assert config_of(f"model_name={model},batch_size=3").batch_size == 3
    assert config_of(f"model_name={model},batch_size=3", batch_size=5).batch_size == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("max_length=4096", r"max_length: there is no such value, did you mean max_model_length\b"),
        ("tensor_parallel=2", r"tensor_parallel: there is no such value, did you mean tensor_parallel_size\b"),
        ("continuous_batching=True", r"continuous_batching: there is no such value"),
        ("tensor_parallel_size=two", r"tensor_parallel_size: Input should be a valid integer"),
        ("data_parallel_size=0", r"data_parallel_size: Input should be greater than 0"),
        ("batch_size=many", r"batch_size: Input should be a valid integer"),
        ("gpu_memory_utilization=most", r"gpu_memory_utilization: Input should be a valid number"),
        ("is_async=True", r"is_async cannot be used: "),
        ("swap_space=8", r"swap_space cannot be used: "),
        ("seed=7", r"seed cannot be used: .*--seed"),
        ("subfolder=x", r"subfolder cannot be used: "),
        ("trust_remote_code=True", r"trust_remote_code cannot be used: "),
        ("generation_parameters={temprature:0.7}", r"generation_parameters.temprature: .* did you mean temperature"),
        ("generation_parameters={seed:0}", r"generation_parameters.seed cannot be used: .*--seed"),
        (
            "generation_parameters={length_penalty:1.5}",
            r"generation_parameters.length_penalty cannot be used: vLLM has",
        ),
        ("generation_parameters={top_k:few}", r"generation_parameters.top_k: Input should be a valid integer"),
    ],
)
def test_what_vllm_cannot_use_is_named(model: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        config_of(f"model_name={model},{text}")


def test_an_error_lists_what_there_is(model: Path) -> None:
    with pytest.raises(InputError, match=r"Known: .*max_model_length.*tensor_parallel_size") as raised:
        config_of(f"model_name={model},nothing_like_it=1")
    assert not {"swap_space", "is_async", "trust_remote_code", "seed"} & set(
        str(raised.value).replace(",", "").split()
    )
    with pytest.raises(InputError, match=r"Generation parameters: .*stop_tokens, temperature"):
        config_of(f"model_name={model},generation_parameters={{nothing_like_it:1}}")


def test_every_generation_parameter_is_either_vllms_or_refused(vllm_stand_in: Any) -> None:
    from lighteval.models.model_input import GenerationParameters

    from clinical_evals.tasks.models.backends import BACKENDS

    names = GenerationParameters.model_fields.keys() - BACKENDS["vllm"].refused_generation.keys()
    values = {name: GENERATION[name] for name in names}  # all of them have a value above
    assert vllm_stand_in.SamplingParams(**GenerationParameters(**values).to_vllm_dict()).max_tokens == 99


def test_generation_parameters_that_are_no_mapping(tmp_path: Path, model: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(f"model_parameters:\n  model_name: {model}\n  generation_parameters: hot\n")
    with pytest.raises(InputError, match="generation_parameters 'hot': expected"):
        config_of(str(path))


# To the engine itself


@pytest.fixture
def given(vllm_stand_in: Any, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What each LLM was made with; nothing is loaded. A name that vLLM does not have is a TypeError, as there."""
    found: list[dict[str, Any]] = []

    class LLM:
        def __init__(self, model: str, **arguments: Any) -> None:
            if unknown := arguments.keys() - vllm_stand_in._ENGINE_ARGUMENTS:
                raise TypeError(f"EngineArgs.__init__() got an unexpected keyword argument {min(unknown)!r}")
            found.append({"model": model, **arguments})
            loaded = vllm_stand_in._ModelConfig(arguments.get("max_model_len", 32_768), arguments["dtype"])
            self.llm_engine = vllm_stand_in._LLMEngine(loaded)

    monkeypatch.setattr(vllm_stand_in, "LLM", LLM)
    return found


def start(text: str) -> Engine:
    config = config_of(text)
    return start_engine(engine_arguments(config), config.data_parallel_size)


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("tensor_parallel_size=2", {"tensor_parallel_size": 2}),
        ("pipeline_parallel_size=3", {"pipeline_parallel_size": 3}),
        ("gpu_memory_utilization=0.85", {"gpu_memory_utilization": 0.85}),
        ("max_model_length=8192", {"max_model_len": 8192}),
        ("dtype=float16", {"dtype": "float16"}),
        ("quantization=awq", {"quantization": "awq"}),
        ("load_format=safetensors", {"load_format": "safetensors"}),
        ("max_num_seqs=32", {"max_num_seqs": 32}),
        ("max_num_batched_tokens=4096", {"max_num_batched_tokens": 4096}),
        ("enable_prefix_caching=False", {"enable_prefix_caching": False}),
        ("enforce_eager=True", {"enforce_eager": True}),
        ("revision=v2", {"revision": "v2"}),
        ("tokenizer=org/other", {"tokenizer": "org/other", "tokenizer_revision": "main"}),
        ("batch_size=16", {}),  # ours: the rows that are logged together
    ],
)
def test_each_value_alone_reaches_the_engine_and_changes_nothing_else(
    model: Path, given: list[dict[str, Any]], text: str, changed: dict[str, Any]
) -> None:
    start(f"model_name={model}")
    start(f"model_name={model},{text}")
    usual, found = given
    assert {name: value for name, value in found.items() if usual.get(name) != value} == changed
    assert usual.keys() <= found.keys()


def test_all_values_together_reach_the_engine(model: Path, given: list[dict[str, Any]]) -> None:
    text = as_text(model, {**VALUES, "data_parallel_size": 1}, GENERATION)
    engine = start(text)
    assert given == [engine_arguments(config_of(text))]
    assert engine.about() == About(8192, "float16", "0.30.0")


@pytest.mark.parametrize(
    ("copies", "tensor", "pipeline", "cpu", "gpus"),
    [
        (2, 1, 1, False, 1),
        (2, 4, 1, False, 4),
        (3, 1, 2, False, 2),
        (2, 2, 2, False, 4),  # tensor x pipeline
        (2, 2, 1, True, 0),  # vLLM on the CPU takes none
    ],
)
def test_each_copy_on_ray_has_the_same_arguments_and_its_own_gpus(
    model: Path, given: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, copies: int, tensor: int, pipeline: int,
    cpu: bool, gpus: int,
) -> None:  # fmt: skip
    import ray
    from vllm.platforms import current_platform

    monkeypatch.setattr(current_platform, "is_cpu", lambda: cpu)
    sizes = f"tensor_parallel_size={tensor},pipeline_parallel_size={pipeline},data_parallel_size={copies}"
    start(f"model_name={model},{sizes},quantization=fp8,max_model_length=4096")
    assert [actor.resources for actor in ray.actors] == [{"num_cpus": 0, "num_gpus": gpus}] * copies
    assert len(given) == copies
    for arguments in given:
        assert (arguments["tensor_parallel_size"], arguments["pipeline_parallel_size"]) == (tensor, pipeline)
        assert (arguments["quantization"], arguments["max_model_len"]) == ("fp8", 4096)
        # on the GPUs that Ray gave to the copy: vLLM's own way to Ray would take them a second time
        assert arguments.get("distributed_executor_backend") == ("mp" if gpus > 1 else None)
        assert "data_parallel_size" not in arguments  # LLM refuses it


@pytest.mark.parametrize(
    ("address", "asked"),
    [
        (None, "local"),  # a cluster of its own on this machine, also where another one happens to run
        ("", "local"),
        ("local", "local"),
        ("10.0.0.1:6379", None),  # None: Ray reads RAY_ADDRESS itself
        ("ray://10.0.0.1:10001", None),
        ("auto", None),
    ],
)
def test_ray_address_decides_which_cluster(
    model: Path, given: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, address: str | None, asked: str | None
) -> None:
    import ray

    begun: list[dict[str, Any]] = []
    begin = ray.init
    monkeypatch.setattr(ray, "init", lambda **options: (begun.append(options), begin(**options)))
    if address is None:
        monkeypatch.delenv("RAY_ADDRESS", raising=False)
    else:
        monkeypatch.setenv("RAY_ADDRESS", address)
    monkeypatch.setenv("VLLM_LOGGING_LEVEL", "DEBUG")
    engine = start(f"model_name={model},data_parallel_size=2")
    (options,) = begun
    assert options["address"] == asked
    # the other machines have our environment: what we set, and what was set otherwise before
    assert options["runtime_env"] == {"env_vars": {**ENVIRONMENT, "VLLM_LOGGING_LEVEL": "DEBUG"}}
    engine.close()
    assert ray.calls == ["init", "shutdown"]


def test_a_cluster_that_whoever_calls_us_has_joined_is_left_as_it_is(model: Path, given: list[dict[str, Any]]) -> None:
    import ray

    ray.init()
    start(f"model_name={model},data_parallel_size=2").close()
    assert ray.calls == ["init"]
    assert [actor.alive for actor in ray.actors] == [False, False]


@pytest.mark.skipif(
    find_spec("vllm") is None, reason='vLLM is not installed (pip install "clinical-evals[eval,vllm]")'
)
def test_vllm_has_every_argument_that_we_pass(model: Path) -> None:
    from dataclasses import fields

    from vllm.engine.arg_utils import EngineArgs

    known = {field.name for field in fields(EngineArgs)}
    arguments = engine_arguments(config_of(as_text(model, {**VALUES, "tokenizer": "org/other"}, GENERATION)))
    assert arguments.keys() | {"distributed_executor_backend"} <= known
