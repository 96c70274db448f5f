"""Transcripts whose words are known, as the log of a run has them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from clinical_evals.tasks.dialogue.dialogue_log import open_transcripts
from clinical_evals.tasks.dialogue.dialogue_played import Played
from clinical_evals.tasks.prediction_log import Line

HOSPITAL = ("内科", "外科", "儿科", "骨科", "急诊科")
USE: Mapping[str, tuple[int, int, float]] = {
    "patient": (100, 10, 0.5),
    "refer": (200, 5, 0.125),
    "question": (200, 20, 0.25),
}
"""Tokens read, tokens written and seconds of each answer, by step."""


def make_dialogue(
    row: int, gold: str, patient: Sequence[str], referrals: Sequence[str], questions: Sequence[str]
) -> Played:
    """A dialogue from what each step said, turn by turn; shorter lists are those of one that broke off."""
    said = {"patient": patient, "refer": referrals, "question": questions}
    steps = [(turn, step) for turn in range(len(patient)) for step in said if turn < len(said[step])]
    lines = [make_line(row, gold, turn, step, said[step][turn]) for turn, step in steps]
    case = {"id": f"emr-{row}", "department": gold, "candidates": list(HOSPITAL)}
    return Played(row, case, lines)


def make_line(row: int, gold: str, turn: int, step: str, text: str, **changes: Any) -> Line:
    """The line of one step."""
    read, written, seconds = USE[step]
    return {
        "key": f"key-{row}-{turn}-{step}",
        "row": row,
        "case_id": f"emr-{row}",
        "data_sha256": "d",
        "turn": turn,
        "step": step,
        "who": "patient" if step == "patient" else "doctor",
        "text": text,
        "said": None if step == "refer" else text,
        "prediction": None,
        "finish": "stop",
        "input_tokens": read,
        "output_tokens": written,
        "kept": 1.0,
        "prompt_sha256": "p",
        "seconds": seconds,
        "gold": gold,
        "candidates": list(HOSPITAL),
        "rater": {"confidence": None, "coherence": None},
    } | changes


def write_transcripts(path: Path, played: Sequence[Played], turns: int) -> Path:
    """A log with one batch for each line."""
    log = open_transcripts(path, {"task": "ior_bench:dynamic_h2", "turns": turns}, {"source": "written"})
    for each in played:
        for line in each.lines:
            log.append([line])
    log.close()
    return path
