"""CliBench as lighteval tasks (arXiv 2406.09923): `clibench:diagnosis`, `procedure`, `lab_order`, `prescription`.

    clinical-evals eval accelerate "model_name=…" --tasks "clibench|diagnosis"
    lighteval accelerate "model_name=…" "clibench:diagnosis|0" --custom-tasks clinical_evals.tasks.clibench

The first way cuts each prompt with the model's own tokenizer, logs every answer, resumes and prints intervals. The
second has only lighteval's means: it gives a task neither tokenizer nor context length, so prompts are cut by an
estimate to CLINICAL_EVALS_CONTEXT tokens (2,048 if that is not set), with one warning.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc

from clinical_evals.clibench.prompts import PROMPT_VERSION, RESERVED_OUTPUT, SYSTEM, only_shown, user_text
from clinical_evals.clibench.segments import LONG, Row, Segments, render_segments
from clinical_evals.ontology import get_system
from clinical_evals.tasks.benchmark import Asked, Plan, PromptOptions
from clinical_evals.tasks.metrics import hierarchical_scores
from clinical_evals.tasks.models.generation import Chat
from clinical_evals.tasks.names import TASKS, Task, find_task
from clinical_evals.tasks.plain_context import EstimatedTokens, assumed_context
from clinical_evals.tasks.prediction_log import hash_row
from clinical_evals.truncation import Room, fit_prompt

LOGGED = ("subject_id",)
"""What of a document's `specific` its log line repeats."""


def plan(task: Task, options: PromptOptions) -> Plan:
    """How a task is asked in one run."""
    return Plan(
        partial(record_to_doc, without=options.without),
        RESERVED_OUTPUT,
        max(options.samples, 1),
        about={"without": list(options.without)} if options.without else {},
    )


def record_to_doc(row: Row, task_name: str, without: Sequence[str] = ()) -> Doc:
    """One admission as a lighteval document: the whole prompt, and what is needed to cut it to a model.

    `choices` are the gold codes. `specific` holds `subject_id`, `data_sha256` and the `segments` by name.

    Args:
        row: of the dataset.
        task_name: as lighteval spells it.
        without: segments that the prompt leaves out.
    """
    config = task_name.partition(":")[2].partition("|")[0]
    segments = only_shown(config, render_segments(row, get_system("icd10cm")), without)
    codes = list(row["codes"])
    return Doc(
        query=f"{SYSTEM}\n\n{user_text(config, segments, without)}",
        choices=codes,
        gold_index=list(range(len(codes))),
        task_name=task_name,
        specific={
            "subject_id": row["subject_id"],
            "data_sha256": hash_row(row),
            "config": config,
            **({"without": list(without)} if without else {}),
            "segments": segments._asdict(),
        },
    )


def ask(doc: Doc, chat: Chat, room: Room, where: str) -> list[Asked]:
    """The one prompt of a document, cut to a model."""
    specific: dict[str, Any] = doc.specific or {}
    segments = Segments(**specific.pop("segments"))
    config, without = specific["config"], specific.get("without", ())

    def render(cut: Segments) -> str:
        return chat.render(SYSTEM, user_text(config, cut, without))

    return [Asked(fit_prompt(segments, LONG, render, chat, room, where))]


def check_gold(doc: Doc) -> None:
    """The gold codes are of the release: one that is not would end the run only when all answers are there.

    Raises:
        InputError: one is not; the row is named.
    """
    system = get_system(find_task(doc.task_name).system)
    system.require(doc.get_golds(), f"row {doc.id} of {doc.task_name.split('|')[0]}, column codes")


def record_to_cut_doc(row: Row, task_name: str) -> Doc:
    """The same for lighteval's own command line: cut by an estimate, since no tokenizer is at hand."""
    doc = record_to_doc(row, task_name)
    specific: dict[str, Any] = doc.specific or {}
    where = f"row {row.get('__index', '?')} of {task_name}"
    fitted = fit_prompt(
        Segments(**specific.pop("segments")),
        LONG,
        lambda segments: f"{SYSTEM}\n\n{user_text(specific['config'], segments)}",
        EstimatedTokens(),
        Room(assumed_context(), RESERVED_OUTPUT),
        where,
    )
    doc.query = fitted.text
    specific |= {"kept_prompt": fitted.kept_prompt, "kept_long": fitted.kept_long}
    return doc


TASKS_TABLE = [
    LightevalTaskConfig(
        name=task.name,
        prompt_function=record_to_cut_doc,
        hf_repo=task.dataset,
        hf_subset=task.subset,
        hf_avail_splits=["test", "train"],
        evaluation_splits=["test"],
        metrics=[hierarchical_scores(task.system)],
        generation_size=RESERVED_OUTPUT,
        stop_sequence=[],  # without it a tuple, on which lighteval fails when the model has no chat template
        version=int(PROMPT_VERSION),
    )
    for task in TASKS
    if task.benchmark == "clibench"
]
"""What `--custom-tasks` reads."""
