"""Dialogues that are longer than an encoder reads: the complaint and the last turns stay."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clinical_evals.training.departments.cutting import fit_dialogue

GREETING, FIRST = ("doctor", "第1位"), ("patient", "膝盖肿了")
ASKED, ANSWERED = ("doctor", "多久"), ("patient", "两天了")


def turns(*said: tuple[str, str]) -> list[dict[str, str]]:
    return [{"role": role, "content": content} for role, content in said]


def test_what_fits_is_whole(tokenizer: Any) -> None:
    cut = fit_dialogue(turns(GREETING, FIRST, ASKED, ANSWERED), tokenizer, 64)
    assert cut.whole
    assert cut.text == "导诊：第1位\n患者：膝盖肿了\n导诊：多久\n患者：两天了"
    assert len(cut.ids) == 2 + 6 + 7 + 5 + 6  # a character is a token; [CLS] and [SEP]


def test_the_greeting_and_the_middle_go_first(tokenizer: Any) -> None:
    middle = [("doctor", "红肿"), ("patient", "有点红")] * 4
    cut = fit_dialogue(turns(GREETING, FIRST, *middle, ASKED, ANSWERED), tokenizer, 26)
    assert not cut.whole
    assert cut.text == "患者：膝盖肿了\n患者：有点红\n导诊：多久\n患者：两天了"  # 2 + 7 + 6 + 5 + 6


def test_a_long_question_keeps_its_beginning(tokenizer: Any) -> None:
    cut = fit_dialogue(turns(("patient", "膝盖肿了" * 20)), tokenizer, 16)
    assert cut.text == "患者：" + ("膝盖肿了" * 20)[:11]


def test_of_two_long_turns_the_first_keeps_its_beginning_and_the_last_its_end(tokenizer: Any) -> None:
    cut = fit_dialogue(turns(("patient", "膝盖肿了" * 20), ("patient", "两天了" * 20)), tokenizer, 20)
    first, last = cut.text.split("\n")
    assert len(cut.ids) <= 20
    assert first.startswith("患者：膝盖肿")
    assert last.endswith("两天了")


TURN = st.tuples(st.sampled_from(["patient", "doctor"]), st.text("膝盖肿两天了，", min_size=1, max_size=40))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(TURN, min_size=1, max_size=8), st.integers(8, 64))
def test_it_always_fits_and_starts_with_the_first_turn_of_the_patient(
    tokenizer: Any, said: list[tuple[str, str]], most: int
) -> None:
    dialogue = turns(*said, FIRST)
    cut = fit_dialogue(dialogue, tokenizer, most)
    assert len(cut.ids) <= most
    assert (cut.ids[0], cut.ids[-1]) == (tokenizer.cls_token_id, tokenizer.sep_token_id)
    if not cut.whole:
        complaint = next(content for role, content in [*said, FIRST] if role == "patient")
        first = cut.text.split("\n")[0]
        assert first
        assert first == f"患者：{complaint}"[: len(first)]
