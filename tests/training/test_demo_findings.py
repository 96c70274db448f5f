"""What the demo of training says of what it found."""

import pytest

from clinical_evals.errors import RunError
from clinical_evals.training.learnt import Learnt


def test_what_was_learnt_is_said() -> None:
    assert Learnt([3.456, 2.0, 1.5], "accuracy", 0.031, 0.8461).checked() == (
        "loss by epoch: 3.46 2.00 1.50\naccuracy: base 3.1 %, tuned 84.6 %"
    )


@pytest.mark.parametrize(
    "found",
    [
        Learnt([2.0, 2.0], "accuracy", 0.1, 0.9),  # the loss did not fall
        Learnt([2.0, 2.5], "accuracy", 0.1, 0.9),
        Learnt([2.0, 1.0], "accuracy", 0.5, 0.5),  # the score did not rise
        Learnt([2.0, 1.0], "accuracy", 0.5, 0.4),
    ],
)
def test_what_should_not_be_is_an_error_with_its_figures(found: Learnt) -> None:
    with pytest.raises(RunError, match=rf"loss by epoch: 2\.00(.|\n)*tuned {100 * found.tuned:.1f} %"):
        found.checked()
