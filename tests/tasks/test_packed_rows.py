"""The whole texts of all rows are not held at once: lighteval makes every document before the first is cut."""

from typing import Any

import clinical_evals  # noqa: F401 - makes the bare name known
from clinical_evals.tasks.benchmark import PromptOptions, benchmark_of
from clinical_evals.tasks.lighteval_session import whole_prompt_tasks
from clinical_evals.tasks.logged_model import unpack
from clinical_evals.tasks.names import find_task


def test_a_document_holds_its_texts_compressed_until_it_is_cut() -> None:
    from datasets import load_dataset

    row: dict[str, Any] = dict(load_dataset("clibench", "diagnosis", split="test")[0])
    row["record"] = row["record"] * 20
    task = find_task("clibench:diagnosis")
    plan = benchmark_of(task).plan(task, PromptOptions())
    (config,) = whole_prompt_tasks({task: plan}).TASKS_TABLE
    whole, packed = plan.prompt(row, "clibench:diagnosis|0"), config.prompt_function(row, "clibench:diagnosis|0")
    assert packed.query == ""
    assert len(packed.specific["segments"]) < len(row["record"]) / 10  # the same text twenty times
    unpack(packed)
    assert packed.specific == whole.specific
