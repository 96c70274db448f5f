"""IOR-Bench's Table 2 recomputed from its own columns: what it prints, and where it contradicts itself."""

import csv
from pathlib import Path

import pytest

from clinical_evals.scoring.department import as_printed, mean_and_sd

STRATEGIES = ("zero_shot", "few_shot", "majority_vote", "cot")
# (model, column): (printed, what the row's own four columns give). The printed values stand; nothing is bent to them.
CONTRADICTIONS = {
    ("o1-mini", "sd"): ("1.10", "0.55"),
    ("Yi-1.5-Chat", "mean"): ("69.30", "59.30"),
    # Of rounding only: 73.305 is a tie, which the table's five other ties round up; 0.4648 is no tie.
    ("HuatuoGPT-II", "mean"): ("73.30", "73.31"),
    ("DeepSeek-v3", "sd"): ("0.47", "0.46"),
}


@pytest.fixture(scope="module")
def rows(published: Path) -> dict[str, dict[str, str]]:
    """The rows of the models that have all four accuracies; BERT and the people have a mean only."""
    with open(published / "ior_table2_static.csv", encoding="utf-8-sig", newline="") as file:
        return {row["model"]: row for row in csv.DictReader(file) if all(row[name] for name in STRATEGIES)}


def recomputed(row: dict[str, str]) -> dict[str, float]:
    return dict(zip(("mean", "sd"), mean_and_sd([float(row[name]) for name in STRATEGIES]), strict=True))


def test_all_nineteen_models_are_there(rows: dict[str, dict[str, str]]) -> None:
    assert len(rows) == 19
    assert {model for model, _ in CONTRADICTIONS} <= rows.keys()


def test_exactly_these_values_contradict_their_own_columns(rows: dict[str, dict[str, str]]) -> None:
    found = {
        (model, column): (row[column], as_printed(value))
        for model, row in rows.items()
        for column, value in recomputed(row).items()
        if row[column] != as_printed(value)
    }
    assert found == CONTRADICTIONS


def test_two_are_wrong_and_two_differ_by_rounding(rows: dict[str, dict[str, str]]) -> None:
    off = {
        (model, column): abs(recomputed(rows[model])[column] - float(rows[model][column]))
        for model, column in CONTRADICTIONS
    }
    assert {key for key, difference in off.items() if difference > 0.01} == {
        ("o1-mini", "sd"),
        ("Yi-1.5-Chat", "mean"),
    }
    assert off["o1-mini", "sd"] == pytest.approx(1.10 - 0.546, abs=5e-5)
    assert off["Yi-1.5-Chat", "mean"] == pytest.approx(69.30 - 59.3025)
    # More than half of the last digit printed, but for the tie: no way of rounding gives 0.47.
    assert off["HuatuoGPT-II", "mean"] == pytest.approx(0.005)
    assert off["DeepSeek-v3", "sd"] == pytest.approx(0.47 - 0.46481, abs=5e-6)


def test_the_sample_deviation_would_contradict_every_row(rows: dict[str, dict[str, str]]) -> None:
    # It is larger by sqrt(4 / 3): so the table's deviation is the population's, as protocol.md 1.2 says.
    fits = [model for model, row in rows.items() if as_printed(recomputed(row)["sd"] * (4 / 3) ** 0.5) == row["sd"]]
    assert fits == []
