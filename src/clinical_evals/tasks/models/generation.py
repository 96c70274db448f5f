"""What generates answers, as far as the launcher and the logged model need to know it.

One implementation a backend: `transformers_generator` (`eval accelerate`), `vllm_generator` (`eval vllm`) and
`endpoint_generator` (`eval endpoint`).
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from clinical_evals.errors import ClinicalEvalsError
from clinical_evals.tasks.progress import Progress

if TYPE_CHECKING:
    from lighteval.models.abstract_model import ModelConfig
    from lighteval.tasks.requests import Doc


class Chat(Protocol):
    """Writes and counts the prompts of one model: `chat.ChatPrompt`, or an endpoint's `EndpointChat`."""

    @property
    def tokenizer(self) -> Any:
        """The model's; None where it is behind an address."""

    @property
    def use_chat_template(self) -> bool:
        """Whether the model's own template is put around the texts."""

    @property
    def add_special_tokens(self) -> bool:
        """Whether tokenising a final prompt adds special tokens."""

    def render(self, system: str, user: str) -> str:
        """The final prompt of one question as text."""

    def render_messages(self, messages: Sequence[Mapping[str, str]]) -> str:
        """The final prompt of a conversation as text; each message with `role` and `content`."""

    def check_conversation(self) -> None:
        """Raises `InputError` where the model's template refuses a conversation of several turns."""

    def encode(self, prompt: str) -> list[int]:
        """The tokens of a final prompt, as far as they are known here."""

    def count(self, prompt: str) -> int:
        """How many tokens a final prompt has, or a careful estimate."""

    def token_ends(self, text: str) -> list[int]:
        """For each token of a plain text the index of the character after it."""


class Served(NamedTuple):
    """What a server says of an answer of its model."""

    prompt_tokens: int
    answer_tokens: int
    estimated: bool
    """Whether the two counts are ours, since the server gave none."""
    model: str = ""
    """The name that the server gives the model; it may be a dated version of the one asked for."""
    fingerprint: str = ""
    """The server's `system_fingerprint`: another one, another configuration."""
    cost: float | None = None
    """In the currency of the prices in MODEL_ARGS; None where there are none."""


class Output(NamedTuple):
    """One answer of the model."""

    text: str
    tokens: list[int]
    """Without the end token and what follows it; empty where a server gives text alone."""
    finish: str
    """"stop": the model ended its answer; "length": it was cut at the tokens reserved for it."""
    served: Served | None = None
    """Of an endpoint only."""

    @property
    def length(self) -> int:
        """How many tokens it has."""
        return self.served.answer_tokens if self.served else len(self.tokens)


class Missing(NamedTuple):
    """Stands for the answers of a document where there are none: never scored, never logged, asked again later."""

    why: str
    ends_run: ClinicalEvalsError | None = None
    """With which the run ends, once the other answers of the batch are logged."""


class Generator(Protocol):
    """A loaded model that answers final prompts batch by batch."""

    @property
    def config(self) -> "ModelConfig":
        """lighteval's configuration of the model, for its own result files."""

    @property
    def chat(self) -> Chat:
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
    ) -> Sequence[list[Output] | Missing]:
        """For each document its answers; only an endpoint's may be missing.

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


@runtime_checkable
class Remembers(Protocol):
    """A generator that need not read a prompt's beginning again where it has read it in an earlier prompt.

    Between `begin_dialogues` and `end_dialogues` its answers may depend, in the last bits of its numbers, on what it
    read since the beginning. So that a resumed run gives the answers of a whole one, it reads again (`read`) the
    batches that were answered before.
    """

    def begin_dialogues(self) -> None:
        """Forget everything, and keep what is read from now on."""

    def read(self, docs: "Sequence[Doc]") -> None:
        """Read the prompts of a batch as `generate` would, and answer nothing."""

    def end_dialogues(self) -> None:
        """Forget everything, and keep nothing any more."""
