"""What a run of the recipe is told."""

import math
from dataclasses import asdict, dataclass
from typing import Any

from clinical_evals.errors import InputError, UnknownNameError
from clinical_evals.ior_bench.static import SEED

LEAST_TOKENS = 8
_LEAST = {"batch_size": 1, "epochs": 1, "least_steps": 0, "patience": 1, "max_length": LEAST_TOKENS}
PRECISIONS = ("float32", "bfloat16")


@dataclass(frozen=True)
class Settings:
    """The defaults are those of the paper's appendix F; where it says nothing, README.md of `training` says why.

    Raises:
        InputError: a value that no run can have.
    """

    model: str = "bert-base-chinese"
    """A folder, an id in the Hub cache, or `small_encoder.SMALL_ENCODER`."""
    data: str | None = None
    """The folder of the authors' files or of built data; None: IOR_BENCH_DIR, else the embedded sample."""
    output_dir: str = "runs/classify-department"
    learning_rate: float = 2e-5
    head_factor: float = 1.0
    """The rate of the layers that are new, as a multiple of `learning_rate`: the classifier, and the pooler where the
    encoder comes without one. From chance they have further to go than the rest."""
    batch_size: int = 16
    epochs: int = 3
    least_steps: int = 0
    """Batches that are trained on at least: where rows are few, more epochs than `epochs` are gone through for it."""
    patience: int = 1
    """Epochs without a lower loss on the validation part after which training stops; the best epoch's weights stay."""
    max_length: int = 512
    """The most tokens of a dialogue, special ones included."""
    precision: str = "float32"
    """Of the computing: "float32" or "bfloat16" (twice as fast where the processor has it); weights are float32."""
    seeds: tuple[int, ...] = (0,)
    """Of the new layer, the order of the rows and dropout."""
    split_seed: int = SEED
    """The split that few-shot prompts use too, unless another is asked for."""
    train_sizes: tuple[int, ...] = ()
    """Training rows of the scaling sweep, which is then trained beside the whole."""

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            if getattr(self, name) < least:
                raise InputError(f"{name} is {getattr(self, name)}, expected at least {least}.")
        if not 0 < self.learning_rate < 1:
            raise InputError(f"learning_rate is {self.learning_rate}, expected a number between 0 and 1.")
        if not 0 < self.head_factor < 1 / self.learning_rate:
            raise InputError(
                f"head_factor is {self.head_factor}, expected a number above 0 that times learning_rate "
                f"({self.learning_rate}) stays below 1."
            )
        if self.precision not in PRECISIONS:
            raise UnknownNameError("precision", self.precision, PRECISIONS)
        if not self.seeds:
            raise InputError("seeds names none, expected at least one whole number.")
        for name in ("seeds", "train_sizes"):
            values = getattr(self, name)
            if len(set(values)) < len(values) or any(value < 0 for value in values):
                raise InputError(f"{name} is {list(values)}, expected whole numbers from 0 on, each once.")
        if 0 in self.train_sizes:
            raise InputError("train_sizes has 0, expected at least one row.")

    @property
    def bfloat16(self) -> bool:
        """Whether it is computed in bfloat16."""
        return self.precision == "bfloat16"

    def epochs_of(self, rows: int) -> int:
        """How many epochs so many rows are trained on for, unless training stops before."""
        return max(self.epochs, math.ceil(self.least_steps / math.ceil(rows / self.batch_size)))

    def as_json(self) -> dict[str, Any]:
        """Every value by name."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}
