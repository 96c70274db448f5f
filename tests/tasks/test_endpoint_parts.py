"""The parts of an endpoint's client: messages, replies, waits, budget."""

import asyncio
import email.utils
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinical_evals.tasks.models.endpoint_budget import Budget, BudgetSpentError, Prices, Usage
from clinical_evals.tasks.models.endpoint_chat import EndpointChat, read_messages
from clinical_evals.tasks.models.endpoint_client import read_retry_after
from clinical_evals.tasks.models.endpoint_reply import MOST_WORDS, UnusableReplyError, read_complaint, read_reply

# Messages

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.lists(st.tuples(st.sampled_from(["system", "user", "assistant"]), TEXTS), min_size=1))
def test_messages_come_back_as_they_were(said: list[tuple[str, str]]) -> None:
    messages = [{"role": role, "content": text} for role, text in said]
    assert read_messages(EndpointChat().render_messages(messages)) == messages


def test_only_the_texts_are_counted() -> None:
    chat = EndpointChat()
    # 100 quotes and line ends, which JSON doubles, and one line end between the two texts: 101 / 2.5 + 1 + 48
    assert chat.count(chat.render("", '"\n' * 50)) == 40 + 1 + 48
    assert chat.count(chat.render("", "科" * 10)) == int(1 / 2.5 + 26) + 1 + 48


# Replies


def reply(**changes: Any) -> bytes:
    usual = {
        "model": "m",
        "choices": [{"message": {"content": "I10"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2},
    }
    return json.dumps(usual | changes).encode()


def choice(content: object, finish: object = "stop", **more: Any) -> list[dict[str, Any]]:
    return [{"message": {"content": content, **more}, "finish_reason": finish}]


def test_an_answer() -> None:
    found = read_reply(reply())
    assert (found.text, found.finish, found.usage, found.model, found.fingerprint) == ("I10", "stop", (5, 2), "m", "")
    assert read_reply(reply(choices=choice(""))).text == ""
    assert read_reply(reply(choices=choice("I", "length"))).finish == "length"


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        [5, 2],
        {"prompt_tokens": 5},
        {"prompt_tokens": True, "completion_tokens": 1},
        {"prompt_tokens": -5, "completion_tokens": 1},
        {"prompt_tokens": 0, "completion_tokens": 0},
        {"prompt_tokens": "5", "completion_tokens": 2},
    ],
)
def test_counts_that_are_none(usage: object) -> None:
    assert read_reply(reply(usage=usage)).usage is None


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "0 bytes is no JSON object"),
        (b"\xff\xfe", "is no JSON object"),
        (b"[" * 100_000, "is no JSON object"),
        (b'"text"', "is no JSON object"),
        (reply()[:-5], "is no JSON object"),
        (reply(choices=[]), "has no choices"),
        (reply(choices=None, error={"message": "overloaded"}), "has no choices: overloaded"),
        (reply(choices=["x"]), "has no choices"),
        (reply(choices=[{}]), "content is null"),
        (reply(choices=choice(None, refusal="I cannot")), r"content is null \(the model refused: I cannot\)"),
        (reply(choices=choice(["I10"])), "content is list"),
        (reply(choices=choice("I10", None)), "ended with None"),
        (reply(choices=choice("I10", "tool_calls")), "ended with 'tool_calls'"),
        (reply(choices=choice("I10", ["stop"])), "ended with "),
    ],
)
def test_what_is_no_answer(body: bytes, why: str) -> None:
    with pytest.raises(UnusableReplyError, match=why):
        read_reply(body)


def test_what_no_answer_took_is_known() -> None:
    with pytest.raises(UnusableReplyError) as raised:
        read_reply(reply(choices=[]))
    assert raised.value.usage == (5, 2)


@pytest.mark.parametrize(
    ("body", "words", "code"),
    [
        (b'{"error": {"message": "no such\\n model", "code": "model_not_found"}}', "no such model", "model_not_found"),
        (b'{"detail": "Not Found"}', "Not Found", ""),
        (b'{"error": "boom\\u001b[31m"}', "boom [31m", ""),
        (b'{"detail": [{"msg": "x", "input": "a patient"}]}', "", ""),
        (b"<html>", "", ""),
        (b'{"message": "%s"}' % (b"x" * 900), "x" * MOST_WORDS + "…", ""),
    ],
)
def test_the_servers_own_words(body: bytes, words: str, code: str) -> None:
    assert read_complaint(body) == (words, code)


# Waits


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("", None),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        ("1e400", None),
        ("Feb +99999999999999 01 00:00:00", None),  # a date too far away to be counted
        ("7", 7),
        ("0.5", 0.5),
        ("-3", 0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0),
    ],
)
def test_seconds_to_wait(value: str | None, seconds: float | None) -> None:
    assert read_retry_after(value) == seconds


def test_a_date_to_wait_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 1_800_000_000.0)
    assert read_retry_after(email.utils.formatdate(1_800_000_090, usegmt=True)) == 90


