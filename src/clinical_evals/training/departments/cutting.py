"""A dialogue that is longer than what an encoder reads: which turns stay.

The patient's first turn carries the complaint, the last turns what the questions have brought out. So the first turn
stays, then whole turns from the end for as long as they fit; what is cut is the middle, and the greeting before.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from clinical_evals.ior_bench.prompts import render_dialogue
from clinical_evals.ior_bench.static import Turn


class Cut(NamedTuple):
    """A dialogue as the encoder reads it."""

    ids: list[int]
    """Tokens, special ones included."""
    text: str
    whole: bool
    """Whether nothing was cut."""


def fit_dialogue(turns: Sequence[Turn], tokenizer: Any, most: int) -> Cut:
    """The tokens of a dialogue, cut to `most`.

    Where the first turn alone takes more than half, and the others do not fit beside it, both are cut: the first one
    keeps its beginning, the last one its end.

    Args:
        turns: what is seen of the dialogue; the patient speaks in it.
        tokenizer: a fast tokenizer.
        most: the most tokens, special ones included.
    """
    whole = render_dialogue(turns)
    ids = _ids(tokenizer, whole)
    if len(ids) <= most:
        return Cut(ids, whole, True)
    first = next(place for place, turn in enumerate(turns) if turn["role"] == "patient")
    head, rest = render_dialogue(turns[first : first + 1]), [render_dialogue([turn]) for turn in turns[first + 1 :]]
    if not rest:
        head = _start(tokenizer, head, most)
    elif len(_ids(tokenizer, "\n".join([head, rest[-1]]))) > most:
        special = len(_ids(tokenizer, ""))
        head = _start(tokenizer, head, max(most // 2, most - len(_ids(tokenizer, rest[-1])) + special))
        rest = [_end(tokenizer, rest[-1], most - len(_ids(tokenizer, head)) + special)]
    kept = _last_that_fit(tokenizer, head, rest, most)
    text = "\n".join([head, *kept])
    return Cut(tokenizer(text, truncation=True, max_length=most)["input_ids"], text, False)


def _last_that_fit(tokenizer: Any, head: str, rest: Sequence[str], most: int) -> list[str]:
    kept: list[str] = list(rest[-1:])
    for line in reversed(rest[:-1]):
        if len(_ids(tokenizer, "\n".join([head, line, *kept]))) > most:
            break
        kept.insert(0, line)
    return kept


def _ids(tokenizer: Any, text: str) -> list[int]:
    ids: list[int] = tokenizer(text, verbose=False)["input_ids"]
    return ids


def _start(tokenizer: Any, text: str, most: int) -> str:
    """The beginning of a text that takes at most so many tokens, special ones included."""
    ends = _offsets(tokenizer, text)[: max(0, most - len(_ids(tokenizer, "")))]
    return text[: ends[-1][1]] if ends else ""


def _end(tokenizer: Any, text: str, most: int) -> str:
    """The end of a text that takes at most so many tokens, special ones included."""
    room = max(0, most - len(_ids(tokenizer, "")))
    starts = _offsets(tokenizer, text)[-room:] if room else []
    return text[starts[0][0] :] if starts else ""


def _offsets(tokenizer: Any, text: str) -> list[tuple[int, int]]:
    offsets: list[tuple[int, int]] = tokenizer(
        text, add_special_tokens=False, return_offsets_mapping=True, verbose=False
    )["offset_mapping"]
    return offsets
