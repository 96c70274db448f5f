"""The prompt of one row, as text to read: before it is cut to a model and put into its chat template."""

from clinical_evals.clibench.prompts import PROMPT_VERSION, SYSTEM, user_text
from clinical_evals.clibench.segments import render_segments
from clinical_evals.errors import InputError
from clinical_evals.ontology import get_system
from clinical_evals.tasks.names import find_task


def format_prompt(name: str, row: int) -> str:
    """System role and user turn of a row of the test split.

    Raises:
        UnknownNameError: no such task.
        InputError: no such row.
    """
    from datasets import load_dataset

    task = find_task(name)
    rows = load_dataset(task.benchmark, task.config, split="test")
    if not 0 <= row < len(rows):
        raise InputError(f"--row {row}: the test split of {task.name} has the rows 0 to {len(rows) - 1}.")
    user = user_text(task.config, render_segments(rows[row], get_system("icd10cm")))
    return f"# {task.name}, row {row}, prompt version {PROMPT_VERSION}\n\n[system]\n{SYSTEM}\n\n[user]\n{user}"
