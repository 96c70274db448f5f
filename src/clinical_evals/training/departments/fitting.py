"""Fine-tuning an encoder on one set of rows, with one seed: transformers' own Trainer, and what it leaves open.

Batches hold dialogues of like length and are padded to their own longest. After every epoch the validation part is
scored, a checkpoint is written, and training stops once the validation loss has not fallen for `patience` epochs; the
best epoch's weights are what is kept. On one CPU the same seed and rows give the same weights, also when the training
was killed in between and taken up again from its last whole checkpoint.
"""

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from clinical_evals.training.departments.encoder import load_classifier
from clinical_evals.training.departments.naming import BATCH, name_numbers
from clinical_evals.training.departments.scored import score_names
from clinical_evals.training.departments.settings import Settings

_STATE = "trainer_state.json"
_CHECKPOINT_FILES = ("model.safetensors", "optimizer.pt", "scheduler.pt", "rng_state.pth", _STATE)


class Labelled(NamedTuple):
    """Rows as the model reads them."""

    ids: list[list[int]]
    """Tokens of each."""
    labels: list[int]
    """The number of the department of each."""

    def features(self) -> list[dict[str, Any]]:
        """One mapping a row, as Trainer takes them."""
        return [{"input_ids": ids, "labels": label} for ids, label in zip(self.ids, self.labels, strict=True)]


class Task(NamedTuple):
    """What every training of a run has in common."""

    encoder: Path
    tokenizer: Any
    departments: list[str]
    """The classes, in order."""
    settings: Settings
    validation: Labelled
    test: Labelled
    say: Callable[[str], None] = print
    """Takes lines for the user to read."""


class Fitted(NamedTuple):
    """What a training gives."""

    predicted: list[str]
    """The department that each test row is given."""
    epochs: list[dict[str, float]]
    """Of each epoch that was trained: validation loss and accuracy, and whether it is the best."""


def fit_encoder(task: Task, rows: Labelled, seed: int, folder: Path, keep_model: bool) -> Fitted:
    """Train, keep the best epoch, name the departments of the test rows.

    Args:
        task: the encoder, the settings and the rows that are not trained on.
        rows: trained on.
        seed: of the new layer, the order of the rows and dropout.
        folder: holds the checkpoints while it trains; with whole ones in it, training goes on from the last.
        keep_model: whether the best epoch's model and tokenizer are written to FOLDER/model.
    """
    import torch
    from transformers import set_seed

    checkpoints = folder / "checkpoints"
    last = last_checkpoint(checkpoints)
    set_seed(seed)
    trainer = make_trainer(task, rows, seed, checkpoints)
    with torch.enable_grad():  # an evaluation by lighteval in the same process leaves gradients switched off
        trainer.train(resume_from_checkpoint=str(last) if last else None)
    epochs = _epochs(trainer.state)
    predicted = name_numbers(trainer.model, task.tokenizer, task.test.ids, task.settings.bfloat16)
    if keep_model:
        _save(trainer.model, task.tokenizer, folder / "model")
    shutil.rmtree(checkpoints, ignore_errors=True)
    return Fitted([task.departments[number] for number in predicted], epochs)


def make_trainer(task: Task, rows: Labelled, seed: int, checkpoints: Path) -> Any:
    """The Trainer of one training; its model is new."""
    import torch
    from transformers import (
        DataCollatorWithPadding,
        EarlyStoppingCallback,
        PrinterCallback,
        Trainer,
        TrainingArguments,
    )

    from clinical_evals.training.departments.told import EpochLines

    settings = task.settings
    arguments = TrainingArguments(
        output_dir=str(checkpoints),
        learning_rate=settings.learning_rate,
        num_train_epochs=settings.epochs_of(len(rows.ids)),
        per_device_train_batch_size=settings.batch_size,
        per_device_eval_batch_size=BATCH,
        train_sampling_strategy="group_by_length",
        eval_strategy="epoch",
        save_strategy="epoch",
        logging_strategy="epoch",
        save_total_limit=2,  # the best and the last
        load_best_model_at_end=True,
        metric_for_best_model="eval_loss",
        greater_is_better=False,
        restore_callback_states_from_checkpoint=True,  # how long the loss has not fallen is part of what is resumed
        dataloader_pin_memory=False,
        bf16=settings.bfloat16,
        use_cpu=not torch.accelerator.is_available(),  # else it would refuse bfloat16 there
        disable_tqdm=not sys.stderr.isatty(),
        report_to="none",
        seed=seed,
        data_seed=seed,
    )
    model, new = load_classifier(task.encoder, task.departments)
    trainer = Trainer(
        model=model,
        args=arguments,
        train_dataset=rows.features(),
        eval_dataset=task.validation.features(),
        data_collator=DataCollatorWithPadding(task.tokenizer),
        compute_metrics=scorer_of(task.departments),
        callbacks=[EarlyStoppingCallback(settings.patience), EpochLines(task.say)],
        optimizers=(_optimizer(model, new, settings), None),  # the schedule is Trainer's, for both rates alike
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def _optimizer(model: Any, new: set[str], settings: Settings) -> Any:
    """AdamW as Trainer makes it, with a rate of its own for the weights that are new."""
    from torch.optim import AdamW

    weights = list(model.named_parameters())
    old, fresh = ([weight for name, weight in weights if (name in new) == kind] for kind in (False, True))
    groups = [
        {"params": old, "lr": settings.learning_rate},
        {"params": fresh, "lr": settings.learning_rate * settings.head_factor},
    ]
    return AdamW([group for group in groups if group["params"]], weight_decay=0.0, fused=True)


def scorer_of(departments: Sequence[str]) -> Callable[[Any], dict[str, float]]:
    """What Trainer calls after each epoch: the department scorer of the benchmark, on names."""

    def compute_metrics(found: Any) -> dict[str, float]:
        predicted = [departments[number] for number in found.predictions.argmax(axis=1)]
        scores = score_names(predicted, [departments[number] for number in found.label_ids], departments).scores()
        return {"accuracy": scores["accuracy"], "macro_f1": scores["macro_f1"]}

    return compute_metrics


def last_checkpoint(folder: Path) -> Path | None:
    """The last whole checkpoint; one that a kill left half-written is removed."""
    whole = []
    for checkpoint in folder.glob("checkpoint-*"):
        if _is_whole(checkpoint):
            whole.append(checkpoint)
        else:
            shutil.rmtree(checkpoint)
    return max(whole, key=lambda path: int(path.name.rpartition("-")[2]), default=None)


def _is_whole(checkpoint: Path) -> bool:
    if not all((checkpoint / name).is_file() for name in _CHECKPOINT_FILES):
        return False
    try:  # Trainer writes it last
        json.loads((checkpoint / _STATE).read_text(encoding="utf-8"))
    except ValueError:
        return False
    return True


def _epochs(state: Any) -> list[dict[str, float]]:
    found = [entry for entry in state.log_history if "eval_loss" in entry]
    return [
        {
            "epoch": float(entry["epoch"]),
            "validation_loss": float(entry["eval_loss"]),
            "validation_accuracy": float(entry["eval_accuracy"]),
            "best": entry["step"] == state.best_global_step,
        }
        for entry in found
    ]


def _save(model: Any, tokenizer: Any, folder: Path) -> None:
    partial = folder.with_name(f".{folder.name}.part")
    for old in (partial, folder):
        shutil.rmtree(old, ignore_errors=True)
    model.save_pretrained(partial)
    tokenizer.save_pretrained(partial)
    partial.rename(folder)
