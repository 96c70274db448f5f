"""Where tests find real data: environment variables that .ci/run sets; without them those tests are skipped."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_EVALUATE_OFFLINE", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
if "PYTEST_XDIST_WORKER" in os.environ:
    # Workers share the cores: where each computes on all of them, every small step waits for its turn on each.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
# What is imported and collected stays to the end: looking through it again and again was a tenth of the suite's time.
gc.set_threshold(50_000, 20, 20)

REPOSITORY = Path(__file__).parents[1]


def pytest_collection_finish() -> None:
    """From here on the garbage collector looks at new objects only."""
    gc.collect()
    gc.freeze()


def _folder(variable: str, what: str) -> Path:
    value = os.environ.get(variable)
    if not value:
        pytest.skip(f"{variable} is not set: it names the folder with {what}")
    return Path(value)


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the checkout."""
    return REPOSITORY


@pytest.fixture(scope="session")
def published() -> Path:
    """The papers' tables as CSV files."""
    return _folder("CLINICAL_EVALS_PUBLISHED", "the papers' tables as CSV files")


@pytest.fixture(scope="session")
def mimic_demo() -> Path:
    """The open MIMIC-IV demo."""
    return _folder("CLINICAL_EVALS_MIMIC_DEMO", "the MIMIC-IV Clinical Database Demo 2.2 (it holds hosp/)")


@pytest.fixture(scope="session")
def questions() -> Path:
    """7,644 real questions of patients in Chinese with their departments, as CSV in GB18030."""
    name = "triage_questions_gb18030.csv"
    return _folder("CLINICAL_EVALS_CHINESE", f"{name}, real questions of patients") / name


@pytest.fixture(scope="session")
def release_files() -> Path:
    """The folder with the official files: the CMS order file and tables, LOINC, ATC and the maps of MIMIC."""
    return _folder("CLINICAL_EVALS_RESOURCE_FILES", "the official files of ICD-10-PCS, LOINC and ATC")


@pytest.fixture
def written_releases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with small release files of ICD-10-PCS, LOINC and ATC, which all systems of the test are read from."""
    from written_releases import write_all

    from clinical_evals.ontology import atc, drugs, icd10pcs, lab_items, loinc, loinc_official

    accessors: tuple[Any, ...] = (
        atc.atc,
        drugs.drug_map,
        icd10pcs.icd10pcs,
        lab_items.lab_items,
        loinc.loinc,
        loinc_official.official_loinc,
    )
    folder = tmp_path / "releases"
    folder.mkdir()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "kept"))
    monkeypatch.setenv("CLINICAL_EVALS_RESOURCES", str(folder))
    monkeypatch.setenv("CLINICAL_EVALS_CACHE", str(tmp_path / "cache"))  # their small indexes are of no use to anyone
    for accessor in accessors:
        accessor.cache_clear()
    yield write_all(folder)
    for accessor in accessors:
        accessor.cache_clear()


@pytest.fixture
def fresh_scorers() -> Iterator[None]:
    """Scorers are kept in a process: those of other releases are forgotten before the test, and its own after it."""
    from clinical_evals.tasks.scored import answered_rows

    for cached in (answered_rows._scorer, answered_rows.score_rows):
        cached.cache_clear()
    yield
    for cached in (answered_rows._scorer, answered_rows.score_rows):
        cached.cache_clear()
