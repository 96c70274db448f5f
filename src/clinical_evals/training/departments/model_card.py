"""What is written beside a fine-tuned encoder: whose rows it has read, and how it was trained."""

from pathlib import Path
from typing import Any

from clinical_evals.hub.cards.dataset_facts import IOR_BENCH
from clinical_evals.hub.cards.model_facts import TRAINED_ON
from clinical_evals.markers import SYNTHETIC_MARKER
from clinical_evals.scoring.department import Outcome
from clinical_evals.training.departments.encoder import SMALL_ENCODER
from clinical_evals.training.departments.scored import score_of
from clinical_evals.training.small_encoder import BASE as SMALL_ENCODER_BASE

_TEXT = """An encoder that names the department of a finished outpatient dialogue ([IOR-Bench]({paper}), static).
It was trained by clinical-evals.

**{about}**

Trained on {rows:,} dialogues, seed {seed}, from `{model}`: rate {learning_rate} (new layers: times {head_factor:g}),
batches of {batch_size}, up to {epochs} epochs, the best by validation loss. {departments} departments.

| on {held_out:,} held-out dialogues of the same source | |
|---|---|
| accuracy | {accuracy:.2f} %, 95 % interval {low:.2f} to {high:.2f} |
| macro F1 | {macro_f1:.2f} % |

## Limits

It names one of the {departments} departments of its source whatever it is asked, also about a patient who needs none
of them or an emergency. It was scored on rows of that source only: another hospital divides its patients differently.
Departments with few training rows are seldom named. Not for clinical use.
"""


def base_of(model: str) -> str | None:
    """The Hub id of what was fine-tuned; None of a folder, whose place concerns nobody."""
    if model == SMALL_ENCODER:
        return SMALL_ENCODER_BASE
    return None if model.startswith((".", "~", "/")) or Path(model).exists() else model


def write_model_card(
    folder: Path, settings: dict[str, Any], rows: int, seed: int, departments: int, mark: str, outcomes: list[Outcome]
) -> None:
    """Write FOLDER/README.md; the mark of the data is in it, so that the guard knows the model by it.

    There is no file of `.eval_results`: the held-out part of a split is none of the benchmark's tasks.

    Args:
        folder: of the model.
        settings: what it was trained with, as JSON.
        rows: how many it was trained on.
        seed: of the training.
        departments: how many it chooses from.
        mark: of the training rows, one of `clinical_evals.markers`.
        outcomes: of the held-out rows.
    """
    from huggingface_hub import EvalResult, ModelCardData

    score = {name: 100 * value for name, value in score_of(outcomes)._asdict().items()}
    source = "the synthetic sample" if mark == SYNTHETIC_MARKER else "rows of one's own"
    results = [
        EvalResult(
            task_type="text-classification",
            dataset_type=IOR_BENCH.repository,
            dataset_name=f"IOR-Bench, held-out part of {source}",
            metric_type=metric,
            metric_name=name,
            metric_value=round(score[key], 2),
        )
        for key, metric, name in (("accuracy", "accuracy", "accuracy"), ("macro_f1", "f1", "macro F1"))
    ]
    made = IOR_BENCH.sample if mark == SYNTHETIC_MARKER else IOR_BENCH.built
    data = ModelCardData(
        language=list(IOR_BENCH.languages),
        library_name="transformers",
        pipeline_tag="text-classification",
        license=made.licence,
        license_name=made.licence_name or None,
        tags=[IOR_BENCH.name, "clinical-evals", mark],
        base_model=base_of(settings["model"]),
        model_name=f"{Path(settings['model']).name} on departments",
        eval_results=results,
    )
    named = {**score, "held_out": len(outcomes), "model": Path(settings["model"]).name, "paper": IOR_BENCH.paper.url}
    named["about"] = TRAINED_ON[mark]
    text = _TEXT.format(**settings | named, rows=rows, seed=seed, departments=departments)
    (folder / "README.md").write_text(f"---\n{data.to_yaml()}\n---\n{text}", encoding="utf-8")
