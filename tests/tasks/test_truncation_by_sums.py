"""With SmolLM2's tokenizer, cutting gives what bisection on the tokenised prompt alone gives, and tokenises less."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plain_bisection import Counting, fit_plainly

from clinical_evals.clibench.prompts import SYSTEM, user_text
from clinical_evals.clibench.segments import LONG, Segments, render_segments
from clinical_evals.errors import InputError
from clinical_evals.ontology import get_system
from clinical_evals.tasks.models.chat import ChatPrompt
from clinical_evals.truncation import Room, fit_prompt


def render_by(chat: ChatPrompt) -> Any:
    return lambda cut: chat.render(SYSTEM, user_text("diagnosis", cut))


PIECES = [
    "BP 168/95, ",
    "acute ",
    "décompensation\n",
    "肺炎",
    "🩺",
    "1234567890",
    " ",
    "\n\n",
    "头痛发热三天伴咳嗽" * 9,
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=200).map("".join)


@pytest.mark.parametrize("fast", [True, False])
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(record=TEXTS, radiology=TEXTS, labs=TEXTS, limit=st.integers(150, 2500))
def test_any_text(tokenizer: Any, fast: bool, record: str, radiology: str, labs: str, limit: int) -> None:
    """Also Chinese without a space, emoji of several tokens, and a tokenizer that cannot tell where its tokens end."""
    chat = ChatPrompt(tokenizer, use_chat_template=True)
    segments = Segments("Sex: female", "", record, radiology, labs)
    measure = Counting(chat)
    if not fast:
        measure.token_ends = lambda text: list(range(1, len(text) + 1))  # type: ignore[method-assign]
    expected = fit_plainly(segments, render_by(chat), measure, Room(limit, 0))
    try:
        fitted = fit_prompt(segments, LONG, render_by(chat), measure, Room(limit, 0), "row 0")
    except InputError:
        assert expected is None
        return
    assert (fitted.text, fitted.tokens, fitted.whole_tokens) == expected


def test_long_admissions(tokenizer: Any) -> None:
    """Eight of the embedded sample in one, of some 7,000 tokens: every step that is asked for near the limit."""
    from datasets import load_dataset

    import clinical_evals  # noqa: F401 - makes the bare name known

    rows = load_dataset("clibench", "diagnosis", split="test")
    each = [render_segments(row, get_system("icd10cm")) for row in rows.select(range(8))]
    record, radiology, labs = ("\n\n".join(getattr(one, name) for one in each) for name in LONG.names)
    segments = each[0]._replace(record=record, radiology=radiology, labs=labs)
    chat = ChatPrompt(tokenizer, use_chat_template=True)
    plain, ours = Counting(chat), Counting(chat)
    for limit in (500, 1900, 3300):
        expected = fit_plainly(segments, render_by(chat), plain, Room(limit, 0))
        fitted = fit_prompt(segments, LONG, render_by(chat), ours, Room(limit, 0), "row 0")
        assert (fitted.text, fitted.tokens, fitted.whole_tokens) == expected
    assert ours.counted < 0.6 * plain.counted
