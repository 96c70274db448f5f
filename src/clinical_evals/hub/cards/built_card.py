"""The card and croissant.json beside what `clinical-evals build` writes: they say how it was made and what it is.

Such data are of real patients: the mark of their source stands in the tags, and the card asks for gated access.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

from clinical_evals.clibench.gold import SYSTEM_OF
from clinical_evals.datasets_hub.build_files import CROISSANT
from clinical_evals.datasets_hub.features import schema_of
from clinical_evals.datasets_hub.source import describe
from clinical_evals.errors import InputError
from clinical_evals.hub.cards.croissant import croissant_json
from clinical_evals.hub.cards.dataset_facts import CLIBENCH, IOR_BENCH
from clinical_evals.hub.cards.front_matter import (
    ConfigData,
    data_metadata,
    descriptive_metadata,
    put_together,
    read_configs,
)
from clinical_evals.hub.cards.prose import canary_of_built, closing, fill, table, write_text
from clinical_evals.markers import MIMIC_MARKER, PATIENT_MARKER
from clinical_evals.version import __version__

CARD = "README.md"
_GATES: dict[str, dict[str, Any]] = {
    "clibench": {
        "extra_gated_heading": "Credentialed access only",
        "extra_gated_prompt": (
            "This dataset is derived from MIMIC-IV. Access is for people who are credentialed on PhysioNet and have "
            "signed the data use agreement of MIMIC-IV and MIMIC-IV-Note. You may not share it with anyone else."
        ),
        "extra_gated_fields": {
            "PhysioNet user name": "text",
            "I am credentialed and have signed the data use agreement": "checkbox",
        },
    },
    "ior-bench": {
        "extra_gated_heading": "Patient data",
        "extra_gated_prompt": (
            "This dataset was read from a hospital's own files. Access is for people whom whoever answers for the "
            "files has allowed it. You may not share it with anyone else."
        ),
        "extra_gated_fields": {
            "Name and institution": "text",
            "Whoever answers for the files has allowed me to use them": "checkbox",
        },
    },
}


def write_clibench_card(folder: Path, about: Mapping[str, Any]) -> None:
    """Write the two files into the folder of a build from MIMIC-IV.

    Args:
        folder: holds TASK/SPLIT.parquet.
        about: what stands in build.json.

    Raises:
        InputError: the data cannot be used.
        OSError: the folder cannot be written to.
    """
    configs = read_configs(folder, "clibench")
    head = descriptive_metadata(CLIBENCH, CLIBENCH.built, f"CliBench, from MIMIC-IV {about['mimic_version']}", configs)
    text = put_together(head | _GATES["clibench"] | data_metadata(configs, folder), _clibench(about))
    write_text(folder / CARD, text)
    write_text(folder / CROISSANT, croissant_json(CLIBENCH, configs, folder, MIMIC_MARKER))


def check_card_place(folder: Path) -> None:
    """Refuse a folder whose README.md is somebody else's, before anything is written.

    Raises:
        InputError: it is there and does not carry the mark that ours has.
    """
    card = folder / CARD
    if card.exists() and PATIENT_MARKER not in card.read_text(encoding="utf-8", errors="replace"):
        raise InputError(f"{card} is there already, and a card is written in its place. Give another --out FOLDER.")


def write_ior_bench_card(folder: Path) -> None:
    """Write the two files into a folder of built IOR-Bench data, for all configs that are there by now.

    Args:
        folder: holds CONFIG/test.parquet.

    Raises:
        InputError: the data cannot be used, or the folder cannot be written to.
    """
    configs = read_configs(folder, "ior-bench")
    head = descriptive_metadata(IOR_BENCH, IOR_BENCH.built, "IOR-Bench, from a hospital's files", configs)
    text = put_together(head | _GATES["ior-bench"] | data_metadata(configs, folder), _ior_bench(configs))
    try:
        write_text(folder / CARD, text)
        write_text(folder / CROISSANT, croissant_json(IOR_BENCH, configs, folder, PATIENT_MARKER))
    except OSError as error:
        raise InputError(
            f"{folder / CARD} cannot be written ({error.strerror}). Give another --out FOLDER."
        ) from error


def _clibench(about: Mapping[str, Any]) -> str:
    splits = [
        (f"`{task}`", SYSTEM_OF[task], split, f"{entry['rows']:,}", f"{entry['statistics']['patients']:,}")
        for task, of_task in about["tasks"].items()
        for split, entry in of_task["splits"].items()
    ]
    funnel = [
        (step["task"], step["step"], f"{step['admissions']:,}", _number(step["decisions"])) for step in about["funnel"]
    ]
    rest = "\n".join(f"- {text}" for text in [*about["losses"], *about["notes"], *about["system_notes"].values()])
    return fill(
        "clibench_built",
        mimic_version=about["mimic_version"],
        about=describe("clibench", {MIMIC_MARKER}),
        paper=CLIBENCH.paper.url,
        question=CLIBENCH.about,
        version=about["clinical_evals"],
        settings=", ".join(f"{name} {value}" for name, value in about["settings"].items()),
        splits=table(("config", "codes", "split", "rows", "patients"), splits),
        funnel=table(("task", "step", "admissions", "decisions"), funnel),
        rest=rest or "Nothing was left out otherwise.",
        releases="\n".join(f"- {name}: {release}" for name, release in about["releases"].items()),
        columns=schema_of("clibench", "diagnosis").table(),
        closing=closing(
            CLIBENCH, CLIBENCH.built, canary_of_built(), f"The benchmark is by {CLIBENCH.paper.sentence}."
        ).rstrip(),
    )


def _ior_bench(configs: list[ConfigData]) -> str:
    sizes = [
        (f"`{each.config}`", split, f"{rows:,}", _departments(each.files[split]))
        for each in configs
        for split, rows in each.rows.items()
    ]
    columns = "\n\n".join(f"## Columns of `{each.config}`\n\n{each.schema.table()}" for each in configs)
    return fill(
        "ior_bench_built",
        about=describe("ior-bench", {PATIENT_MARKER}),
        paper=IOR_BENCH.paper.url,
        question=IOR_BENCH.about,
        version=__version__,
        sizes=table(("config", "split", "rows", "departments that occur"), sizes),
        first=configs[0].config,
        columns=columns,
        closing=closing(
            IOR_BENCH, IOR_BENCH.built, canary_of_built(), f"The benchmark is by {IOR_BENCH.paper.sentence}."
        ).rstrip(),
    )


def _departments(path: Path) -> int:
    return len(pc.unique(pq.read_table(path, columns=["department"])["department"]))


def _number(count: int | None) -> str:
    return "" if count is None else f"{count:,}"
