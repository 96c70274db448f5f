"""Evaluations killed at 30 seeded places; 30 kills of index builds are in tests/matching/test_index_kills.py."""

import json
import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from faults import runs_of
from varied_model import varied_model

PROGRAM = Path(__file__).with_name("killed_runs.py")
SEEDS = (1, 2)
KILLS = 15
"""For each seed; both seeds run at once."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("killed-runs")


@pytest.fixture(scope="module")
def processes(folder: Path, shared: Path, tokenizer: Any) -> list[dict[str, Any]]:
    """What each process said, in their order."""
    model = varied_model(shared, tokenizer)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    command = [sys.executable, str(PROGRAM), str(model), str(folder), str(KILLS), *map(str, SEEDS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=480, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def results(folder: Path) -> dict[str, bytes]:
    """The files of a run by name; the seconds in the log are the one thing that may differ."""
    (log,) = folder.rglob("predictions.jsonl")
    files = {file.name: file.read_bytes() for file in log.parent.iterdir() if not file.name.endswith(".lock")}
    return files | {log.name: re.sub(rb'"seconds":[0-9.e-]+', b'"seconds":0', files[log.name])}


def test_the_kills_are_of_every_kind(processes: list[dict[str, Any]]) -> None:
    killed = [process for process in processes if process["killed"]]
    assert len(killed) == len(SEEDS) * KILLS
    kinds = {"file", "file torn", "log torn", "log written", "prompt read", "token"}
    assert {process["fault"][0] for process in killed} == kinds == processes[0]["events"].keys()
    assert any(0 < len(process["before"]) < 5 for process in processes), "no kill left a part"
    assert max(map(len, runs_of(processes).values())) > 2, "no run was killed twice"


def test_every_run_ends_in_the_same_bytes(processes: list[dict[str, Any]], folder: Path) -> None:
    expected = results(folder / str(SEEDS[0]) / "whole")
    assert sorted(expected) == ["predictions.jsonl", "scored.jsonl", "summary.json"]
    assert len(set(re.findall(rb'"answers":\[[^]]*\]', expected["predictions.jsonl"]))) >= 4  # the rows differ
    for seed, run in [*runs_of(processes), (SEEDS[1], "whole")]:
        assert results(folder / str(seed) / run) == expected, (seed, run)


def test_finished_rows_are_never_asked_again(processes: list[dict[str, Any]]) -> None:
    rows = set(processes[0]["asked"])
    assert len(rows) == 5
    for run in runs_of(processes).values():
        for process in run:
            assert not set(process["asked"]) & set(process["before"]), process
            assert len(process["asked"]) == len(set(process["asked"]))
            if not process["killed"]:
                assert set(process["asked"]) == rows - set(process["before"]), process
        finished = [set(process["before"]) for process in run]
        assert all(one <= later for one, later in pairwise(finished)), "a row was lost"
