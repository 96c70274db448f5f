"""What holds of any gold and any prediction, in all four code systems; equality with hiclass where it is defined.

`test_hierarchy` has the brute force of the counts; `test_intervals`, `test_paired` and `test_sign_flip` have
that of what is computed from them.
"""

import os
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path

import atc_table
import loinc_release
import numpy as np
import pytest
from hiclass import metrics as hiclass
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from clinical_evals.ontology import CodeSystem, get_system
from clinical_evals.ontology.atc import ATC
from clinical_evals.ontology.loinc import LOINC
from clinical_evals.scoring.hierarchy import BOTH, GOLD, MEASURES, PREDICTED, Counts, count, scores

Rows = list[list[str]]
INVALID = ("X99.99", "9", "FOO", "E11.99", "0ZZ", "?", "2345-6", "LP100-1", "A10BA99", "A1")
"""Codes of no system; "9" is how a chapter is named inside, "0ZZ" looks like the start of a procedure, "A1" like that
of a drug; "2345-6" is a LOINC number with a wrong check digit, "LP100-1" one of the parts above them."""


def rows_of(system: CodeSystem, most: int = 6) -> st.SearchStrategy[tuple[Rows, Rows]]:
    """Gold and predictions: neighbouring codes, so that ancestors are often shared, and often the same codes."""
    codes = system.codes()
    near = min(31, len(codes))
    few = st.lists(st.integers(0, near - 1), max_size=8)
    row = st.tuples(st.integers(0, len(codes) - near), few, few).map(
        lambda drawn: tuple([codes[drawn[0] + place] for place in side] for side in drawn[1:])
    )
    return st.lists(row, min_size=1, max_size=most).map(lambda rows: ([g for g, _ in rows], [p for _, p in rows]))


@cache
def system_of(name: str) -> CodeSystem:
    """ICD-10-CM; ICD-10-PCS (HCUP's package stands in where there is no release file); of LOINC and ATC small written
    releases: six numbers, four of them with fewer than three groups above, and 75 drugs and classes of them.
    """
    if name in ("icd10cm", "icd10pcs"):
        return get_system(name)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        if name == "loinc":
            return LOINC(loinc_release.write_hierarchy(folder), loinc_release.write_names(folder))
        return ATC(atc_table.write(folder))


@cache
def official(name: str) -> CodeSystem:
    """The real release of LOINC or ATC, where it is on this machine."""
    files = os.environ.get("CLINICAL_EVALS_RESOURCE_FILES")
    if not files:
        pytest.skip("CLINICAL_EVALS_RESOURCE_FILES is not set: it names the folder with the official files")
    folder = Path(files)
    if name == "loinc":
        return LOINC(folder / "ComponentHierarchyBySystem.csv", folder / "Loinc.csv")
    return ATC(max(folder.glob("who_atc_ddd_*.csv")))


def of_all_systems(check: Callable[..., None]) -> Callable[..., None]:
    """Many rows of each system."""
    drawn = settings(max_examples=60, deadline=None)(given(data=st.data())(check))
    names = ["icd10cm", "icd10pcs", "loinc", "atc", "official loinc", "official atc"]
    return pytest.mark.parametrize("name", names)(drawn)


def draw(data: st.DataObject, name: str) -> tuple[CodeSystem, Rows, Rows]:
    """A system, gold and predictions."""
    system = official(name.removeprefix("official ")) if name.startswith("official ") else system_of(name)
    return system, *data.draw(rows_of(system))


@of_all_systems
def test_perfect_predictions_give_one(data: st.DataObject, name: str) -> None:
    """Perfect predictions give 1, whatever the gold; rows without any gold code have no macro F1."""
    system, gold, _ = draw(data, name)
    gold = [codes for codes in gold if codes]
    assume(gold)
    assert set(scores(count(gold, gold, system)).values()) == {1.0}


