"""The commands that a user types first, each in a fresh process, from an empty directory, offline.

The Python lines, `load_dataset("ior-bench", "dynamic_h2")` and `evaluate.load("hier_icd_f1")`, are tried in the same
way in tests/datasets_hub/test_bare_names.py.
"""

import os
import subprocess
import sys
from pathlib import Path

KEPT_OUT = ("HF_", "CLIBENCH", "IOR_BENCH", "PYTEST")


def run(tmp_path: Path, *words: str) -> str:
    """What `clinical-evals` prints, with caches of its own."""
    empty = tmp_path / "empty"
    empty.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(KEPT_OUT)}
    done = subprocess.run(
        [sys.executable, "-m", "clinical_evals", *words],
        cwd=empty,
        env=kept | {"HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1", "HF_EVALUATE_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_eval(chain_model: Path, tmp_path: Path) -> None:
    model = f"model_name={chain_model},dtype=float32"
    out = run(tmp_path, "eval", "accelerate", model, "--tasks", "clibench|diagnosis", "--max-samples", "2")
    assert "clibench:diagnosis, 2 rows" in out
    (log,) = (tmp_path / "empty" / "runs").rglob("predictions.jsonl")
    assert len(log.read_text().splitlines()) == 3  # a header and two rows


def test_a_dry_run_of_push(tmp_path: Path) -> None:
    out = run(tmp_path, "push", "dataset", "ior-bench", "ORG/ior-bench", "--dry-run")
    for part in ("data/dynamic_h2/test.json", "README.md", "https://huggingface.co/datasets/ORG/ior-bench", "private"):
        assert part in out
    assert list((tmp_path / "empty").iterdir()) == []
