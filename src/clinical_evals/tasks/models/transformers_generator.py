"""lighteval's transformers model, driven batch by batch and freed of what would change answers without a word."""

import atexit
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lighteval.models.transformers.transformers_model import TransformersModel, TransformersModelConfig
from lighteval.tasks.requests import Doc
from transformers.generation.streamers import BaseStreamer

from clinical_evals.errors import RunError
from clinical_evals.tasks.models.chat import ChatPrompt, chat_prompt
from clinical_evals.tasks.models.generation import Output
from clinical_evals.tasks.models.read_before import ReadBefore, can_remember
from clinical_evals.tasks.prediction_log import hash_text
from clinical_evals.tasks.progress import Progress

if TYPE_CHECKING:
    from torch import Tensor


class QuietModel(TransformersModel):  # type: ignore[misc]  # lighteval is not typed
    """Without lighteval's bars, which restart with every batch."""

    disable_tqdm = True


class VerbatimPrompts:
    """Stands in for lighteval's prompt manager: the document's query is the final prompt already."""

    def prepare_prompt(self, doc: Doc) -> str:
        """The prompt of a document."""
        return str(doc.query)


class TokenTicker(BaseStreamer):  # type: ignore[misc]  # transformers is not typed here
    """Tells the progress bar of each generated token of a batch."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self._prompt_seen = False

    def put(self, value: "Tensor") -> None:
        """One step of the batch; the first value is the prompt."""
        if self._prompt_seen:
            self.progress.advance_token()
        self._prompt_seen = True

    def end(self) -> None:
        """The batch is complete."""


class TransformersGenerator:
    """Generates the answers of one batch; see `Generator` and, for dialogues, `Remembers`.

    Args:
        model: lighteval's model.
        seed: decides sampled answers (temperature above 0) together with the prompts of the batch.
    """

    def __init__(self, model: TransformersModel, seed: int = 0) -> None:
        self.model, self.seed = model, seed
        self.chat: ChatPrompt = chat_prompt(model.tokenizer, model.config)
        model.prompt_manager = VerbatimPrompts()
        model._cache = None  # with one, lighteval looks there first
        model._add_special_tokens = self.chat.add_special_tokens
        settings: dict[str, Any] = model.generation_config_dict
        # lighteval asks for the scores and drops them: vocabulary x tokens x rows of memory.
        settings["output_scores"] = False
        # Despite its name only what lighteval cuts prompts to. Without it that is the tokens of the prompt with most
        # characters plus the answer's, and a prompt of the batch with more tokens than that loses its beginning.
        settings["max_new_tokens"] = model.max_length
        if settings["temperature"] > 0:
            settings["do_sample"] = True  # without it transformers ignores the temperature
        if "stop_strings" in settings:
            settings["tokenizer"] = model.tokenizer  # without it transformers raises
        self.config: TransformersModelConfig = model.config
        self.max_length = int(model.max_length)
        self.settings = {"dtype": str(model.model.dtype).removeprefix("torch.")}
        self.versions: dict[str, str] = {}
        self.rows_at_once: int = model.config.batch_size * model.accelerator.num_processes
        self.is_main: bool = model.accelerator.is_main_process
        self._ends = _end_tokens(model)
        self._before: ReadBefore | None = None
        if model.accelerator.num_processes > 1:
            atexit.register(_leave_the_others)

    def wait_for_everyone(self) -> None:
        """Let the processes of a data-parallel run meet."""
        self.model.accelerator.wait_for_everyone()

    def cleanup(self) -> None:
        """Free the model's memory."""
        self.model.cleanup()

    def generate(
        self, docs: Sequence[Doc], progress: Progress, temperature: float | None = None
    ) -> list[list[Output]]:
        """For each document its answers (`num_samples` of them); see `Generator`.

        Raises:
            RunError: lighteval did not send a prompt as it is, or returned the answers in another order.
        """
        from transformers import set_seed

        model, settings = self.model, self.model.generation_config_dict
        own = dict(settings)
        if temperature is not None:
            settings |= {"temperature": temperature, "do_sample": True}
        if settings["temperature"] > 0:
            # From the prompts, so that a resumed run draws what an uninterrupted one would have drawn.
            set_seed(int(hash_text("\n".join([str(self.seed), *(doc.query for doc in docs)]))[:8], 16))
        settings["streamer"] = TokenTicker(progress)
        self._tell_owners(docs)
        try:
            responses = model.greedy_until(list(docs))
        finally:
            settings.clear()
            settings |= own
        for doc, response in zip(docs, responses, strict=True):
            self._check_sent(doc, response.input_tokens)
        return [[self._output(tokens) for tokens in response.output_tokens] for response in responses]

    def begin_dialogues(self) -> None:
        """From now on the beginning of a dialogue's prompt is not read twice, where the model allows that."""
        self.end_dialogues()
        if can_remember(self.model.model) and not self.model.generation_config_dict.get("cache_implementation"):
            self._before = ReadBefore(self.model.model)
            self.model.model.generate = self._before

    def read(self, docs: Sequence[Doc]) -> None:
        """Read the prompts of a batch as `generate` would, and answer nothing."""
        if self._before is None:
            return
        self._tell_owners(docs)
        self._before.only_reads = True
        try:
            self.model.greedy_until(list(docs))
        finally:
            self._before.only_reads = False

    def end_dialogues(self) -> None:
        """Forget what was read."""
        if self._before is not None:
            self._before = None
            del self.model.model.generate  # ours; the class's own shows again

    def _tell_owners(self, docs: Sequence[Doc]) -> None:
        if self._before is not None:
            self._before.owners = {
                tuple(self.chat.encode(doc.query)): f"{doc.id} {(doc.specific or {}).get('who')}" for doc in docs
            }

    def _check_sent(self, doc: Doc, sent: Sequence[int]) -> None:
        # Padded on the left. lighteval cuts a prompt that is too long for it without a word.
        tokens = self.chat.encode(doc.query)
        if list(sent)[-len(tokens) :] != tokens:
            raise RunError(
                f"row {doc.id} of {doc.task_name}: lighteval did not send the prompt of {len(tokens)} tokens as it "
                "is. Use the versions of constraints.txt; if it is still so, please report it."
            )

    def _output(self, generated: Sequence[int]) -> Output:
        tokens = [int(token) for token in generated]
        end = next((place for place, token in enumerate(tokens) if token in self._ends), None)
        kept = tokens[:end]
        text = str(self.chat.tokenizer.decode(kept, skip_special_tokens=True))
        return Output(text, kept, "length" if end is None else "stop")


def load(config: TransformersModelConfig, seed: int) -> TransformersGenerator:
    """Load the model. What its files may cause in three libraries comes as it is."""
    return TransformersGenerator(QuietModel(config), seed)


def _leave_the_others() -> None:
    """End the process group. Else gloo's threads may abort the process when it ends, and accelerate then stops all."""
    from torch import distributed

    if distributed.is_initialized():
        distributed.destroy_process_group()


def _end_tokens(model: TransformersModel) -> frozenset[int]:
    """Every token that ends an answer. lighteval stops at the tokenizer's only; some models end their turn with "
    "another."""
    configured = model.model.generation_config.eos_token_id
    several = configured if isinstance(configured, list) else [configured]
    return frozenset(token for token in (*several, model.tokenizer.eos_token_id) if token is not None)
