"""The demo: SmolLM2-135M-Instruct answers CliBench's diagnosis task on a few synthetic admissions.

The model is real but tiny, and no clinician: what the demo shows is the way from admissions to scores. It is an
ordinary run of the launcher, so a second demo finds the answers in the log and says so.
"""

import os
from pathlib import Path

from clinical_evals.errors import InputError
from clinical_evals.ontology import get_system
from clinical_evals.tasks.scored.results import Result

ANSWER_TOKENS = 256
"""Fewer than the 650 of the protocol: this model gives few diagnoses and then repeats itself until it is cut."""


def run_demo(output_dir: Path, rows: int) -> None:
    """Print the whole way from model to scores.

    Args:
        output_dir: where the run goes.
        rows: how many admissions of the embedded sample.

    Raises:
        ClinicalEvalsError: a resource is missing or something given cannot be used.
    """
    from clinical_evals.tasks.launcher import evaluate
    from clinical_evals.tasks.models.demo_model import find_demo_model
    from clinical_evals.tasks.options import Options, check_writable
    from clinical_evals.tasks.scored.tables import format_results

    if rows < 1:
        raise InputError(f"--rows {rows}: expected a whole number of at least 1.")
    check_writable(output_dir)
    os.environ.pop("CLIBENCH_DIR", None)  # the embedded sample, whatever else this machine has
    print(
        f"CliBench, diagnosis: SmolLM2-135M-Instruct (a tiny model) reads {rows} synthetic admissions and names the "
        "diagnoses.\n"
        "On two cores: the model is unpacked (first time, 1 minute), it answers (2-4 minutes), the 98,000 ICD-10-CM "
        "titles are\n"
        "embedded (first time, 4-6 minutes), the answers become codes and are scored by both protocols (seconds). "
        "Everything\nis cached.",
        flush=True,
    )
    model = find_demo_model()
    print(f"model: {model}", flush=True)
    options = Options(
        model_args=f"model_name={model},dtype=float32",
        tasks="clibench:diagnosis",
        output_dir=output_dir,
        max_samples=rows,
        answer_tokens=ANSWER_TOKENS,
        protocol="both",
    )
    results = evaluate(options)
    print(f"\n{format_results(results)}\n\n{_example(results[0])}")


def _example(result: Result) -> str:
    """The answer that names the most different codes, as the most telling one."""
    from clinical_evals.tasks.scored.explain import format_answer

    pairs = zip(result.lines, result.scored.answers, strict=True)
    line, answer = max(pairs, key=lambda pair: (len(pair[1].codes), -len(pair[1].items), -pair[0]["row"]))
    shown = format_answer(line, answer, get_system(result.task.system))
    return (
        f"One answer, and what each of its lines became (standard protocol):\n{shown}\n"
        f"All of this row: clinical-evals explain {result.log} --row {line['row']}"
    )
