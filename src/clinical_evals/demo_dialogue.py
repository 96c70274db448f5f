"""The demo of the dynamic task: a written doctor and patient first, then SmolLM2-135M-Instruct in all roles.

SmolLM2 knows no Chinese. What it says is shown as it is: the demo shows the way from two speakers to a table, and the
written dialogues what that table is of when the speakers are good.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from clinical_evals.ior_bench.dialogue import Step
from clinical_evals.ior_bench.dialogue_prompts import DIALOGUE_PROMPT_VERSION, GREETING

if TYPE_CHECKING:
    from clinical_evals.tasks.options import Options
    from clinical_evals.tasks.prediction_log import Line
    from clinical_evals.tasks.scored.results import Result

TASK = "ior_bench:dynamic_h2"
CASES = 4
ANSWER_TOKENS = 48
"""Fewer than by default: what SmolLM2 says in Chinese is the same few words again and again until it is cut."""


def run_dialogue_demo(output_dir: Path) -> None:
    """Print a dialogue as it unfolds, and the table of four, for a written doctor and patient and for SmolLM2.

    Args:
        output_dir: where the runs go.

    Raises:
        ClinicalEvalsError: a resource is missing or something given cannot be used.
    """
    from clinical_evals.tasks.launcher import evaluate
    from clinical_evals.tasks.models.demo_model import find_demo_model
    from clinical_evals.tasks.options import Options, check_writable
    from clinical_evals.tasks.scored.tables import format_results

    check_writable(output_dir)
    os.environ.pop("IOR_BENCH_DIR", None)  # the embedded sample, whatever else this machine has
    options = Options(
        model_args="", tasks=TASK, output_dir=output_dir, max_samples=CASES, answer_tokens=ANSWER_TOKENS, watch=watch()
    )
    print(
        f"IOR-Bench, dynamic task, hospital 2: {CASES} synthetic cases. The patient answers, the doctor refers (the "
        "patient never\nsees it) and asks on. One of the dialogues is shown as it unfolds, then the table of all.\n\n"
        "1. Doctor and patient WRITTEN BY HAND, played as two models would be (a second; a token is a "
        "character): what a\ngood dialogue looks like.\n",
        flush=True,
    )
    results, turns = play_written(options)
    print(f"\n{format_results(results)}\n", flush=True)
    print(
        "2. SmolLM2-135M-Instruct in all roles (a real model; 2-4 minutes on two cores, the first time 1 more to "
        "unpack it).\nIt is tiny and knows NO CHINESE: what it says is empty, and no answer names a department but by "
        "chance.\n",
        flush=True,
    )
    model_args = f"model_name={find_demo_model()},dtype=float32"
    results = evaluate(options._replace(model_args=model_args, turns=turns, watch=watch()))
    log, row = results[0].log, results[0].lines[-1]["row"]
    print(f"\n{format_results(results)}\n\nanother dialogue of it: clinical-evals explain {log} --row {row}")


def play_written(options: "Options") -> "tuple[list[Result], int]":
    """Play and score the written dialogues.

    Args:
        options: where, and how many of the cases.

    Returns:
        The result, and how many turns a dialogue has.

    Raises:
        InputError: one of the cases has no written dialogue.
    """
    from datasets import load_dataset

    from clinical_evals.tasks.dialogue.dialogue_tasks import Player, choose_cases, play_tasks
    from clinical_evals.tasks.dialogue.scripted_generator import ScriptedGenerator
    from clinical_evals.tasks.dialogue.written_dialogues import WrittenDialogues
    from clinical_evals.tasks.lighteval_session import lighteval_session
    from clinical_evals.tasks.names import PROTOCOL_VERSION, parse_tasks
    from clinical_evals.version import __version__

    (task,) = parse_tasks(options.tasks)
    rows = load_dataset(task.dataset, task.subset, split="test")
    written = WrittenDialogues(choose_cases(list(rows), options.max_samples))
    about = {"versions": {"clinical-evals": __version__, "protocol": PROTOCOL_VERSION}}
    with lighteval_session():
        doctor, patient = (
            Player(name, ScriptedGenerator(script, name=name), {"written": DIALOGUE_PROMPT_VERSION}, options.seed)
            for name, script in (("written-doctor", written.doctor), ("written-patient", written.patient))
        )
        asked = options._replace(turns=written.turns, answer_tokens=None)
        return play_tasks([task], doctor, patient, asked, about, ["standard"]), written.turns


def watch() -> "Callable[[Line], None]":
    """Prints the answers of the first dialogue that is played, each as it comes, beside a progress bar."""
    first: list[int] = []

    def show(line: "Line") -> None:
        if not first:
            first.append(line["row"])
            _write(f"case {line['case_id']}, the right department is {line['gold']}")
            _write(f"  doctor:   {GREETING}")
        if line["row"] == first[0]:
            _write(_shown(line))

    return show


def _shown(line: "Line") -> str:
    from clinical_evals.tasks.scored.explain_text import printable

    step: Step = line["step"]
    if step == "refer":
        named = line["prediction"]
        verdict = "no department" if named is None else f"{named}, {'right' if named == line['gold'] else 'wrong'}"
        return f"      [turn {line['turn']}: refers to {verdict}]"
    return f"  {line['who'] + ':':<9} {printable(line['said'])}"


def _write(text: str) -> None:
    tqdm.write(text, file=sys.stdout)
    sys.stdout.flush()
