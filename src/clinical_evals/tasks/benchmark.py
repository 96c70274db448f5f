"""What a module of tasks offers the launcher beside lighteval's `TASKS_TABLE`; one module a benchmark."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from clinical_evals.tasks.names import Task

if TYPE_CHECKING:
    from lighteval.tasks.requests import Doc

    from clinical_evals.tasks.models.generation import Chat
    from clinical_evals.truncation import FittedPrompt, Room


class PromptOptions(NamedTuple):
    """What the user may say of prompts and samples; None or 0: nothing."""

    samples: int = 0
    temperature: float | None = None
    shots: int | None = None
    probe_turns: bool = False
    without: tuple[str, ...] = ()
    """Segments that CliBench's prompts leave out."""


class Plan(NamedTuple):
    """How one task is asked in one run."""

    prompt: "Callable[[dict[str, Any], str], Doc | None]"
    """lighteval's prompt function: the document of a row, with everything that `ask` needs; None leaves a row out."""
    answer_tokens: int
    """Tokens kept free for the answer, unless the user says otherwise."""
    samples: int = 1
    """Answers to each prompt."""
    temperature: float | None = None
    """At which answers are sampled; None: as the model's configuration says, else greedily."""
    about: Mapping[str, Any] = {}
    """What of it belongs to the identity of the run."""


class Asked(NamedTuple):
    """One prompt of a document."""

    prompt: "FittedPrompt"
    logged: Mapping[str, Any] = {}
    """What its log line says beside the columns of `LOGGED`."""


class Benchmark(Protocol):
    """A module of tasks."""

    PROMPT_VERSION: str
    LOGGED: tuple[str, ...]
    """What of a document's `specific` its log line repeats."""
    TASKS_TABLE: list[Any]

    def plan(self, task: Task, options: PromptOptions) -> Plan:
        """How a task is asked; raises `InputError` where an option does not fit it."""

    def ask(self, doc: "Doc", chat: "Chat", room: "Room", where: str) -> list[Asked]:
        """The prompts of a document, cut to a model; the one whose answer is scored last."""

    def check_gold(self, doc: "Doc") -> None:
        """Raises `InputError` where the gold of a document cannot be scored."""


def benchmark_of(task: Task) -> Benchmark:
    """The module of a task."""
    from importlib import import_module

    return cast(Benchmark, import_module(task.module))
