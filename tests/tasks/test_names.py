"""Every spelling of a task that people try."""

import pytest

from clinical_evals.errors import InputError, UnknownNameError
from clinical_evals.tasks.names import TASKS, find_task, known_names, parse_tasks


@pytest.mark.parametrize(
    "spelling",
    [
        "clibench|diagnosis",
        "clibench:diagnosis",
        "clibench:diagnosis|0",
        "clibench|diagnosis|0",
        "custom|clibench:diagnosis|0",
        " clibench|diagnosis , clibench:diagnosis|0,",
        "CliBench:Diagnosis",
    ],
)
def test_one_task_in_all_its_spellings(spelling: str) -> None:
    assert [task.name for task in parse_tasks(spelling)] == ["clibench:diagnosis"]


@pytest.mark.parametrize("spelling", ["clibench", "clibench|0", "custom|clibench|0"])
def test_a_benchmark_is_all_its_tasks(spelling: str) -> None:
    assert parse_tasks(spelling) == [task for task in TASKS if task.benchmark == "clibench"]


@pytest.mark.parametrize(
    "typo", ["clibench|diagnose", "clibench:diagnoses", "clibenchdiagnosis", "clibench|diagnosis|0|0"]
)
def test_an_unknown_task_names_the_nearest(typo: str) -> None:
    with pytest.raises(UnknownNameError, match=r"Did you mean 'clibench:diagnosis'\?.*clinical-evals tasks"):
        parse_tasks(typo)


def test_a_good_name_does_not_hide_a_bad_one() -> None:
    with pytest.raises(UnknownNameError, match="medqa"):
        parse_tasks("clibench|diagnosis,medqa")


@pytest.mark.parametrize("empty", ["", " , "])
def test_no_task_at_all(empty: str) -> None:
    with pytest.raises(InputError, match="Known: clibench:diagnosis"):
        parse_tasks(empty)


def test_examples_in_the_prompt_are_refused() -> None:
    with pytest.raises(InputError, match=r"for 3 examples.*write 'clibench:diagnosis'"):
        parse_tasks("clibench:diagnosis|3")


def test_find_task() -> None:
    assert find_task("clibench|diagnosis").slug == "clibench_diagnosis"
    assert known_names() == [task.name for task in TASKS]


@pytest.mark.parametrize(
    ("spelling", "configs"),
    [
        ("ior_bench|static_cot", ["static_cot"]),
        ("ior-bench:static_cot|0", ["static_cot"]),
        ("ior_bench|static", ["static_zero_shot", "static_few_shot", "static_majority_vote", "static_cot"]),
        ("ior_bench:static|0", ["static_zero_shot", "static_few_shot", "static_majority_vote", "static_cot"]),
        ("ior_bench|static_cot,ior_bench|static", ["static_cot", "static_zero_shot", "static_few_shot",
                                                   "static_majority_vote"]),
    ],
)  # fmt: skip
def test_the_static_task_is_one_strategy_or_all_four(spelling: str, configs: list[str]) -> None:
    assert [task.config for task in parse_tasks(spelling)] == configs


def test_examples_of_the_few_shot_task_have_an_option_of_their_own() -> None:
    with pytest.raises(InputError, match="give --shots 3 with 'ior_bench:static_few_shot'"):
        parse_tasks("ior_bench:static_few_shot|3")
