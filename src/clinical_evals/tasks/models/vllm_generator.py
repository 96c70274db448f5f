"""vLLM's engine as a generator: prompts go in as tokens, answers come out with the reason why they ended.

lighteval gives the names and types of the arguments, not the model. Its vLLM model (0.13) drops the reason why an
answer ended, cuts the prompts of a batch from the left by the length of the first, ignores stop tokens where there is
a chat template and loads every data-parallel copy anew for each batch. It also needs vLLM 0.10 (torch 2.7), whose
interface has changed since. vLLM's own `LLM.generate` has none of that, so it is called directly.

vLLM does not promise that an answer is independent of what it is computed with ("batch invariance"): in contrast to
`eval accelerate`, a resumed run goes on from the last finished row, but need not end in the same bytes as an
uninterrupted one, not even at temperature 0.
"""

import os
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from lighteval.models.vllm.vllm_model import VLLMModelConfig
from lighteval.tasks.requests import Doc
from pydantic import PositiveInt

from clinical_evals.errors import InputError, ResourceMissingError, RunError
from clinical_evals.tasks.models.chat import ChatPrompt, chat_prompt
from clinical_evals.tasks.models.generation import Output
from clinical_evals.tasks.models.vllm_engine import Answered, Arguments, Completion, Engine, start_engine
from clinical_evals.tasks.prediction_log import hash_text
from clinical_evals.tasks.progress import Progress

INSTALL = 'pip install "clinical-evals[eval,vllm]"'

# What lighteval names as vLLM does and vLLM takes as it is; what was not given is vLLM's choice.
_PASSED = (
    "tokenizer",
    "dtype",
    "tensor_parallel_size",
    "pipeline_parallel_size",
    "gpu_memory_utilization",
    "enable_prefix_caching",
    "quantization",
    "load_format",
    "max_num_seqs",
    "max_num_batched_tokens",
    "enforce_eager",
)
_DECISIVE = ("quantization", "load_format", "tensor_parallel_size", "pipeline_parallel_size")


class VllmConfig(VLLMModelConfig):  # type: ignore[misc]  # lighteval is not typed
    """lighteval's configuration with what it leaves out."""

    batch_size: PositiveInt = 64
    """Rows that are generated, and logged, together on each data-parallel copy. vLLM makes its own batches of them:
    more keep it busier, fewer lose less when a run is killed."""
    enforce_eager: bool = False
    """True starts quicker and takes less memory, but generates slower."""


