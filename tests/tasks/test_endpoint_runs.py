"""Whole runs of `eval endpoint` against a real HTTP server in this process that plays an endpoint, faults and all.

The last test asks `transformers serve`.
"""

import email.utils
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from endpoint_server import (
    DEPARTMENT,
    Action,
    Asked,
    EndpointServer,
    HangUp,
    Send,
    Silence,
    completion,
    error,
    marked_answer,
)
from served_model import forward, needs_serving, serve

import clinical_evals  # noqa: F401 - makes the bare names known
from clinical_evals.cli import main
from clinical_evals.errors import ClinicalEvalsError, GuardError, InputError, RunError
from clinical_evals.tasks import logged_model
from clinical_evals.tasks.launcher import evaluate
from clinical_evals.tasks.models import endpoint_client
from clinical_evals.tasks.options import Options
from clinical_evals.tasks.prediction_log import read_log
from clinical_evals.tasks.scored.explain import explain
from clinical_evals.tasks.scored.rescore import rescore
from clinical_evals.tasks.scored.results import Result
from clinical_evals.tasks.scored.tables import format_results

ROWS = 8
BACK_OFF = endpoint_client.BACK_OFF
KEY = "sk-very-secret-0123456789"


pytestmark = pytest.mark.usefixtures("no_waiting")


def options(server: EndpointServer, out: Path, args: str = "", **changes: Any) -> Options:
    text = f"model_name=org/some-model,base_url={server.url},context=8192{args}"
    return Options(text, "ior_bench|static_zero_shot", out, ROWS, backend="endpoint")._replace(**changes)


def run(server: EndpointServer, out: Path, args: str = "", **changes: Any) -> Result:
    (result,) = evaluate(options(server, out, args, **changes))
    return result


def rows_of(out: Path) -> list[dict[str, Any]]:
    """The rows of the one log, without what tells how they were computed."""
    (log,) = out.rglob("predictions.jsonl")
    lines = [{k: v for k, v in line.items() if k not in ("seconds", "batch")} for line in read_log(log)[1]]
    return sorted(lines, key=lambda line: int(line["row"]))


def files_of(out: Path) -> dict[str, bytes]:
    """What is scored and summed up."""
    return {path.name: path.read_bytes() for pattern in ("scored*", "summary*") for path in out.rglob(pattern)}


def check_marks(out: Path) -> int:
    """Each answer is of its own prompt; returns how many there are."""
    rows = rows_of(out)
    for row in rows:
        expected = marked_answer({"messages": json.loads(row["prompt"])})
        assert row["answers"] == [expected] * len(row["answers"])
    return len(rows)


# One run


def test_a_run_sends_messages_and_logs_what_comes(server: EndpointServer, tmp_path: Path) -> None:
    result = run(server, tmp_path)
    assert check_marks(tmp_path) == len(server.asked) == ROWS
    for asked in server.asked:
        assert asked.path == "/v1/chat/completions"
        assert [message["role"] for message in asked.body["messages"]] == ["system", "user"]
        assert {name: value for name, value in asked.body.items() if name != "messages"} == {
            "model": "org/some-model", "max_tokens": 256, "temperature": 0, "stream": False,
        }  # fmt: skip
        assert "Authorization" not in asked.headers
    header, lines = read_log(result.log)
    assert header["run"]["model"] == {"endpoint": server.url, "name": "org/some-model"}
    assert "weights behind an endpoint are not known" in header["endpoint"]
    served = {"prompt_tokens": 100, "answer_tokens": 7, "estimated": False, "cost": None}
    names = {"model": "org/some-model-2026", "fingerprint": "fp_1"}
    assert [line["served"] for line in lines] == [[served | names]] * ROWS
    assert {(*line["output_tokens"], *line["finish"]) for line in lines} == {(7, "stop")}
    text = format_results([result])
    assert f"tokens: {100 * ROWS} read, {7 * ROWS} written (as the endpoint reports)" in text
    (ours,) = tmp_path.rglob("results_*.json")
    accuracy = json.loads(ours.read_text())["results"]["ior_bench:static_zero_shot|0"]["accuracy"]
    assert accuracy == result.scored.scores()["accuracy"]
    shown = explain(result.log, lines[0]["row"])
    assert "\n" in shown.split("its end:]")[1].split("[")[0].strip()  # as text, not as JSON with \n


