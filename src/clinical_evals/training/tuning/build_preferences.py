"""`clinical-evals build preferences`: from several sampled answers a prompt the best and the worst, for TRL's DPO.

Best and worst are found by the scorer that evaluates: the row's F1, averaged over the levels. An answer that was cut
at its token limit may be the worst, never the best: a model is not taught to stop in the middle.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinical_evals.clibench.prompts import PROMPT_VERSION, SYSTEM, TASK_PROMPTS
from clinical_evals.datasets_hub.source import mark_in
from clinical_evals.errors import InputError
from clinical_evals.scoring.hierarchy import row_f1
from clinical_evals.tasks.logged_rows import read_rows
from clinical_evals.tasks.prediction_log import Line
from clinical_evals.tasks.scored.answered_rows import find_scorer
from clinical_evals.training.tuning.chat_tokens import Message
from clinical_evals.training.tuning.row_files import Columns, write_rows
from clinical_evals.training.tuning.row_folder import check_out
from clinical_evals.version import __version__

COLUMNS: Columns = {
    **dict.fromkeys(("prompt", "chosen", "rejected"), "messages"),
    **dict.fromkeys(("f1_chosen", "f1_rejected"), "float"),
    "row": "int",
}


class Pair(NamedTuple):
    """Two answers to one prompt."""

    prompt: list[Message]
    chosen: str
    rejected: str
    f1_chosen: float
    f1_rejected: float
    row: int
    """Of the split."""

    def as_record(self) -> dict[str, Any]:
        """As it is written."""
        return {
            "prompt": self.prompt,
            "chosen": [{"role": "assistant", "content": self.chosen}],
            "rejected": [{"role": "assistant", "content": self.rejected}],
            "f1_chosen": self.f1_chosen,
            "f1_rejected": self.f1_rejected,
            "row": self.row,
        }


def build_preferences(log: Path, out: Path, show: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """Write the pairs of a log.

    Args:
        log: the predictions.jsonl of `clinical-evals eval … --split train --samples N`.
        out: the folder to write to.
        show: is told of the result.

    Returns:
        What build.json says.

    Raises:
        ClinicalEvalsError: the folder holds something else; the log cannot be used, is of the test split or has one
            answer a prompt; or all rows tie.
    """
    replaces = check_out(out, COLUMNS)
    found = read_rows(log)
    config = found.task.config
    if found.task.benchmark != "clibench":
        raise InputError(f"{log} is of {found.task.name}: preferences are built for the tasks of CliBench.")
    _check_run(log, found.header.get("run") or {}, found.lines)
    averages = _row_scores(found.lines, found.task.system)
    pairs: list[Pair] = []
    ties = unfinished = 0
    for line, scores in zip(found.lines, averages, strict=True):
        finished = [place for place, how in enumerate(line["finish"]) if how != "length"]
        if not finished:
            unfinished += 1
            continue
        best, worst = max(finished, key=lambda place: scores[place]), int(np.argmin(scores))
        if scores[best] <= scores[worst]:
            ties += 1
            continue
        prompt = read_prompt(line["prompt"], config, f"{log}, row {line['row']}")
        answers = line["answers"]
        of = float(scores[best]), float(scores[worst])
        pairs.append(Pair(prompt, answers[best], answers[worst], *of, int(line["row"])))
    if not pairs:
        raise InputError(
            f"{log}: no row has a best and a worst answer ({ties} rows tie, of {unfinished} all answers were cut at "
            "their token limit). Sample more answers (--samples), at a higher temperature, or let them be longer "
            "(--answer-tokens)."
        )
    about = {
        "task": config,
        "rows": len(pairs),
        "rows_that_tie": ties,
        "rows_without_a_finished_answer": unfinished,
        "answers_a_row": len(found.lines[0]["answers"]),
        "mean_f1_chosen": round(float(np.mean([pair.f1_chosen for pair in pairs])), 6),
        "mean_f1_rejected": round(float(np.mean([pair.f1_rejected for pair in pairs])), 6),
        "longest_tokens": max(line["input_tokens"] + max(line["output_tokens"]) for line in found.lines),
        "prompt_version": PROMPT_VERSION,
        "clinical_evals": __version__,
    }
    source = mark_in(str(found.header.get("source", "")))
    title = f"CliBench, {config.replace('_', ' ')}: pairs of answers for preference tuning"
    said = write_rows(out, [pair.as_record() for pair in pairs], COLUMNS, title, source, lambda: about)
    if replaces:
        show(f"replaced: the earlier rows in {out}")
    show(format_pairs(said, out))
    return said


def format_pairs(about: Mapping[str, Any], out: Path) -> str:
    """What was written, in words."""
    return (
        f"{about['rows']} pairs of {about['task']} in {out}: mean row F1 {about['mean_f1_chosen']:.3f} chosen, "
        f"{about['mean_f1_rejected']:.3f} rejected; left out: {about['rows_that_tie']} rows whose "
        f"{about['answers_a_row']} answers tie, {about['rows_without_a_finished_answer']} without a finished answer"
    )


def read_prompt(rendered: str, task: str, where: str) -> list[Message]:
    """The messages of a prompt as it was sent, cut as it was.

    Our texts stand in it as they are: the user's begins with the task's instruction and ends with its question.

    Args:
        rendered: the final prompt, chat template included.
        task: the config.
        where: names the row in an error.

    Raises:
        InputError: they are not in it.
    """
    texts = TASK_PROMPTS[task]
    start, end = rendered.find(texts.instruction), rendered.rfind(texts.question)
    if start < 0 or end < start:
        raise InputError(f"{where}: the prompt does not hold the instruction and question of {task}.")
    user = rendered[start : end + len(texts.question)]
    system = rendered.rfind(SYSTEM, 0, start)
    if system < 0 or rendered[system + len(SYSTEM) : start] == "\n\n":  # at the head of the user turn
        return [{"role": "user", "content": f"{SYSTEM}\n\n{user}"}]
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": user}]


def _check_run(log: Path, run: Mapping[str, Any], lines: Sequence[Line]) -> None:
    if run.get("split") != "train":
        raise InputError(
            f"{log} asked the {run.get('split', 'test')} split, which is what is measured and never trained on. "
            "Sample answers to the train split: clinical-evals eval … --split train --samples 8 (with a temperature)."
        )
    if run.get("prompt") != PROMPT_VERSION:
        raise InputError(
            f"{log} was asked with prompt version {run.get('prompt')}, expected {PROMPT_VERSION}: run it again."
        )
    few = next((line for line in lines if len(line["answers"]) < 2), None)
    if not lines or few is not None:
        raise InputError(
            f"{log} has one answer a prompt; a preference needs two or more. Run eval with --samples 8 and a "
            "temperature."
        )


def _row_scores(lines: Sequence[Line], system: str) -> list[NDArray[np.float64]]:
    """For each row the F1 of each answer, averaged over the levels that count; all answers are scored at once."""
    answers = [answer for line in lines for answer in line["answers"]]
    gold = [line["gold"] for line in lines for _ in line["answers"]]
    counts = find_scorer(system).score(answers, gold).counts
    averaged = [level not in counts.outside_average for level in counts.levels]
    scores = row_f1(counts)[:, averaged].mean(axis=1)
    ends = np.cumsum([len(line["answers"]) for line in lines])
    return list(np.split(scores, ends[:-1]))
