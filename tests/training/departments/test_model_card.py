"""The card of a fine-tuned encoder: the Hub reads it, and the guard knows the model by the mark of its rows."""

from pathlib import Path

import pytest
from huggingface_hub import ModelCard

from clinical_evals.errors import GuardError
from clinical_evals.hub.guard import check_may_leave
from clinical_evals.hub.target import Target
from clinical_evals.markers import PATIENT_MARKER, SYNTHETIC_MARKER
from clinical_evals.training.departments.model_card import base_of, write_model_card
from clinical_evals.training.departments.scored import score_names

SETTINGS = {
    "model": "/somewhere/bert-base-chinese",
    "learning_rate": 2e-5,
    "head_factor": 20.0,
    "batch_size": 8,
    "epochs": 3,
}


def card_of(folder: Path, mark: str) -> ModelCard:
    right, wrong = (score_names([named], ["眼科"], ["眼科", "骨科"]).outcomes for named in ("眼科", "骨科"))
    write_model_card(folder, SETTINGS, 1_234, 7, 25, mark, [*right * 3, *wrong])
    return ModelCard.load(folder / "README.md")


def test_the_hub_reads_it(tmp_path: Path) -> None:
    card = card_of(tmp_path, SYNTHETIC_MARKER)
    assert (card.data.license, card.data.language, card.data.pipeline_tag) == (
        "apache-2.0",
        ["zh"],
        "text-classification",
    )
    assert card.data.get("license_name") is None
    assert SYNTHETIC_MARKER in card.data.tags
    assert "1,234 dialogues, seed 7, from `bert-base-chinese`" in card.text
    assert "/somewhere" not in card.content
    assert card.data.base_model is None  # a folder of this machine


def test_the_results_are_in_its_model_index(tmp_path: Path) -> None:
    """Three of four right: 75 %. 眼科 has precision 1, recall 3/4, so F1 6/7; 骨科, named once, has 0."""
    card = card_of(tmp_path, SYNTHETIC_MARKER)
    assert card.data.eval_results is not None
    found = {result.metric_name: result.metric_value for result in card.data.eval_results}
    assert found == {"accuracy": 75.0, "macro F1": 42.86}
    assert "| accuracy | 75.00 %, 95 % interval " in card.text
    assert "on 4 held-out dialogues" in card.text


@pytest.mark.parametrize(
    ("model", "base"), [("bert-base-chinese", "bert-base-chinese"), ("e5-small-zh", "intfloat/multilingual-e5-small")]
)
def test_the_base_is_named_by_its_id(model: str, base: str) -> None:
    assert base_of(model) == base


def test_a_model_of_patients_stays(tmp_path: Path) -> None:
    card = card_of(tmp_path, PATIENT_MARKER)
    assert (card.data.license, card.data.license_name) == ("other", "that-of-the-files-read")
    assert PATIENT_MARKER in card.data.tags
    with pytest.raises(GuardError):
        check_may_leave(tmp_path / "README.md", Target("hub-public", "someone/some-model"))