def test_a_second_run_asks_nothing(server: EndpointServer, tmp_path: Path) -> None:
    first = run(server, tmp_path)
    before = files_of(tmp_path) | {"log": first.log.read_bytes()}
    server.reset()
    again = run(server, tmp_path, ",concurrency=2,attempts=3,timeout=30,input_price=1,output_price=1")
    assert (again.resumed, server.asked) == (ROWS, [])
    assert files_of(tmp_path) | {"log": again.log.read_bytes()} == before


def test_what_decides_the_answers_is_another_run(server: EndpointServer, tmp_path: Path) -> None:
    run(server, tmp_path, max_samples=1)
    for args in (",send_temperature=False", ",length_parameter=max_completion_tokens"):
        assert run(server, tmp_path, args, max_samples=1).resumed == 0, args
    shorter = options(server, tmp_path).model_args.replace("context=8192", "context=8000")
    assert run(server, tmp_path, max_samples=1, model_args=shorter).resumed == 0
    cut = ",generation_parameters={top_p:0.9,stop_tokens:[X]}".replace("[X]", '["\\n"]')
    assert run(server, tmp_path, cut, max_samples=1).resumed == 0
    bodies = [{k: v for k, v in asked.body.items() if k not in ("messages", "model")} for asked in server.asked]
    assert bodies == [
        {"max_tokens": 256, "temperature": 0, "stream": False},
        {"max_tokens": 256, "stream": False},
        {"max_completion_tokens": 256, "temperature": 0, "stream": False},
        {"max_tokens": 256, "temperature": 0, "stream": False},
        {"max_tokens": 256, "temperature": 0, "stream": False, "top_p": 0.9, "stop": ["\n"]},
    ]
    same = run(server, tmp_path, max_samples=1, model_args=options(server, tmp_path).model_args.replace("/v1", "/v1/"))
    assert same.resumed == 1  # a slash at the end is no other address


