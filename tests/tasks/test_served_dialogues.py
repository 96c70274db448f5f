"""The demo's model behind `transformers serve` on loopback: dialogues and single questions, also past a faulty proxy.

It reads Chinese hardly and writes less, so the answers are short and their sense is not looked at: what counts is that
the server's and our own computing of the same weights say the same, whatever comes between.
"""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from endpoint_server import Action, Asked, EndpointServer, HangUp, Send, Silence, error
from served_model import forward, needs_serving, serve
from tenacity import wait_fixed

import clinical_evals  # noqa: F401 - makes the bare names known
from clinical_evals.errors import ResourceMissingError
from clinical_evals.tasks.dialogue.dialogue_log import read_transcripts
from clinical_evals.tasks.launcher import evaluate
from clinical_evals.tasks.models import endpoint_client
from clinical_evals.tasks.models.demo_model import find_demo_model
from clinical_evals.tasks.options import Options
from clinical_evals.tasks.scored.results import Result

pytestmark = [pytest.mark.slow, needs_serving]

TURNS, TOKENS = 2, 4
STEPS = 3 * TURNS - 1


@pytest.fixture(autouse=True)
def _the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IOR_BENCH_DIR", raising=False)
    monkeypatch.delenv("CLIBENCH_DIR", raising=False)


@pytest.fixture(scope="module")
def model() -> str:
    try:
        return find_demo_model()
    except ResourceMissingError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def url(model: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serve(model, tmp_path_factory.mktemp("serve")) as address:
        yield address


@pytest.fixture(scope="module")
def played(model: str, url: str, tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Two dialogues in which the served model has all roles."""
    return run(model, url, tmp_path_factory.mktemp("played"), max_samples=2)


def args_of(model: str, url: str, more: str = "") -> str:
    return f"model_name={model},base_url={url},context=8192{more}"


def run(model: str, url: str, out: Path, more: str = "", **changes: Any) -> Result:
    args = args_of(model, url, more)
    usual = Options(args, "ior_bench:dynamic_h2", out, 1, answer_tokens=TOKENS, backend="endpoint", turns=TURNS)
    (result,) = evaluate(usual._replace(**changes))
    return result


def texts(result: Result) -> dict[tuple[int, int, str], str]:
    """The answers in the log."""
    lines = [line for line in read_transcripts(result.log)[1] if "missing" not in line]
    return {(line["row"], line["turn"], line["step"]): line["text"] for line in lines}


def test_dialogues_through_a_real_server(played: Result, model: str, tmp_path: Path) -> None:
    lines = read_transcripts(played.log)[1]
    assert len(lines) == 2 * STEPS
    assert played.unanswered == ()
    for line in lines:
        assert line["served"]["model"] == model
        assert not line["served"]["estimated"]
        assert line["text"]
        assert 1 <= line["output_tokens"] <= TOKENS
        assert 500 < line["input_tokens"] < 8192 - TOKENS  # the record, or the list of departments


def test_a_local_doctor_and_a_served_patient_say_the_same(
    played: Result, model: str, url: str, tmp_path: Path
) -> None:
    local = {"backend": "accelerate", "model_args": f"model_name={model},dtype=float32", "batch_size": 1}
    mixed = run(model, url, tmp_path, patient_model=args_of(model, url), patient_backend="endpoint", **local)
    assert len(texts(mixed)) == STEPS
    # The one row of one is among the two of two, and the same weights answer the same prompts.
    assert texts(mixed).items() <= texts(played).items()


def test_single_questions_through_a_real_server(model: str, url: str, tmp_path: Path) -> None:
    changes: dict[str, Any] = {"tasks": "ior_bench:static_zero_shot", "turns": None}
    served = run(model, url, tmp_path / "served", **changes)
    local = {"backend": "accelerate", "model_args": f"model_name={model},dtype=float32", "batch_size": 1}
    own = run(model, url, tmp_path / "own", **changes, **local)
    assert [line["answers"] for line in served.lines] == [line["answers"] for line in own.lines]
    # Prompts of CliBench are cut, here by an estimate: the server has the last word on what fits.
    changes |= {"tasks": "clibench:diagnosis", "context": 1300}
    for line in [*served.lines, *run(model, url, tmp_path / "served", **changes).lines]:
        assert line["output_tokens"] == [TOKENS]
        assert line["served"][0]["model"] == model
        assert line["served"][0]["prompt_tokens"] <= line["input_tokens"]  # the estimate is no less than what it is


def test_a_faulty_proxy_before_it_changes_no_answer(
    played: Result, model: str, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint_client, "BACK_OFF", wait_fixed(0.1))
    proxy = EndpointServer()

    def die_and_come_back() -> None:
        proxy.stop()
        proxy.start()

    death = threading.Thread(target=die_and_come_back)
    faults: list[Action] = [
        error(429, "slow down", Retry_After="1"),
        error(500, "out of order"),
        Silence(),
        Send(b'{"choices": "none"}'),
        HangUp(),
    ]

    def script(asked: Asked) -> Action:
        if asked.attempt == 1:
            if isinstance(faults[asked.prompt], HangUp):
                death.start()
            return faults[asked.prompt]
        answer = forward(asked, url)
        assert isinstance(answer, Send)
        # Before the cut one its whole answer was computed, and is thrown away.
        return answer._replace(body=answer.body[:-20], cut=20) if (asked.prompt, asked.attempt) == (1, 2) else answer

    proxy.script = script
    result = run(model, proxy.url, tmp_path, ",timeout=10")
    death.join()
    proxy.stop()
    assert len(proxy.asked) == len(faults) + 1 + STEPS  # each fault and each answer once
    assert result.unanswered == ()
    assert len(texts(result)) == STEPS
    assert texts(result).items() <= texts(played).items()
