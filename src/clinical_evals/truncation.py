"""Cutting a prompt to a model's context by one common ratio (CliBench, appendix B.5; protocol.md 2.4).

When the whole prompt exceeds context − reserved output, its long segments (in CliBench record, radiology reports and
lab results, in IOR-Bench the dialogue) are cut at their ends, each to the same share of its tokens, and everything
else stays whole. The share is found by bisection on the tokenised final prompt: tokens merge at the cuts and chat
templates add their own, so that a sum over the parts would not be exact.

Such a sum is near, though, and tokenising a long prompt at each of fifteen shares takes longer than a small model
takes to answer. So a share at which the sum is far from the limit (`NEAR` tokens) is not tokenised: see `_Sums`.
"""

from bisect import bisect_right
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar

from clinical_evals.errors import InputError

CUT_AWAY = "[…]"
"""Stands for a segment of which nothing is left; it must not read as if the patient had none."""

NEAR = 32
"""How many tokens a sum over the parts must be away from the limit to be believed. What a cut changes is a few tokens
at each of the three cuts: those of the last word, and marks such as `CUT_AWAY`."""

WORD_REACH = 60
"""How many characters a cut may move back to the end of a word, so that no number loses its last digits."""


Segments = TypeVar("Segments", bound=Any)
"""A `NamedTuple` of texts."""


class Long(NamedTuple):
    """What of a prompt may be cut."""

    names: tuple[str, ...]
    """The fields of the segments that are cut when the prompt does not fit; the others stay whole."""
    whole: str
    """What else there is, as an error names it."""
    way_out: str = ""
    """What else helps when that alone does not fit, as a sentence."""


class Measure(Protocol):
    """A model's tokenizer, as far as cutting needs it."""

    def count(self, prompt: str) -> int:
        """How many tokens the final prompt has when it is sent."""

    def token_ends(self, text: str) -> list[int]:
        """For each token of a plain text the index of the character after it, non-decreasing."""


class Room(NamedTuple):
    """How many tokens there are for prompt and answer together, and how many of them the answer gets."""

    context: int
    reserved: int

    @property
    def prompt(self) -> int:
        """How many tokens the prompt may have."""
        return self.context - self.reserved


class FittedPrompt(NamedTuple):
    """A prompt that fits, and how much of it was kept."""

    text: str
    """The final prompt, as it is sent."""
    tokens: int
    whole_tokens: int
    """Tokens of the prompt before cutting."""
    kept_prompt: float
    """Share of the tokens of the whole prompt that were kept (the ratio of Table 8), 1.0 when nothing was cut."""
    kept_long: float
    """Share of the tokens of the long segments that were kept."""


def fit_prompt(
    segments: Segments, long: Long, render: Callable[[Segments], str], measure: Measure, room: Room, where: str
) -> FittedPrompt:
    """The prompt with its long segments cut by the largest common ratio at which it fits.

    Args:
        segments: the whole segments.
        long: which of them may be cut.
        render: makes the final prompt (chat template included) of segments.
        measure: the model's own tokenizer.
        room: the tokens there are.
        where: names the row in an error.

    Raises:
        InputError: what is never cut does not fit alone.
    """
    text = render(segments)
    whole = measure.count(text)
    if whole <= room.prompt:
        return FittedPrompt(text, whole, whole, 1.0, 1.0)
    ends = {name: measure.token_ends(getattr(segments, name)) for name in long.names}
    steps = _Steps(segments, ends, render, measure)
    best = _largest_fitting(steps, room.prompt, _Sums(steps, whole, room.prompt))
    if best is None or steps.count(best) > room.prompt:  # the sums were wrong
        best = _largest_fitting(steps, room.prompt)
    if best is None:
        raise _too_long(steps.count(0), long, room, where)
    cut, tokens = steps.cut(best), steps.count(best)
    return FittedPrompt(render(cut), tokens, whole, tokens / whole, _kept(cut, ends) / steps.total)


