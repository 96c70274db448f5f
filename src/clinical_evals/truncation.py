"""Cutting a prompt to a model's context by one common ratio (CliBench, appendix B.5; protocol.md 2.4).

When the whole prompt exceeds context − reserved output, its long segments (in CliBench record, radiology reports and
lab results, in IOR-Bench the dialogue) are cut at their ends, each to the same share of its tokens, and everything
else stays whole. The share is found by bisection on the
tokenised final prompt: tokens merge at the cuts and chat templates add their own, so that a sum over the parts would
not be exact.
"""

from bisect import bisect_right
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar

from clinical_evals.errors import InputError

CUT_AWAY = "[…]"
"""Stands for a segment of which nothing is left; it must not read as if the patient had none."""

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
    finest = max(map(len, ends.values()))

    def at(step: int) -> Segments:
        return cut_segments(segments, ends, step, finest)

    low, high = (
        -1,
        finest,
    )  # step `low` fits, step `high` does not: the same midpoints whatever the room, hence monotone
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if measure.count(render(at(middle))) <= room.prompt else (low, middle)
    if low < 0:
        raise _too_long(measure.count(render(at(0))), long, room, where)
    text = render(at(low))
    tokens = measure.count(text)
    return FittedPrompt(text, tokens, whole, tokens / whole, _kept_share(at(low), ends))


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


def _kept_share(cut: Any, ends: dict[str, list[int]]) -> float:
    kept = sum(
        bisect_right(of, len(getattr(cut, name))) for name, of in ends.items() if getattr(cut, name) != CUT_AWAY
    )
    whole = sum(map(len, ends.values()))
    return kept / whole if whole else 1.0


def _too_long(fixed: int, long: Long, room: Room, where: str) -> InputError:
    return InputError(
        f"{where}: {long.whole} are never cut and take {fixed} tokens, but a context of {room.context} tokens less "
        f"{room.reserved} reserved for the answer leaves {max(room.prompt, 0)}. "
        f"Give a longer --context (at least {fixed + room.reserved}), if the model has it, or fewer --answer-tokens. "
        f"{long.way_out}".rstrip()
        + f" (lighteval's own command line has neither: there CLINICAL_EVALS_CONTEXT={fixed + room.reserved}.)"
    )
