"""What a run of the recipe is told."""

import math
from dataclasses import dataclass

from clinical_evals.errors import InputError


@dataclass(frozen=True)
class Settings:
    """The defaults are those of training/recipes/code-matcher/icd10cm.yaml.

    Raises:
        InputError: a value that no run can have.
    """

    model: str = "sentence-transformers/all-MiniLM-L6-v2"
    """Folder or Hub id of the model that training starts from; it is on this machine."""
    system: str = "icd10cm"
    """Code system whose further names are learnt: icd10cm or icd10pcs."""
    output_dir: str = "models/code-matcher"
    """Folder that the model is written to; it does not exist yet."""
    held_out: int = 2000
    """Texts that `matcher evaluate --items N` asks for: they are not learnt."""
    seed: int = 0
    """Of the draw of the held-out texts (`matcher evaluate --seed`), of negatives, order and dropout."""
    for_ranker: int = 1500
    """Texts that are not learnt either: of them the hybrid matcher's ranker learns how far to trust this model."""
    epochs: float = 1.5
    batch_size: int = 64
    learning_rate: float = 5e-5
    max_length: int = 32
    """Tokens of a text that are read in training."""

    def __post_init__(self) -> None:
        for name, least in (("held_out", 1), ("for_ranker", 0), ("batch_size", 2), ("max_length", 8)):
            if getattr(self, name) < least:
                raise InputError(f"{name} is {getattr(self, name)}, expected at least {least}.")
        for name in ("epochs", "learning_rate"):
            if not 0 < getattr(self, name) < math.inf:
                raise InputError(f"{name} is {getattr(self, name)}, expected a number above 0.")
