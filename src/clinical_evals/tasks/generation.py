"""What generates answers, as far as the launcher and the logged model need to know it.

One implementation a backend: `transformers_generator` (`eval accelerate`) and `vllm_generator` (`eval vllm`).
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from clinical_evals.tasks.progress import Progress

if TYPE_CHECKING:
    from lighteval.models.abstract_model import ModelConfig
    from lighteval.tasks.requests import Doc

    from clinical_evals.tasks.chat import ChatPrompt


class Output(NamedTuple):
    """One answer of the model."""

    text: str
    tokens: list[int]
    """Without the end token and what follows it."""
    finish: str
    """"stop": the model ended its answer; "length": it was cut at the tokens reserved for it."""


class Generator(Protocol):
    """A loaded model that answers final prompts batch by batch."""

    @property
    def config(self) -> "ModelConfig":
        """lighteval's configuration of the model, for its own result files."""

    @property
    def chat(self) -> "ChatPrompt":
        """Writes and counts prompts for it, with its own template and tokenizer."""

    @property
    def max_length(self) -> int:
        """How many tokens the model can read and write together."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What of the backend decides the answers and so belongs to the run: the data type of the weights, …"""

    @property
    def versions(self) -> Mapping[str, str]:
        """Libraries of this backend alone, for the header of the log."""

    @property
    def rows_at_once(self) -> int:
        """How many documents are generated, and then logged, together."""

    @property
    def is_main(self) -> bool:
        """False in the other processes of a data-parallel run, which neither write nor print."""

    def wait_for_everyone(self) -> None:
        """Let the processes of a data-parallel run meet."""

    def generate(
        self, docs: "Sequence[Doc]", progress: Progress, temperature: float | None = None
    ) -> list[list[Output]]:
        """For each document its answers.

        Args:
            docs: `query` is the final prompt, `generation_size` the most tokens of an answer, `num_samples` the
                number of answers.
            progress: is told of the tokens, if the backend knows of them.
            temperature: above 0, to sample at; None: as the model's configuration says.

        Raises:
            RunError: a prompt was not sent as it is, or answers came back in another order.
        """

    def cleanup(self) -> None:
        """Free the model's memory; nothing can be generated afterwards."""
