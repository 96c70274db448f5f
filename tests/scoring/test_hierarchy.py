"""Counts and scores: hand-worked rows, the published average, and a brute-force oracle."""

import csv
import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinical_evals.ontology import get_system
from clinical_evals.scoring.hierarchy import Counts, count, row_f1, scores

SYSTEM = get_system("icd10cm")
CODES = SYSTEM.codes()
HAND = json.loads((Path(__file__).parent / "hand_worked_icd10cm.json").read_text())


def test_hand_worked_rows_have_the_counts_written_out() -> None:
    counts = count([row["gold"] for row in HAND["rows"]], [row["predicted"] for row in HAND["rows"]], SYSTEM)
    for row, expected in enumerate(HAND["rows"]):
        for level, name in enumerate(SYSTEM.levels):
            assert counts.values[row, level].tolist() == expected["both_gold_predicted"][name], (row, name)


def test_hand_worked_scores_follow_from_the_counts() -> None:
    result = scores(count([row["gold"] for row in HAND["rows"]], [row["predicted"] for row in HAND["rows"]], SYSTEM))
    for level, (both, gold, predicted) in HAND["sums"].items():
        assert result[f"precision_{level}"] == pytest.approx(both / predicted)
        assert result[f"recall_{level}"] == pytest.approx(both / gold)
        assert result[f"f1_{level}"] == pytest.approx(2 * both / (gold + predicted))
        rows = [row["both_gold_predicted"][level] for row in HAND["rows"]]
        assert result[f"macro_f1_{level}"] == pytest.approx(sum(2 * b / (g + p) for b, g, p in rows) / 3)
    # The mean of the level F1s (8 + 8 + 6 + 4 + 2) / 11 / 5, as the note in the file works out.
    assert result["f1_average"] == pytest.approx(HAND["f1_average"])


def test_average_is_the_mean_of_level_f1s_as_in_the_papers_table(published: Path) -> None:
    with open(published / "clibench_table10_diagnosis.csv") as file:
        rows = [row for row in csv.DictReader(file) if row["model"].strip() == "GPT-4o"]
    f1 = {row["level"]: float(row["f1"]) for row in rows}
    levels = [f1[level] for level in ("chapter", "block", "category", "subcategory", "full")]
    assert levels == [73.15, 55.33, 41.97, 32.09, 27.58]
    assert round(sum(levels) / 5, 2) == 46.02  # printed by the paper; the F1 of the mean P and R is another number
    # Our own code on counts that have exactly these F1s (2 x both / (gold + predicted), gold = predicted = 10,000).
    both = [round(100 * value) for value in levels]
    counts = Counts(np.array([[[b, 10_000, 10_000] for b in both]]), SYSTEM.levels)
    assert round(100 * scores(counts)["f1_average"], 2) == 46.02


def test_code_without_a_level_stands_for_itself() -> None:
    # I10 has no subcategory: it stands for itself there, so a prediction of I10 is right at all five levels.
    assert count([["I10"]], [["I10"]], SYSTEM).values.tolist() == [[[1, 1, 1]] * 5]
    # E11 predicted for E11.9: right down to the category (3 levels), then E11 is not E11.9.
    assert count([["E11.9"]], [["E11"]], SYSTEM).values[0, :, 0].tolist() == [1, 1, 1, 0, 0]


def test_invalid_code_is_wrong_at_every_level_and_touches_nothing_else() -> None:
    # "9" is how a chapter is named inside: as an invalid prediction it must not equal it.
    for invalid in ("9", "XYZ", "I10-I1A9", "S72", "!"):
        counts = count([["I10"]], [["I10", "?" + invalid]], SYSTEM)
        assert counts.values[0].tolist() == [[1, 1, 2]] * 5, invalid
    assert count([["I10"]], [["9"]], SYSTEM).values[0, :, 0].tolist() == [0] * 5


def test_empty_rows() -> None:
    counts = count([["I10"], [], []], [[], ["I10"], []], SYSTEM)
    assert counts.values[:, 0].tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert set(scores(counts).values()) == {0.0}
    assert row_f1(counts).tolist() == [[0.0] * 5] * 3  # 0 where both are empty (protocol 2.6)
    assert count([], [], SYSTEM).values.shape == (0, 5, 3)
    assert set(scores(count([], [], SYSTEM)).values()) == {0.0}


def test_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="2 rows of references, 1 of predictions"):
        count([["I10"], ["I10"]], [["I10"]], SYSTEM)


def test_scores_have_the_documented_keys() -> None:
    levels = [*SYSTEM.levels, "average"]
    expected = {f"{name}_{level}" for name in ("precision", "recall", "f1", "macro_f1") for level in levels}
    assert set(scores(count([["I10"]], [["I10"]], SYSTEM))) == expected


def _oracle(gold: list[str], predicted: list[str]) -> list[list[int]]:
    """Plain sets of ancestors; an invalid code is marked so that it can equal no ancestor."""

    def at(codes: list[str], level: int) -> set[str]:
        return {SYSTEM.path(code)[level] if SYSTEM.normalize(code) == code else f"invalid {code}" for code in codes}

    result = []
    for level in range(5):
        g, p = at(gold, level), at(predicted, level)
        result.append([len(g & p), len(g), len(p)])
    return result


# Neighbouring codes, so that ancestors are often shared, and a few invalid ones.
_start = st.integers(0, len(CODES) - 40)
_row = st.tuples(_start, st.lists(st.integers(0, 39), max_size=8), st.lists(st.integers(0, 39), max_size=8)).map(
    lambda row: ([CODES[row[0] + i] for i in row[1]], [CODES[row[0] + i] for i in row[2]])
)
_invalid = st.lists(st.sampled_from(["X99.99", "9", "FOO", "E11.99"]), max_size=3)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(_row, _invalid), min_size=1, max_size=6))
def test_equals_plain_sets(rows: list[tuple[tuple[list[str], list[str]], list[str]]]) -> None:
    gold = [row[0][0] for row in rows]
    predicted = [row[0][1] + row[1] for row in rows]
    counts = count(gold, predicted, SYSTEM)
    assert counts.values.tolist() == [_oracle(g, p) for g, p in zip(gold, predicted, strict=True)]
    both, golds, predictions = (counts.values[..., i] for i in range(3))
    assert (both <= np.minimum(golds, predictions)).all()
    swapped = scores(count(predicted, gold, SYSTEM))
    for level in (*SYSTEM.levels, "average"):  # swapped roles swap precision and recall
        assert swapped[f"precision_{level}"] == pytest.approx(scores(counts)[f"recall_{level}"])
        assert swapped[f"f1_{level}"] == pytest.approx(scores(counts)[f"f1_{level}"])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, len(CODES) - 1), min_size=1, max_size=12))
def test_perfect_predictions_give_one_in_any_order_and_with_duplicates(places: list[int]) -> None:
    codes = [CODES[i] for i in places]
    assert set(scores(count([codes], [[*reversed(codes), *codes]], SYSTEM)).values()) == {1.0}
    # Finer levels never have fewer distinct members than coarser ones.
    gold = count([codes], [codes], SYSTEM).values[0, :, 1].tolist()
    assert all(coarse <= fine for coarse, fine in pairwise(gold))
