"""Dialogues through endpoints that fail: each row is answered or named missing, and what failed is in no score."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from chain_model import write_chain_model
from endpoint_server import DEPARTMENT, Action, Asked, EndpointServer, HangUp, Send, Silence, completion, error
from tenacity import wait_fixed

import clinical_evals  # noqa: F401 - makes the bare names known
from clinical_evals.assets import dataset_folder
from clinical_evals.cli import main
from clinical_evals.errors import InputError, RunError
from clinical_evals.ior_bench.dialogue_prompts import QUESTION_TASK, REFER_TASK
from clinical_evals.tasks.dialogue import dialogue_group, dialogue_tasks
from clinical_evals.tasks.dialogue.dialogue_log import read_transcripts
from clinical_evals.tasks.launcher import evaluate
from clinical_evals.tasks.models import endpoint_client
from clinical_evals.tasks.options import Options
from clinical_evals.tasks.scored.dialogue_results import DialogueResult
from clinical_evals.tasks.scored.rescore import rescore
from clinical_evals.tasks.scored.results import Result
from clinical_evals.tasks.scored.tables import format_results

SAMPLE = json.loads((dataset_folder("ior-bench") / "data/dynamic_h2/test.json").read_text(encoding="utf-8"))["rows"]
ROWS, TURNS = 6, 2
STEPS = 3 * TURNS - 1
"""Answers in a dialogue."""


pytestmark = pytest.mark.usefixtures("no_waiting")


@pytest.fixture
def other() -> Iterator[EndpointServer]:
    one = EndpointServer()
    yield one
    one.stop()


@pytest.fixture(scope="module")
def chain(tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Says 骨科, whatever it is asked."""
    return write_chain_model(tmp_path_factory.mktemp("doctor") / "chain", tokenizer, "骨科", context=8000)


def model_of(server: EndpointServer, args: str = "") -> str:
    return f"model_name=org/some-model,base_url={server.url},context=8192{args}"


def run_all(server: EndpointServer, out: Path, args: str = "", **changes: Any) -> list[Result]:
    usual = Options(model_of(server, args), "ior_bench|dynamic_h2", out, ROWS, backend="endpoint", turns=TURNS)
    return evaluate(usual._replace(**changes))


def run(server: EndpointServer, out: Path, args: str = "", **changes: Any) -> DialogueResult:
    (result,) = run_all(server, out, args, **changes)
    assert isinstance(result, DialogueResult)
    return result


def answers(out: Path) -> list[dict[str, Any]]:
    """The answers in the log, in the order of the dialogues, without what tells how they were computed."""
    (log,) = out.rglob("transcripts.jsonl")
    lines = [{k: v for k, v in line.items() if k not in ("seconds", "batch")} for line in read_transcripts(log)[1]]
    order = ("patient", "refer", "question")
    found = [line for line in lines if "missing" not in line]
    return sorted(found, key=lambda line: (line["row"], line["turn"], order.index(line["step"])))


def check_marks(out: Path) -> int:
    """Each answer of the scripted server is of its own prompt; returns how many there are."""
    found = answers(out)
    for line in found:
        assert line["text"] == f"{DEPARTMENT} {line['prompt_sha256'][:8]}"
    return len(found)


def files_of(out: Path) -> dict[str, bytes]:
    """What is scored and summed up."""
    return {path.name: path.read_bytes() for pattern in ("scored*", "summary*") for path in out.rglob(pattern)}


def is_patients(asked: Asked) -> bool:
    return not asked.body["messages"][-1]["content"].endswith((QUESTION_TASK, REFER_TASK))


# Faults that pass

FAULTS: dict[str, tuple[Callable[[Asked], Action], str]] = {
    "rate limit": (lambda asked: error(429, "slow down", Retry_After="0"), "HTTP 429: slow down"),
    "server error": (lambda asked: error(500, "out of order"), "HTTP 500: out of order"),
    "cut body": (lambda asked: completion(asked)._replace(cut=100), "the connection broke off"),
    "wrong JSON": (lambda asked: completion(asked, choices=[]), "the reply has no choices"),
    "half a JSON": (lambda asked: Send(completion(asked).body[:60]), "is no JSON object"),
    "hang up": (lambda asked: HangUp(), "the connection broke off"),
    "silence": (lambda asked: Silence(), "no whole answer within 0.5 s|silence for 0.5 s"),
}
"""What a server does, and why an answer is missing then."""


