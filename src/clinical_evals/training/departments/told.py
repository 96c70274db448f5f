"""What is said while an encoder trains: a line an epoch; the bar is Trainer's own, and only on a terminal."""

from collections.abc import Callable
from typing import Any

from transformers import TrainerCallback


class EpochLines(TrainerCallback):  # type: ignore[misc]  # transformers is not followed
    """Says loss and accuracy of the validation part after each epoch."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    def on_evaluate(self, args: Any, state: Any, control: Any, metrics: dict[str, float], **_: Any) -> None:
        """One line."""
        self._say(
            f"  epoch {state.epoch:.0f} of {args.num_train_epochs:.0f}: validation loss {metrics['eval_loss']:.3f}, "
            f"accuracy {100 * metrics['eval_accuracy']:.2f} %"
        )
