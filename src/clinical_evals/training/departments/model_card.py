"""What is written beside a fine-tuned encoder: whose rows it has read, and how it was trained."""

from pathlib import Path
from typing import Any

from clinical_evals.hub.cards.dataset_facts import IOR_BENCH
from clinical_evals.hub.cards.model_facts import TRAINED_ON
from clinical_evals.markers import SYNTHETIC_MARKER

_TEXT = """An encoder that names the department of a finished outpatient dialogue ([IOR-Bench]({paper}), static).
It was trained by clinical-evals.

**{about}**

Trained on {rows:,} dialogues, seed {seed}, from `{model}`: rate {learning_rate} (new layers: times {head_factor:g}),
batches of {batch_size}, up to {epochs} epochs, the best by validation loss. {departments} departments.

Not for clinical use.
"""


def write_model_card(
    folder: Path, settings: dict[str, Any], rows: int, seed: int, departments: int, mark: str
) -> None:
    """Write FOLDER/README.md; the mark of the data is in it, so that the guard knows the model by it.

    Args:
        folder: of the model.
        settings: what it was trained with, as JSON.
        rows: how many it was trained on.
        seed: of the training.
        departments: how many it chooses from.
        mark: of the training rows, one of `clinical_evals.markers`.
    """
    from huggingface_hub import ModelCardData

    made = IOR_BENCH.sample if mark == SYNTHETIC_MARKER else IOR_BENCH.built
    data = ModelCardData(
        language=list(IOR_BENCH.languages),
        library_name="transformers",
        pipeline_tag="text-classification",
        license=made.licence,
        license_name=made.licence_name or None,
        tags=[IOR_BENCH.name, "clinical-evals", mark],
    )
    named = {"model": Path(settings["model"]).name, "paper": IOR_BENCH.paper.url, "about": TRAINED_ON[mark]}
    text = _TEXT.format(**settings | named, rows=rows, seed=seed, departments=departments)
    (folder / "README.md").write_text(f"---\n{data.to_yaml()}\n---\n{text}", encoding="utf-8")
