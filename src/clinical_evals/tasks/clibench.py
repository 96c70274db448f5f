"""CliBench as lighteval tasks (arXiv 2406.09923): `clibench:diagnosis`.

    clinical-evals eval accelerate "model_name=…" --tasks "clibench|diagnosis"
    lighteval accelerate "model_name=…" "clibench:diagnosis|0" --custom-tasks clinical_evals.tasks.clibench

The first way cuts each prompt with the model's own tokenizer, logs every answer, resumes and prints intervals. The
second has only lighteval's means: it gives a task neither tokenizer nor context length, so prompts are cut by an
estimate to CLINICAL_EVALS_CONTEXT tokens (2,048 if that is not set), with one warning.
"""

import logging
import os
from functools import cache
from typing import Any

from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc

from clinical_evals.clibench.prompts import PROMPT_VERSION, SYSTEM, user_text
from clinical_evals.clibench.segments import Row, Segments, hash_row, render_segments
from clinical_evals.clibench.truncation import RESERVED_OUTPUT, Room, fit_prompt
from clinical_evals.errors import InputError
from clinical_evals.ontology import get_system
from clinical_evals.tasks.metrics import hierarchical_scores

CONTEXT_VARIABLE = "CLINICAL_EVALS_CONTEXT"
ASSUMED_CONTEXT = 2048
"""Tokens, when nobody says: the context of the smallest models in use (and lighteval's own guess)."""
BYTES_PER_TOKEN = 2.5
"""Fewer than any tokenizer measured makes of these prompts (SmolLM2, digits apart: 2.9 or more a token)."""
TEMPLATE_TOKENS = 48
"""What a chat template may add."""


def record_to_doc(row: Row, task_name: str) -> Doc:
    """One admission as a lighteval document: the whole prompt, and what is needed to cut it to a model.

    `choices` are the gold codes. `specific` holds `subject_id`, `data_sha256` and the `segments` by name.
    """
    config = task_name.partition(":")[2].partition("|")[0]
    segments = render_segments(row, get_system("icd10cm"))
    codes = list(row["codes"])
    return Doc(
        query=f"{SYSTEM}\n\n{user_text(config, segments)}",
        choices=codes,
        gold_index=list(range(len(codes))),
        task_name=task_name,
        specific={
            "subject_id": row["subject_id"],
            "data_sha256": hash_row(row),
            "config": config,
            "segments": segments._asdict(),
        },
    )


def record_to_cut_doc(row: Row, task_name: str) -> Doc:
    """The same for lighteval's own command line: cut by an estimate, since no tokenizer is at hand."""
    doc = record_to_doc(row, task_name)
    specific: dict[str, Any] = doc.specific or {}
    where = f"row {row.get('__index', '?')} of {task_name}"
    fitted = fit_prompt(
        Segments(**specific.pop("segments")),
        lambda segments: f"{SYSTEM}\n\n{user_text(specific['config'], segments)}",
        EstimatedTokens(),
        Room(assumed_context(), RESERVED_OUTPUT),
        where,
    )
    doc.query = fitted.text
    specific |= {"kept_prompt": fitted.kept_prompt, "kept_long": fitted.kept_long}
    return doc


class EstimatedTokens:
    """Counts tokens by bytes, rather too many than too few."""

    def count(self, prompt: str) -> int:
        """The estimate for a whole prompt."""
        return int(len(prompt.encode()) / BYTES_PER_TOKEN) + 1 + TEMPLATE_TOKENS

    def token_ends(self, text: str) -> list[int]:
        """Every character counts as one: the common ratio is one of characters."""
        return list(range(1, len(text) + 1))


@cache
def assumed_context() -> int:
    """The context in tokens for lighteval's own command line, from CLINICAL_EVALS_CONTEXT or assumed; warns once.

    Raises:
        InputError: the variable is no positive whole number.
    """
    given = os.environ.get(CONTEXT_VARIABLE)
    if given is not None and not (given.isdecimal() and int(given) > 0):
        raise InputError(
            f"{CONTEXT_VARIABLE}={given!r}: expected the model's context in tokens, e.g. {CONTEXT_VARIABLE}=8192."
        )
    context = int(given) if given else ASSUMED_CONTEXT
    source = f"from {CONTEXT_VARIABLE}" if given else f"assumed; {CONTEXT_VARIABLE}=8192 sets it"
    logging.getLogger(__name__).warning(
        "lighteval's own command line gives a task no tokenizer: prompts are cut by an estimate to a context of "
        f"{context} tokens "
        f"({source}). It also keeps no log of ours, does not resume, and its cache may return old answers. For all "
        "of that: "
        'clinical-evals eval accelerate MODEL_ARGS --tasks "clibench|diagnosis"'
    )
    return context


TASKS_TABLE = [
    LightevalTaskConfig(
        name="clibench:diagnosis",
        prompt_function=record_to_cut_doc,
        hf_repo="clibench",
        hf_subset="diagnosis",
        hf_avail_splits=["test", "train"],
        evaluation_splits=["test"],
        metrics=[hierarchical_scores("icd10cm")],
        generation_size=RESERVED_OUTPUT,
        stop_sequence=[],  # without it a tuple, on which lighteval fails when the model has no chat template
        version=int(PROMPT_VERSION),
    )
]
"""What `--custom-tasks` reads."""

WHOLE_PROMPTS = {"clibench:diagnosis": record_to_doc}
"""For the launcher: the prompt function of each task that leaves the cutting to the model's own tokenizer."""
