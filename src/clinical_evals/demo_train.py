"""The demo of training: an encoder learns departments, a small language model codes; each beats what it was."""

import time
from pathlib import Path


def run_training_demo(output_dir: Path) -> None:
    """Fine-tune two small real models on the embedded synthetic samples, and print what came of it.

    Args:
        output_dir: where rows, models and logs go.

    Raises:
        ClinicalEvalsError: a model or resource is missing, or the training did not do what it should.
    """
    from clinical_evals.tasks.options import check_writable
    from clinical_evals.training.departments.demo import run_encoder_demo
    from clinical_evals.training.tuning.demo import run_tuning_demo

    check_writable(output_dir)
    start = time.monotonic()
    _say("1. IOR-Bench, the BERT baseline in the small")
    _say(run_encoder_demo(output_dir, _say).checked())
    _say("\n2. CliBench, LoRA in the small")
    _say(run_tuning_demo(output_dir, _say).checked())
    _say(
        f"\nDone in {(time.monotonic() - start) / 60:.0f} minutes; what was made is in {output_dir}. Training rows "
        "were asked: that they are learnt says nothing of\nother rows. The recipes for real data: training/README.md "
        "and training/tuning.md."
    )


def _say(text: str) -> None:
    print(text, flush=True)
