"""The demo of training: a small language model learns codes by heart, and beats what it was on the rows it learnt."""

import time
from pathlib import Path


def run_training_demo(output_dir: Path) -> None:
    """Fine-tune a small real model on the embedded synthetic sample, and print what came of it.

    Args:
        output_dir: where rows, models and logs go.

    Raises:
        ClinicalEvalsError: a model or resource is missing, or the training did not do what it should.
    """
    from clinical_evals.tasks.options import check_writable
    from clinical_evals.training.tuning.demo import run_tuning_demo

    check_writable(output_dir)
    start = time.monotonic()
    run_tuning_demo(output_dir)
    print(
        f"\nDone in {(time.monotonic() - start) / 60:.0f} minutes; what was made is in {output_dir}. Training rows "
        "were asked: that they are learnt says nothing of\nother rows. The recipes for real data: training/README.md "
        "and training/tuning.md.",
        flush=True,
    )
