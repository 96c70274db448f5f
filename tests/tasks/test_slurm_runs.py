"""The sbatch file of several nodes, as it is, on two stand-ins for nodes: two launchers that meet on a port."""

from pathlib import Path
from typing import Any

import pytest
from parallel_runs import assert_same, batch_sizes
from slurm_nodes import run_job
from varied_model import varied_model

import clinical_evals  # noqa: F401 - makes the bare name known
from clinical_evals.tasks.launcher import evaluate
from clinical_evals.tasks.options import Options


@pytest.mark.cluster
def test_several_nodes_give_what_one_process_gives(
    repository: Path, shared: Path, tokenizer: Any, tmp_path: Path
) -> None:
    """On the CPU, one process a node; the embedded sample, all of its 40 rows."""
    model = varied_model(shared, tokenizer)
    (alone,) = evaluate(Options(f"model_name={model},dtype=bfloat16", "clibench|diagnosis", tmp_path / "one"))
    settings = {"MODEL": str(model), "OUT": str(tmp_path / "two"), "ACCELERATE_USE_CPU": "true"}
    done = run_job(repository / "docs/slurm/several_nodes.sbatch", tmp_path / "stand-ins", 2, 1, settings)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("prediction log: ") == 1  # only one process of all nodes prints and writes
    (log,) = (tmp_path / "two").rglob("predictions.jsonl")
    # Eight rows a process, which is the default, of two processes
    assert set(batch_sizes(log)) == {16, 40 % 16}
    assert_same(log, alone.log)
