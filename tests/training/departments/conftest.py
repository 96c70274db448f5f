"""A tiny encoder and a small hospital's questions, both made here."""

from pathlib import Path
from typing import Any

import pytest
from training_questions import write_encoder, write_questions


@pytest.fixture(autouse=True)
def own_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the machine's own data."""
    monkeypatch.delenv("IOR_BENCH_DIR", raising=False)


@pytest.fixture(scope="session")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny encoder."""
    return write_encoder(tmp_path_factory.mktemp("models") / "tiny-bert")


@pytest.fixture(scope="session")
def tokenizer(encoder: Path) -> Any:
    """Its tokenizer: a character is a token."""
    from clinical_evals.training.departments.encoder import load_tokenizer

    return load_tokenizer(encoder)


@pytest.fixture(scope="session")
def small_questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """60 questions of three departments, as built data."""
    return write_questions(tmp_path_factory.mktemp("hospital"))
