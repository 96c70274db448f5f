"""What is written beside a fine-tuned encoder: whose rows it has read, and how it was trained."""

from pathlib import Path
from typing import Any

from clinical_evals.datasets_hub.source import describe

_CARD = """---
library_name: transformers
pipeline_tag: text-classification
---
An encoder that names the department of a finished outpatient dialogue (IOR-Bench, static), trained by clinical-evals.

Trained on {rows:,} dialogues, seed {seed}, from `{model}`: rate {learning_rate}, batches of {batch_size}, up to
{epochs} epochs, the best by validation loss. {departments} departments.

The rows: {about}

Not for clinical use.
"""


def write_model_card(
    folder: Path, settings: dict[str, Any], rows: int, seed: int, departments: int, mark: str
) -> None:
    """Write FOLDER/README.md; the mark of the data is in it, so that the guard knows the model by it."""
    about = describe("ior-bench", {mark})
    named = {"model": Path(settings["model"]).name}
    card = _CARD.format(**settings | named, rows=rows, seed=seed, departments=departments, about=about)
    (folder / "README.md").write_text(card, encoding="utf-8")
