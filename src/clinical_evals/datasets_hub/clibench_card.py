"""The card of a CliBench that was built from MIMIC-IV: gated, and it says how it was made."""

from collections.abc import Mapping
from typing import Any

import yaml

from clinical_evals.clibench.gold import SYSTEM_OF
from clinical_evals.datasets_hub.features import schema_of
from clinical_evals.datasets_hub.source import describe, licence
from clinical_evals.markers import MIMIC_MARKER

_GATE = (
    "This dataset is derived from MIMIC-IV. Access is for people who are credentialed on PhysioNet and have signed "
    "the data use agreement of MIMIC-IV and MIMIC-IV-Note. You may not share it with anyone else."
)


def card_of(about: Mapping[str, Any]) -> str:
    """The whole card.

    Args:
        about: what stands in build.json.
    """
    tasks: Mapping[str, Any] = about["tasks"]
    head = {
        "license": "other",
        "license_name": licence("clibench", {MIMIC_MARKER}),
        "license_link": "https://physionet.org/content/mimiciv/view-license/3.1/",
        "language": ["en"],
        "task_categories": ["text-generation"],
        "tags": ["medical", "clinical", "mimic-iv", MIMIC_MARKER],
        "extra_gated_heading": "Credentialed access only",
        "extra_gated_prompt": _GATE,
        "extra_gated_fields": {
            "PhysioNet user name": "text",
            "I am credentialed and have signed the data use agreement": "checkbox",
        },
        "configs": [
            {
                "config_name": task,
                "data_files": [{"split": split, "path": f"{task}/{split}.parquet"} for split in entry["splits"]],
            }
            for task, entry in tasks.items()
        ],
    }
    yaml_head = yaml.safe_dump(head, sort_keys=False, allow_unicode=True, width=120)
    return f"---\n{yaml_head}---\n{_text(about)}"


def _text(about: Mapping[str, Any]) -> str:
    releases = "\n".join(f"- {name}: {release}" for name, release in about["releases"].items())
    splits = "\n".join(
        f"| `{task}` | {SYSTEM_OF[task]} | {split} | {entry['rows']:,} | {entry['statistics']['patients']:,} |"
        for task, of_task in about["tasks"].items()
        for split, entry in of_task["splits"].items()
    )
    funnel = "\n".join(
        f"| {step['task']} | {step['step']} | {step['admissions']:,} | "
        f"{'' if step['decisions'] is None else format(step['decisions'], ',')} |"
        for step in about["funnel"]
    )
    rest = "\n".join(f"- {text}" for text in [*about["losses"], *about["notes"], *about["system_notes"].values()])
    settings = ", ".join(f"{name} {value}" for name, value in about["settings"].items())
    return f"""# CliBench, built from MIMIC-IV {about["mimic_version"]}

**{describe("clibench", {MIMIC_MARKER})}**

Decisions on hospital admissions ([CliBench, arXiv 2406.09923](https://arxiv.org/abs/2406.09923)): given what is known
of an admission, which diagnoses, procedures, lab orders, prescriptions? Built by clinical-evals
{about["clinical_evals"]} ({settings}). `build.json` has every figure.

| config | codes | split | rows | patients |
|---|---|---|---|---|
{splits}

No patient is in both splits. `id-lists/` says which admissions these are, to those who have MIMIC themselves.

## What every step left

| task | step | admissions | decisions |
|---|---|---|---|
{funnel}

{rest or "Nothing was left out otherwise."}

## Releases

{releases}

## Columns

{schema_of("clibench", "diagnosis").table()}
"""
