"""vLLM's engine: one copy of the model in this process, or several on a Ray cluster (`ray_engines`).

Both speak in plain lists and dicts, so that they are the same to whoever asks, and so that nothing of vLLM travels
between processes.
"""

import os
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

Arguments = dict[str, Any]

# Whoever sets these otherwise decides.
ENVIRONMENT = {
    # The engine works in this process. In one of its own, as usual, it outlives a killed run and keeps the memory of
    # the GPU, so that the next run cannot start; and what is computed together then depends on time.
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_LOGGING_LEVEL": "WARNING",
    # Their makers are not told of a run.
    "VLLM_NO_USAGE_STATS": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
}


class Completion(NamedTuple):
    """One answer as vLLM gives it."""

    tokens: list[int]
    """With the end token."""
    finish: str | None
    """Why it ended, in vLLM's words: "stop", "length", "abort", …"""
    stop: int | str | None
    """What stopped it: a stop string, the id of an end token, or None for the tokenizer's own end token."""


class Answered(NamedTuple):
    """A prompt and its answers."""

    prompt: list[int]
    """The tokens that the model really read."""
    completions: list[Completion]


class About(NamedTuple):
    """What an engine knows of itself once the model is loaded."""

    max_length: int
    dtype: str
    version: str


class Engine(Protocol):
    """Answers prompts."""

    def about(self) -> About:
        """What it knows of itself."""

    def answer(self, prompts: Sequence[list[int]], sampling: Sequence[Arguments]) -> list[Answered]:
        """The answers to each prompt, in the same order.

        Args:
            prompts: their tokens.
            sampling: for each the arguments of vLLM's SamplingParams.
        """

    def close(self) -> None:
        """Free the model's memory."""


class LocalEngine:
    """One copy of the model, on the GPUs of this machine.

    Args:
        arguments: of vLLM's LLM.
    """

    def __init__(self, arguments: Arguments) -> None:
        from vllm import LLM

        self._llm = LLM(**arguments)

    def about(self) -> About:
        """What it knows of itself."""
        import vllm

        model = self._llm.llm_engine.model_config
        return About(int(model.max_model_len), str(model.dtype).removeprefix("torch."), str(vllm.__version__))

    def answer(self, prompts: Sequence[list[int]], sampling: Sequence[Arguments]) -> list[Answered]:
        """The answers to each prompt; see `Engine`."""
        from vllm import SamplingParams

        outputs = self._llm.generate(
            [{"prompt_token_ids": prompt} for prompt in prompts],
            [SamplingParams(**arguments) for arguments in sampling],
            use_tqdm=False,
        )
        return [
            Answered(
                [int(token) for token in output.prompt_token_ids or ()],
                [
                    Completion([int(t) for t in one.token_ids], one.finish_reason, one.stop_reason)
                    for one in output.outputs
                ],
            )
            for output in outputs
        ]

    def close(self) -> None:
        """Free the model's memory, which is this process's."""
        from vllm.distributed import cleanup_dist_env_and_memory

        self._llm.llm_engine.engine_core.shutdown()
        del self._llm
        cleanup_dist_env_and_memory()


def start_engine(arguments: Arguments, copies: int) -> Engine:
    """Load the model, which can take minutes.

    Args:
        arguments: of vLLM's LLM.
        copies: data_parallel_size.

    Raises:
        InputError: there are not enough GPUs.
    """
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    if copies == 1:
        return LocalEngine(arguments)
    from vllm.platforms import current_platform

    from clinical_evals.tasks.models.ray_engines import RayEngines

    gpus = int(arguments["tensor_parallel_size"]) * int(arguments["pipeline_parallel_size"])
    return RayEngines(arguments, copies, 0 if current_platform.is_cpu() else gpus)
