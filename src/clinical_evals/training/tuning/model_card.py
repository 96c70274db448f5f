"""`clinical-evals tuned card`: README.md and `.eval_results` of a tuned model or adapter, written from what is known.

The mark of the training rows stands in the tags and the text: the guard reads it there, and so does a reader.
"""

from pathlib import Path
from typing import NamedTuple

from clinical_evals.datasets_hub.source import licence, mark_in
from clinical_evals.errors import InputError
from clinical_evals.hub.cards.facts import CLIBENCH_PAPER, MIMIC_LICENCE_LINK
from clinical_evals.hub.cards.model_facts import TRAINED_ON
from clinical_evals.markers import MIMIC_MARKER, SYNTHETIC_MARKER
from clinical_evals.tasks.models.model_files import identify_model
from clinical_evals.tasks.prediction_log import read_header
from clinical_evals.tasks.scored.comparison import Comparison, compare_logs
from clinical_evals.tasks.scored.comparison_tables import format_comparison
from clinical_evals.training.tuning.adapter import CONFIG, Adapter, hash_weights, is_same_model, read_adapter
from clinical_evals.training.tuning.eval_results import FILE, ROWS_SAID, eval_results_yaml, model_index
from clinical_evals.training.tuning.recipe import Recipe, read_recipe
from clinical_evals.training.tuning.recipe_check import about_rows
from clinical_evals.training.tuning.weights_source import merged_adapter, source_of_weights
from clinical_evals.version import __version__
from clinical_evals.write_aside import written_aside

_SHOWN = (
    "max_length", "num_train_epochs", "max_steps", "learning_rate", "lr_scheduler_type", "warmup_steps",
    "per_device_train_batch_size", "gradient_accumulation_steps", "bf16", "seed", "beta", "use_peft", "lora_r",
    "lora_alpha", "lora_dropout", "lora_target_modules", "load_in_4bit", "dtype",
)  # fmt: skip
"""The keys of a recipe that a reader of the card wants to see."""


_DRAFTS = ("[TRL](https://github.com/huggingface/trl)", "# Model Card for Model ID")
"""What stands in a README.md that TRL, or PEFT without it, wrote by itself."""


class _Weights(NamedTuple):
    """What the card is of."""

    folder: Path
    adapter: Adapter | None
    """None: a whole model."""
    asked: Path
    """The model that the log is of: the folder itself, of an adapter the model that it was merged into."""


