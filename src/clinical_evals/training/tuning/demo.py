"""LoRA in the small: SmolLM2-135M-Instruct learns a few embedded train rows of CliBench's diagnosis task by heart.

The way is the whole one: rows, check, TRL's own script with a recipe, merging, the same questions to base and tuned
model, one scorer. What is asked are the training rows: the demo shows that training works, not that a model of this
size learns medicine from six invented admissions.
"""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import yaml

from clinical_evals.assets import dataset_folder
from clinical_evals.scoring.hierarchy import row_f1
from clinical_evals.tasks.scored.results import Result
from clinical_evals.training.learnt import Learnt

ROWS = 6
MAX_LENGTH = 384
"""Tokens of a row: the short segments, a few lines of the long ones, and the codes."""
ANSWER_TOKENS = 120
"""Tokens that the longest list of codes takes, and a few more."""
CONTEXT = 416
"""So that a prompt is about as long when it is asked as it was in training."""
RECIPE = {
    "dtype": "float32",
    "dataset_train_split": "train",
    "completion_only_loss": True,
    "max_length": MAX_LENGTH,
    "per_device_train_batch_size": 1,
    "gradient_accumulation_steps": 1,
    "num_train_epochs": 8,
    "learning_rate": 1e-3,
    "lr_scheduler_type": "cosine",
    "bf16": False,
    "use_cpu": True,
    "gradient_checkpointing": False,
    "seed": 42,
    "logging_steps": 6,
    "save_strategy": "epoch",
    "save_total_limit": 1,
    "report_to": "none",
    "disable_tqdm": True,
    "push_to_hub": False,
    "use_peft": True,
    "lora_r": 16,
    "lora_alpha": 32,
    "lora_dropout": 0.0,
    "lora_target_modules": "all-linear",
}


def run_tuning_demo(output_dir: Path, say: Callable[[str], None]) -> Learnt:
    """Train, and ask before and after.

    Args:
        output_dir: where rows, adapter, model and logs go; what an earlier demo left of them is replaced.
        say: takes lines for the user to read.

    Raises:
        ClinicalEvalsError: a model or resource is missing.
    """
    from clinical_evals.tasks.models.demo_model import find_demo_model
    from clinical_evals.training.tuning.build_sft import Request, build_sft
    from clinical_evals.training.tuning.merge import Request as MergeRequest
    from clinical_evals.training.tuning.merge import merge_adapter
    from clinical_evals.training.tuning.recipe_check import check_recipe
    from clinical_evals.training.tuning.trl_run import train

    data, rows, adapter, merged = (output_dir / name for name in ("data", "rows", "adapter", "model"))
    for folder in (data, rows, adapter, merged):
        shutil.rmtree(folder, ignore_errors=True)
    base = find_demo_model()
    say(
        f"The language model: SmolLM2-135M-Instruct learns {ROWS} synthetic admissions by heart\n"
        "(about 3 minutes on two cores; where the 98,000 ICD-10-CM titles are not embedded yet, 4-6 more)."
    )
    _write_few_rows(data)
    build_sft(Request("diagnosis", base, rows, data, target="codes", max_length=MAX_LENGTH), say)
    recipe = output_dir / "recipe.yaml"
    given = {"model_name_or_path": base, "dataset_name": str(rows), "output_dir": str(adapter), **RECIPE}
    recipe.write_text(yaml.safe_dump(given, sort_keys=False), encoding="utf-8")
    say(check_recipe(recipe).splitlines()[0])
    losses = train(recipe)
    merge_adapter(MergeRequest(adapter, merged))
    what = "row F1 on the training rows (mean over rows and levels, by the scorer of clinical-evals eval)"
    return Learnt(losses, what, _ask(base, data, output_dir), _ask(str(merged), data, output_dir))


def _write_few_rows(folder: Path) -> None:
    """The first train rows of the embedded sample, in both splits: so that what was learnt can be asked."""
    sample = dataset_folder("clibench") / "data" / "diagnosis" / "train.json"
    content = json.loads(sample.read_text(encoding="utf-8"))
    content["rows"] = content["rows"][:ROWS]
    (folder / "diagnosis").mkdir(parents=True)
    for split in ("train", "test"):
        (folder / "diagnosis" / f"{split}.json").write_text(json.dumps(content), encoding="utf-8")


def _ask(model: str, data: Path, output_dir: Path) -> float:
    """The mean row F1 of a model on the train rows."""
    from clinical_evals.tasks.launcher import evaluate
    from clinical_evals.tasks.options import Options

    os.environ["CLIBENCH_DIR"] = str(data)  # the demo is a process of its own
    options = Options(
        model_args=f"model_name={model},dtype=float32",
        tasks="clibench:diagnosis",
        output_dir=output_dir / "runs",
        context=CONTEXT,
        answer_tokens=ANSWER_TOKENS,
        split="train",
    )
    return mean_row_f1(evaluate(options)[0])


def mean_row_f1(result: Result) -> float:
    """Mean over rows and over the levels that count, 0 to 1."""
    counts = result.scored.counts
    averaged = [level not in counts.outside_average for level in counts.levels]
    return float(row_f1(counts)[:, averaged].mean())
