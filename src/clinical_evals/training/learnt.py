"""What a demo of training found, and whether it is what training should do."""

from typing import NamedTuple

from clinical_evals.errors import RunError


class Learnt(NamedTuple):
    """A model before and after, asked what it was trained on."""

    losses: list[float]
    """Of each epoch."""
    what: str
    """The score, and what it is taken over."""
    base: float
    """The score before training, 0 to 1."""
    tuned: float
    """After it."""

    def checked(self) -> str:
        """Lines that say it.

        Raises:
            RunError: the loss did not fall, or the score did not rise.
        """
        lines = (
            f"loss by epoch: {' '.join(f'{loss:.2f}' for loss in self.losses)}\n"
            f"{self.what}: base {100 * self.base:.1f} %, tuned {100 * self.tuned:.1f} %"
        )
        if self.losses[-1] >= self.losses[0] or self.tuned <= self.base:
            raise RunError(f"the demo's training did not do what it should:\n{lines}")
        return lines