def write_card(model: Path, recipe_path: Path, base_log: Path, log: Path, merged: Path | None = None) -> str:
    """Write the two files into the model's folder; a README.md that is there is replaced.

    Args:
        model: the folder of a merged, or fully tuned, model, or of an adapter.
        recipe_path: what it was trained with.
        base_log: the predictions.jsonl of its base model.
        log: its own, on the same rows; of an adapter that of the merged model.
        merged: of an adapter: the model that `tuned merge` made of it.

    Returns:
        What was written, in words.

    Raises:
        InputError: the folder is no model, `merged` was made of another adapter, the log is of another model, or the
            logs cannot be compared.
    """
    weights = _read_weights(model, merged)
    recipe = read_recipe(recipe_path)
    base = str(recipe.model.model_name_or_path)
    if weights.adapter and weights.adapter.base and not is_same_model(weights.adapter.base, base):
        raise InputError(
            f"{model} is an adapter for {weights.adapter.base}, but {recipe_path} trains {base}. Give the recipe that "
            "names the model that was trained."
        )
    _check_log(log, str(weights.asked), "the model")
    _check_log(base_log, base, "the recipe's base model")
    comparison = compare_logs([base_log, log])
    task = comparison.runs[-1].task.config
    source, asked = source_of_weights(model, None), mark_in(str(read_header(log).get("source", "")))
    card = model / "README.md"
    try:
        was_draft = card.is_file() and _is_draft(card.read_text(encoding="utf-8", errors="replace"))
        (model / FILE).parent.mkdir(exist_ok=True)
        with written_aside(model / FILE) as aside:
            aside.write_text(eval_results_yaml(comparison, task, asked), encoding="utf-8")
        with written_aside(card) as aside:
            aside.write_text(_card(weights, recipe, comparison, source, asked), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{model} cannot be written to ({error.strerror or error}).") from error
    replaced = " (in place of the draft that training left there)" if was_draft else ""
    return f"wrote {card}{replaced} and {model / FILE}\nsource of the training rows: {source}"


def _read_weights(folder: Path, merged: Path | None) -> _Weights:
    if not (folder / CONFIG).is_file():
        if not (folder / "config.json").is_file():
            raise InputError(f"{folder} is no model: it has neither config.json nor {CONFIG}.")
        if merged is not None:
            raise InputError(f"{folder} is a whole model, not an adapter: leave --merged out.")
        return _Weights(folder, None, folder)
    adapter = read_adapter(folder)
    if merged is None:
        raise InputError(
            f"{folder} is an adapter, and only merged models are scored. Say which one the log is of: --merged "
            f"FOLDER, the --out of clinical-evals tuned merge {folder}."
        )
    if merged_adapter(merged) != hash_weights(adapter):
        raise InputError(
            f"{merged} does not say that it was made of {folder}: clinical-evals tuned merge {folder} --out FOLDER "
            "makes a model that does."
        )
    return _Weights(folder, adapter, merged)


def _is_draft(card: str) -> bool:
    return any(said in card for said in _DRAFTS)


def _check_log(log: Path, model: str, which: str) -> None:
    """Whether a log is of a model, on the test split."""
    run = read_header(log).get("run") or {}
    if run.get("split") != "test":
        raise InputError(f"{log} asked the {run.get('split')} split; a card shows what the test split gave.")
    weights = (run.get("model") or {}).get("weights") or {}
    if weights.get("id", "") != model and weights != identify_model(model):
        raise InputError(
            f"{log} is not of {which} {model}: its header names other weights. Run clinical-evals eval accelerate "
            f'"model_name={model}" and give the predictions.jsonl of that run.'
        )


def _card(weights: _Weights, recipe: Recipe, comparison: Comparison, source: str, asked: str) -> str:
    from huggingface_hub import ModelCardData

    task = comparison.runs[-1].task
    name, is_adapter = weights.folder.resolve().name, weights.adapter is not None
    base = _public_name((weights.adapter and weights.adapter.base) or str(recipe.model.model_name_or_path))
    data = ModelCardData(
        base_model=base if "/" in base else None,
        language="en",
        library_name="peft" if is_adapter else "transformers",
        pipeline_tag="text-generation",
        license="apache-2.0" if source == SYNTHETIC_MARKER else "other",
        license_name=None if source == SYNTHETIC_MARKER else _licence(source),
        license_link=MIMIC_LICENCE_LINK if source == MIMIC_MARKER else None,
        tags=["clibench", "trl", *(["lora"] if is_adapter else []), recipe.trainer, "clinical-evals", source],
        model_name=name,
        eval_results=model_index(comparison, task.config, task.description, asked),
    )
    return f"---\n{data.to_yaml()}\n---\n{_text(weights, base, recipe, comparison, source, asked)}"


def _text(weights: _Weights, base: str, recipe: Recipe, comparison: Comparison, source: str, asked: str) -> str:
    rows = about_rows(recipe)
    task = comparison.runs[-1].task
    counted = ", ".join(f"{key.replace('_', ' ')} {rows[key]}" for key in _ROWS if key in rows)
    settings = "\n".join(f"| `{key}` | {recipe.given[key]} |" for key in _SHOWN if key in recipe.given)
    method = {"sft": "supervised fine-tuning", "dpo": "preference tuning (DPO)"}[recipe.trainer]
    kind, scored = (
        ("", "this one") if weights.adapter is None else ("A LoRA adapter for ", "it with this adapter merged")
    )
    return f"""# {weights.folder.resolve().name}

**{TRAINED_ON[source]}**

{kind}{base}, after {method} on the train split of CliBench's {task.config.replace("_", " ")} task
([CliBench, arXiv {CLIBENCH_PAPER.arxiv}]({CLIBENCH_PAPER.url})), by clinical-evals {__version__} and TRL.

## Data

{counted or "The rows are not on the machine that wrote this card."}. No row of the test split, and no patient of it,
is among them. Prompts are those of the evaluation, cut by the same rule.

## Hyper-parameters

From `{recipe.path.name}`:

| | |
|---|---|
{settings}

## Results

The first run is the base model, the second {scored}, on the same rows ({ROWS_SAID[asked]}).

```text
{format_comparison(_with_names(comparison))}
```

## Limits

- Not a medical device: it names decisions of the past, it does not know what would have been right.
- It was trained on the form of answers that is scored; other prompts may give anything.
- {_limit(source)}
"""


_ROWS = (
    "task", "target", "rows", "rows_without_gold", "rows_that_tie", "prompts_cut", "completion_tokens", "max_length",
    "prompt_version",
)  # fmt: skip


def _limit(source: str) -> str:
    if source == SYNTHETIC_MARKER:
        return "The rows are invented: nothing follows from these scores for patients, or for the published tables."
    return (
        "One hospital, adults, English notes; rare codes are hardly seen in training. It may repeat text of its "
        "training rows: it is as private as they are."
    )


def _licence(source: str) -> str:
    return licence("clibench" if source == MIMIC_MARKER else "ior-bench", {source})


def _public_name(model: str) -> str:
    """A Hub id as it is; of a folder its name alone."""
    return Path(model).name if Path(model).is_dir() or model.startswith(("/", ".", "~")) else model


def _with_names(comparison: Comparison) -> Comparison:
    """With names for the logs: their places on this machine are nobody's business."""
    names = [Path("base model"), Path("this model")]
    runs = [run._replace(log=name) for run, name in zip(comparison.runs, names, strict=True)]
    return comparison._replace(runs=runs)