@of_all_systems
def test_swapped_roles_swap_precision_and_recall(data: st.DataObject, name: str) -> None:
    """Swapped roles swap precision and recall, at every level and on average, and leave both F1s."""
    system, gold, predicted = draw(data, name)
    one, other = scores(count(gold, predicted, system)), scores(count(predicted, gold, system))
    for level in (*system.levels, "average"):
        assert one[f"precision_{level}"] == other[f"recall_{level}"]
        assert one[f"recall_{level}"] == other[f"precision_{level}"]
        assert one[f"f1_{level}"] == other[f"f1_{level}"]
        assert one[f"macro_f1_{level}"] == pytest.approx(other[f"macro_f1_{level}"])


@of_all_systems
def test_order_and_duplicates_change_nothing(data: st.DataObject, name: str) -> None:
    """The order of rows and of codes, and codes that are there twice, change nothing."""
    system, gold, predicted = draw(data, name)
    order = data.draw(st.permutations(range(len(gold))))
    moved_gold = [[*reversed(gold[row]), *gold[row]] for row in order]
    moved = [data.draw(st.permutations([*predicted[row], *predicted[row][:2]])) for row in order]
    assert scores(count(moved_gold, moved, system)) == pytest.approx(scores(count(gold, predicted, system)))
    assert (count(moved_gold, moved, system).values == count(gold, predicted, system).take(order).values).all()


@of_all_systems
def test_an_invalid_code_lowers_precision_and_touches_nothing_else(data: st.DataObject, name: str) -> None:
    """An invalid code more lowers precision at every level, if there was any, and touches nothing but what is
    predicted: recall stays, and so do all other rows.
    """
    system, gold, predicted = draw(data, name)
    row = data.draw(st.integers(0, len(gold) - 1))
    code = data.draw(st.sampled_from(INVALID))
    assert system.normalize(code) is None
    more = [[*codes, code] if place == row else codes for place, codes in enumerate(predicted)]
    before, after = count(gold, predicted, system), count(gold, more, system)
    change = after.values - before.values
    assert (change[row, :, PREDICTED] == 1).all()
    change[row, :, PREDICTED] = 0
    assert not change.any()
    old, new = scores(before), scores(after)
    for level in (*system.levels, "average"):
        assert new[f"recall_{level}"] == old[f"recall_{level}"]
        if old[f"precision_{level}"]:
            assert new[f"precision_{level}"] < old[f"precision_{level}"]
            assert new[f"f1_{level}"] < old[f"f1_{level}"]
        else:
            assert new[f"precision_{level}"] == 0