class _Steps:
    """The prompt at each step of the ratio, tokenised when it is asked for, and once."""

    def __init__(
        self, segments: Any, ends: dict[str, list[int]], render: Callable[[Any], str], measure: Measure
    ) -> None:
        self._segments, self._ends, self._render, self._measure = segments, ends, render, measure
        self._counts: dict[int, int] = {}
        self.finest = max(map(len, ends.values()))
        """The last step, at which nothing is cut; 0 keeps nothing of the long segments."""
        self.total = sum(map(len, ends.values()))

    def cut(self, step: int) -> Any:
        return cut_segments(self._segments, self._ends, step, self.finest)

    def count(self, step: int) -> int:
        """How many tokens the prompt has."""
        if step not in self._counts:
            self._counts[step] = self._measure.count(self._render(self.cut(step)))
        return self._counts[step]

    def kept(self, step: int) -> int:
        """How many tokens of the whole long segments are left."""
        return _kept(self.cut(step), self._ends)


class _Sums:
    """Says of steps far from the limit whether the prompt fits, by a sum: the whole prompt less what is cut away.

    The sum is compared with the tokenised prompt at the step where it meets the limit, and corrected by what it is
    off there. Where that is more than `NEAR`, the measure does not count the tokens that it gives the ends of
    (estimates, tokenizers that cannot tell), and nothing is said.
    """

    def __init__(self, steps: _Steps, whole: int, limit: int) -> None:
        self._steps, self._over = steps, whole - steps.total - limit
        low, high = 0, steps.finest
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._excess(middle) <= 0 else (low, middle)
        off = steps.count(low) - limit - self._excess(low)
        self._usable = abs(off) <= NEAR
        self._over += off

    def _excess(self, step: int) -> int:
        """By how many tokens the prompt is too long; below 0 there is room left."""
        return self._over + self._steps.kept(step)

    def fits(self, step: int) -> bool | None:
        """None: it must be tokenised."""
        excess = self._excess(step) if self._usable else 0
        return None if abs(excess) <= NEAR else excess < 0


def _largest_fitting(steps: _Steps, limit: int, sums: _Sums | None = None) -> int | None:
    """The largest step at which the prompt fits; None where none does.

    The midpoints are the same whatever the limit, hence more room never keeps less.
    """
    low, high = -1, steps.finest  # step `low` fits, step `high` does not
    while high - low > 1:
        middle = (low + high) // 2
        fits = sums.fits(middle) if sums else None
        if fits is None:
            fits = steps.count(middle) <= limit
        low, high = (middle, high) if fits else (low, middle)
    return None if low < 0 else low


def cut_segments(segments: Segments, ends: dict[str, list[int]], step: int, steps: int) -> Segments:
    """The segments with the long ones cut at their ends to step/steps of their tokens, rounded down to whole words.

    Args:
        segments: the whole segments.
        ends: for each long segment the `token_ends` of its text.
        step: 0 keeps nothing of the long segments, `steps` everything.
        steps: how fine the ratio is; the token count of the longest of them makes every token a step.
    """
    cut = {name: _cut(getattr(segments, name), ends[name], step, steps) for name in ends}
    replaced: Segments = segments._replace(**cut)
    return replaced


def _cut(text: str, ends: list[int], step: int, steps: int) -> str:
    keep = len(ends) * step // steps if steps else 0
    if keep == len(ends):
        return text
    end = ends[keep - 1] if keep else 0
    if 0 < end < len(text) and not text[end].isspace():
        word = end
        while word > max(0, end - WORD_REACH) and not text[word - 1].isspace():
            word -= 1
        end = word if word == 0 or text[word - 1].isspace() else end
    return text[:end].rstrip() or CUT_AWAY


def _kept(cut: Any, ends: dict[str, list[int]]) -> int:
    """How many tokens of the whole long segments are left."""
    return sum(
        bisect_right(of, len(getattr(cut, name))) for name, of in ends.items() if getattr(cut, name) != CUT_AWAY
    )


def _too_long(fixed: int, long: Long, room: Room, where: str) -> InputError:
    return InputError(
        f"{where}: {long.whole} are never cut and take {fixed} tokens, but a context of {room.context} tokens less "
        f"{room.reserved} reserved for the answer leaves {max(room.prompt, 0)}. "
        f"Give a longer --context (at least {fixed + room.reserved}), if the model has it, or fewer --answer-tokens. "
        f"{long.way_out}".rstrip()
        + f" (lighteval's own command line has neither: there CLINICAL_EVALS_CONTEXT={fixed + room.reserved}.)"
    )
