"""Dialogues between real, tiny models, killed at 100 seeded places: the same bytes in the end, and no answer twice."""

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
from varied_model import write_varied_model

PROGRAM = Path(__file__).with_name("killed_dialogues.py")
SEEDS = (1, 2)
"""Both at once. The first plays with two models, the second with one in both roles."""
KILLS = 50
STEPS = 3 * (3 * 2 - 1)
"""Answers in three dialogues of two turns."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("killed-dialogues")


@pytest.fixture(scope="module")
def processes(folder: Path, tokenizer: Any) -> list[dict[str, Any]]:
    """What each process said, in their order."""
    doctor = write_varied_model(folder / "doctor", tokenizer, seed=11)
    patient = write_varied_model(folder / "patient", tokenizer, seed=5)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    command = [sys.executable, str(PROGRAM), str(doctor), str(patient), str(folder), str(KILLS), *map(str, SEEDS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=480, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def log_of(folder: Path, seed: int, run: str) -> bytes:
    """The log of a run; the seconds in it are the one thing that may differ."""
    log = (folder / str(seed) / run / "transcripts.jsonl").read_bytes()
    return re.sub(rb'"seconds":[0-9.e-]+', b'"seconds":0', log)


def test_the_kills_are_of_every_kind(processes: list[dict[str, Any]]) -> None:
    killed = [process for process in processes if process["killed"]]
    assert len(killed) == len(SEEDS) * KILLS == 100
    kinds = {"file", "log torn", "log written", "prompts read", "token"}
    assert {process["fault"][0] for process in killed} == kinds == processes[0]["events"].keys()
    assert any(0 < len(process["before"]) < STEPS for process in processes), "no kill left a part"
    assert max(map(len, runs_of(processes).values())) > 2, "no run was killed twice"


def test_every_run_ends_in_the_same_bytes(processes: list[dict[str, Any]], folder: Path) -> None:
    logs = {seed: log_of(folder, seed, "whole") for seed in SEEDS}
    for seed, run in runs_of(processes):
        assert log_of(folder, seed, run) == logs[seed], (seed, run)
    for log in logs.values():
        assert len(log.splitlines()) == 1 + STEPS
        assert len(set(re.findall(rb'"text":"([^"]*)"', log))) >= 6  # the answers differ
    assert logs[1] != logs[2]


def test_no_answer_is_asked_for_twice(processes: list[dict[str, Any]]) -> None:
    steps = set(processes[0]["asked"])
    assert len(steps) == STEPS
    for run in runs_of(processes).values():
        for process in run:
            assert not set(process["asked"]) & set(process["before"]), process
            assert len(process["asked"]) == len(set(process["asked"]))
            if not process["killed"]:
                assert set(process["asked"]) == steps - set(process["before"]), process
        finished = [set(process["before"]) for process in run]
        assert all(one <= later for one, later in pairwise(finished)), "an answer was lost"
