"""The common-ratio rule with SmolLM2's tokenizer and chat template, on the embedded admissions and on arbitrary "
"text."""

from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clinical_evals.clibench.prompts import SYSTEM, user_text
from clinical_evals.clibench.segments import LONG, Segments, render_segments
from clinical_evals.errors import InputError
from clinical_evals.ontology import get_system
from clinical_evals.tasks.models.chat import ChatPrompt
from clinical_evals.tasks.plain_context import EstimatedTokens
from clinical_evals.truncation import CUT_AWAY, FittedPrompt, Room, fit_prompt


@cache
def admissions() -> list[Segments]:
    from datasets import load_dataset

    import clinical_evals  # noqa: F401 - makes the bare name known

    return [render_segments(row, get_system("icd10cm")) for row in load_dataset("clibench", "diagnosis", split="test")]


@pytest.fixture(scope="module")
def chat(tokenizer: Any) -> ChatPrompt:
    return ChatPrompt(tokenizer, use_chat_template=True)


def fit(chat: ChatPrompt, segments: Segments, limit: int) -> FittedPrompt:
    def render(cut: Segments) -> str:
        return chat.render(SYSTEM, user_text("diagnosis", cut))

    return fit_prompt(segments, LONG, render, chat, Room(limit + 650, 650), "row 0")


LAB = "Sodium (Blood): 131 mEq/L [133–145] abnormal\n"
TEXTS = st.one_of(
    st.text(max_size=400),
    st.lists(
        st.sampled_from(["BP 168/95, ", "acute ", "décompensation\n", "肺炎", "🩺", "1234567890", " ", LAB]),
        max_size=150,
    ).map("".join),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(record=TEXTS, radiology=TEXTS, labs=TEXTS, limits=st.tuples(st.integers(180, 1400), st.integers(180, 1400)))
def test_it_never_exceeds_and_more_room_never_keeps_less(
    chat: ChatPrompt, record: str, radiology: str, labs: str, limits: tuple[int, int]
) -> None:
    segments = Segments("Sex: female", "", record, radiology, labs)
    whole = chat.count(chat.render(SYSTEM, user_text("diagnosis", segments)))
    kept = []
    for limit in sorted(limits):
        try:
            fitted = fit(chat, segments, limit)
        except InputError:
            assert not kept, "it fitted with less room"
            continue
        assert fitted.tokens == len(chat.tokenizer(fitted.text, add_special_tokens=False)["input_ids"]) <= limit
        assert (fitted.kept_prompt == 1.0) == (whole <= limit) or fitted.tokens == whole
        kept.append(fitted.kept_long)
    assert kept == sorted(kept)


def test_the_embedded_admissions_at_many_lengths(chat: ChatPrompt) -> None:
    for segments in admissions()[:12]:
        for limit in (500, 777, 1000, 1398):
            fitted = fit(chat, segments, limit)
            # One step of the ratio adds one token of the longest segment, and at most as many again of the two others;
            # a word or number that does not fit whole goes too.
            assert limit - 25 < fitted.tokens <= limit
            for name in set(Segments._fields) - set(LONG.names):
                assert getattr(segments, name) in fitted.text


def test_the_segments_keep_the_same_share(chat: ChatPrompt) -> None:
    segments = admissions()[0]
    prompt = fit(chat, segments, 1000).text
    shares = []
    for name in LONG.names:
        text = getattr(segments, name)
        ends = chat.token_ends(text)
        # The longest beginning of the segment that is in the prompt.
        kept = max(n for n in range(len(ends)) if n == 0 or text[: ends[n - 1]].rstrip() in prompt)
        shares.append((kept / len(ends), len(ends)))
    largest, smallest = max(shares)[0], min(shares)[0]
    assert largest - smallest < 8 / min(tokens for _, tokens in shares), shares  # whole words: a few tokens either way


def test_cut_away_whole(chat: ChatPrompt) -> None:
    segments = admissions()[0]
    least = fit(chat, segments._replace(record=CUT_AWAY, radiology=CUT_AWAY, labs=CUT_AWAY), 10_000).tokens
    assert fit(chat, segments, least).tokens == least
    with pytest.raises(InputError, match=f"take {least} tokens.*leaves {least - 1}"):
        fit(chat, segments, least - 1)


def test_the_estimate_of_the_plain_command_line_is_on_the_safe_side(chat: ChatPrompt) -> None:
    for segments in admissions():
        user = user_text("diagnosis", segments)
        assert EstimatedTokens().count(f"{SYSTEM}\n\n{user}") >= chat.count(chat.render(SYSTEM, user))