def test_clibench_through_the_command_line(
    server: EndpointServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.script = lambda asked: completion(asked, "I10, E46")
    args = f"model_name=m,base_url={server.url},input_price=2.0,output_price=10.0"
    command = ["eval", "endpoint", args, "--tasks", "clibench|diagnosis", "--max-samples", "3", "--context", "2200"]
    assert main([*command, "--concurrency", "3", "--output-dir", str(tmp_path)]) == 0
    # 3 x (100 x 2 + 7 x 10) / 1,000,000
    assert "tokens: 300 read, 21 written (as the endpoint reports), cost 0.0008" in capsys.readouterr().out
    for row in rows_of(tmp_path):
        assert row["input_tokens"] <= 2200 - 650 < row["whole_tokens"]  # cut by the estimate
        assert row["served"][0]["cost"] == pytest.approx(0.00027)


def test_votes_are_requests_of_their_own_with_seeds(server: EndpointServer, tmp_path: Path) -> None:
    result = run(server, tmp_path / "a", tasks="ior_bench|static_majority_vote", max_samples=2)
    assert [len(line["answers"]) for line in result.lines] == [5, 5]
    asked = {(asked.body["seed"], asked.body["temperature"], asked.prompt) for asked in server.asked}
    assert len({seed for seed, _, _ in asked}) == 10
    assert {heat for _, heat, _ in asked} == {0.7}
    assert all("n" not in each.body and 0 <= each.body["seed"] < 2**31 for each in server.asked)
    server.reset()
    run(server, tmp_path / "b", tasks="ior_bench|static_majority_vote", max_samples=2)
    assert {each.body["seed"] for each in server.asked} == {seed for seed, _, _ in asked}
    server.reset()
    run(server, tmp_path / "c", ",send_seed=False", tasks="ior_bench|static_majority_vote", max_samples=1, seed=1)
    assert [each.body.get("seed") for each in server.asked] == [None] * 5


def test_an_empty_answer_is_one_and_a_cut_one_too(server: EndpointServer, tmp_path: Path) -> None:
    def script(asked: Asked) -> Action:
        finish, text = [("stop", ""), ("length", "骨科，因为"), ("eos_token", "half \ud83d pair")][asked.prompt]
        return completion(asked, text, finish)

    server.script = script
    result = run(server, tmp_path, max_samples=3)
    found = sorted((line["finish"][0], line["answers"][0]) for line in result.lines)
    assert found == [("length", "骨科，因为"), ("stop", ""), ("stop", "half \ufffd pair")]


def test_tokens_are_estimated_where_the_server_counts_none(server: EndpointServer, tmp_path: Path) -> None:
    server.script = lambda asked: completion(asked, "骨科", usage={} if asked.prompt else None)
    result = run(server, tmp_path, max_samples=2)
    for line in result.lines:
        (served,) = line["served"]
        # 2.6 tokens for each of two characters, and one more
        assert (served["estimated"], served["answer_tokens"]) == (True, 6)
        assert served["prompt_tokens"] == line["input_tokens"]
    assert "(estimated for 2 answers)" in format_results([result])


# Concurrency


def test_requests_really_overlap(server: EndpointServer, tmp_path: Path) -> None:
    together = threading.Barrier(4, timeout=30)  # breaks, and with it the test, if four never meet

    def script(asked: Asked) -> Action:
        together.wait()
        return completion(asked)

    server.script = script
    run(server, tmp_path, concurrency=4)
    assert server.most_at_once == 4
    assert [line["batch"][1] for line in read_log(next(tmp_path.rglob("predictions.jsonl")))[1]] == [4] * ROWS


def test_answers_out_of_order_are_given_to_their_rows(server: EndpointServer, tmp_path: Path) -> None:
    later = threading.Event()

    def script(asked: Asked) -> Action:
        if asked.prompt == 0:
            later.wait(30)  # the first answer is the last of its batch
        elif asked.prompt == 3:
            later.set()
        return completion(asked)

    server.script = script
    run(server, tmp_path, concurrency=4)
    assert check_marks(tmp_path) == ROWS


# A killed run


@pytest.mark.parametrize("end", [-1, -700, 900])
def test_a_torn_log_is_gone_on_with(server: EndpointServer, tmp_path: Path, end: int) -> None:
    whole = run(server, tmp_path / "whole", concurrency=3)
    run(server, tmp_path / "torn", concurrency=3)
    (log,) = (tmp_path / "torn").rglob("predictions.jsonl")
    log.write_bytes(log.read_bytes()[:end])  # in the last batch of two rows; in the first of three
    server.reset()
    again = run(server, tmp_path / "torn", concurrency=3)
    assert again.resumed == ROWS - len(server.asked) == (0 if end > 0 else 6)
    assert rows_of(tmp_path / "torn") == rows_of(tmp_path / "whole")
    assert files_of(tmp_path / "torn") == files_of(whole.log.parent)


# Faults that pass


def late() -> str:
    return email.utils.format_datetime(email.utils.localtime(), usegmt=False)


PASSING: dict[str, Callable[[Asked], Action]] = {
    "rate limit": lambda asked: error(429, "slow down", Retry_After="0"),
    "rate limit until a date": lambda asked: error(429, "slow down", Retry_After=late()),
    "server error": lambda asked: error(500),
    "overloaded, in HTML": lambda asked: Send(b"<html>Bad Gateway</html>", 502),
    "cut body": lambda asked: completion(asked)._replace(cut=100),
    "half a JSON": lambda asked: Send(completion(asked).body[:60]),
    "no JSON": lambda asked: Send(b"OK"),
    "null": lambda asked: completion(asked, choices=[{"message": {"content": None}, "finish_reason": "stop"}]),
    "no choices": lambda asked: completion(asked, choices=[]),
    "a filter": lambda asked: completion(asked, "骨", "content_filter"),
    "hang up": lambda asked: HangUp(),
    "silence": lambda asked: Silence(),
}


def test_every_passing_fault_is_followed_by_the_answer(server: EndpointServer, tmp_path: Path) -> None:
    faults = list(PASSING.values())
    rows = len(faults)
    plain = run(server, tmp_path / "plain", max_samples=rows)
    server.reset(lambda asked: faults[asked.prompt](asked) if asked.attempt == 1 else completion(asked))
    # Time enough for all but the silent one, which is asked again.
    result = run(server, tmp_path / "faulty", ",timeout=1", max_samples=rows)
    assert check_marks(tmp_path / "faulty") == rows
    assert rows_of(tmp_path / "faulty") == rows_of(tmp_path / "plain")
    assert (result.unanswered, plain.unanswered) == ((), ())
    assert files_of(tmp_path / "faulty") == files_of(tmp_path / "plain")
    assert len(server.asked) >= 2 * rows


def test_waits_are_what_the_server_asks_for_else_longer_and_longer(
    server: EndpointServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[tuple[int, float]] = []

    async def note(self: object, seconds: float) -> None:
        waits.append((len(server.asked), seconds))

    monkeypatch.setattr(endpoint_client.EndpointClient, "_pause", note)
    monkeypatch.setattr(endpoint_client, "BACK_OFF", BACK_OFF)
    asks = {2: error(429, Retry_After="9"), 5: error(503, Retry_After="0"), 8: Send(b"")}
    server.script = lambda asked: asks.get(asked.attempt, error(500))
    with pytest.raises(RunError, match=r"HTTP 500: no \(attempts: 20\)"):
        run(server, tmp_path, ",attempts=20", max_samples=1)
    seconds = [seconds for _, seconds in waits]
    assert [asked for asked, _ in waits] == list(range(1, 20))  # one before each attempt but the first
    assert 9 <= seconds[1] <= 10  # and up to one more, lest all come at once
    assert 0 <= seconds[4] <= 1
    own = [(place, wait) for place, wait in enumerate(seconds) if place not in (1, 4)]
    assert all(wait <= min(2**place, 60) for place, wait in own)
    # Random below limits that double: of the last ten, at most 60 s each, not all can be below 8 s (1 in 500 million).
    assert max(wait for _, wait in own[-10:]) > 8
    assert len({wait for _, wait in own}) > 10


# Rows that stay without an answer


def refuse_third(asked: Asked) -> Action:
    return error(500, "out of order") if asked.prompt == 3 else completion(asked)


def test_few_missing_rows_are_named_and_in_no_score(server: EndpointServer, tmp_path: Path) -> None:
    server.script = refuse_third
    result = run(server, tmp_path, ",attempts=2", max_samples=51)  # 1 of 51 is 1.96 %
    (missing,) = result.unanswered
    assert missing.why == f"127.0.0.1:{server.port}: HTTP 500: out of order (attempts: 2)"
    assert missing.row not in {line["row"] for line in rows_of(tmp_path)}
    assert check_marks(tmp_path) == 50
    text = format_results([result])
    assert f"1 missing, not in any score: row {missing.row}, turn " in text
    assert "50 rows" in text
    summary = json.loads((result.log.with_name("summary.json")).read_text())
    assert (summary["rows"], summary["missing"]) == (50, [missing._asdict()])
    (theirs,) = tmp_path.rglob("results_*.json")
    scores = json.loads(theirs.read_text())["results"]["ior_bench:static_zero_shot|0"]
    assert scores["accuracy"] == summary["scores"]["accuracy"]
    golds = [line["gold"] for line in result.lines]
    assert scores["accuracy"] == golds.count([DEPARTMENT]) / 50

    before = files_of(tmp_path)
    rescored, _ = rescore(result.log)
    assert (rescored[0].unanswered, files_of(tmp_path)) == (result.unanswered, before)

    server.reset()
    again = run(server, tmp_path, max_samples=51)
    assert (len(server.asked), again.resumed, again.unanswered) == (1, 50, ())
    run(server, tmp_path / "undisturbed", max_samples=51)
    assert files_of(tmp_path / "undisturbed") == {
        path.name: path.read_bytes() for path in again.log.parent.glob("s*.json*")
    }


def test_more_than_two_percent_missing_is_no_result(server: EndpointServer, tmp_path: Path) -> None:
    server.script = refuse_third
    message = (
        r"ior_bench:static_zero_shot\|0: 1 of 49 prompts were not answered, more than 2%.* row \d+, turn \d+: 127"
        r"\.0\.0\.1:\d+: HTTP 500: out of order \(attempts: 2\)\. All answers are in .*predictions.jsonl"
    )
    with pytest.raises(RunError, match=message):  # 1 of 49 is 2.04 %
        run(server, tmp_path, ",attempts=2", max_samples=49)
    assert check_marks(tmp_path) == 48
    assert files_of(tmp_path) == {}


def test_a_vote_with_one_answer_too_few_is_missing(server: EndpointServer, tmp_path: Path) -> None:
    seeds: set[int] = set()

    def script(asked: Asked) -> Action:
        seeds.add(asked.body["seed"])
        return error(503) if asked.body["seed"] == min(seeds) and asked.prompt == 0 else completion(asked)

    server.script = script
    with pytest.raises(RunError, match="1 of 2 prompts were not answered"):
        run(server, tmp_path, ",attempts=1", tasks="ior_bench|static_majority_vote", max_samples=2, concurrency=1)
    assert [len(row["answers"]) for row in rows_of(tmp_path)] == [5]


def test_a_server_that_dies_half_way(server: EndpointServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logged_model, "GIVE_UP", 7)  # rows, so that few are enough here

    death = threading.Thread(target=server.stop)

    def script(asked: Asked) -> Action:
        if asked.number == 4:
            death.start()
        return completion(asked) if asked.number < 4 else HangUp()

    server.script = script
    with pytest.raises(RunError, match=r"\d+ prompts in succession were not answered.*no connection"):
        run(server, tmp_path, ",attempts=2", max_samples=16)
    assert check_marks(tmp_path) == server.answered == 4  # of the first batch; the second has none
    death.join()
    server.start()
    server.reset()
    assert run(server, tmp_path, max_samples=16).resumed == 4
    assert check_marks(tmp_path) == 16
    assert len(server.asked) == 12


# What ends a run at once


@pytest.mark.parametrize(
    ("action", "kind", "message"),
    [
        (
            error(404, "The model `x` does not exist"),
            InputError,
            r"HTTP 404: The model `x` does not exist.*/v1/models",
        ),
        (error(400, "unknown model"), InputError, r"HTTP 400: unknown model.*'org/some-model'"),
        (error(401, f"bad key {KEY}"), InputError, r"HTTP 401: bad key \(the key\)\. .* OPENAI_API_KEY was sent"),
        (error(403), InputError, "HTTP 403"),
        (error(402, "pay"), InputError, "HTTP 402: pay"),
        (error(429, "empty", "insufficient_quota"), RunError, "account behind the key has nothing left"),
        (error(429, Retry_After="86400"), RunError, "asks to wait 86,400 s"),
        (error(307, Location="http://10.1.2.3/v1"), InputError, r"HTTP 307.*redirects to 'http://10.1.2.3/v1'"),
    ],
)
def test_what_no_retry_mends_ends_the_run(
    server: EndpointServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    action: Send,
    kind: type[ClinicalEvalsError],
    message: str,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.script = lambda asked: action
    with pytest.raises(kind, match=message) as raised:
        run(server, tmp_path, concurrency=2)
    assert len(server.asked) <= 2  # the first batch, each once
    assert {asked.headers["Authorization"] for asked in server.asked} == {f"Bearer {KEY}"}
    assert KEY not in str(raised.value)
    assert rows_of(tmp_path) == []


def test_a_refused_prompt_among_answered_ones_is_only_missing(
    server: EndpointServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logged_model, "MOST_MISSING", 0.2)
    too_long = error(400, "context length exceeded", "context_length_exceeded")
    server.script = lambda asked: too_long if asked.prompt == 5 else completion(asked)
    result = run(server, tmp_path, concurrency=3)
    assert [missing.why for missing in result.unanswered] == [
        f"127.0.0.1:{server.port}: HTTP 400: context length exceeded [context_length_exceeded]"
    ]
    assert len(server.asked) == ROWS  # it was not asked again: the same request has the same fate


def test_what_ends_a_run_leaves_the_other_answers_in_the_log(server: EndpointServer, tmp_path: Path) -> None:
    server.script = lambda asked: error(401) if asked.prompt == 5 else completion(asked)
    with pytest.raises(InputError, match="HTTP 401"):
        run(server, tmp_path, concurrency=4)
    assert check_marks(tmp_path) == server.answered >= 4


# The budget


def test_a_budget_is_never_crossed(server: EndpointServer, tmp_path: Path) -> None:
    run(server, tmp_path / "plain")
    estimated = [line["input_tokens"] for line in read_log(next(tmp_path.rglob("predictions.jsonl")))[1]]
    # Three answers took 107 each; the fourth may take its estimated prompt and 256, and one token is lacking for it.
    limit = 3 * 107 + estimated[3] + 256 - 1
    server.reset()
    message = rf"the budget of --max-tokens {limit:,} is spent: 321 tokens, and the next request may take"
    with pytest.raises(RunError, match=message):
        run(server, tmp_path / "out", max_tokens=limit, concurrency=1)
    assert check_marks(tmp_path / "out") == server.answered == 3
    result = run(server, tmp_path / "out", concurrency=1, max_tokens=limit + 10_000)
    assert (result.resumed, check_marks(tmp_path / "out")) == (3, ROWS)


def test_a_budget_counts_what_is_under_way(server: EndpointServer, tmp_path: Path) -> None:
    # Eight requests of more than 1,000 tokens each, as estimated, are to go out at once: they do not fit together.
    with pytest.raises(RunError, match="--max-tokens 2,000 is spent"):
        run(server, tmp_path, max_tokens=2000)
    assert 1 <= server.answered * 107 <= 2000
    assert server.most_at_once == 1
    assert check_marks(tmp_path) == server.answered


def test_what_may_have_been_computed_is_paid_for(server: EndpointServer, tmp_path: Path) -> None:
    # Each attempt breaks off and so counts in full, more than 1,000 tokens: the third does not fit.
    server.script = lambda asked: completion(asked)._replace(cut=10)
    with pytest.raises(RunError, match="the budget of --max-tokens 4,000 is spent"):
        run(server, tmp_path, max_tokens=4000, concurrency=1)
    assert 1 <= len(server.asked) <= 3


def test_a_limit_of_cost(server: EndpointServer, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--max-cost 1: what tokens cost is not known.*input_price"):
        run(server, tmp_path, max_cost=1.0)
    assert server.asked == []
    prices = ",input_price=1000,output_price=3000"  # an answer costs 0.121, and may cost 0.768 and its prompt
    with pytest.raises(RunError, match=r"the budget of --max-cost 2.5 is spent: [\d,]+ tokens \(cost \d\.\d+\)"):
        run(server, tmp_path, prices, max_cost=2.5)
    assert 0 < server.answered * 0.121 <= 2.5


# The guard


def test_a_proxy_before_this_machine_is_a_way_out(
    server: EndpointServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mimic_like: None
) -> None:
    server.script = lambda asked: completion(asked, "I10")
    patients = {"tasks": "clibench|diagnosis", "max_samples": 2}
    with monkeypatch.context() as environment:
        environment.setenv("http_proxy", server.url.removesuffix("/v1"))  # it sees what would go out
        with pytest.raises(GuardError, match=r"nothing was sent to the model endpoint 'http://127.0.0.1:\d+/v1'"):
            run(server, tmp_path / "out", **patients)
        assert server.asked == []
        agreed = run(server, tmp_path / "out", dua_consent="Jane Doe, 2026-11-30", **patients)
        assert {asked.path for asked in server.asked} == {f"{server.url}/chat/completions"}  # as a proxy is asked
    assert "under the data use agreement of: Jane Doe, 2026-11-30" in read_log(agreed.log)[0]["consent"]
    assert server.url in (tmp_path / "state" / "dua-consent.jsonl").read_text()

    server.reset(server.script)
    monkeypatch.setenv("http_proxy", "http://10.9.8.7:3128")
    monkeypatch.setenv("no_proxy", "localhost,127.0.0.1")
    run(server, tmp_path / "here", **patients)  # no consent is needed, and no proxy is asked
    assert {asked.path for asked in server.asked} == {"/v1/chat/completions"}
    with pytest.raises(InputError, match="--dua-consent: nothing leaves this machine"):
        run(server, tmp_path / "here", dua_consent="Jane Doe, 2026-11-30", **patients)


def test_another_machine_is_asked_nothing_without_consent(
    server: EndpointServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mimic_like: None
) -> None:
    monkeypatch.setattr(endpoint_client.EndpointClient, "__init__", None)  # there is no way to send anything
    args = "model_name=m,base_url=http://10.20.30.40:8000/v1,context=4096"
    with pytest.raises(GuardError, match=r"nothing was sent to the model endpoint 'http://10.20.30.40:8000/v1'"):
        run(server, tmp_path / "out", tasks="clibench|diagnosis", model_args=args)
    assert not list((tmp_path / "out").rglob("predictions.jsonl"))


# The key


def test_the_key_is_sent_and_nowhere_else(
    server: EndpointServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(logged_model, "MOST_MISSING", 0.2)
    monkeypatch.setenv("MY_KEY", f" {KEY}\n")
    caplog.set_level("DEBUG")
    server.script = lambda asked: error(500, f"no: {KEY}") if asked.prompt == 3 else completion(asked, "骨科")
    result = run(server, tmp_path, ",api_key_env=MY_KEY,attempts=2")
    assert {asked.headers["Authorization"] for asked in server.asked} == {f"Bearer {KEY}"}
    assert [missing.why for missing in result.unanswered] == [
        f"127.0.0.1:{server.port}: HTTP 500: no: (the key) (attempts: 2)"
    ]
    written = [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert written == []
    assert KEY not in caplog.text


# transformers serve itself


@pytest.mark.slow
@needs_serving
def test_transformers_serve_gives_what_the_model_gives(
    server: EndpointServer, chain_model: Path, tmp_path: Path
) -> None:
    # First as it is, then through a proxy with all the faults that pass.
    with serve(str(chain_model), tmp_path) as url:
        args = f"model_name={chain_model},base_url={url},context=8192"
        usual = Options(args, "clibench|diagnosis", tmp_path / "out", 3, answer_tokens=20, backend="endpoint")
        (result,) = evaluate(usual)
        assert [line["answers"] for line in result.lines] == [["I10, E46"]] * 3
        assert {line["finish"][0] for line in result.lines} == {"stop"}
        with pytest.raises(InputError, match=r"refuses: HTTP 4\d\d"):
            evaluate(usual._replace(model_args=args.replace(str(chain_model), "no/such-model")))

        faults = list(PASSING.values())
        server.script = lambda asked: faults[asked.prompt](asked) if asked.attempt == 1 else forward(asked, url)
        through = f"model_name={chain_model},base_url={server.url},context=8192,timeout=8"
        (result,) = evaluate(usual._replace(model_args=through, max_samples=len(faults)))
        assert [line["answers"] for line in result.lines] == [["I10, E46"]] * len(faults)
