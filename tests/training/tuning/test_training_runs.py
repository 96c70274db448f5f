"""Training on a CPU: the same recipe gives the same weights, and a killed run goes on from its last checkpoint."""

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tiny_llama import write_recipe

from clinical_evals.training.tuning.demo import RECIPE
from clinical_evals.training.tuning.trl_run import train


def _weights(folder: Path) -> dict[str, Any]:
    from safetensors.numpy import load_file

    return load_file(folder / "adapter_model.safetensors")


def _equal(one: Path, other: Path) -> bool:
    first, second = _weights(one), _weights(other)
    return first.keys() == second.keys() and all((first[name] == second[name]).all() for name in first)


@pytest.fixture(scope="module")
def uninterrupted(tiny: Path, rows: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[float]]:
    """The adapter of a whole run of 12 steps, and its losses."""
    folder = tmp_path_factory.mktemp("whole")
    return folder / "out", train(write_recipe(folder / "recipe.yaml", tiny, rows, folder / "out", max_steps=12))


def test_two_runs_give_equal_weights_and_another_seed_others(
    uninterrupted: tuple[Path, list[float]], tiny: Path, rows: Path, tmp_path: Path
) -> None:
    whole, losses = uninterrupted
    assert losses[-1] < losses[0]
    again = train(write_recipe(tmp_path / "recipe.yaml", tiny, rows, tmp_path / "out", max_steps=12))
    assert again == losses
    assert _equal(tmp_path / "out", whole)
    train(write_recipe(tmp_path / "other.yaml", tiny, rows, tmp_path / "other", max_steps=12, seed=8))
    assert not _equal(tmp_path / "other", whole)


def test_two_runs_of_the_demo_recipe_give_equal_weights(tiny: Path, rows: Path, tmp_path: Path) -> None:
    """Its own values, but for the model and for the rows' length: the tiny tokenizer needs more tokens."""
    changes = {**RECIPE, "max_length": 1024, "max_steps": None, "save_steps": None, "num_train_epochs": 2}
    outs = [tmp_path / name for name in ("one", "two")]
    losses = [train(write_recipe(out.with_suffix(".yaml"), tiny, rows, out, **changes)) for out in outs]
    assert losses[0] == losses[1]
    assert _equal(*outs)


def test_a_killed_run_goes_on_from_its_last_checkpoint(
    uninterrupted: tuple[Path, list[float]], tiny: Path, rows: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    recipe = write_recipe(tmp_path / "recipe.yaml", tiny, rows, out, max_steps=12)
    script = Path(__file__).with_name("killed_training.py")
    run = subprocess.run([sys.executable, str(script), str(recipe)], capture_output=True, check=False, timeout=300)
    assert run.returncode == -signal.SIGKILL, run.stderr.decode()[-2000:]
    assert not (out / "adapter_model.safetensors").exists()
    assert {path.name for path in out.glob("checkpoint-*")} == {"checkpoint-2", "checkpoint-4", "checkpoint-6"}
    losses = train(recipe, ["--resume_from_checkpoint", str(out / "checkpoint-6")])
    assert losses == uninterrupted[1]
    assert _equal(out, uninterrupted[0])
