"""`lighteval accelerate … --custom-tasks clinical_evals.tasks.clibench`: what lighteval's own command line gives."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from chain_model import write_chain_model

from clinical_evals.clibench.prompts import RESERVED_OUTPUT, SYSTEM, TASK_PROMPTS

# lighteval's own tasks are left out: one of them downloads a file when it is imported.
PLAIN = """
import sys
from lighteval.tasks.registry import Registry
Registry._load_from_files = staticmethod(lambda *_: {})
Registry._load_from_subdirs = staticmethod(lambda *_: {})
from lighteval.__main__ import app
sys.argv[0] = "lighteval"
app()
"""


def plain_lighteval(
    model: Path, folder: Path, context: str, tasks: str = "clibench:diagnosis|0", custom: str = "clibench"
) -> "subprocess.CompletedProcess[str]":
    """Run in an empty folder, so that nothing but the installed module can be found."""
    command = [
        sys.executable, "-c", PLAIN, "accelerate", f"model_name={model},batch_size=2", tasks,
        "--custom-tasks", f"clinical_evals.tasks.{custom}", "--output-dir", str(folder / "out"), "--save-details",
        "--max-samples", "3",
    ]  # fmt: skip
    environment = {**os.environ, "CLINICAL_EVALS_CONTEXT": context, "HF_HOME": str(folder / "hf")}
    (folder / "empty").mkdir()
    return subprocess.run(
        command, capture_output=True, text=True, timeout=200, check=False, env=environment, cwd=folder / "empty"
    )


@pytest.fixture(scope="module")
def folder(chain_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plain")
    # A copy: lighteval's own cache of answers lies inside the model's folder.
    done = plain_lighteval(Path(shutil.copytree(chain_model, folder / "model")), folder, "1500")
    assert done.returncode == 0, done.stderr[-3000:]
    (folder / "said").write_text(done.stdout + done.stderr)
    return folder


def test_the_context_is_kept_and_every_answer_is_whole(folder: Path) -> None:
    (details,) = folder.rglob("details_*.parquet")
    table = pd.read_parquet(details)
    assert len(table) == 3
    for doc, response in zip(table["doc"], table["model_response"], strict=True):
        assert list(response["text"]) == ["I10, E46"]
        assert len(response["input_tokens"]) <= 1500 - RESERVED_OUTPUT
        assert 0 < doc["specific"]["kept_long"] < doc["specific"]["kept_prompt"] < 1
        assert SYSTEM in doc["query"]
        assert doc["query"].endswith(TASK_PROMPTS["diagnosis"].question)
    (results,) = folder.rglob("results_*.json")
    scores = json.loads(results.read_text())["results"]["clibench:diagnosis|0"]
    assert 0 <= scores["f1_average"] <= 1
    assert scores["empty_answers"] == 0


def test_one_warning_says_what_is_missing(folder: Path) -> None:
    said = " ".join((folder / "said").read_text().split())
    assert said.count("lighteval's own command line gives a task no tokenizer") == 1
    assert "1500 tokens (from CLINICAL_EVALS_CONTEXT)" in said
    assert "keeps no log of ours, does not resume" in said


def test_the_static_task_of_ior_bench(tokenizer: Any, tmp_path: Path) -> None:
    model = write_chain_model(tmp_path / "model", tokenizer, "骨科", context=8192)
    tasks = "ior_bench:static_zero_shot|0,ior_bench:static_few_shot|0,ior_bench:static_cot|0"
    done = plain_lighteval(model, tmp_path, "8192", tasks, "ior_bench")
    assert done.returncode == 0, done.stderr[-3000:]
    (results,) = tmp_path.rglob("results_*.json")
    found = json.loads(results.read_text())["results"]
    for name in tasks.split(","):
        assert found[name]["no_answer_rate"] == 0
        (details,) = tmp_path.rglob(f"details_{name}_*.parquet")
        table = pd.read_parquet(details)
        golds = [doc["choices"][0] for doc in table["doc"]]
        assert found[name]["accuracy"] == golds.count("骨科") / 3
        assert all(doc["query"].count("【对话】") == 1 for doc in table["doc"])
        assert all(doc["specific"]["kept_prompt"] == 1 for doc in table["doc"])


def test_a_majority_vote_says_where_it_works(tokenizer: Any, tmp_path: Path) -> None:
    model = write_chain_model(tmp_path / "model", tokenizer, "骨科", context=8192)
    done = plain_lighteval(model, tmp_path, "8192", "ior_bench:static_majority_vote|0", "ior_bench")
    assert done.returncode != 0
    assert "clinical-evals eval accelerate MODEL_ARGS" in " ".join(done.stderr.split())
