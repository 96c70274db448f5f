"""Training: the same seed gives the same weights, also after a kill; rows keep their order."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from clinical_evals.training.departments.encoder import load_classifier
from clinical_evals.training.departments.fitting import Fitted, Labelled, Task, fit_encoder, last_checkpoint
from clinical_evals.training.departments.settings import Settings

DEPARTMENTS = ["骨科", "皮肤科", "眼科"]
WORDS = ("膝盖肿了", "胳膊起红疹", "看东西模糊")


def rows(tokenizer: Any, number: int) -> Labelled:
    """Questions of unequal length, their department by turns."""
    texts = [WORDS[place % 3] + "，怎么办" * (place // 3 % 3) for place in range(number)]
    return Labelled([tokenizer(text)["input_ids"] for text in texts], [place % 3 for place in range(number)])


def task(encoder: Path, tokenizer: Any, **settings: Any) -> Task:
    given = Settings(**{"learning_rate": 1e-3, "batch_size": 4, "epochs": 2, "max_length": 64} | settings)
    return Task(encoder, tokenizer, DEPARTMENTS, given, rows(tokenizer, 6), rows(tokenizer, 20))


def weights(folder: Path) -> bytes:
    return (folder / "model" / "model.safetensors").read_bytes()


def fit(encoder: Path, tokenizer: Any, folder: Path, seed: int = 0, **settings: Any) -> Fitted:
    return fit_encoder(task(encoder, tokenizer, **settings), rows(tokenizer, 24), seed, folder, keep_model=True)


def test_the_same_seed_gives_the_same_weights_and_another_seed_others(
    encoder: Path, tokenizer: Any, tmp_path: Path
) -> None:
    one, two, other = (fit(encoder, tokenizer, tmp_path / name, seed) for name, seed in (("a", 3), ("b", 3), ("c", 4)))
    assert (one, weights(tmp_path / "a")) == (two, weights(tmp_path / "b"))
    assert weights(tmp_path / "a") != weights(tmp_path / "c")
    assert len(other.epochs) == 2
    assert not (tmp_path / "a" / "checkpoints").exists()


def test_what_can_be_learnt_is_learnt_and_rows_keep_their_order(encoder: Path, tokenizer: Any, tmp_path: Path) -> None:
    found = fit(encoder, tokenizer, tmp_path, epochs=30, patience=30, learning_rate=3e-3)
    assert found.predicted == [DEPARTMENTS[place % 3] for place in range(20)]
    assert max(epoch["validation_accuracy"] for epoch in found.epochs) == 1.0


def test_the_written_model_names_the_same_departments_row_by_row(
    encoder: Path, tokenizer: Any, tmp_path: Path
) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    found = fit(encoder, tokenizer, tmp_path, learning_rate=3e-3)
    model = AutoModelForSequenceClassification.from_pretrained(tmp_path / "model").eval()
    assert AutoTokenizer.from_pretrained(tmp_path / "model").get_vocab() == tokenizer.get_vocab()
    named = []
    for ids in rows(tokenizer, 20).ids:
        with torch.inference_mode():
            named.append(model.config.id2label[int(model(torch.tensor([ids])).logits.argmax())])
    assert found.predicted == named


def test_training_stops_when_the_loss_does_not_fall_and_keeps_the_best_epoch(
    encoder: Path, tokenizer: Any, tmp_path: Path
) -> None:
    """With so high a rate the loss soon rises."""
    found = fit(encoder, tokenizer, tmp_path, epochs=30, patience=2, learning_rate=0.3)
    assert len(found.epochs) < 30
    losses = [epoch["validation_loss"] for epoch in found.epochs]
    assert [epoch["best"] for epoch in found.epochs] == [loss == min(losses) for loss in losses]
    assert len(losses) == losses.index(min(losses)) + 1 + 2


@pytest.mark.parametrize("after", [2, 4])
def test_an_interrupted_training_goes_on_to_the_same_weights_and_stops_at_the_same_epoch(
    encoder: Path, tokenizer: Any, tmp_path: Path, after: int
) -> None:
    """How long the loss has not fallen is remembered, too."""
    given = task(encoder, tokenizer, epochs=30, patience=3, learning_rate=0.3)
    whole = fit_encoder(given, rows(tokenizer, 24), 0, tmp_path / "whole", keep_model=True)
    assert after < len(whole.epochs) < 30
    said: list[str] = []

    def say(line: str) -> None:
        said.append(line)
        if len(said) == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit_encoder(given._replace(say=say), rows(tokenizer, 24), 0, tmp_path / "again", keep_model=True)
    assert last_checkpoint(tmp_path / "again" / "checkpoints")
    assert fit_encoder(given, rows(tokenizer, 24), 0, tmp_path / "again", keep_model=True) == whole
    assert weights(tmp_path / "again") == weights(tmp_path / "whole")


def test_at_least_so_many_batches(encoder: Path, tokenizer: Any, tmp_path: Path) -> None:
    """24 rows in batches of 4 are 6 an epoch: 20 take four."""
    found = fit(encoder, tokenizer, tmp_path, epochs=1, least_steps=20, patience=30)
    assert [epoch["epoch"] for epoch in found.epochs] == [1, 2, 3, 4]


def test_new_layers_learn_at_a_rate_of_their_own(encoder: Path, tokenizer: Any, tmp_path: Path) -> None:
    """A step of AdamW moves a weight by about its rate: after 12 steps, old ones by some 1e-5 and new ones by more."""
    from safetensors.torch import load_file
    from transformers import set_seed

    fit(encoder, tokenizer, tmp_path, seed=5, learning_rate=1e-6, head_factor=1e4)
    set_seed(5)
    model, new = load_classifier(encoder, DEPARTMENTS)
    before, after = model.state_dict(), load_file(tmp_path / "model" / "model.safetensors")
    moved = {name: float((after[name] - weight).abs().max()) for name, weight in before.items() if name in after}
    assert {name for name, change in moved.items() if change > 1e-3} == new
    assert all(change < 5e-5 for name, change in moved.items() if name not in new)


def test_which_layers_are_new(encoder: Path, tmp_path: Path) -> None:
    """An encoder may come without a pooler; a classifier of three departments has all but the layer of four."""
    from transformers import BertModel

    classifier = {"classifier.weight", "classifier.bias"}
    model, new = load_classifier(encoder, DEPARTMENTS)
    assert new == classifier
    model.save_pretrained(tmp_path / "three")
    assert load_classifier(tmp_path / "three", DEPARTMENTS)[1] == set()
    assert load_classifier(tmp_path / "three", [*DEPARTMENTS, "儿科"])[1] == classifier
    BertModel.from_pretrained(encoder, add_pooling_layer=False).save_pretrained(tmp_path / "bare")
    _, new = load_classifier(tmp_path / "bare", DEPARTMENTS)
    assert new == classifier | {"bert.pooler.dense.weight", "bert.pooler.dense.bias"}


def test_bfloat16_trains_too(encoder: Path, tokenizer: Any, tmp_path: Path) -> None:
    assert len(fit(encoder, tokenizer, tmp_path, precision="bfloat16").predicted) == 20


def test_a_half_written_checkpoint_is_not_gone_on_from(tmp_path: Path) -> None:
    whole, half = tmp_path / "checkpoint-9", tmp_path / "checkpoint-12"
    for folder in (whole, half):
        folder.mkdir()
        for name in ("model.safetensors", "optimizer.pt", "scheduler.pt", "rng_state.pth", "trainer_state.json"):
            (folder / name).write_text("{}")
    (half / "trainer_state.json").write_text('{"epoch": ')
    assert last_checkpoint(tmp_path) == whole
    assert not half.exists()
    assert last_checkpoint(tmp_path / "absent") is None


RECIPE = ("--epochs", "8", "--patience", "8", "--batch-size", "4", "--learning-rate", "1e-3")


@pytest.mark.slow
def test_a_killed_run_goes_on_to_the_same_weights(
    encoder: Path, small_questions: Path, repository: Path, tmp_path: Path
) -> None:
    """Killed as soon as its first checkpoint is there; the rest is trained in this process."""
    from clinical_evals.training.departments.command import classify

    given = [*RECIPE, "--model", str(encoder), "--data", str(small_questions)]
    script = [sys.executable, str(repository / "training" / "classify_department.py"), *given]
    killed = tmp_path / "killed"
    process = subprocess.Popen(
        [*script, "--output-dir", str(killed)], env={**os.environ, "PYTHONUNBUFFERED": "1"}, stdout=subprocess.DEVNULL
    )
    while process.poll() is None and last_whole(killed / "seed-0" / "checkpoints") is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (killed / "results.json").exists()
    assert last_whole(killed / "seed-0" / "checkpoints"), "killed too late: nothing was left to go on with"
    settings = {"model": str(encoder), "data": str(small_questions), "epochs": 8, "patience": 8, "batch_size": 4}
    for folder, resume in ((killed, True), (tmp_path / "whole", False)):
        classify(Settings(**settings, learning_rate=1e-3, output_dir=str(folder)), resume, lambda line: None)
    assert weights(killed / "seed-0") == weights(tmp_path / "whole" / "seed-0")
    predictions = [(folder / "seed-0" / "predictions.json").read_text() for folder in (killed, tmp_path / "whole")]
    assert predictions[0] == predictions[1]


def last_whole(folder: Path) -> Path | None:
    """Without removing anything: a process writes there."""
    return next(iter(sorted(folder.glob("checkpoint-*/trainer_state.json"))), None)
