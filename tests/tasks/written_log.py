"""Prediction logs whose answers are known, written by the real log."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clinical_evals.tasks.prediction_log import PredictionLog

RUN: dict[str, Any] = {"task": "clibench:diagnosis", "split": "test", "prompt": "1", "model": {}, "settings": {}}


def make_line(row: int, answers: Sequence[str], gold: Sequence[str], **changes: Any) -> dict[str, Any]:
    """The line of one row: a prompt of 1,000 tokens, answers of 10 each."""
    return {
        "key": f"key-{row}",
        "row": row,
        "subject_id": 100 + row,
        "data_sha256": "d",
        "prompt_sha256": "p",
        "prompt": "system\n\nrecord\n\nWhat are the diagnoses?\n",
        "answers": list(answers),
        "finish": ["stop"] * len(answers),
        "gold": list(gold),
        "input_tokens": 1000,
        "whole_tokens": 1000,
        "kept_prompt": 1.0,
        "kept_long": 1.0,
        "output_tokens": [10] * len(answers),
        "output_ids": [[1] * 10] * len(answers),
        "seconds": 0.5,
    } | changes


def write_log(path: Path, lines: Sequence[dict[str, Any]], run: dict[str, Any] = RUN, **about: Any) -> Path:
    """A log with one batch for each line."""
    log = PredictionLog(path, run, {"source": "clinical-evals:synthetic", **about})
    for line in lines:
        log.append([line])
    log.close()
    return path


def write_dictionary(path: Path, titles: dict[str, str]) -> Path:
    """A small d_icd_diagnoses: undotted ICD-10 codes and their titles."""
    rows = [f'{code},10,"{title}"' for code, title in titles.items()]
    path.write_text("\n".join(["icd_code,icd_version,long_title", *rows]) + "\n")
    return path
