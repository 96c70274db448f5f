"""What is printed of a build of CliBench: the funnel, the splits, and what there is to know."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clinical_evals.ruled_table import ruled


def format_build(about: Mapping[str, Any], out: Path) -> str:
    """The text for whoever built it.

    Args:
        about: what stands in build.json.
        out: where it is.
    """
    steps = [("task", "step", "admissions", "decisions")]
    for step in about["funnel"]:
        decisions = "" if step["decisions"] is None else f"{step['decisions']:,}"
        steps.append((step["task"], step["step"], f"{step['admissions']:,}", decisions))
    splits = [("task", "split", "rows", "patients", "codes", "rows with a gold title in the record")]
    for task, entry in about["tasks"].items():
        for name, split in entry["splits"].items():
            counted = split["statistics"]
            shown = (f"{counted['patients']:,}", f"{counted['codes']:,}")
            titles = f"{split['leakage']['rows_with_a_gold_title']:,}"
            splits.append((task, name, f"{split['rows']:,}", *shown, titles))
    headings = {
        name: number
        for entry in about["tasks"].values()
        for split in entry["splits"].values()
        for name, number in split["leakage"]["forbidden_headings"].items()
    }
    cut = about["discharge_notes"]
    share = 100 * cut["kept"] / cut["characters"] if cut["characters"] else 0.0
    return "\n".join(
        [
            ruled(steps[:1], steps[1:], last_apart=False),
            "",
            ruled(splits[:1], splits[1:], last_apart=False),
            "",
            f"notes: {cut['notes']:,} discharge notes; {share:.1f} % of their text is known at admission and kept",
            f"leakage: forbidden headings in the records: {headings or 'none'}",
            *about["losses"],
            *about["notes"],
            *about["system_notes"].values(),
            f"written to {out}; all figures: {out / 'build.json'}",
            f'load_dataset("clibench", "diagnosis", data_dir="{out}"), or CLIBENCH_DIR={out} for the tasks',
        ]
    )
