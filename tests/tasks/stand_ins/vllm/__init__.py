"""Stands in for vLLM, which has no build for machines without a GPU: of its public surface (0.30) what is used here.

The answers are real: transformers generates them from the model's own weights, prompt by prompt. Arguments are refused
as vLLM refuses them, results have its shape: the prompt's tokens as read, an answer's tokens with its end token,
`finish_reason` and `stop_reason`. `faults` holds what a test wants to go wrong.
"""

from dataclasses import dataclass, field
from typing import Any

__version__ = "0.30.0"

engines: list["LLM"] = []
"""Every LLM that was made."""
faults: dict[str, Any] = {}
"""By name: "cut" (every prompt loses its beginning), "drop" (the last answer is missing), "finish" (the reason to
give), "die_after" (calls of `generate` that work)."""

_ENGINE_ARGUMENTS = {
    "tokenizer", "tokenizer_revision", "revision", "dtype", "tensor_parallel_size", "pipeline_parallel_size",
    "gpu_memory_utilization", "enable_prefix_caching", "quantization", "load_format", "max_model_len", "max_num_seqs",
    "max_num_batched_tokens", "enforce_eager", "distributed_executor_backend", "seed", "trust_remote_code",
}  # fmt: skip


@dataclass
class SamplingParams:
    """As in vLLM: unknown names are a TypeError, and what contradicts itself a ValueError."""

    n: int = 1
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    repetition_penalty: float = 1.0
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    seed: int | None = None
    stop: list[str] = field(default_factory=list)
    max_tokens: int | None = 16
    min_tokens: int = 0
    detokenize: bool = True
    include_stop_str_in_output: bool = False

    def __post_init__(self) -> None:
        if self.stop and not self.detokenize:
            raise ValueError("stop strings are only supported when detokenize is True.")
        if self.n > 1 and self.temperature == 0:
            raise ValueError(f"n must be 1 when using greedy sampling, got {self.n}.")


@dataclass
class CompletionOutput:
    index: int
    text: str
    token_ids: list[int]
    finish_reason: str | None
    stop_reason: int | str | None


@dataclass
class RequestOutput:
    prompt_token_ids: list[int]
    outputs: list[CompletionOutput]


@dataclass
class _ModelConfig:
    max_model_len: int
    dtype: Any


class _EngineCore:
    running = True

    def shutdown(self) -> None:
        self.running = False


@dataclass
class _LLMEngine:
    model_config: _ModelConfig
    engine_core: _EngineCore = field(default_factory=_EngineCore)


class LLM:
    def __init__(self, model: str, **arguments: Any) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        if unknown := arguments.keys() - _ENGINE_ARGUMENTS:
            raise TypeError(f"EngineArgs.__init__() got an unexpected keyword argument {min(unknown)!r}")
        self.model, self.arguments = model, arguments
        self.asked: list[int] = []  # how many prompts at once
        self._tokenizer = AutoTokenizer.from_pretrained(arguments.get("tokenizer", model))
        self._weights = AutoModelForCausalLM.from_pretrained(model, dtype=getattr(torch, arguments["dtype"]))
        own = self._weights.config.max_position_embeddings
        length = arguments.get("max_model_len", own)
        if length > own:
            raise ValueError(
                f"User-specified max_model_len ({length}) is greater than the derived max_model_len ({own})."
            )
        self.llm_engine = _LLMEngine(_ModelConfig(length, self._weights.dtype))
        engines.append(self)

    def generate(
        self, prompts: list[dict[str, list[int]]], sampling_params: list[SamplingParams], *, use_tqdm: bool = True
    ) -> list[RequestOutput]:
        assert len(prompts) == len(sampling_params)
        if len(self.asked) == faults.get("die_after"):
            raise RuntimeError("EngineCore encountered an issue.")
        self.asked.append(len(prompts))
        outputs = [
            self._answer(prompt["prompt_token_ids"], parameters)
            for prompt, parameters in zip(prompts, sampling_params, strict=True)
        ]
        return outputs[:-1] if faults.get("drop") else outputs

    def _answer(self, prompt: list[int], parameters: SamplingParams) -> RequestOutput:
        assert parameters.max_tokens is not None
        if len(prompt) + parameters.max_tokens > self.llm_engine.model_config.max_model_len:
            raise ValueError("the prompt and its answer are longer than the maximum model length")
        read = prompt[1:] if faults.get("cut") else prompt
        return RequestOutput(read, [self._complete(read, parameters, index) for index in range(parameters.n)])

    def _complete(self, prompt: list[int], parameters: SamplingParams, index: int) -> CompletionOutput:
        import torch

        options: dict[str, Any] = {"do_sample": False}
        if parameters.temperature > 0:
            options = {"do_sample": True, "temperature": parameters.temperature, "top_k": parameters.top_k}
            if parameters.seed is not None:
                torch.manual_seed(parameters.seed + index)  # as vLLM does for the answers to one prompt
        if parameters.stop:
            options |= {"stop_strings": parameters.stop, "tokenizer": self._tokenizer}
        ids = torch.tensor([prompt])
        end = self._tokenizer.eos_token_id
        tokens = self._weights.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=parameters.max_tokens, eos_token_id=end,
            pad_token_id=end, **options,
        )[0, len(prompt) :].tolist()  # fmt: skip
        text = self._tokenizer.decode(tokens, skip_special_tokens=True) if parameters.detokenize else ""
        stopped = next((stop for stop in parameters.stop if stop in text), None)
        finish = "stop" if tokens[-1] == end or stopped else "length"
        return CompletionOutput(index, text, tokens, faults.get("finish", finish), stopped)
