"""The prompt of one row, as text to read: before it is cut to a model and put into its chat template."""

from collections.abc import Mapping
from typing import Any

from clinical_evals.errors import InputError
from clinical_evals.tasks.names import Task, find_task


def format_prompt(name: str, row: int) -> str:
    """System role and user turn of a row of the test split.

    Raises:
        UnknownNameError: no such task.
        InputError: no such row.
    """
    from datasets import load_dataset

    task = find_task(name)
    rows = load_dataset(task.dataset, task.subset, split="test")
    if not 0 <= row < len(rows):
        raise InputError(f"--row {row}: the test split of {task.name} has the rows 0 to {len(rows) - 1}.")
    if task.is_dialogue:
        return _show_roles(task, row, rows[row])
    show = _show_admission if task.system else _show_dialogue
    version, system, user = show(task, rows[row], rows)
    return f"# {task.name}, row {row}, prompt version {version}\n\n[system]\n{system}\n\n[user]\n{user}"


def _show_admission(task: Task, row: Mapping[str, Any], _: Any) -> tuple[str, str, str]:
    from clinical_evals.clibench.prompts import PROMPT_VERSION, SYSTEM, user_text
    from clinical_evals.clibench.segments import render_segments
    from clinical_evals.ontology import get_system

    return PROMPT_VERSION, SYSTEM, user_text(task.config, render_segments(row, get_system(task.system)))


def _show_dialogue(task: Task, row: Mapping[str, Any], rows: Any) -> tuple[str, str, str]:
    from clinical_evals.ior_bench.prompts import PROMPT_VERSION, SHOTS, STRATEGIES, SYSTEM, make_parts, user_text
    from clinical_evals.ior_bench.shots import Shots
    from clinical_evals.ior_bench.static import seen_turns

    examples = Shots(SHOTS, rows).examples if STRATEGIES[task.strategy].examples else ()
    turns = seen_turns(row["dialogue"], f"row {row['id']}")
    return PROMPT_VERSION, SYSTEM, user_text(task.strategy, make_parts(turns, row["candidates"], examples))


def _show_roles(task: Task, number: int, row: Mapping[str, Any]) -> str:
    """What each role is shown in its first step; the patient's answer is not known yet."""
    from clinical_evals.ior_bench.dialogue import Dialogue, Step, messages_for, take
    from clinical_evals.ior_bench.dialogue_prompts import DIALOGUE_PROMPT_VERSION

    start = Dialogue(row)
    answered = take("patient", start, "(what the patient answers)")
    steps: tuple[tuple[Step, Dialogue], ...] = (("patient", start), ("refer", answered), ("question", answered))
    parts = [f"# {task.name}, row {number}, prompt version {DIALOGUE_PROMPT_VERSION}"]
    for step, dialogue in steps:
        messages = "\n".join(f"[{each['role']}]\n{each['content']}" for each in messages_for(step, dialogue))
        parts.append(f"## {step}\n{messages}")
    return "\n\n".join(parts)
