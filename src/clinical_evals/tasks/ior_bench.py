"""IOR-Bench's static task as lighteval tasks (arXiv 2503.08292): `ior_bench:static_zero_shot` and three more.

    clinical-evals eval accelerate "model_name=…" --tasks "ior_bench|static"
    lighteval accelerate "model_name=…" "ior_bench:static_cot|0" --custom-tasks clinical_evals.tasks.ior_bench

The first way logs every answer, resumes, samples the answers of a majority vote, prints intervals and the robustness
over the four strategies. The second has only lighteval's means: no majority vote, since lighteval samples only where a
model's configuration says so.
"""

from functools import cache, partial
from typing import Any

from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc

from clinical_evals.errors import InputError
from clinical_evals.ior_bench.prompts import (
    LONG,
    PROMPT_VERSION,
    SHOTS,
    STRATEGIES,
    SYSTEM,
    TEMPERATURE,
    Parts,
    make_parts,
    user_text,
)
from clinical_evals.ior_bench.shots import Shots
from clinical_evals.ior_bench.static import probed_turns, seen_turns
from clinical_evals.tasks.benchmark import Asked, Plan, PromptOptions
from clinical_evals.tasks.metrics import referral_scores
from clinical_evals.tasks.models.generation import Chat
from clinical_evals.tasks.names import Task, find_task
from clinical_evals.tasks.plain_context import EstimatedTokens, assumed_context
from clinical_evals.tasks.prediction_log import hash_row
from clinical_evals.truncation import Room, fit_prompt

LOGGED = ("case_id", "candidates")
"""What of a document's `specific` its log line repeats."""


def plan(task: Task, options: PromptOptions) -> Plan:
    """How a task is asked in one run.

    Raises:
        InputError: more examples than there are rows to take them from.
    """
    strategy = STRATEGIES[task.strategy]
    shots = _shots(options.shots or SHOTS) if strategy.examples else None
    samples = max(options.samples, 1) if strategy.votes == 1 else options.samples or strategy.votes
    return Plan(
        prompt=partial(record_to_doc, shots=shots, probe_turns=options.probe_turns),
        answer_tokens=strategy.answer_tokens,
        samples=samples,
        temperature=None if strategy.votes == 1 else options.temperature or TEMPERATURE,
        about={"shots": shots.about} if shots else {},
    )


def _shots(number: int) -> Shots:
    from datasets import load_dataset

    return Shots(number, list(load_dataset("ior-bench", "static", split="test")))


@cache
def _plain_shots() -> Shots:
    """For lighteval's own command line, which asks for them row by row in one run."""
    return _shots(SHOTS)


def record_to_doc(
    row: dict[str, Any], task_name: str, shots: Shots | None = None, probe_turns: bool = False
) -> Doc | None:
    """One dialogue as a lighteval document; None for a row that examples are taken from.

    `choices` is the gold department. `specific` holds `case_id`, `candidates`, `data_sha256`, the `strategy` and, for
    each prompt that is asked, its `parts` by name.

    Raises:
        InputError: the dialogue is empty before its last doctor turn; the row is named.
    """
    if shots is not None and row["__index"] not in shots.scored:
        return None
    strategy = _strategy(task_name)
    seen = seen_turns(row["dialogue"], f"row {row.get('__index', '?')} of ior-bench, static (id {row['id']!r})")
    probes = probed_turns(seen)
    examples = shots.examples if shots else ()
    parts = [make_parts(turns, row["candidates"], examples)._asdict() for turns in probes]
    return Doc(
        query=f"{SYSTEM}\n\n{user_text(strategy, Parts(**parts[-1]))}",
        choices=[row["department"]],
        gold_index=0,
        task_name=task_name,
        specific={
            "case_id": row["id"],
            "candidates": list(row["candidates"]),
            "data_sha256": hash_row(row),
            "strategy": strategy,
            "parts": parts if probe_turns else parts[-1:],
            "turns": len(parts),
        },
    )


def ask(doc: Doc, chat: Chat, room: Room, where: str) -> list[Asked]:
    """The prompts of a document, cut to a model: of the whole dialogue last, before it those of earlier turns."""
    specific: dict[str, Any] = doc.specific or {}
    parts, turns, strategy = specific.pop("parts"), specific.pop("turns"), specific["strategy"]
    first = turns - len(parts)
    return [
        Asked(
            fit_prompt(
                Parts(**each),
                LONG,
                lambda fitted: chat.render(SYSTEM, user_text(strategy, fitted)),
                chat,
                room,
                where,
            ),
            {"turn": first + place, "turns": turns},
        )
        for place, each in enumerate(parts)
    ]


def check_gold(doc: Doc) -> None:
    """The gold department is among the candidates.

    Raises:
        InputError: it is not; the row is named.
    """
    (gold,), candidates = doc.get_golds(), (doc.specific or {})["candidates"]
    if gold not in candidates:
        raise InputError(f"row {doc.id} of {doc.task_name}: the department {gold!r} is none of its candidates.")


def _strategy(task_name: str) -> str:
    return find_task(task_name).strategy


def record_to_cut_doc(row: dict[str, Any], task_name: str) -> Doc | None:
    """The same for lighteval's own command line: cut by an estimate, since no tokenizer is at hand."""
    strategy = STRATEGIES[_strategy(task_name)]
    doc = record_to_doc(row, task_name, _plain_shots() if strategy.examples else None)
    if doc is None:
        return None
    specific: dict[str, Any] = doc.specific or {}
    (parts,), _ = specific.pop("parts"), specific.pop("turns")
    fitted = fit_prompt(
        Parts(**parts),
        LONG,
        lambda cut: f"{SYSTEM}\n\n{user_text(strategy.name, cut)}",
        EstimatedTokens(),
        Room(assumed_context(), strategy.answer_tokens),
        f"row {row.get('__index', '?')} of {task_name}",
    )
    doc.query = fitted.text
    specific |= {"kept_prompt": fitted.kept_prompt, "kept_long": fitted.kept_long}
    return doc


def _no_votes(row: dict[str, Any], task_name: str) -> Doc:
    raise InputError(
        "lighteval's own command line does not sample several answers to a prompt: a majority vote needs "
        '`clinical-evals eval accelerate MODEL_ARGS --tasks "ior_bench|static_majority_vote"`.'
    )


TASKS_TABLE = [
    LightevalTaskConfig(
        name=f"ior_bench:static_{strategy.name}",
        prompt_function=record_to_cut_doc if strategy.votes == 1 else _no_votes,
        hf_repo="ior-bench",
        hf_subset="static",
        hf_avail_splits=["test"],
        evaluation_splits=["test"],
        metrics=[referral_scores(strategy.votes > 1)],
        generation_size=strategy.answer_tokens,
        stop_sequence=[],  # without it a tuple, on which lighteval fails when the model has no chat template
        version=int(PROMPT_VERSION),
    )
    for strategy in STRATEGIES.values()
]
"""What `--custom-tasks` reads."""