class VllmGenerator:
    """Generates the answers of one batch; see `Generator`.

    Args:
        config: what was asked.
        engine: has loaded the model.
        tokenizer: of the model.
        seed: decides each sampled answer (temperature above 0) together with its prompt.
    """

    is_main = True

    def __init__(self, config: VllmConfig, engine: Engine, tokenizer: Any, seed: int = 0) -> None:
        self.config, self.seed = config, seed
        self.chat: ChatPrompt = chat_prompt(tokenizer, config)
        self._engine = engine
        about = engine.about()
        self.max_length = about.max_length
        given = {name: getattr(config, name) for name in _DECISIVE}
        self.settings: Mapping[str, Any] = {"backend": "vllm", "dtype": about.dtype} | _without_none(given)
        self.versions = {"vllm": about.version}
        self.rows_at_once = config.batch_size * config.data_parallel_size

    def wait_for_everyone(self) -> None:
        """There is only one process that asks."""

    def cleanup(self) -> None:
        """Free the model's memory."""
        self._engine.close()

    def generate(
        self, docs: Sequence[Doc], progress: Progress, temperature: float | None = None
    ) -> list[list[Output]]:
        """For each document its answers (`num_samples` of them); see `Generator`. The bar hears of no single token.

        Raises:
            RunError: the engine failed, or did not read a prompt as it was sent, or ended an answer in an unknown way.
        """
        prompts = [self.chat.encode(doc.query) for doc in docs]
        try:
            answered = self._engine.answer(prompts, [self._sampling(doc, temperature) for doc in docs])
        except Exception as error:  # vLLM, its worker processes, CUDA, Ray
            raise RunError(
                f"vLLM could not answer a batch of {len(docs)} rows: {type(error).__name__}: {error}. What was logged "
                "before is kept. If memory ran out, give a smaller gpu_memory_utilization or max_num_seqs, and run "
                "the same command again."
            ) from error
        if [one.prompt for one in answered] != prompts:
            self._complain(docs, prompts, answered)
        return [
            [self._output(doc, completion) for completion in one.completions]
            for doc, one in zip(docs, answered, strict=True)
        ]

    def _sampling(self, doc: Doc, temperature: float | None) -> Arguments:
        """The arguments of vLLM's SamplingParams."""
        arguments: Arguments = self.config.generation_parameters.to_vllm_dict()
        arguments |= {"temperature": temperature} if temperature is not None else {}
        arguments |= {"n": doc.num_samples, "max_tokens": doc.generation_size}
        # As in `eval accelerate`, a stop string stays in the answer. vLLM needs the text only to look for it.
        arguments |= {"detokenize": bool(arguments.get("stop")), "include_stop_str_in_output": True}
        if arguments["temperature"] > 0:
            # From the prompt, so that a row draws the same in a resumed run, whatever else is in its batch.
            arguments["seed"] = int(hash_text(f"{self.seed}\n{doc.query}")[:8], 16)
        return arguments

    def _output(self, doc: Doc, completion: Completion) -> Output:
        if completion.finish not in ("stop", "length"):
            raise RunError(
                f"row {doc.id} of {doc.task_name}: vLLM ended an answer with {completion.finish!r}, expected 'stop' "
                "or 'length'. Run the same command again: it goes on from the last finished row."
            )
        ended = completion.finish == "stop" and not isinstance(completion.stop, str)  # by a token, which comes last
        tokens = completion.tokens[:-1] if ended else completion.tokens
        return Output(str(self.chat.tokenizer.decode(tokens, skip_special_tokens=True)), tokens, completion.finish)

    def _complain(self, docs: Sequence[Doc], prompts: Sequence[list[int]], answered: Sequence[Answered]) -> None:
        if len(answered) != len(docs):
            raise RunError(
                f"vLLM answered {len(answered)} of {len(docs)} prompts. If it is so again, please report it."
            )
        doc, sent = next((d, p) for d, p, one in zip(docs, prompts, answered, strict=True) if one.prompt != p)
        raise RunError(
            f"row {doc.id} of {doc.task_name}: vLLM did not read the prompt of {len(sent)} tokens as it was sent. Use "
            f"the versions that {INSTALL} brings; if it is still so, please report it."
        )


def load(config: VllmConfig, seed: int) -> VllmGenerator:
    """Load the model.

    Raises:
        ClinicalEvalsError: there are not enough GPUs. vLLM's own errors come as they are.
    """
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(config.tokenizer or config.model_name, revision=config.revision)
    return VllmGenerator(config, start_engine(engine_arguments(config), config.data_parallel_size), tokenizer, seed)


def engine_arguments(config: VllmConfig) -> Arguments:
    """The arguments of vLLM's LLM."""
    passed = {name: getattr(config, name) for name in _PASSED}
    renamed = {"model": config.model_name, "revision": config.revision, "max_model_len": config.max_model_length}
    if config.tokenizer:
        renamed["tokenizer_revision"] = config.revision
    return _without_none(renamed | passed)


def check_installed(config: VllmConfig) -> None:
    """Whether this backend can run here, as far as that is known without loading anything.

    Raises:
        ResourceMissingError: a package is missing.
        InputError: it was started in several processes.
    """
    needed = {"vllm": "`eval vllm`"} | ({"ray": "data_parallel_size above 1"} if config.data_parallel_size > 1 else {})
    for package, what in needed.items():
        if find_spec(package) is None:
            raise ResourceMissingError(f"{what} needs the package {package}, which is not installed: {INSTALL}")
    processes = os.environ.get("WORLD_SIZE", "1")
    if processes != "1":
        raise InputError(
            f"`eval vllm` was started in {processes} processes: vLLM starts its own. Run it without `accelerate "
            "launch`, and give tensor_parallel_size or data_parallel_size in MODEL_ARGS."
        )


def _without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
