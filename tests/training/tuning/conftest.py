"""A tiny model and rows for it, made once a test process."""

from pathlib import Path

import pytest
from tiny_llama import write_tiny


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base model."""
    return write_tiny(tmp_path_factory.mktemp("tiny") / "base")


@pytest.fixture(scope="session")
def rows(tmp_path_factory: pytest.TempPathFactory, tiny: Path) -> Path:
    """Four rows of the embedded sample, of at most 1,024 tokens."""
    from clinical_evals.training.tuning.build_sft import Request, build_sft

    folder = tmp_path_factory.mktemp("rows") / "diagnosis"
    build_sft(Request("diagnosis", str(tiny), folder, target="codes", max_length=1024, limit=4))
    return folder


@pytest.fixture
def mimic_rows(rows: Path, tmp_path: Path) -> Path:
    """The same rows as built from MIMIC: they carry its mark."""
    from datasets import load_dataset

    from clinical_evals.markers import MIMIC_MARKER
    from clinical_evals.training.tuning.row_files import write_rows
    from clinical_evals.training.tuning.sft_row import COLUMNS

    folder = tmp_path / "mimic-rows"
    write_rows(folder, load_dataset(str(rows), split="train"), COLUMNS, "Rows", MIMIC_MARKER, dict)
    return folder