def each_fault_once(asked: Asked) -> Action:
    """The first prompts each meet a fault of their own, and later ones the quick of them."""
    faults = [fault for fault, _ in FAULTS.values()]
    number = asked.prompt if asked.prompt < len(faults) else asked.prompt % (len(faults) - 1)
    return completion(asked) if asked.attempt > 1 else faults[number](asked)


@pytest.mark.parametrize("addresses", [1, 2])
def test_every_passing_fault_is_followed_by_the_answer(
    server: EndpointServer, other: EndpointServer, tmp_path: Path, addresses: int
) -> None:
    servers = [server, other][:addresses]

    def play(out: Path, timeout: int) -> DialogueResult:
        args = f",timeout={timeout}"
        if addresses == 1:
            return run(server, out, args)
        return run(server, out, args, patient_model=model_of(other, args), patient_backend="endpoint")

    plain = play(tmp_path / "plain", 60)
    assert [len(each.asked) for each in servers] == [30] if addresses == 1 else [18, 12]
    for each in servers:
        each.reset(each_fault_once)
    result = play(tmp_path / "faulty", 2)  # time enough for all but the silent ones, which are asked again
    assert check_marks(tmp_path / "faulty") == ROWS * STEPS
    assert answers(tmp_path / "faulty") == answers(tmp_path / "plain")
    assert (result.unanswered, plain.unanswered) == ((), ())
    assert files_of(tmp_path / "faulty") == files_of(tmp_path / "plain")
    assert sum(len(each.asked) for each in servers) >= 2 * ROWS * STEPS
    if addresses == 2:  # each role at its own address alone
        assert {is_patients(asked) for asked in server.asked} == {False}
        assert {is_patients(asked) for asked in other.asked} == {True}


def test_a_model_of_this_machine_with_a_faulty_patient(server: EndpointServer, chain: Path, tmp_path: Path) -> None:
    server.script = each_fault_once
    local = {"backend": "accelerate", "patient_backend": "endpoint", "patient_model": model_of(server, ",timeout=2")}
    local |= {"model_args": f"model_name={chain},dtype=float32", "answer_tokens": 8, "batch_size": 4}
    result = run(server, tmp_path, **local)
    lines = answers(tmp_path)
    assert len(lines) == ROWS * STEPS
    for line in lines:
        expected = f"{DEPARTMENT} {line['prompt_sha256'][:8]}" if line["who"] == "patient" else "骨科"
        assert line["text"] == expected
    assert result.unanswered == ()
    assert {is_patients(asked) for asked in server.asked} == {True}


# Dialogues that stay without an answer


