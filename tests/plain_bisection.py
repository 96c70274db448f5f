"""The common ratio by bisection alone, the prompt tokenised at every midpoint: what `fit_prompt` must give."""

from collections.abc import Callable

from clinical_evals.clibench.segments import LONG, Segments
from clinical_evals.truncation import Measure, Room, cut_segments


class Counting:
    """A measure that remembers what it counted."""

    def __init__(self, measure: Measure) -> None:
        self.measure, self.counted = measure, 0

    def count(self, prompt: str) -> int:
        self.counted += 1
        return self.measure.count(prompt)

    def token_ends(self, text: str) -> list[int]:
        return self.measure.token_ends(text)


def fit_plainly(
    segments: Segments, render: Callable[[Segments], str], measure: Measure, room: Room
) -> tuple[str, int, int] | None:
    """The text, its tokens and those of the whole prompt; None where what is never cut does not fit."""
    whole = measure.count(render(segments))
    if whole <= room.prompt:
        return render(segments), whole, whole
    ends = {name: measure.token_ends(getattr(segments, name)) for name in LONG.names}
    finest = max(map(len, ends.values()))
    low, high = -1, finest
    while high - low > 1:
        middle = (low + high) // 2
        text = render(cut_segments(segments, ends, middle, finest))
        low, high = (middle, high) if measure.count(text) <= room.prompt else (low, middle)
    if low < 0:
        return None
    text = render(cut_segments(segments, ends, low, finest))
    return text, measure.count(text), whole
