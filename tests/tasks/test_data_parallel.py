"""Two processes give what one gives, whatever the batch size, with a model whose answers differ from row to row."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from varied_model import varied_model

import clinical_evals  # noqa: F401 - makes the bare name known
from clinical_evals.tasks.launcher import evaluate
from clinical_evals.tasks.options import Options
from clinical_evals.tasks.prediction_log import read_log

ROWS, TOKENS = 9, 20
FILES = ("scored.jsonl", "summary.json")


@pytest.fixture(scope="module")
def model(shared: Path, tokenizer: Any) -> Path:
    return varied_model(shared, tokenizer)


def run(model: Path, out: Path, batch_size: int) -> Path:
    """One process; returns the log."""
    arguments = f"model_name={model},dtype=float32"
    (result,) = evaluate(Options(arguments, "clibench|diagnosis", out, ROWS, batch_size, answer_tokens=TOKENS))
    return result.log


def launch(model: Path, out: Path) -> "subprocess.CompletedProcess[str]":
    """Two processes with two rows each at once, on the CPU: `--cpu` alone would start only one without MPI."""
    command = [
        sys.executable, "-m", "accelerate.commands.accelerate_cli", "launch", "--multi_gpu", "--num_processes", "2",
        "--num_machines", "1", "--mixed_precision", "no", "--dynamo_backend", "no", "--main_process_port", "0",
        "-m", "clinical_evals", "eval", "accelerate", f"model_name={model},dtype=float32",
        "--tasks", "clibench|diagnosis",
        "--output-dir", str(out), "--max-samples", str(ROWS), "--batch-size", "2", "--answer-tokens", str(TOKENS),
    ]  # fmt: skip
    environment = {**os.environ, "ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)


def rows_of(log: Path) -> list[dict[str, Any]]:
    """The rows in the order of the split, without what tells how they were computed."""
    lines = [{k: v for k, v in line.items() if k not in ("seconds", "batch")} for line in read_log(log)[1]]
    return sorted(lines, key=lambda line: int(line["row"]))


@pytest.fixture(scope="module")
def one_by_one(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log of one process that answers row by row: no padding, no batch."""
    return run(model, tmp_path_factory.mktemp("one"), batch_size=1)


def test_the_answers_differ(one_by_one: Path) -> None:
    answers = [line["answers"][0] for line in rows_of(one_by_one)]
    lengths = {line["output_tokens"][0] for line in rows_of(one_by_one)}
    assert len(set(answers)) >= 6
    assert len(lengths) >= 3  # so that in a batch some end before others


@pytest.mark.parametrize("batch_size", [3, 4])
def test_the_batch_size_changes_nothing(model: Path, one_by_one: Path, tmp_path: Path, batch_size: int) -> None:
    log = run(model, tmp_path, batch_size)
    assert {line["batch"][1] for line in read_log(log)[1]} == {batch_size, ROWS % batch_size or batch_size}
    assert rows_of(log) == rows_of(one_by_one)
    for name in FILES:
        assert log.with_name(name).read_bytes() == one_by_one.with_name(name).read_bytes()


def test_two_processes_give_what_one_gives_and_go_on_from_its_log(
    model: Path, one_by_one: Path, tmp_path: Path
) -> None:
    # Two rows were answered by one process before, as if it had been killed then.
    log = tmp_path / one_by_one.relative_to(one_by_one.parents[2])
    log.parent.mkdir(parents=True)
    lines = one_by_one.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:3]))
    done = launch(model, tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("prediction log: ") == 1  # only one process prints
    assert f"2 of {ROWS} rows were already answered" in done.stdout
    assert log.read_bytes().startswith(b"".join(lines[:3]))
    # Two rows in each of two processes: the batches of four of which one (of nine) is left alone.
    assert [line["batch"][1] for line in read_log(log)[1]] == [1, 1, 2, 2, 4, 4, 4, 4, 1]
    assert rows_of(log) == rows_of(one_by_one)
    for name in FILES:
        assert log.with_name(name).read_bytes() == one_by_one.with_name(name).read_bytes()
    scored = [json.loads(line)["row"] for line in log.with_name("scored.jsonl").read_text().splitlines()[1:]]
    assert scored == sorted(scored)
    assert len([*tmp_path.rglob("results_*.json")]) == 1  # lighteval, too, writes its files once
