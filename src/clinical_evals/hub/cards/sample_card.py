"""The cards of the embedded samples: `datasets/clibench/README.md` and `datasets/ior-bench/README.md`."""

import json
from pathlib import Path
from typing import Any

from clinical_evals.datasets_hub.source import is_synthetic
from clinical_evals.datasets_hub.split_files import source_of
from clinical_evals.errors import InputError
from clinical_evals.hub.cards.dataset_facts import facts_of
from clinical_evals.hub.cards.front_matter import (
    ConfigData,
    data_metadata,
    descriptive_metadata,
    put_together,
    read_configs,
)
from clinical_evals.hub.cards.prose import canary_of_sample, closing, fill, table

_AUTHORS_ROWS = {"static": 611, "dynamic_h1": 865, "dynamic_h2": 865}
"""Of the authors' release (arXiv 2503.08292)."""
_CASE = {
    "static": "a finished dialogue of a patient and an AI triage doctor",
    "dynamic_h1": "an anonymised medical record",
    "dynamic_h2": "the same",
}
_OFFERED = {
    "static": "the {} that occur",
    "dynamic_h1": "{}, of a tertiary hospital",
    "dynamic_h2": "{}, of a secondary hospital",
}


def sample_card(folder: Path) -> str:
    """The whole card of a sample, from the facts of its name and the data below the folder.

    Args:
        folder: named as the dataset; the files are in its data/.

    Raises:
        UnknownNameError: the folder's name is none of our datasets.
        InputError: the data cannot be used, or do not say that they are synthetic: such a card says so.
    """
    facts = facts_of(folder.name)
    configs = read_configs(folder / "data", facts.name)
    for path in (path for each in configs for path in each.files.values()):
        if not is_synthetic({source_of(path)}):
            raise InputError(
                f"{path} does not say that its rows are synthetic, and the card of a sample does. Real data get their "
                "card from clinical-evals build."
            )
    text = {"clibench": _clibench, "ior-bench": _ior_bench}[facts.name](configs)
    head = descriptive_metadata(facts, facts.sample, f"{facts.title}, synthetic sample", configs)
    return put_together(head | data_metadata(configs, folder), text)


def _clibench(configs: list[ConfigData]) -> str:
    facts = facts_of("clibench")
    rows = {(each.config, split): _rows(path) for each in configs for split, path in each.files.items()}
    sizes = [
        (f"`{config}`", f"`{split}`", len(of_split), _span([len(row["codes"]) for row in of_split]))
        for (config, split), of_split in rows.items()
    ]
    admissions = len({row["hadm_id"] for of_split in rows.values() for row in of_split})
    own = f"The benchmark is by {facts.paper.sentence}. This sample is not theirs."
    return fill(
        "clibench_sample",
        admissions=admissions,
        sizes=table(("config", "split", "admissions", "gold codes in each"), sizes),
        columns=configs[0].schema.table(),
        rest=closing(facts, facts.sample, canary_of_sample(), own, admissions=admissions),
    )


def _ior_bench(configs: list[ConfigData]) -> str:
    facts = facts_of("ior-bench")
    rows = {each.config: _rows(each.files["test"]) for each in configs}
    sizes = []
    for config, of_config in rows.items():
        same = ", the same records" if config == "dynamic_h2" else ""
        offered = _OFFERED[config].format(len(of_config[0]["candidates"]))
        sizes.append((f"`{config}`", f"{len(of_config)}{same}", _AUTHORS_ROWS[config], _CASE[config], offered))
    counts = {config: len(rows[config]) for config in ("static", "dynamic_h1")}
    own = f"The benchmark is by {facts.paper.sentence}. This sample is not theirs."
    columns = {f"columns_{each.config}": each.schema.table() for each in configs if each.config != "dynamic_h2"}
    return fill(
        "ior_bench_sample",
        **counts,
        **columns,
        sizes=table(("config", "rows here", "rows of the authors", "one row is", "departments to choose from"), sizes),
        rest=closing(facts, facts.sample, canary_of_sample(), own, **counts),
    )


def _rows(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["rows"]
    return rows


def _span(numbers: list[int]) -> str:
    return f"{min(numbers)}–{max(numbers)}"
