"""Cutting by one common ratio, against an oracle that tries every ratio; words stand for tokens here.

The same rules with a real tokenizer and chat template are in tests/tasks/test_truncation_with_a_tokenizer.py.
"""

import re
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_bisection import Counting, fit_plainly

from clinical_evals.clibench.segments import LONG, Segments
from clinical_evals.errors import InputError
from clinical_evals.tasks.plain_context import EstimatedTokens
from clinical_evals.truncation import CUT_AWAY, NEAR, Measure, Room, cut_segments, fit_prompt


class Words:
    """A tokenizer whose tokens are words."""

    def count(self, prompt: str) -> int:
        return len(prompt.split())

    def token_ends(self, text: str) -> list[int]:
        return [match.end() for match in re.finditer(r"\S+", text)]


def render(segments: Segments) -> str:
    return "begin " + " | ".join(segments) + " end"


def words(prefix: str, n: int) -> str:
    return " ".join(f"{prefix}{i}" for i in range(n))


SEGMENTS = Segments("p1 p2", "h1", words("r", 40), words("x", 10), words("l", 20))
FIXED = Words().count(render(SEGMENTS)) - 70


def test_a_prompt_that_fits_is_whole() -> None:
    fitted = fit_prompt(SEGMENTS, LONG, render, Words(), Room(FIXED + 70 + 30, 30), "row 0")
    assert fitted.text == render(SEGMENTS)
    assert (fitted.kept_prompt, fitted.kept_long) == (1.0, 1.0)


def test_the_long_segments_keep_one_common_share_and_the_others_everything() -> None:
    fitted = fit_prompt(SEGMENTS, LONG, render, Words(), Room(FIXED + 35 + 30, 30), "row 0")
    # 35 of 70 tokens of the long segments fit: half of each.
    assert fitted.text == render(
        SEGMENTS._replace(record=words("r", 20), radiology=words("x", 5), labs=words("l", 10))
    )
    assert fitted.kept_long == 35 / 70
    assert fitted.kept_prompt == (FIXED + 35) / (FIXED + 70)


def test_nothing_left_of_a_segment_does_not_read_as_nothing_there() -> None:
    fitted = fit_prompt(SEGMENTS, LONG, render, Words(), Room(FIXED + 3 + 30, 30), "row 0")
    # The marks of the two others take a word each; one fortieth of the record is one word, of the others none.
    assert fitted.text == render(SEGMENTS._replace(record="r0", radiology=CUT_AWAY, labs=CUT_AWAY))
    assert fitted.kept_long == 1 / 70


def test_an_empty_segment_stays_empty() -> None:
    segments = SEGMENTS._replace(radiology="")
    fitted = fit_prompt(segments, LONG, render, Words(), Room(FIXED + 30 + 30, 30), "row 0")
    assert " |  | " in fitted.text


def test_what_is_never_cut_must_fit() -> None:
    with pytest.raises(
        InputError, match=r"row 7 of clibench:diagnosis.*take \d+ tokens.*100 tokens less 95.*leaves 5.*--context"
    ):
        fit_prompt(SEGMENTS, LONG, render, Words(), Room(100, 95), "row 7 of clibench:diagnosis")


def test_a_cut_never_goes_through_a_word_or_number() -> None:
    text = "Glucose (Blood): 128 mg/dL"
    for step in range(len(text)):
        cut = cut_segments(Segments("", "", text, "", ""), _characters(text), step, len(text)).record
        assert cut == CUT_AWAY or (text.startswith(cut) and text[len(cut)].isspace())


def test_a_text_without_spaces_is_cut_anywhere() -> None:
    text = "头痛发热三天伴咳嗽" * 20
    assert cut_segments(Segments("", "", text, "", ""), _characters(text), 1, 2).record == text[: len(text) // 2]


def _characters(text: str) -> dict[str, list[int]]:
    return {name: list(range(1, len(text) + 1)) if name == "record" else [] for name in LONG.names}


LENGTHS = st.integers(0, 60)


@given(record=LENGTHS, radiology=LENGTHS, labs=LENGTHS, room=st.integers(1, 220))
def test_it_is_the_largest_ratio_that_fits(record: int, radiology: int, labs: int, room: int) -> None:
    segments = Segments("p1 p2", "", words("r", record), words("x", radiology), words("l", labs))
    measure, finest = Words(), max(record, radiology, labs)
    ends = {name: measure.token_ends(getattr(segments, name)) for name in LONG.names}
    fits = [
        prompt
        for step in range(finest + 1)
        if measure.count(prompt := render(cut_segments(segments, ends, step, finest))) <= room
    ]
    try:
        fitted = fit_prompt(segments, LONG, render, measure, Room(room + 5, 5), "row 0")
    except InputError:
        assert not fits
        return
    assert fitted.text == fits[-1]
    assert fitted.tokens == measure.count(fitted.text) <= room
    assert 0 <= fitted.kept_long <= 1


# Steps that are not tokenised, since a sum tells that they are far from the limit


class Uneven(Words):
    """Words, and of every prompt a few tokens more, as if they merged at its cuts: no step is sure to have more tokens
    than the one before."""

    def count(self, prompt: str) -> int:
        return super().count(prompt) + zlib.crc32(prompt.encode()) % (NEAR // 2)


class Characters(Words):
    """A tokenizer that cannot tell where its tokens end."""

    def token_ends(self, text: str) -> list[int]:
        return list(range(1, len(text) + 1))


LONGER = st.integers(0, 700)


@pytest.mark.parametrize(
    "measure", [Words(), Uneven(), Characters(), EstimatedTokens()], ids=lambda m: type(m).__name__
)
@given(record=LONGER, radiology=LONGER, labs=LONGER, room=st.integers(1, 2500))
def test_it_is_what_the_bisection_alone_gives(
    measure: Measure, record: int, radiology: int, labs: int, room: int
) -> None:
    """Also where counts go up and down, and where the ends are not those of the tokens that are counted."""
    segments = Segments("p1 p2", "", words("r", record), words("x", radiology), words("l", labs))
    expected = fit_plainly(segments, render, measure, Room(room, 0))
    try:
        fitted = fit_prompt(segments, LONG, render, measure, Room(room, 0), "row 0")
    except InputError:
        assert expected is None
        return
    assert (fitted.text, fitted.tokens, fitted.whole_tokens) == expected


def test_a_long_record_is_tokenised_near_the_limit_only() -> None:
    """Of 20,000 steps the bisection visits 15. Here: the whole prompt, the step where the sum meets the limit, and
    what lies up to 32 tokens from it: one for each halving of those 64, and one more."""
    segments = SEGMENTS._replace(record=words("r", 20_000))
    room = Room(2_000, 64)
    plain, ours = Counting(Words()), Counting(Words())
    expected = fit_plainly(segments, render, plain, room)
    fitted = fit_prompt(segments, LONG, render, ours, room, "row 0")
    assert (fitted.text, fitted.tokens, fitted.whole_tokens) == expected
    assert plain.counted == 1 + 15 + 1  # the chosen step twice
    assert ours.counted <= 1 + 1 + 6 + 1
