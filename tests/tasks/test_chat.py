"""Chat templates of every kind, around SmolLM2's tokenizer."""

import copy
from typing import Any

import pytest

from clinical_evals.errors import InputError
from clinical_evals.tasks.models.chat import ChatPrompt

TURNS = (
    "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}"
)
NO_SYSTEM = (
    "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}" + TURNS
)
SILENT = (
    "{% for m in messages %}{% if m.role != 'system' %}[{{ m.role }}]{{ m.content }}{% endif %}{% endfor %}[assistant]"
)
DATED = "{{ strftime_now('%d %b %Y') }} {{ strftime_now('%Y-%m-%d') }} " + TURNS
DATED_IF_NOT_TOLD = (
    "{% if date_string is not defined %}{% set date_string = strftime_now('%d %b %Y') %}{% endif %}{{ date_string }} "
    + TURNS
)
WITH_BOS = "{{ bos_token }}" + TURNS


def with_template(tokenizer: Any, template: str | None) -> Any:
    changed = copy.deepcopy(tokenizer)
    changed.chat_template = template
    return changed


def test_the_models_own_template(tokenizer: Any) -> None:
    chat = ChatPrompt(tokenizer, use_chat_template=True)
    assert chat.has_system_role
    expected = "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nU<|im_end|>\n<|im_start|>assistant\n"
    assert chat.render("S", "U") == expected


@pytest.mark.parametrize("template", [NO_SYSTEM, SILENT])
def test_without_a_system_role_it_stands_at_the_head_of_the_user_turn(tokenizer: Any, template: str) -> None:
    chat = ChatPrompt(with_template(tokenizer, template), use_chat_template=True)
    assert not chat.has_system_role
    assert chat.render("S", "U") == "[user]S\n\nU[assistant]"


def test_without_a_template_it_is_plain_text(tokenizer: Any) -> None:
    chat = ChatPrompt(with_template(tokenizer, None), use_chat_template=False)
    assert chat.render("S", "U") == "S\n\nU\n"
    assert chat.add_special_tokens


@pytest.mark.parametrize("template", [DATED, DATED_IF_NOT_TOLD])
def test_the_date_in_a_template_stands_still(tokenizer: Any, template: str) -> None:
    text = ChatPrompt(with_template(tokenizer, template), use_chat_template=True).render("S", "U")
    assert text.startswith("26 Jul 2024 ")
    assert "2024-07-26" in text or template is DATED_IF_NOT_TOLD


def test_the_beginning_of_text_is_written_once(tokenizer: Any) -> None:
    changed = with_template(tokenizer, WITH_BOS)
    prompt = (chat := ChatPrompt(changed, use_chat_template=True)).render("S", "U")
    assert chat.encode(prompt).count(changed.bos_token_id) == 1


def test_token_ends_cover_the_text(tokenizer: Any) -> None:
    text = "Créatinine 1.8 mg/dL [0.4–1.1]\n血糖 212 🩺"
    chat = ChatPrompt(tokenizer, use_chat_template=True)
    ends = chat.token_ends(text)
    assert ends == sorted(ends)
    assert ends[-1] == len(text)
    assert len(ends) == len(tokenizer(text, add_special_tokens=False)["input_ids"])


CONVERSATION = [
    {"role": "system", "content": "S"},
    {"role": "user", "content": "U1"},
    {"role": "assistant", "content": "A1"},
    {"role": "user", "content": "U2"},
]
REFUSING = (
    "{% for m in messages %}{% if m.role == 'assistant' %}{{ raise_exception('one question only') }}{% endif %}"
    "{% endfor %}" + TURNS
)
FORGETFUL = "[user]{{ messages[-1].content }}[assistant]"


def test_a_conversation_in_the_models_own_template(tokenizer: Any) -> None:
    expected = "".join(f"<|im_start|>{said['role']}\n{said['content']}<|im_end|>\n" for said in CONVERSATION)
    chat = ChatPrompt(tokenizer, use_chat_template=True)
    chat.check_conversation()
    assert chat.render_messages(CONVERSATION) == f"{expected}<|im_start|>assistant\n"


@pytest.mark.parametrize("template", [NO_SYSTEM, SILENT])
def test_a_conversation_without_a_system_role(tokenizer: Any, template: str) -> None:
    chat = ChatPrompt(with_template(tokenizer, template), use_chat_template=True)
    chat.check_conversation()
    assert chat.render_messages(CONVERSATION) == "[user]S\n\nU1[assistant]A1[user]U2[assistant]"
    assert CONVERSATION[1]["content"] == "U1"  # what was given is not changed


def test_a_conversation_without_a_template_is_lines_of_plain_text(tokenizer: Any) -> None:
    chat = ChatPrompt(with_template(tokenizer, None), use_chat_template=False)
    chat.check_conversation()
    assert chat.render_messages(CONVERSATION) == "system: S\nuser: U1\nassistant: A1\nuser: U2\nassistant:"


@pytest.mark.parametrize(
    ("template", "why"),
    [(REFUSING, "TemplateError: one question only"), (FORGETFUL, "it leaves out the turn of user")],
)
def test_a_template_that_knows_no_conversation_is_named(tokenizer: Any, template: str, why: str) -> None:
    changed = with_template(tokenizer, template)
    changed.name_or_path = "org/one-turn"
    chat = ChatPrompt(changed, use_chat_template=True)
    message = rf"template of org/one-turn cannot show a conversation of 3 messages \(user, assistant, user\): {why}"
    with pytest.raises(InputError, match=message):
        chat.check_conversation()