@of_all_systems
def test_it_is_hiclass_where_that_is_defined(data: st.DataObject, name: str) -> None:
    """hiclass counts the ancestors of all levels together, of all codes of a row (its micro average over paths of
    several labels): that is both / predicted and both / gold, each summed over rows and levels. It is undefined where
    nothing is predicted, or nothing is gold.
    """
    system, gold, predicted = draw(data, name)
    assume(any(gold) and any(predicted))
    both, of_gold, of_predicted = count(gold, predicted, system).values.sum(axis=(0, 1))[[BOTH, GOLD, PREDICTED]]
    paths = [as_paths(side, system, max(map(len, [*gold, *predicted]))) for side in (gold, predicted)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert hiclass.precision(*paths) == pytest.approx(both / of_predicted)
        assert hiclass.recall(*paths) == pytest.approx(both / of_gold)
        assert hiclass.f1(*paths) == pytest.approx(2 * both / (of_gold + of_predicted))


def as_paths(rows: Rows, system: CodeSystem, most: int) -> np.ndarray:
    """(rows, labels, levels) of names; hiclass tells levels apart by name only, and leaves out empty ones."""
    paths = np.full((len(rows), most, len(system.levels)), "", dtype=object)
    for row, codes in enumerate(rows):
        for place, code in enumerate(codes):
            paths[row, place] = [f"{level}:{name}" for level, name in enumerate(system.path(code))]
    return paths


@of_all_systems
def test_every_score_is_that_of_plain_sets(data: st.DataObject, name: str) -> None:
    """Every score is that of plain sets and plain sums, level by level."""
    system, gold, predicted = draw(data, name)
    found = scores(count(gold, predicted, system))
    expected: dict[str, list[float]] = {name: [] for name in MEASURES}
    for level in range(len(system.levels)):
        sets = [
            ({system.path(code)[level] for code in g}, {system.path(code)[level] for code in p})
            for g, p in zip(gold, predicted, strict=True)
        ]
        both, of_gold, of_predicted = (
            sum(len(g & p) for g, p in sets),
            sum(len(g) for g, _ in sets),
            sum(len(p) for _, p in sets),
        )
        expected["precision"].append(both / of_predicted if of_predicted else 0)
        expected["recall"].append(both / of_gold if of_gold else 0)
        expected["f1"].append(2 * both / (of_gold + of_predicted) if of_gold + of_predicted else 0)
        of_rows = [2 * len(g & p) / (len(g) + len(p)) if g or p else 0 for g, p in sets]
        expected["macro_f1"].append(sum(of_rows) / len(of_rows))
    for name, values in expected.items():
        for level_name, value in zip(system.levels, values, strict=True):
            assert found[f"{name}_{level_name}"] == pytest.approx(value)
        # Of ATC the average is that of the levels 1 to 4: the full code is outside (protocol.md 2.1).
        averaged = values[:-1] if system.name == "atc" else values
        assert found[f"{name}_average"] == pytest.approx(sum(averaged) / len(averaged))


def test_hiclass_by_hand() -> None:
    """I10 predicted for I10 and E11.9: both are 5 of 5 predicted and of 10 gold names, at five levels."""
    system = get_system("icd10cm")
    values = count([["I10", "E11.9"]], [["I10"]], system).values
    assert values.sum(axis=(0, 1)).tolist() == [5, 10, 5]
    gold, predicted = as_paths([["I10", "E11.9"]], system, 2), as_paths([["I10"]], system, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert (hiclass.precision(gold, predicted), hiclass.recall(gold, predicted)) == (1.0, 0.5)


def test_atc_by_hand() -> None:
    """Buformin (A10BA03) for metformin (A10BA02): right at the levels 1 to 4, A, A10, A10B and A10BA, which are all of
    the average. Its group A10B for metformin: right at 1 to 3, where A10B is no A10BA. hiclass counts all five."""
    system = system_of("atc")
    near, far = scores(count([["A10BA02"]], [["A10BA03"]], system)), scores(count([["A10BA02"]], [["A10B"]], system))
    assert (near["f1_average"], near["f1_level4"], near["f1_full"]) == (1, 1, 0)
    assert (far["f1_average"], far["f1_level3"], far["f1_level4"], far["f1_full"]) == (3 / 4, 1, 0, 0)
    gold, predicted = as_paths([["A10BA02"]], system, 1), as_paths([["A10BA03"]], system, 1)
    assert hiclass.f1(gold, predicted) == pytest.approx(4 / 5)


def test_loinc_by_hand() -> None:
    """Both numbers are of Chemistry - Sugars - Glucose, 2345-7 in serum: alike at all levels but the last. 4548-4 has
    one group above it, and stands for itself at the levels between; 1-8 has none."""
    system = system_of("loinc")
    near = scores(count([["2345-7"]], [["2339-0"]], system))
    assert (near["f1_class"], near["f1_group"], near["f1_subgroup"], near["f1_full"]) == (1, 1, 1, 0)
    assert near["f1_average"] == 3 / 4
    of_class = count([["718-7", "1-8"]], [["4548-4"]], system).values[0, :, BOTH].tolist()
    assert of_class == [1, 0, 0, 0]


def test_what_is_outside_the_average_changes_no_average() -> None:
    values = np.array([[[1, 2, 2], [0, 2, 2]]])
    inside, outside = Counts(values, ("level1", "full")), Counts(values, ("level1", "full"), ("full",))
    assert scores(inside)["f1_average"] == (0.5 + 0) / 2
    assert scores(outside)["f1_average"] == 0.5
    assert scores(outside)["f1_full"] == 0
