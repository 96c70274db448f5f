"""Logs of CliBench's diagnosis task whose answers are known, written by the real log."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clinical_evals.clibench.prompts import PROMPT_VERSION, SYSTEM, TASK_PROMPTS
from clinical_evals.markers import SYNTHETIC_MARKER
from clinical_evals.tasks.prediction_log import PredictionLog

USER = f"{TASK_PROMPTS['diagnosis'].instruction}\n\nfever\n\n{TASK_PROMPTS['diagnosis'].question}"
SENT = f"<|im_start|>system\n{SYSTEM}<|im_end|>\n<|im_start|>user\n{USER}<|im_end|>\n<|im_start|>assistant\n"


def make_line(row: int, answers: Sequence[str], gold: Sequence[str], finish: Sequence[str] = ()) -> dict[str, Any]:
    """The line of one row."""
    return {
        "key": f"key-{row}", "row": row, "subject_id": row, "data_sha256": f"d{row}", "prompt_sha256": "p",
        "prompt": SENT, "answers": list(answers), "finish": list(finish or ["stop"] * len(answers)),
        "gold": list(gold), "input_tokens": 10, "whole_tokens": 10, "kept_prompt": 1.0, "kept_long": 1.0,
        "output_tokens": [5] * len(answers), "output_ids": [[1] * 5] * len(answers), "seconds": 0.5,
    }  # fmt: skip


def write_log(folder: Path, lines: Sequence[dict[str, Any]], source: str = SYNTHETIC_MARKER, **run: Any) -> Path:
    """A log of the test split, unless `run` says otherwise."""
    of_run = {"task": "clibench:diagnosis", "split": "test", "prompt": PROMPT_VERSION, "model": {}, "settings": {}}
    log = PredictionLog(folder / "predictions.jsonl", of_run | run, {"source": source})
    log.append(list(lines))
    log.close()
    return log.path
