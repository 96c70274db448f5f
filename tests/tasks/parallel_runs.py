"""Runs of CliBench in one process and in two, and what of their logs must be the same."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clinical_evals.tasks.launcher import evaluate
from clinical_evals.tasks.options import Options
from clinical_evals.tasks.prediction_log import read_log

FILES = ("scored.jsonl", "summary.json")


def run(options: Options, batch_size: int) -> dict[str, Path]:
    """One process; by config the log."""
    return {result.task.config: result.log for result in evaluate(options._replace(batch_size=batch_size))}


def launch(options: Options) -> "subprocess.CompletedProcess[str]":
    """Two processes with two rows each at once, on the CPU: `--cpu` alone would start only one without MPI."""
    command = [
        sys.executable, "-m", "accelerate.commands.accelerate_cli", "launch", "--multi_gpu", "--num_processes", "2",
        "--num_machines", "1", "--mixed_precision", "no", "--dynamo_backend", "no", "--main_process_port", "0",
        "-m", "clinical_evals", "eval", "accelerate", options.model_args, "--tasks", options.tasks,
        "--output-dir", str(options.output_dir), "--batch-size", "2", "--answer-tokens", str(options.answer_tokens),
        "--context", str(options.context),
    ]  # fmt: skip
    environment = {**os.environ, "ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)


def rows_of(log: Path) -> list[dict[str, Any]]:
    """The rows in the order of the split, without what tells how they were computed."""
    lines = [{k: v for k, v in line.items() if k not in ("seconds", "batch")} for line in read_log(log)[1]]
    return sorted(lines, key=lambda line: int(line["row"]))


def assert_same(log: Path, expected: Path) -> None:
    """The same rows, and files with the same bytes beside the log."""
    assert rows_of(log) == rows_of(expected)
    for name in FILES:
        assert log.with_name(name).read_bytes() == expected.with_name(name).read_bytes()


def batch_sizes(log: Path) -> list[int]:
    """Of each row in the order of the log, how many were answered together."""
    return [line["batch"][1] for line in read_log(log)[1]]


def same_place(logs: Mapping[str, Path], config: str, out: Path) -> Path:
    """Where a run of another output folder has its log of a config."""
    return out / logs[config].relative_to(logs[config].parents[2])
