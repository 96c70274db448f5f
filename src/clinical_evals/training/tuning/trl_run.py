"""A recipe run by TRL's own script, in this process: what `trl sft --config` does, without the launcher."""

import json
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from clinical_evals.training.tuning.recipe import read_recipe


def train(recipe: Path, overrides: Sequence[str] = ()) -> list[float]:
    """Run a recipe by TRL's own script, in this process.

    Args:
        recipe: the YAML file.
        overrides: as on TRL's command line.

    Returns:
        The losses that were logged up to the last checkpoint.

    Raises:
        InputError: see `read_recipe`.
    """
    import torch

    read = read_recipe(recipe, overrides=overrides)
    script = import_module(f"trl.scripts.{read.trainer}")
    with torch.enable_grad():  # an evaluation by lighteval in the same process leaves gradients switched off
        script.main(read.script, read.training, read.model, read.mixture)
    states = Path(read.training.output_dir).glob("checkpoint-*/trainer_state.json")
    last = max(
        (json.loads(path.read_text(encoding="utf-8")) for path in states), key=lambda state: state["global_step"]
    )
    return [step["loss"] for step in last["log_history"] if "loss" in step]
