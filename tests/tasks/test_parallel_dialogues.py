"""Dialogues in two processes are those of one, also where they go on from its log."""

import csv
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from scripted_generators import WORDS
from varied_model import write_varied_model

import clinical_evals  # noqa: F401 - makes the bare names known
from clinical_evals.tasks.dialogue.dialogue_log import read_transcripts
from clinical_evals.tasks.launcher import evaluate
from clinical_evals.tasks.options import Options

ROWS, TURNS, TOKENS = 5, 2, 4
STEPS = 3 * TURNS - 1
FILES = ("scored.jsonl", "summary.json")


@pytest.fixture(scope="module", autouse=True)
def records(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Records of many different words, in the authors' form: by them the models' answers differ."""
    folder = tmp_path_factory.mktemp("records")
    columns = ["年龄", "性别", "主诉", "现病史", "既往史", "个人史", "家族史", "hospital-1", "hospital-2"]
    with (folder / "dynamic_final.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for number in range(ROWS):
            words = [" ".join(Random(number + place / 2).choices(WORDS, k=100)) for place in range(2)]
            writer.writerow([40 + number, "女", *words, "", "", "", "A", "AB"[number % 2]])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IOR_BENCH_DIR", str(folder))
        yield


@pytest.fixture(scope="module")
def models(tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """MODEL_ARGS of a doctor and a patient whose answers differ from prompt to prompt."""
    folder = tmp_path_factory.mktemp("models")
    seeds = {"doctor": 11, "patient": 5}
    return [
        f"model_name={write_varied_model(folder / name, tokenizer, seed)},dtype=float32"
        for name, seed in seeds.items()
    ]


@pytest.fixture(scope="module")
def alone(models: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log of one process, which plays the dialogues one by one."""
    out = tmp_path_factory.mktemp("alone")
    asked = Options(models[0], "ior_bench|dynamic_h2", out, ROWS, 1, answer_tokens=TOKENS, turns=TURNS)
    (result,) = evaluate(asked._replace(patient_model=models[1]))
    return result.log


def launch(models: list[str], out: Path) -> "subprocess.CompletedProcess[str]":
    """Two processes with a dialogue each at once, on the CPU."""
    command = [
        sys.executable, "-m", "accelerate.commands.accelerate_cli", "launch", "--multi_gpu", "--num_processes", "2",
        "--num_machines", "1", "--mixed_precision", "no", "--dynamo_backend", "no", "--main_process_port", "0",
        "-m", "clinical_evals", "eval", "accelerate", models[0], "--patient-model", models[1],
        "--tasks", "ior_bench|dynamic_h2", "--output-dir", str(out), "--max-samples", str(ROWS), "--batch-size", "1",
        "--answer-tokens", str(TOKENS), "--turns", str(TURNS),
    ]  # fmt: skip
    environment = {**os.environ, "ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)


def answers(log: Path) -> list[dict[str, Any]]:
    """The answers by row, without what tells how they were computed."""
    lines = [{k: v for k, v in line.items() if k not in ("seconds", "batch")} for line in read_transcripts(log)[1]]
    return sorted(lines, key=lambda line: (line["row"], line["turn"], "prq".index(line["step"][0])))


@pytest.mark.slow
def test_two_processes_say_what_one_says_and_go_on_from_its_log(
    models: list[str], alone: Path, tmp_path: Path
) -> None:
    said = [line["text"] for line in answers(alone)]
    assert len({tuple(said[start : start + STEPS]) for start in range(0, ROWS * STEPS, STEPS)}) >= ROWS - 1
    assert len(set(said)) >= 6  # there is something to mix up
    # One process played the first dialogue, and was killed in the second after the patient's first answer.
    before = 1 + STEPS + 1
    log = tmp_path / alone.relative_to(alone.parents[2])  # the same run: how many processes there are decides nothing
    log.parent.mkdir(parents=True)
    lines = alone.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:before]))
    done = launch(models, tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("prediction log: ") == 1  # only one process prints
    assert log.read_bytes().startswith(b"".join(lines[:before]))
    # Two dialogues at a time: of the first pair the second alone lacks answers, the last has no neighbour.
    batches = [tuple(line["batch"]) for line in read_transcripts(log)[1]]
    assert batches == [(0, 1)] * 2 * STEPS + [(0, 2), (1, 2)] * STEPS + [(0, 1)] * STEPS
    assert answers(log) == answers(alone)
    for name in FILES:
        assert log.with_name(name).read_bytes() == alone.with_name(name).read_bytes()
