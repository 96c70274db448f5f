"""Agreement of rankings: by hand, by brute force, by SciPy, and of the paper's two simulated patients."""

import csv
from itertools import permutations
from math import sqrt
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinical_evals.errors import InputError
from clinical_evals.scoring.rankings import ranking_agreement

# The models of Table 5 that Table 3 has too, as each of them spells it.
SAME_MODEL = {
    "Gemma 9B-Instruct": "Gemma-Instruct",
    "Mixtral-8x22B-Instruct": "Mixtral-Instruct",
    "Llama-3.2-90B-Instruct": "Llama-3.2-Instruct",
    "GPT-3.5": "GPT-3.5",
    "GPT-4o": "GPT-4o",
    "Claude-3.5-Sonnet": "Claude-3.5-Sonnet",
    "Gemini-Pro-1.5": "Gemini-Pro-1.5",
    "Qwen2.5-72B-Instruct": "Qwen2.5-Instruct",
}
LAST_TURN = "5"


def named(scores: list[int]) -> dict[str, float]:
    return {f"model {place}": score for place, score in enumerate(scores)}


def brute_force(first: list[int], second: list[int]) -> float | None:
    """Both orders of every pair, counted one by one: the factors of two cancel."""
    both = ordered_first = ordered_second = 0
    for one, other in permutations(range(len(first)), 2):
        up_first, up_second = first[one] < first[other], second[one] < second[other]
        down_first, down_second = first[one] > first[other], second[one] > second[other]
        both += (up_first and up_second) + (down_first and down_second)
        both -= (up_first and down_second) + (down_first and up_second)
        ordered_first += up_first + down_first
        ordered_second += up_second + down_second
    return both / sqrt(ordered_first * ordered_second) if ordered_first and ordered_second else None


def test_by_hand() -> None:
    first = {"a": 4, "b": 3, "c": 2, "d": 1, "only here": 9}
    second = {"a": 30, "b": 40, "c": 20, "d": 20, "only there": 0}
    # Of the pairs ab ac ad bc bd cd the second ranking turns ab round and does not tell c from d.
    found = ranking_agreement(first, second)
    assert found == ((4 - 1) / sqrt(6 * 5), ("a", "b", "c", "d"), 4, 1, 1)


def test_the_same_and_the_reverse_order() -> None:
    assert ranking_agreement(named([1, 2, 3]), named([10, 20, 30])).tau == 1
    assert ranking_agreement(named([1, 2, 3]), named([30, 20, 10])).tau == -1


def test_a_ranking_without_order_agrees_with_nothing() -> None:
    found = ranking_agreement(named([1, 2, 3]), named([5, 5, 5]))
    assert (found.tau, found.concordant, found.discordant, found.tied) == (None, 0, 0, 3)


def test_models_must_be_named_alike() -> None:
    with pytest.raises(InputError, match=r"GPT-4o in both. Only in the first: Qwen; only in the second: qwen"):
        ranking_agreement({"GPT-4o": 1, "Qwen": 2}, {"GPT-4o": 1, "qwen": 2})


pairs_of_scores = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=12)


@given(pairs_of_scores)
def test_tau_is_that_of_the_brute_force(pairs: list[tuple[int, int]]) -> None:
    first, second = ([pair[side] for pair in pairs] for side in (0, 1))
    assert ranking_agreement(named(first), named(second)).tau == pytest.approx(brute_force(first, second))


@settings(deadline=None)  # importing SciPy takes its time
@given(pairs_of_scores)
def test_tau_is_that_of_scipy(pairs: list[tuple[int, int]]) -> None:
    stats = pytest.importorskip("scipy.stats")
    first, second = ([pair[side] for pair in pairs] for side in (0, 1))
    ours, theirs = ranking_agreement(named(first), named(second)).tau, stats.kendalltau(first, second).statistic
    assert ours == pytest.approx(theirs) if ours is not None else theirs != theirs  # SciPy gives NaN


# The paper's two patients (Tables 3 and 5)


def accuracies(file: Path, hospital: str) -> dict[str, float]:
    with open(file, encoding="utf-8-sig", newline="") as table:
        return {
            SAME_MODEL.get(row["model"], row["model"]): float(row["accuracy"])
            for row in csv.DictReader(table)
            if (row["hospital"], row["turn"]) == (hospital, LAST_TURN)
        }


@pytest.mark.parametrize(("hospital", "discordant"), [("1", 5), ("2", 6)])
def test_the_published_rankings(published: Path, hospital: str, discordant: int) -> None:
    """8 models, 28 pairs. Turned round, worked out by hand from the printed accuracies at turn 5:

    hospital 1 (5): Llama-Claude, Llama-Gemma, GPT-3.5-Claude, GPT-3.5-Gemma, Claude-Gemma;
    hospital 2 (6): Gemini-Qwen, Llama-Claude, Llama-Gemma, Llama-GPT-3.5, Claude-Gemma, Claude-GPT-3.5.
    """
    gpt4o = accuracies(published / "ior_table3_dynamic_patient_gpt4o.csv", hospital)
    deepseek = accuracies(published / "ior_table5_dynamic_patient_deepseek_chat.csv", hospital)
    assert (len(gpt4o), len(deepseek)) == (19, 13)
    found = ranking_agreement(gpt4o, deepseek)
    assert found.models == tuple(sorted(SAME_MODEL.values()))
    assert (found.concordant, found.discordant, found.tied) == (28 - discordant, discordant, 0)
    assert found.tau == pytest.approx((28 - 2 * discordant) / 28)
