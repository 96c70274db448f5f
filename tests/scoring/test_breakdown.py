"""Groups of rows and their scores: by hand, against rows filtered one by one, and what is no group."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinical_evals.scoring.breakdown import FEWEST, score_group, score_groups
from clinical_evals.scoring.hierarchy import Counts, scores
from clinical_evals.scoring.intervals import bootstrap
from clinical_evals.scoring.paired import Run
from clinical_evals.scoring.row_groups import BINS, MOST_VALUES, group_numbers, group_texts, race_group

NAN = float("nan")


# Groups


def test_texts_by_hand() -> None:
    # The largest group first, equal ones by name; rows without a value last, however many.
    assert dict(group_texts(["b", None, "a", "b", None, None])) == {"b": [0, 3], "a": [2], None: [1, 4, 5]}
    assert list(group_texts(["b", None, "a", "b", None])) == ["b", "a", None]
    assert list(group_texts(["b", "c", "a", "b"], first=("c", "x"))) == ["c", "b", "a"]
    assert dict(group_texts([])) == {}


def test_a_row_is_in_each_group_of_its_list() -> None:
    found = group_texts([["MED"], ["MED", "SURG", "MED"], [], None, [" "]])
    assert dict(found) == {"MED": [0, 1], "SURG": [1], None: [2, 3, 4]}


def test_whole_numbers_are_groups_where_they_are_few() -> None:
    found = group_numbers([3, None, 1, 2, NAN, 2.0])
    assert dict(found) == {"1": [2], "2": [3, 5], "3": [0], None: [1, 4]}
    assert list(found) == ["1", "2", "3", None]
    assert list(group_numbers(range(MOST_VALUES))) == [str(number) for number in range(MOST_VALUES)]


def test_more_numbers_are_put_into_bins_of_as_many_rows() -> None:
    found = group_numbers(range(40))
    assert list(found) == ["under 10", "10 to under 20", "20 to under 30", "30 and more"]
    assert [len(places) for places in found.values()] == [10] * BINS
    # 8.5 days are no whole number, so three values are bins too.
    assert list(group_numbers([8.5, 1, 2, 3])) == ["under 2", "2 to under 3", "3 to under 8.5", "8.5 and more"]
    # Most rows have the same number: an edge there would be twice the same.
    assert {name: len(places) for name, places in group_numbers([0.5] * 30 + [7.0]).items()} == {"any number": 31}


def test_given_edges_begin_a_bin() -> None:
    found = group_numbers([2, 1.9, 30, 7, 6.9, None], (2, 7))
    assert dict(found) == {"under 2": [1], "2 to under 7": [0, 4], "7 and more": [2, 3], None: [5]}
    assert list(group_numbers([9, 10], (2, 7))) == ["7 and more"]  # an empty bin is no group


@given(st.lists(st.one_of(st.none(), st.integers(-5, 60), st.floats(-5, 60)), max_size=60))
def test_every_row_is_in_one_group_and_groups_rise(values: list[float | None]) -> None:
    found = group_numbers(values)
    assert sorted(place for places in found.values() for place in places) == list(range(len(values)))
    last = -np.inf
    for name, places in found.items():
        if name is not None:
            numbers = [value for value in (values[place] for place in places) if value is not None]
            assert last < min(numbers)
            last = max(numbers)


MIMIC_RACES = {
    "WHITE": ("WHITE", "WHITE - BRAZILIAN", "WHITE - EASTERN EUROPEAN", "WHITE - OTHER EUROPEAN", "WHITE - RUSSIAN"),
    "BLACK": ("BLACK/AFRICAN", "BLACK/AFRICAN AMERICAN", "BLACK/CAPE VERDEAN", "BLACK/CARIBBEAN ISLAND"),
    "HISPANIC": ("HISPANIC OR LATINO", "HISPANIC/LATINO - CUBAN", "HISPANIC/LATINO - PUERTO RICAN"),
    "ASIAN": ("ASIAN", "ASIAN - ASIAN INDIAN", "ASIAN - CHINESE", "ASIAN - SOUTH EAST ASIAN"),
    "OTHER/UNKNOWN": (
        "AMERICAN INDIAN/ALASKA NATIVE", "MULTIPLE RACE/ETHNICITY", "NATIVE HAWAIIAN OR OTHER PACIFIC ISLANDER",
        "OTHER", "PATIENT DECLINED TO ANSWER", "PORTUGUESE", "SOUTH AMERICAN", "UNABLE TO OBTAIN", "UNKNOWN",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("group", "race"), [(group, race) for group, of in MIMIC_RACES.items() for race in of])
def test_races_of_mimic(group: str, race: str) -> None:
    assert race_group(race) == group
    assert race_group(f" {race.lower()} ") == group


def test_no_race_is_a_group_of_its_own() -> None:
    assert race_group(None) is None
    assert race_group("  ") is None


# Scores


def make_run(rows: int, patients: int) -> Run:
    rng = np.random.default_rng(0)
    gold, predicted = rng.integers(1, 9, (rows, 2)), rng.integers(1, 9, (rows, 2))
    both = rng.integers(0, np.minimum(gold, predicted) + 1)
    return Run(
        Counts(np.stack([both, gold, predicted], axis=-1), ("block", "full")), [n % patients for n in range(rows)]
    )


def test_a_group_by_hand() -> None:
    """Three rows of two patients: 1 + 0 + 2 codes right, of 2 + 2 + 4 gold ones and 3 + 1 + 2 predicted."""
    values = np.array([[[1, 2, 3]], [[5, 5, 5]], [[0, 2, 1]], [[2, 4, 2]]])
    found = score_group(Run(Counts(values, ("full",)), ["a", "b", "c", "a"]), "F", [0, 2, 3])
    assert (found.name, found.rows, found.patients) == ("F", 3, 2)
    assert (found.gold, found.predicted) == (8 / 3, 6 / 3)
    assert found.scores["precision_full"] == 3 / 6
    assert found.scores["recall_full"] == 3 / 8
    assert found.few


def test_groups_are_scored_as_their_rows_alone() -> None:
    run = make_run(60, 25)
    values = [["x", "y", None, "z"][row % 4] for row in range(60)]
    found = {group.name: group for group in score_groups(run, group_texts(values), seed=5)}
    assert set(found) == {"x", "y", "z", None}
    for name, group in found.items():
        rows = [row for row in range(60) if values[row] == name]
        counts, patients = run.counts.take(rows), [run.groups[row] for row in rows]
        assert group.scores == scores(counts)
        assert group.intervals == bootstrap(counts, patients, seed=5)
        assert (group.rows, group.patients) == (15, len(set(patients)))
        assert group.gold == pytest.approx(sum(run.counts.values[row, -1, 1] for row in rows) / 15)
    alone = score_groups(run, group_texts(values), by_patient=False, seed=5)
    assert alone[0].intervals == bootstrap(run.counts.take(range(0, 60, 4)), seed=5)


def test_fewer_than_ten_rows_are_marked() -> None:
    run = make_run(30, 30)
    assert score_group(run, "a", range(FEWEST - 1)).few
    assert not score_group(run, "a", range(FEWEST)).few


def test_no_rows_are_no_group() -> None:
    with pytest.raises(ValueError, match="group 'a' has no rows"):
        score_group(make_run(3, 3), "a", [])
