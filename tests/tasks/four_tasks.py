"""A CliBench of four tasks that the varied model can be right and wrong in, with nothing matched by similarity.

That model answers in words such as "N17, E25". Many of its 650 words are categories of ICD-10-CM. Here those in the 14
main groups of ATC are codes of it, too, and each is the title of a code of ICD-10-PCS and of a LOINC number.
"""

import random
from collections.abc import Iterator
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import atc_table
import loinc_release
import pytest
from written_releases import write_all

from clinical_evals.ontology import get_system

ROWS, FIRST = 9, 12
"""How many rows of the embedded sample, and the first of them: in all tasks some have longer answers than others."""
TASKS = ("diagnosis", "procedure", "lab_order", "prescription")
WORDS = [f"{letter}{low}{high}" for letter in ascii_uppercase for low in "01234" for high in "56789"]
GOLD, LETTERS = 12, "OPQSZ"
"""How many codes a row has as gold, and the letters of their words: those that the model uses most."""


def diagnoses() -> dict[str, str]:
    """By word itself, where ICD-10-CM has such a category."""
    system = get_system("icd10cm")
    return {word: word for word in WORDS if system.normalize(word) == word}


def procedures() -> dict[str, str]:
    """By word a code: its section is the first digit, its operation the second, its body system the letter."""
    characters = "0123456789ABCDEFGHJKLMNPQRSTUVWXYZ"
    return {word: f"{word[1]}{characters[ascii_uppercase.index(word[0])]}{word[2]}00ZZ" for word in WORDS}


def labs() -> dict[str, str]:
    """By word a number."""
    return {word: f"{1000 + place}-0" for place, word in enumerate(WORDS)}


def drugs() -> dict[str, str]:
    """By word itself, where it has a main group of ATC."""
    return {word: word for word in WORDS if word[0] in atc_table.MAIN_GROUPS}


def write_releases(folder: Path) -> None:
    """The small releases of `written_releases`, with the words added, or in the place of LOINC's tests."""
    write_all(folder)
    order = folder / "icd10pcs_order_2022.txt"
    lines = [line[6:] for line in order.read_text(encoding="ascii").splitlines()]
    lines += [f"{code} 1 {word:<60} {word}" for word, code in procedures().items()]
    order.write_text("".join(f"{number:05} {line}\n" for number, line in enumerate(lines, 1)), encoding="ascii")
    (folder / "Loinc.csv").unlink()
    loinc_release.write_hierarchy(folder, loinc_release.hierarchy_text(nodes=_lab_nodes(), outside=False))
    named = [(code, word, "NA", "NA", "NA", "NA") for word, code in drugs().items()]
    kept = [line for line in atc_table.rows() if line[0] not in drugs()]
    atc_table.write(folder, atc_table.table(sorted([*kept, *named])))


def _lab_nodes() -> list[tuple[tuple[str, ...], str, str]]:
    """Classes by the first digit, groups by the second below them, subgroups by the first half of the alphabet."""
    nodes: dict[tuple[tuple[str, ...], str], str] = {}
    for word, number in labs().items():
        path: tuple[str, ...] = ()
        for part in (f"LP5{word[1]}-1", f"LP6{word[1:]}-1", f"LP7{word[1:]}{int(word[0] < 'N')}-1"):
            nodes.setdefault((path, part), "")
            path = (*path, part)
        nodes[path, number] = word
    return [(path, code, text) for (path, code), text in nodes.items()]


def write_rows(folder: Path, seed: int | None = None) -> Path:
    """The data set: rows of the embedded sample, of every patient two, with gold that the releases have.

    Args:
        folder: where; made.
        seed: shuffles the rows of each test split; None leaves them in their order.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq
    from datasets import load_dataset

    from clinical_evals.assets import dataset_folder
    from clinical_evals.datasets_hub.source import SOURCE_KEY
    from clinical_evals.markers import SYNTHETIC_MARKER

    sample = str(dataset_folder("clibench") / "data")
    codes = {"diagnosis": diagnoses(), "procedure": procedures(), "lab_order": labs(), "prescription": drugs()}
    for task in TASKS:
        table = load_dataset("clibench", task, split="test", data_dir=sample).data.table.slice(FIRST, ROWS)
        rows = [_with_gold(row, place, codes[task]) for place, row in enumerate(table.to_pylist())]
        if seed is not None:
            random.Random(seed).shuffle(rows)
        schema = table.schema.with_metadata({SOURCE_KEY: SYNTHETIC_MARKER.encode()})
        (folder / task).mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), folder / task / "test.parquet")
    return folder


def _with_gold(row: dict[str, Any], place: int, codes: dict[str, str]) -> dict[str, Any]:
    named = [word for word in codes if word[0] in LETTERS]
    words = sorted(random.Random(place).sample(named, GOLD), key=codes.__getitem__)
    patient = 50_000_000 - place // 2  # the first rows are not those of the first patients
    return row | {"subject_id": patient, "codes": [codes[word] for word in words], "titles": words}


def hadm_ids(folder: Path, task: str) -> list[int]:
    """The admissions of a test split, in its order."""
    import pyarrow.parquet as pq

    found: list[int] = pq.read_table(folder / task / "test.parquet", columns=["hadm_id"])["hadm_id"].to_pylist()
    return found


def forget() -> None:
    """No release, scorer or score of before is used again."""
    from clinical_evals.ontology import atc, drugs, icd10pcs, lab_items, loinc, loinc_official
    from clinical_evals.tasks.scored import answered_rows

    for accessor in (
        atc.atc, drugs.drug_map, icd10pcs.icd10pcs, lab_items.lab_items, loinc.loinc, loinc_official.official_loinc,
        answered_rows._scorer, answered_rows.score_rows,
    ):  # fmt: skip
        accessor.cache_clear()


def in_place(folder: Path) -> Iterator[Path]:
    """A fixture's body: the releases and the data set in a folder, and the environment that names them."""
    releases = folder / "releases"
    releases.mkdir()
    write_releases(releases)
    data = write_rows(folder / "data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(folder / "kept"))
        patch.setenv("CLINICAL_EVALS_RESOURCES", str(releases))
        patch.setenv("CLINICAL_EVALS_CACHE", str(folder / "cache"))
        patch.setenv("CLIBENCH_DIR", str(data))
        forget()
        yield data
    forget()
