"""Tables 2 and 8: counts worked by hand, the published figures as printed, and the layout."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinical_evals.clibench.statistics import KeptStatistics, SplitStatistics, Visit, count_split, summarise_kept
from clinical_evals.clibench.statistics_tables import (
    KeptRow,
    StatisticsRow,
    format_kept,
    format_statistics,
    kept_row,
    read_published_kept,
    read_published_statistics,
    statistics_rows,
)
from clinical_evals.errors import InputError

TABLES = Path("src/clinical_evals/report/published")
TABLE_2, TABLE_8 = "clibench_table2_statistics.csv", "clibench_table8_context.csv"


@pytest.fixture
def tables(repository: Path) -> Path:
    """The published tables that the package carries."""
    return repository / TABLES


def test_a_split_by_hand() -> None:
    visits = [
        Visit(1, 10, ["I10", "E119", "I10"]),  # I10 twice in one visit counts once: 2 codes
        Visit(2, 10, {"I10"}),  # the same patient
        Visit(3, 20, ("0010", "10", "Z", "I10")),  # codes are text: 0010 is not 10
    ]
    # codes: I10, E119, 0010, 10, Z
    assert count_split(visits) == SplitStatistics(
        visits=3, patients=2, codes=5, max_codes=4, mean_codes=(2 + 1 + 4) / 3
    )


def test_an_empty_split_has_no_mean() -> None:
    assert count_split([]) == SplitStatistics(0, 0, 0, 0, None)


codes = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=12)
visits_strategy = st.lists(
    st.builds(Visit, st.integers(1, 99), st.integers(1, 5), codes), min_size=1, unique_by=lambda visit: visit.hadm_id
)


@given(visits_strategy, st.randoms(use_true_random=False))
def test_counts_are_those_of_the_sets_in_any_order(visits: list[Visit], order: random.Random) -> None:
    pairs = {(visit.hadm_id, code) for visit in visits for code in visit.source_codes}
    found = count_split(iter(order.sample(visits, len(visits))))
    assert found.visits == len(visits)
    assert found.patients == len({visit.subject_id for visit in visits})
    assert found.codes == len({code for _, code in pairs})
    assert found.max_codes == max(sum(hadm_id == visit.hadm_id for hadm_id, _ in pairs) for visit in visits)
    assert found.mean_codes == len(pairs) / len(visits)


def test_kept_ratios_by_hand() -> None:
    # sorted 0.1, 0.5, 0.75, 1: the median is between the two in the middle
    assert summarise_kept([1.0, 0.5, 0.1, 0.75]) == KeptStatistics(4, 2.35 / 4, (0.5 + 0.75) / 2, 0.1)
    assert summarise_kept([1]) == KeptStatistics(1, 1.0, 1.0, 1.0)
    assert kept_row("m", 8192, KeptStatistics(4, 0.5, 0.25, 0.125)) == KeptRow("m", 8192, 4, 50.0, 25.0, 12.5)


@given(st.lists(st.floats(0, 1), min_size=1), st.randoms(use_true_random=False))
def test_kept_ratios_in_any_order(ratios: list[float], order: random.Random) -> None:
    found = summarise_kept(order.sample(ratios, len(ratios)))
    assert found == summarise_kept(ratios)
    assert found.minimum <= found.median <= max(ratios)
    assert found.minimum <= found.mean + 1e-12
    assert found.mean <= max(ratios) + 1e-12


def test_the_published_tables_are_as_printed(tables: Path, published: Path) -> None:
    for name in (TABLE_2, TABLE_8):
        assert (tables / name).read_bytes() == (published / name).read_bytes()


def test_published_figures(tables: Path) -> None:
    figures = read_published_statistics(tables / TABLE_2)
    assert len(figures) == 4 * 5 * 2  # tasks, metrics, splits
    assert figures["diagnosis", "unique visits", "evaluation"] == 1081  # Table 2
    assert figures["lab_order", "mean codes per visit", "evaluation"] == 47.11
    assert figures["prescription", "max codes per visit", "training"] == 81
    kept = read_published_kept(tables / TABLE_8)
    assert [row.max_context for row in kept] == [32768, 4096, 8192]
    assert kept[1] == KeptRow("LLaMA2 series", 4096, None, 53.82, 48.9, 2.5)


def test_ours_beside_the_published(tables: Path) -> None:
    counted = {
        ("procedure", "test"): SplitStatistics(3, 2, 5, 4, 7 / 3),
        ("diagnosis", "test"): SplitStatistics(1_100, 1_000, 2_500, 40, 13.5),
        ("diagnosis", "train"): SplitStatistics(0, 0, 0, 0, None),
    }
    rows = statistics_rows(counted, read_published_statistics(tables / TABLE_2))
    assert [row.task for row in rows] == ["procedure"] * 5 + ["diagnosis"] * 5
    assert rows[0] == StatisticsRow("procedure", "unique visits", 3, 1100, None, 66849)  # train was not built
    assert rows[4] == StatisticsRow("procedure", "mean codes per visit", 7 / 3, 2.37, None, 2.06)
    assert rows[5] == StatisticsRow("diagnosis", "unique visits", 1_100, 1081, 0, 119211)
    assert rows[9] == StatisticsRow("diagnosis", "mean codes per visit", 13.5, 13.04, None, 14.39)
    assert format_statistics(rows).splitlines() == [
        "task       metric                evaluation  published  training  published",
        "---------------------------------------------------------------------------",
        "procedure  unique visits                  3      1,100         -     66,849",
        "procedure  unique patients                2      1,081         -     42,506",
        "procedure  unique codes                   5      1,059         -      8,639",
        "procedure  max codes per visit            4         16         -         23",
        "procedure  mean codes per visit        2.33       2.37         -       2.06",
        "diagnosis  unique visits              1,100      1,081         0    119,211",
        "diagnosis  unique patients            1,000      1,062         0     64,716",
        "diagnosis  unique codes               2,500      2,837         0     15,920",
        "diagnosis  max codes per visit           40         39         0         39",
        "diagnosis  mean codes per visit       13.50      13.04         -      14.39",
    ]


def test_a_task_that_was_never_published_has_no_published_figures() -> None:
    rows = statistics_rows({("referral", "test"): SplitStatistics(1, 1, 1, 1, 1.0)}, {})
    assert {(row.published_evaluation, row.published_training) for row in rows} == {(None, None)}


def test_kept_rows_beside_the_published(tables: Path) -> None:
    ours = [kept_row("our-model", 2048, KeptStatistics(118, 0.5, 0.499, 0.01))]
    assert format_kept(ours, read_published_kept(tables / TABLE_8)).splitlines() == [
        "model                       max context  prompts  mean %  median %  minimum %",
        "-----------------------------------------------------------------------------",
        "our-model                         2,048      118   50.00     49.90       1.00",
        "Mistral series (published)       32,768        -   98.58    100.00      24.84",
        "LLaMA2 series (published)         4,096        -   53.82     48.90       2.50",
        "LLaMA3 series (published)         8,192        -   87.20    100.00       6.68",
    ]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: count_split([Visit(7, 1, ["a"]), Visit(7, 2, ["b"])]), "hadm_id 7 is there twice"),
        (lambda: count_split([Visit(7, 1, [])]), "hadm_id 7 has no source code"),
        (lambda: count_split([Visit(7, 1, "I10")]), "hadm_id 7: source codes are one text"),
        (lambda: summarise_kept([]), "no kept ratios"),
        (lambda: summarise_kept([0.5, 98.58]), r"98\.58; expected a share from 0 to 1, not percent"),
        (lambda: summarise_kept([0.5, float("nan"), 0.1]), "a kept ratio is nan"),
        (lambda: summarise_kept([-0.1]), r"a kept ratio is -0\.1"),
    ],
)
def test_what_cannot_be_counted(make: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no column task, metric, evaluation, training; found none"),
        ("task,metric,evaluation\nx,y,1\n", "has no column training; found task, metric, evaluation"),
        ("task,metric,evaluation,training\nx,y,1,2\nx,z,many,2\n", "line 3: evaluation is 'many', expected a number"),
        ("task,metric,evaluation,training\nx,y,1\n", "line 2: training is '', expected a number"),
        ("task,metric\n\xff", "has no column evaluation, training"),
    ],
)
def test_published_tables_that_cannot_be_read(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message) as error:
        read_published_statistics(path)
    assert str(path) in str(error.value)
    path.write_bytes(b"model\xff\n")
    with pytest.raises(InputError, match="cannot be read as a table"):
        read_published_kept(path)
