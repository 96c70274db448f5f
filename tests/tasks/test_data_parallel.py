"""The batch size changes nothing, with a model whose answers differ from row to row; see also test_same_results.py."""

from pathlib import Path
from typing import Any

import pytest
from parallel_runs import assert_same, batch_sizes, rows_of, run
from varied_model import varied_model

import clinical_evals  # noqa: F401 - makes the bare name known
from clinical_evals.tasks.options import Options

ROWS = 9


@pytest.fixture(scope="module")
def asked(shared: Path, tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Options:
    """The diagnosis task of the embedded sample."""
    arguments = f"model_name={varied_model(shared, tokenizer)},dtype=float32"
    return Options(arguments, "clibench|diagnosis", tmp_path_factory.mktemp("one"), ROWS, answer_tokens=20)


@pytest.fixture(scope="module")
def one_by_one(asked: Options) -> Path:
    """The log of a run that answers row by row: no padding, no batch."""
    return run(asked, 1)["diagnosis"]


def test_the_answers_differ(one_by_one: Path) -> None:
    answers = [line["answers"][0] for line in rows_of(one_by_one)]
    lengths = {line["output_tokens"][0] for line in rows_of(one_by_one)}
    assert len(set(answers)) >= 6
    assert len(lengths) >= 3  # so that in a batch some end before others


@pytest.mark.parametrize("batch_size", [3, 4])
def test_the_batch_size_changes_nothing(asked: Options, one_by_one: Path, tmp_path: Path, batch_size: int) -> None:
    log = run(asked._replace(output_dir=tmp_path), batch_size)["diagnosis"]
    assert set(batch_sizes(log)) == {batch_size, ROWS % batch_size or batch_size}
    assert_same(log, one_by_one)
