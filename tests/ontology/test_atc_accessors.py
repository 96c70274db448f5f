"""The one ATC and the one map of drugs of a process: found by their resource, or missed with the command."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from atc_table import write as write_atc
from drug_table import write as write_drugs

from clinical_evals.errors import ResourceMissingError
from clinical_evals.ontology.atc import atc
from clinical_evals.ontology.drugs import drug_map


@pytest.fixture(autouse=True)
def own_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder of the user's files, no kept files, and no system of another test."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "kept"))
    folder = tmp_path / "files"
    folder.mkdir()
    monkeypatch.setenv("CLINICAL_EVALS_RESOURCES", str(folder))
    for accessor in (atc, drug_map):
        accessor.cache_clear()
    yield folder
    for accessor in (atc, drug_map):
        accessor.cache_clear()


def test_both_are_read_once_from_the_folder_of_the_user(own_files: Path) -> None:
    write_atc(own_files)
    write_drugs(own_files)
    assert atc().title("A10BA02") == "metformin"
    assert drug_map().classes("004763", "").codes == ("A10BA02",)
    assert atc() is atc()
    assert drug_map() is drug_map()


def test_what_is_missing_is_named_with_its_command() -> None:
    with pytest.raises(ResourceMissingError, match="clinical-evals resources add atc FILE"):
        atc()
    with pytest.raises(ResourceMissingError, match="clinical-evals resources add drug-atc FILE"):
        drug_map()
