"""Whole runs of the dynamic task through the launcher: real lighteval models whose answers are known."""

import json
from pathlib import Path
from typing import Any

import pytest
from chain_model import write_chain_model
from endpoint_server import EndpointServer, completion

import clinical_evals  # noqa: F401 - makes the bare name known
from clinical_evals.assets import dataset_folder
from clinical_evals.cli import main
from clinical_evals.errors import InputError
from clinical_evals.tasks.dialogue.dialogue_log import read_transcripts
from clinical_evals.tasks.launcher import evaluate
from clinical_evals.tasks.models.backends import BACKENDS
from clinical_evals.tasks.options import Options
from clinical_evals.tasks.scored.dialogue_results import DialogueResult
from clinical_evals.tasks.scored.explain import explain
from clinical_evals.tasks.scored.rescore import rescore
from clinical_evals.tasks.scored.tables import format_results
from clinical_evals.tasks.show import format_prompt

SAMPLE = json.loads((dataset_folder("ior-bench") / "data/dynamic_h2/test.json").read_text(encoding="utf-8"))["rows"]
ROWS, TURNS = 5, 2


@pytest.fixture(autouse=True)
def _the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IOR_BENCH_DIR", raising=False)


@pytest.fixture(scope="module")
def doctor(tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Says 骨科, whatever it is asked."""
    return write_chain_model(tmp_path_factory.mktemp("doctor") / "chain", tokenizer, "骨科", context=8000)


@pytest.fixture(scope="module")
def patient(tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Says 疼, whatever it is asked."""
    return write_chain_model(tmp_path_factory.mktemp("patient") / "chain", tokenizer, "疼", context=8000)


def options(doctor: Path, out: Path, **changes: Any) -> Options:
    usual = Options(f"model_name={doctor},dtype=float32", "ior_bench|dynamic_h2", out, ROWS, 4, answer_tokens=8)
    return usual._replace(**{"turns": TURNS, **changes})


def run(doctor: Path, out: Path, **changes: Any) -> DialogueResult:
    (result,) = evaluate(options(doctor, out, **changes))
    assert isinstance(result, DialogueResult)
    return result


def test_two_models_talk(doctor: Path, patient: Path, tmp_path: Path) -> None:
    result = run(doctor, tmp_path, patient_model=f"model_name={patient},dtype=float32")
    header, lines = read_transcripts(result.log)
    assert len(lines) == ROWS * (3 * TURNS - 1)
    assert {(line["who"], line["said"]) for line in lines if line["step"] != "refer"} == {
        ("patient", "疼"),
        ("doctor", "骨科"),
    }
    assert {line["prediction"] for line in lines if line["step"] == "refer"} == {"骨科"}
    assert header["run"]["doctor"]["model"] != header["run"]["patient"]["model"]
    assert header["source"] == "clinical-evals:synthetic"
    golds = {line["row"]: line["gold"] for line in lines}
    assert set(golds.values()) <= {row["department"] for row in SAMPLE}
    share = sum(gold == "骨科" for gold in golds.values()) / ROWS
    assert [turn.accuracy for turn in result.turns] == [share] * TURNS
    assert result.scored.scores()["accuracy"] == share
    text = format_results([result])
    assert text.startswith("ior_bench:dynamic_h2, 5 rows, standard protocol")
    assert json.loads(result.log.with_name("summary.json").read_text())["scores"]["accuracy"] == share


def test_the_same_command_asks_nothing_again(doctor: Path, patient: Path, tmp_path: Path) -> None:
    model = f"model_name={patient},dtype=float32"
    once = run(doctor, tmp_path, patient_model=model)
    before = {path.name: path.read_bytes() for path in once.log.parent.glob("[!.]*")}
    again = run(doctor, tmp_path, patient_model=model)
    assert (once.resumed, again.resumed) == (0, ROWS)
    assert {path.name: path.read_bytes() for path in again.log.parent.glob("[!.]*")} == before
    assert run(doctor, tmp_path, patient_model=model, turns=3).log != once.log


def test_a_log_is_scored_and_explained_again(doctor: Path, patient: Path, tmp_path: Path) -> None:
    once = run(doctor, tmp_path, patient_model=f"model_name={patient},dtype=float32")
    (standard, official), said = rescore(once.log, "both")
    assert standard.scored.scores() == once.scored.scores()
    assert official.protocol == "official"
    assert "beside it scored.jsonl and summary.json" in said
    rows = [line["row"] for line in once.lines]
    shown = explain(once.log, rows[0])
    assert shown.count("patient: 疼") == TURNS
    assert shown.count("doctor:  骨科") == TURNS - 1
    assert "[turn 0: 骨科, " in shown
    assert f"case {SAMPLE[rows[0]]['id']}, gold {SAMPLE[rows[0]]['department']}" in shown  # its place in the split
    with pytest.raises(InputError, match=f"has the dialogues {', '.join(map(str, rows))}"):
        explain(once.log, len(SAMPLE))


def test_prompts_show_all_three_roles() -> None:
    shown = format_prompt("ior_bench|dynamic_h2", 3)
    assert [shown.count(f"## {step}\n") for step in ("patient", "refer", "question")] == [1, 1, 1]
    assert SAMPLE[3]["chief_complaint"] in shown


def test_one_model_in_both_roles_is_loaded_once(doctor: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from clinical_evals.tasks import launcher

    loaded = []
    load = launcher._load_model
    monkeypatch.setattr(launcher, "_load_model", lambda *args: loaded.append(args) or load(*args))
    alone = run(doctor, tmp_path / "a", max_samples=2)
    named = run(doctor, tmp_path / "b", max_samples=2, patient_model=f"model_name={doctor},dtype=float32")
    assert len(loaded) == 2  # one for each run
    assert alone.log.parent.name == named.log.parent.name


def test_both_hospitals_and_a_static_task_in_one_run(doctor: Path, tmp_path: Path) -> None:
    tasks = "ior_bench|dynamic,ior_bench|static_zero_shot"
    results = evaluate(options(doctor, tmp_path, tasks=tasks, max_samples=2, protocol="both"))
    assert [(result.task.config, result.protocol) for result in results] == [
        (config, protocol)
        for config in ("dynamic_h1", "dynamic_h2", "static_zero_shot")
        for protocol in ("standard", "official")
    ]
    assert "both protocols" in format_results(results)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tasks": "ior_bench|static_cot"}, "--turns is for other tasks"),
        ({"tasks": "ior_bench|static_cot", "turns": None, "patient_model": "x"}, "--patient-model is for other tasks"),
        ({"turns": 0}, "--turns 0: expected"),
        ({"samples": 3}, "--samples is for other tasks"),
        ({"patient_backend": "vllm"}, "--patient-backend is that of --patient-model"),
        ({"patient_model": "model_name=/no/such/folder"}, "/no/such/folder"),
    ],
)
def test_what_cannot_be_is_said_before_a_model_is_loaded(
    doctor: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Any, message: str
) -> None:
    def load(*_: object) -> None:
        raise AssertionError("a model is loaded")

    monkeypatch.setattr("clinical_evals.tasks.launcher._load_model", load)
    with pytest.raises(InputError, match=message):
        evaluate(options(doctor, tmp_path, **change))


def test_through_the_command_line(
    doctor: Path, patient: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["eval", "accelerate", f"model_name={doctor},dtype=float32", "--tasks", "ior_bench|dynamic_h1"]
    arguments += ["--patient-model", f"model_name={patient},dtype=float32", "--turns", "2", "--max-samples", "2"]
    assert main([*arguments, "--answer-tokens", "8", "--output-dir", str(tmp_path)]) == 0
    assert "ior_bench:dynamic_h1, 2 rows" in capsys.readouterr().out


def test_a_patient_behind_an_endpoint_is_told_in_the_header(doctor: Path, tmp_path: Path) -> None:
    server = EndpointServer(script=lambda asked: completion(asked, "疼"))
    patient = f"model_name=test,base_url={server.url},context=8000"
    played = run(doctor, tmp_path, max_samples=2, patient_model=patient, patient_backend="endpoint")
    server.stop()
    header, lines = read_transcripts(played.log)
    assert {line["said"] for line in lines if line["who"] == "patient"} == {"疼"}
    assert {line["prediction"] for line in lines if line["step"] == "refer"} == {"骨科"}
    # What weights answer behind an address is not known; the log of such a run says so.
    assert BACKENDS["endpoint"].about.items() <= header.items()
