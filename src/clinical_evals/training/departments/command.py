"""What `training/classify_department.py` does once its arguments are read."""

import os
from collections.abc import Callable
from pathlib import Path

from clinical_evals.errors import InputError
from clinical_evals.training.departments.confusion import draw_confusion, write_confusion_csv
from clinical_evals.training.departments.figures import check_matplotlib
from clinical_evals.training.departments.report import as_json, format_run
from clinical_evals.training.departments.run import Finished, run_recipe
from clinical_evals.training.departments.run_folder import write_json
from clinical_evals.training.departments.scaling import (
    draw_scaling,
    measured_points,
    published_points,
    write_scaling_csv,
)
from clinical_evals.training.departments.settings import Settings


def classify(settings: Settings, resume: bool = False, say: Callable[[str], None] = print) -> Finished:
    """Train, score, write and print everything.

    Args:
        settings: of the recipe.
        resume: whether the run in the output folder goes on.
        say: takes lines for the user to read.

    Raises:
        ClinicalEvalsError: something is missing or cannot be used.
    """
    check_matplotlib()
    if os.environ.get("WORLD_SIZE", "1") != "1":
        raise InputError(
            "the recipe trains in one process, and was started in several: start it by python, not by torchrun or "
            "accelerate launch. Seeds and sizes can be run beside each other in output folders of their own."
        )
    run = run_recipe(settings, resume, say)
    folder = Path(settings.output_dir).expanduser()
    write_json(folder / "results.json", as_json(run))
    first = next(each for each in run.classifiers if each.seed is not None)
    title = f"{first.name}, {first.size:,} training rows, seed {first.seed}"
    write_confusion_csv(folder / "confusion.csv", first.outcomes, run.cases.candidates)
    draw_confusion(folder / "confusion.png", first.outcomes, run.cases.candidates, title)
    written = ["results.json", "confusion.csv", "confusion.png"]
    if run.scaling:
        points = [*measured_points(run), *published_points()]
        write_scaling_csv(folder / "scaling.csv", points)
        scored = f"accuracy on {len(run.parts.test):,} held-out dialogues (published: on other data)"
        draw_scaling(folder / "scaling.png", points, scored)
        written += ["scaling.csv", "scaling.png"]
    say(f"\n{format_run(run)}\n\nwritten to {folder}: {', '.join(written)}, seed-…/model")
    return run
