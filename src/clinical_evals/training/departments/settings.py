"""What a run of the recipe is told: a YAML file, and flags that go before it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import yaml

from clinical_evals.errors import InputError, UnknownNameError
from clinical_evals.ior_bench.static import SEED

LEAST_TOKENS = 8
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
    batch_size: int = 16
    epochs: int = 3
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
        for name, least in (("batch_size", 1), ("epochs", 1), ("patience", 1), ("max_length", LEAST_TOKENS)):
            if getattr(self, name) < least:
                raise InputError(f"{name} is {getattr(self, name)}, expected at least {least}.")
        if not 0 < self.learning_rate < 1:
            raise InputError(f"learning_rate is {self.learning_rate}, expected a number between 0 and 1.")
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

    def as_json(self) -> dict[str, Any]:
        """Every value by name."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


_KINDS = {field.name: type(field.default) for field in fields(Settings)}
_WANTED = {int: "a whole number", float: "a number", tuple: "a list of whole numbers"}


def read_settings(config: Path | None, flags: Mapping[str, Any]) -> Settings:
    """The settings of a YAML file, those of flags before them, else the defaults.

    Args:
        config: the file, a mapping of names to values; None: there is none.
        flags: those that were given, by name.

    Raises:
        InputError: the file cannot be read, or a value is not of its kind; file and name are in the message.
        UnknownNameError: a name that is no setting; the nearest one is in the message.
    """
    given = _read_yaml(config) if config else {}
    for name in given:
        if name not in _KINDS:
            raise UnknownNameError(f"setting in {config}:", str(name), _KINDS)
    values = {name: _value(name, value, str(config)) for name, value in given.items()}
    values |= {name: _value(name, value, f"--{name.replace('_', '-')}") for name, value in flags.items()}
    return Settings(**values)


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise InputError(
            f"{path} cannot be read as YAML: {error}. Give --config a file of training/recipes."
        ) from error
    if not isinstance(content, dict):
        raise InputError(f"{path} holds {type(content).__name__}, expected settings such as `learning_rate: 2.0e-5`.")
    return content


def _value(name: str, value: Any, where: str) -> Any:
    kind = _KINDS[name]
    try:
        if kind is tuple:
            return tuple(map(_whole_number, value if isinstance(value, list | tuple) else [value]))
        if kind is int:
            return _whole_number(value)
        if kind is float:  # YAML takes 2e-5, without a point, for text
            return float(value if not isinstance(value, bool) else "bool")
        if not isinstance(value, str | kind):  # a setting without default may be left out by null
            raise ValueError("no text")
        return value
    except (TypeError, ValueError) as error:
        raise InputError(f"{where}: {name} is {value!r:.80}, expected {_WANTED.get(kind, 'text')}.") from error


def _whole_number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("no whole number")
    return value
