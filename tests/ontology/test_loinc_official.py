"""LOINC at the official protocol's levels: worked out by hand from protocol.md 2.1 and 3."""

from pathlib import Path

import pytest
from loinc_release import (
    ABOVE,
    BLOOD,
    CELLS,
    CHEMISTRY,
    FASTING,
    GLUCOSE,
    IN_SERUM,
    LABORATORY,
    NODES,
    SUGARS,
    hierarchy_text,
    write_hierarchy,
)

from clinical_evals.ontology.loinc_official import NO_PATH, OFFICIAL_LEVELS, OfficialLOINC, official_levels


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> OfficialLOINC:
    return OfficialLOINC(write_hierarchy(tmp_path_factory.mktemp("loinc")))


@pytest.mark.parametrize(
    ("ancestors", "levels"),
    [
        # Released: path from the immediate parent up to the root; level 1 its last element, level 2 the one before,
        # level 3 the one before that, the leaf the immediate parent.
        (("R", "A", "B", "C", "D"), ("R", "A", "B", "D")),
        (("R", "A", "B"), ("R", "A", "B", "B")),  # level 3 is then the immediate parent
        (("R", "A"), ("R", "A", None, "A")),  # too short for level 3
        (("R",), ("R", None, None, "R")),
        ((), (None, None, None, None)),
    ],
)
def test_levels_count_from_the_root(ancestors: tuple[str, ...], levels: tuple[str | None, ...]) -> None:
    assert official_levels(ancestors) == levels


def test_an_item_is_looked_up_as_a_number_without_check_digit(official: OfficialLOINC) -> None:
    # An itemid 718 finds LOINC 718-7, whatever the item is: Laboratory / (nameless class) / Cells.
    assert official.levels_of("718") == (LABORATORY, BLOOD, CELLS, CELLS)
    assert official.levels_of("718-7") == official.levels_of("718")
    assert official.levels_of("50912") == NO_PATH  # no such LOINC number here
    assert official.levels_of("LP100") == NO_PATH  # parts are no numbers


def test_the_last_path_of_the_file_wins(official: OfficialLOINC, tmp_path: Path) -> None:
    # 2345-7 hangs below Sugars (earlier in the file) and below Fasting (later).
    assert official.levels_of("2345") == (LABORATORY, CHEMISTRY, FASTING, IN_SERUM)
    turned = OfficialLOINC(write_hierarchy(tmp_path, hierarchy_text(nodes=NODES[::-1])))
    assert turned.levels_of("2345") == (LABORATORY, CHEMISTRY, SUGARS, IN_SERUM)
    assert turned.levels_of("2339") == (LABORATORY, CHEMISTRY, SUGARS, GLUCOSE)


def test_the_editions_root_counts_as_a_level(tmp_path: Path) -> None:
    newer = OfficialLOINC(write_hierarchy(tmp_path, hierarchy_text(above=True)))
    # LP432695-7 / Laboratory / Chemistry / …: one level more above, so the third is the class.
    assert newer.levels_of("2345") == (ABOVE, LABORATORY, CHEMISTRY, IN_SERUM)
    assert newer.levels_of("8310") == (ABOVE, "LP900-1", None, "LP900-1")  # other branches are there, too


def test_an_item_without_part_is_itself_and_never_matches(official: OfficialLOINC) -> None:
    # 4548-4 hangs directly below its class: Laboratory / class. Level 3 is missing, so there it is the item itself;
    # gold ids are numbers and predicted ones text, so these two are not equal.
    gold, predicted = official.path("4548", "gold"), official.path("4548", "predicted")
    assert gold == (LABORATORY, BLOOD, "gold item 4548", BLOOD)
    assert predicted == (LABORATORY, BLOOD, "predicted item 4548", BLOOD)
    # An item that is no LOINC number at all matches nowhere, not even with itself.
    assert not set(official.path("50912", "gold")) & set(official.path("50912", "predicted"))


def test_sets_of_a_row_at_each_level(official: OfficialLOINC) -> None:
    # gold: items 2345 (Chemistry/Fasting), 718 (blood/Cells), 50912 (none); predicted: 2339 (Chemistry/Fasting), 50912
    gold = official.at_levels(["2345", "718", "50912"], "gold")
    predicted = official.at_levels(["2339", "50912"], "predicted")
    assert gold == (
        {LABORATORY, "gold item 50912"},
        {CHEMISTRY, BLOOD, "gold item 50912"},
        {FASTING, CELLS, "gold item 50912"},
        {IN_SERUM, CELLS, "gold item 50912"},
    )
    # In both: Laboratory; Chemistry; Fasting; nothing (in serum is not Glucose): so (both, gold, predicted) is
    counts = [(len(g & p), len(g), len(p)) for g, p in zip(gold, predicted, strict=True)]
    assert counts == [(1, 2, 2), (1, 3, 2), (1, 3, 2), (0, 3, 2)]
    assert len(counts) == len(OFFICIAL_LEVELS)


def test_the_real_file_gives_items_the_paths_of_other_tests(release_files: Path) -> None:
    official = OfficialLOINC(release_files / "ComponentHierarchyBySystem.csv")
    # MIMIC's 50912 is creatinine in blood. The file has LOINC 50912-5 below LP29693-6.LP343631-0.LP7786-9.LP19403-2.
    # LP15099-2.LP386641-7, and 50801-0 below LP29693-6.LP7790-1.LP31434-1.LP16800-2.LP388125-9.
    assert official.levels_of("50912") == ("LP29693-6", "LP343631-0", "LP7786-9", "LP386641-7")
    assert official.levels_of("50801") == ("LP29693-6", "LP7790-1", "LP31434-1", "LP388125-9")