def refuses_one(fault: Callable[[Asked], Action], record: str) -> Callable[[Asked], Action]:
    """The patient of one record meets the fault whenever it is asked for the second time."""

    def script(asked: Asked) -> Action:
        messages = asked.body["messages"]
        fails = is_patients(asked) and record in messages[0]["content"] and len(messages) == 4
        return fault(asked) if fails else completion(asked)

    return script


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_that_stays_is_named_and_in_no_score(
    server: EndpointServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(dialogue_tasks, "MOST_MISSING", 0.2)  # so that few rows are enough here
    plain = run(server, tmp_path / "plain")
    row = plain.lines[2]["row"]
    fault, why = FAULTS[name]
    server.reset(refuses_one(fault, SAMPLE[row]["history_of_present_illness"]))
    standard, official = run_all(server, tmp_path / "out", ",attempts=2,timeout=0.5", protocol="both")
    # It has answered, referred and been asked at turn 0, and lacks both answers of turn 1.
    assert check_marks(tmp_path / "out") == ROWS * STEPS - 2
    (missing,) = standard.unanswered
    assert (missing.row, missing.turn) == (row, 1)
    assert re.match(rf"patient: 127\.0\.0\.1:{server.port}: .*(?:{why})", missing.why)
    assert missing.why.endswith("(attempts: 2)")
    assert [line["row"] for line in standard.lines] == [line["row"] for line in plain.lines if line["row"] != row]
    assert [line["row"] for line in official.lines] == [line["row"] for line in plain.lines]
    golds = {line["row"]: line["gold"] for line in plain.lines}
    others = [gold for each, gold in golds.items() if each != row]
    assert standard.scored.scores()["accuracy"] == others.count([DEPARTMENT]) / (ROWS - 1)
    assert official.scored.scores()["accuracy"] == others.count([DEPARTMENT]) / ROWS  # the missing one is wrong
    for result in (standard, official):
        name_of_file = "summary.json" if result is standard else "summary.official.json"
        summary = json.loads(result.log.with_name(name_of_file).read_text())
        assert (summary["missing"], summary["rows_broken_off"]) == ([missing._asdict()], [row])
    before = files_of(tmp_path / "out")
    rescore(standard.log, "both")
    assert files_of(tmp_path / "out") == before

    server.reset()
    again = run(server, tmp_path / "out")
    assert (len(server.asked), again.resumed, again.unanswered) == (2, ROWS - 1, ())
    assert answers(tmp_path / "out") == answers(tmp_path / "plain")
    assert again.log.with_name("summary.json").read_bytes() == files_of(tmp_path / "plain")["summary.json"]


def test_a_missing_dialogue_is_printed(
    server: EndpointServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dialogue_tasks, "MOST_MISSING", 0.2)
    server.script = refuses_one(lambda asked: error(500, "out of order"), SAMPLE[6]["history_of_present_illness"])
    results = run_all(server, tmp_path, ",attempts=1", protocol="both")
    missing = (
        f"1 missing: row 6, turn 1: patient: 127.0.0.1:{server.port}: HTTP 500: out of order (attempts: 1). The same "
        "command asks for them again."
    )
    assert missing in format_results(results)
    assert "1 dialogues broke off (left out): rows 6" in format_results(results[:1])
    # Of the six rows standard has five.
    assert format_results(results).startswith("ior_bench:dynamic_h2, 5 rows (official: 6), both protocols")
    official = format_results(results[1:])
    assert "1 dialogues broke off (what they lack is wrong): rows 6" in official
    assert missing in official
    assert "not in any score" not in official


def third_is_refused(asked: Asked) -> Action:
    """One patient of the first dialogues never begins to speak."""
    return error(500, "out of order") if asked.prompt == 3 else completion(asked)


def test_two_percent_may_be_missing_and_no_more(server: EndpointServer, tmp_path: Path) -> None:
    server.script = third_is_refused
    few = run(server, tmp_path / "few", ",attempts=1", max_samples=51, turns=1)  # 1 of 51 is 1.96 %
    (missing,) = few.unanswered
    assert (few.scored.scores()["rows"], missing.turn) == (50, 0)
    assert check_marks(tmp_path / "few") == 50 * 2

    server.reset(third_is_refused)
    message = (
        r"ior_bench:dynamic_h2: 1 of 49 dialogues came to no end, more than 2%, so there is no score\. row \d+, turn "
        r"0: patient: 127\.0\.0\.1:\d+: HTTP 500: out of order \(attempts: 1\)\. What was said is "
        r"saved in .*transcripts\.jsonl"
    )
    with pytest.raises(RunError, match=message):  # 1 of 49 is 2.04 %
        run(server, tmp_path / "many", ",attempts=1", max_samples=49, turns=1)
    assert check_marks(tmp_path / "many") == 48 * 2
    assert files_of(tmp_path / "many") == {}
    server.reset()
    again = run(server, tmp_path / "many", max_samples=49, turns=1)
    assert (len(server.asked), again.resumed) == (2, 48)


# A server that dies

DEATH = 20
"""Requests that are answered before."""


def test_a_server_that_dies_and_comes_back(
    server: EndpointServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint_client, "BACK_OFF", wait_fixed(0.1))
    plain = run(server, tmp_path / "plain", max_samples=8)

    def reborn() -> None:
        server.stop()
        server.script = completion
        server.start()

    death = threading.Thread(target=reborn)

    def script(asked: Asked) -> Action:
        if asked.number == DEATH:
            death.start()
        return completion(asked) if asked.number < DEATH else HangUp()

    server.reset(script)
    result = run(server, tmp_path / "out", ",attempts=20", max_samples=8)
    death.join()
    assert (result.unanswered, result.resumed) == ((), 0)
    assert answers(tmp_path / "out") == answers(tmp_path / "plain")
    assert files_of(tmp_path / "out") == files_of(plain.log.parent)
    assert server.answered == 8 * STEPS  # no answer was thrown away


@pytest.mark.parametrize("addresses", [1, 2])
def test_a_server_that_stays_dead(
    server: EndpointServer, other: EndpointServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, addresses: int
) -> None:
    monkeypatch.setattr(dialogue_group, "GIVE_UP", 7)  # prompts, so that few are enough here
    changes: dict[str, Any] = {"max_samples": 16, "concurrency": 4}
    if addresses == 2:
        changes |= {"patient_model": model_of(other, ",attempts=2"), "patient_backend": "endpoint"}
    death = threading.Thread(target=server.stop)

    def script(asked: Asked) -> Action:
        if asked.number == DEATH:
            death.start()
        return completion(asked) if asked.number < DEATH else HangUp()

    server.script = script
    with pytest.raises(RunError, match=r"\d+ prompts in succession were not answered.*no connection"):
        run(server, tmp_path, ",attempts=2", **changes)
    answered = server.answered + other.answered
    assert server.answered == DEATH
    assert check_marks(tmp_path) == answered
    death.join()
    server.start()
    for each in (server, other):
        each.reset()
    result = run(server, tmp_path, ",attempts=2", **changes)
    assert result.unanswered == ()
    assert check_marks(tmp_path) == 16 * STEPS
    assert len(server.asked) + len(other.asked) == 16 * STEPS - answered


# What ends a run at once


def test_two_endpoints_spend_one_budget(server: EndpointServer, other: EndpointServer, tmp_path: Path) -> None:
    changes: dict[str, Any] = {"patient_model": model_of(other), "patient_backend": "endpoint", "max_samples": 8}
    # 24 answers of the doctor and 16 of the patient take 107 each: 2,568 and 1,712, together more than there is.
    with pytest.raises(RunError, match="the budget of --max-tokens 4,000 is spent"):
        run(server, tmp_path, max_tokens=4000, concurrency=2, **changes)
    answered = server.answered + other.answered
    assert 2000 < answered * 107 <= 4000
    assert check_marks(tmp_path) == answered
    result = run(server, tmp_path, max_tokens=40_000, **changes)
    assert result.unanswered == ()
    assert len(server.asked) + len(other.asked) == 8 * STEPS


def test_a_refused_key_ends_the_run_and_breaks_off_nothing(server: EndpointServer, tmp_path: Path) -> None:
    server.script = lambda asked: error(401, "no") if asked.number >= 7 else completion(asked)
    with pytest.raises(InputError, match="HTTP 401: no"):
        run(server, tmp_path, concurrency=1)
    assert check_marks(tmp_path) == server.answered == 7
    assert [line for line in read_transcripts(next(tmp_path.rglob("transcripts.jsonl")))[1] if "missing" in line] == []
    server.reset()
    run(server, tmp_path, concurrency=1)
    assert len(server.asked) == ROWS * STEPS - 7


def test_several_processes_would_all_ask(
    server: EndpointServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")  # as `accelerate launch` sets it
    with pytest.raises(InputError, match="each of 2 processes would ask it for the same answers"):
        run(server, tmp_path)
    assert server.asked == []


def test_a_patient_of_a_local_doctor_has_its_own_budget(server: EndpointServer, chain: Path, tmp_path: Path) -> None:
    local = {"backend": "accelerate", "patient_backend": "endpoint", "model_args": f"model_name={chain},dtype=float32"}
    local |= {"patient_model": model_of(server, ",budget_tokens=3000,concurrency=1"), "answer_tokens": 8}
    with pytest.raises(RunError, match="the budget of --max-tokens 3,000 is spent"):
        run(server, tmp_path, max_samples=40, batch_size=8, **local)
    assert 0 < server.answered * 107 <= 3000
    assert sum(line["who"] == "patient" for line in answers(tmp_path)) == server.answered


# The command line


def test_through_the_command_line(
    server: EndpointServer, other: EndpointServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for each in (server, other):
        each.script = each_fault_once
    args = [model_of(each, ",timeout=2") for each in (server, other)]
    command = ["eval", "endpoint", args[0], "--patient-model", args[1], "--patient-backend", "endpoint"]
    command += ["--tasks", "ior_bench|dynamic_h2", "--turns", "2", "--max-samples", "2", "--protocol", "both"]
    assert main([*command, "--output-dir", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "ior_bench:dynamic_h2, 2 rows, both protocols" in shown
    assert "missing" not in shown
    assert check_marks(tmp_path) == 2 * STEPS

    other.reset(third_is_refused)
    assert (
        main([*command, "--output-dir", str(tmp_path), "--max-samples", "5", "--concurrency", "1"])
        == RunError.exit_code
    )
    assert "dialogues came to no end, more than 2%, so there is no score. row " in capsys.readouterr().err
