"""A small code system of real ICD-10-CM titles, and the embedding model where it is installed."""

import importlib.util
from pathlib import Path

import pytest
from small_icd import SmallSystem

from clinical_evals.errors import ResourceMissingError
from clinical_evals.matching.encoder import Encoder, default_encoder
from clinical_evals.ontology import CodeSystem


@pytest.fixture(scope="session")
def small_system() -> CodeSystem:
    return SmallSystem()


@pytest.fixture(scope="session")
def minilm() -> Encoder:
    """all-MiniLM-L6-v2, loaded once for all tests."""
    if not importlib.util.find_spec("sentence_transformers"):
        pytest.skip("sentence-transformers is not installed (extra `eval`)")
    try:
        return default_encoder()
    except ResourceMissingError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def small_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the index of `small_system` by `minilm` is kept, so that it is built once for all tests."""
    return tmp_path_factory.mktemp("small_cache")
