"""Folders as `clinical-evals build` leaves them, small: rows of the samples, marked as the real ones are."""

import json
from pathlib import Path
from typing import Any

from clinical_evals.assets import dataset_folder
from clinical_evals.datasets_hub.features import SCHEMAS
from clinical_evals.datasets_hub.write import write_parquet
from clinical_evals.hub.cards.built_card import write_clibench_card, write_ior_bench_card
from clinical_evals.markers import MIMIC_MARKER, PATIENT_MARKER

ABOUT: dict[str, Any] = {
    "clinical_evals": "0.1.0",
    "mimic_version": "3.1",
    "settings": {"first_batch": "released", "seed": 0},
    "releases": {"icd10cm": "April 2026"},
    "system_notes": {},
    "losses": [],
    "notes": [],
    "funnel": [{"task": "all", "step": "admissions", "admissions": 4_321, "decisions": None}],
    "tasks": {"diagnosis": {"splits": {"test": {"rows": 3, "statistics": {"patients": 3}}}}},
}


def sample_rows(dataset: str, config: str, split: str = "test") -> list[dict[str, Any]]:
    path = dataset_folder(dataset) / "data" / config / f"{split}.json"
    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["rows"]
    return rows


def write_split(folder: Path, dataset: str, config: str, split: str, mark: str, rows: int = 3) -> None:
    written = sample_rows(dataset, config)[:rows]
    write_parquet(written, SCHEMAS[dataset][config], folder / config / f"{split}.parquet", mark)


def built_clibench(folder: Path) -> Path:
    for config, split in (("diagnosis", "test"), ("diagnosis", "train"), ("lab_order", "test")):
        write_split(folder, "clibench", config, split, MIMIC_MARKER)
    write_clibench_card(folder, ABOUT)
    return folder


def built_ior_bench(folder: Path) -> Path:
    for config in ("static", "dynamic_h1"):
        write_split(folder, "ior-bench", config, "test", PATIENT_MARKER)
    write_ior_bench_card(folder)
    return folder


BUILT = {"clibench": built_clibench, "ior-bench": built_ior_bench}
MARKS = {"clibench": MIMIC_MARKER, "ior-bench": PATIENT_MARKER}