# The budget


def test_a_budget_waits_for_what_is_under_way() -> None:
    budget, order = Budget(tokens=100), []

    async def request(name: str, most: Usage, used: Usage) -> None:
        await budget.reserve(most)
        order.append(f"{name} out")
        await asyncio.sleep(0)
        order.append(f"{name} back")
        budget.settle(most, used)

    async def all_three() -> None:
        await asyncio.gather(*(request(name, Usage(50, 10), Usage(10, 5)) for name in "abc"))

    asyncio.run(all_three())
    # 60 of 100 are set aside for each: never two at once. 15 each are spent, so that all three fit in turn.
    assert [step.split()[1] for step in order] == ["out", "back"] * 3
    assert budget.used == (30, 15)


def test_a_spent_budget_says_so() -> None:
    budget = Budget(tokens=1000, cost=0.01, prices=Prices(10, 20))

    async def spend() -> None:
        await budget.reserve(Usage(400, 100))
        budget.settle(Usage(400, 100), Usage(390, 90))
        await budget.reserve(Usage(400, 100))

    # 390 x 10 / 1,000,000 + 90 x 20 / 1,000,000 = 0.0057; 0.0060 more are above 0.01
    message = (
        r"--max-tokens 1,000 and --max-cost 0.01 is spent: 480 tokens \(cost 0.0057\), and the next request may take "
        r"500 \(cost 0.0060\) more"
    )
    with pytest.raises(BudgetSpentError, match=message):
        asyncio.run(spend())


def test_a_budget_that_is_too_small_is_not_called_spent() -> None:
    # 1,000 + 266 tokens are more than 1,000 before anything is spent: the same command would end here again.
    message = r"the budget of --max-tokens 1,000 is too small for the first request, which may take 1,266: give more\."
    with pytest.raises(BudgetSpentError, match=message):
        asyncio.run(Budget(tokens=1000).reserve(Usage(1000, 266)))


@pytest.mark.parametrize(
    ("most", "way_out"),
    [
        (Usage(900, 0), "the same command again goes on with a new budget"),  # it would fit where nothing is spent
        (Usage(1001, 0), "that request is more than the whole budget"),  # and this one never
    ],
)
def test_the_way_out_of_a_spent_budget(most: Usage, way_out: str) -> None:
    budget = Budget(tokens=1000)

    async def spend() -> None:
        await budget.reserve(Usage(400, 0))
        budget.settle(Usage(400, 0), Usage(400, 0))
        await budget.reserve(most)

    with pytest.raises(BudgetSpentError, match=f"is spent: 400 tokens, .*{way_out}"):
        asyncio.run(spend())


def test_two_endpoints_spend_one_budget_each_by_its_prices() -> None:
    doctor = Budget(tokens=1000, cost=0.01, prices=Prices(10, 20))
    of_patient = Budget(tokens=1000, cost=0.01, prices=Prices(1, 2))
    of_patient.share(doctor)

    async def spend(budget: Budget, most: Usage, used: Usage) -> None:
        await budget.reserve(most)
        budget.settle(most, used)

    async def both() -> None:
        await spend(doctor, Usage(400, 100), Usage(300, 50))  # 0.0040
        await spend(of_patient, Usage(400, 100), Usage(400, 100))  # 0.0006
        assert doctor.used == of_patient.used == (700, 150)
        with pytest.raises(BudgetSpentError, match=r"850 tokens \(cost 0.0046\), .* 151 \(cost 0.0002\) more"):
            await of_patient.reserve(Usage(150, 1))  # the tokens are spent
        with pytest.raises(BudgetSpentError, match=r"850 tokens \(cost 0.0046\), .* 300 \(cost 0.0060\) more"):
            await doctor.reserve(Usage(0, 300))
        await spend(doctor, Usage(149, 1), Usage(149, 1))

    asyncio.run(both())


def test_a_limit_of_cost_over_two_endpoints() -> None:
    doctor = Budget(cost=0.01, prices=Prices(10, 20))
    of_patient = Budget(cost=0.01, prices=Prices(1, 2))
    of_patient.share(doctor)
    asyncio.run(doctor.reserve(Usage(900, 0)))  # under way: 0.0090
    doctor.settle(Usage(900, 0), Usage(900, 0))
    asyncio.run(of_patient.reserve(Usage(1000, 0)))  # 0.0010 by its own prices: all that is left
    of_patient.settle(Usage(1000, 0), Usage(1000, 0))
    for budget in (doctor, of_patient):
        with pytest.raises(BudgetSpentError, match=r"--max-cost 0.01 is spent: 1,900 tokens \(cost 0.0100\)"):
            asyncio.run(budget.reserve(Usage(1, 0)))


def test_no_budget_has_no_end() -> None:
    budget = Budget()
    asyncio.run(budget.reserve(Usage(10**12, 10**12)))
