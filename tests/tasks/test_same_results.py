"""All four tasks of CliBench give the same whatever the batch size, the number of processes and the order of rows."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from four_tasks import ROWS, TASKS, forget, hadm_ids, in_place, write_rows
from parallel_runs import assert_same, batch_sizes, launch, rows_of, run, same_place
from varied_model import varied_model

import clinical_evals  # noqa: F401 - makes the bare name known
from clinical_evals.tasks.options import Options

Logs = dict[str, Path]
"""By config the prediction log."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    yield from in_place(tmp_path_factory.mktemp("four"))


@pytest.fixture(scope="module")
def asked(data: Path, shared: Path, tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Options:
    """Prompts are cut to a context of 900 tokens: those of the diagnosis task."""
    arguments = f"model_name={varied_model(shared, tokenizer)},dtype=float32"
    return Options(arguments, "clibench", tmp_path_factory.mktemp("one"), context=900, answer_tokens=16)


@pytest.fixture(scope="module")
def one_by_one(asked: Options) -> Logs:
    """One process that answers row by row: no padding, no batch."""
    return run(asked, 1)


def summary_of(log: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(log.with_name("summary.json").read_text())
    return found


def test_the_answers_differ_and_some_are_right(one_by_one: Logs) -> None:
    assert tuple(one_by_one) == TASKS
    for task, log in one_by_one.items():
        rows = rows_of(log)
        assert len({line["answers"][0] for line in rows}) >= 6, task
        assert len({line["output_tokens"][0] for line in rows}) >= 2, task  # in a batch some end before others
        assert len({line["subject_id"] for line in rows}) == (ROWS + 1) // 2
        found = summary_of(log)
        low, high = found["intervals"]["f1_average"]
        assert low < found["scores"]["f1_average"] < high, task  # the order of patients would show


def test_batches_of_eight(asked: Options, one_by_one: Logs, tmp_path: Path) -> None:
    for task, log in run(asked._replace(output_dir=tmp_path), 8).items():
        assert batch_sizes(log) == [8] * 8 + [1]
        assert_same(log, one_by_one[task])


def test_two_processes_give_what_one_gives_and_go_on_from_its_log(
    asked: Options, one_by_one: Logs, tmp_path: Path
) -> None:
    # Two rows of the first task were answered by one process before, as if it had been killed then.
    log = same_place(one_by_one, "diagnosis", tmp_path)
    log.parent.mkdir(parents=True)
    lines = one_by_one["diagnosis"].read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:3]))
    done = launch(asked._replace(output_dir=tmp_path))
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("prediction log: ") == len(TASKS)  # only one process prints
    assert f"2 of {ROWS} rows were already answered" in done.stdout
    assert log.read_bytes().startswith(b"".join(lines[:3]))
    # Two rows in each of two processes: the batches of four of which one (of nine) is left alone.
    assert batch_sizes(log) == [1, 1, 2, 2, 4, 4, 4, 4, 1]
    for task, expected in one_by_one.items():
        found = same_place(one_by_one, task, tmp_path)
        assert_same(found, expected)
        scored = [json.loads(line)["row"] for line in found.with_name("scored.jsonl").read_text().splitlines()[1:]]
        assert scored == sorted(scored)
    assert len([*tmp_path.rglob("results_*.json")]) == 1  # lighteval, too, writes its files once


def by_admission(log: Path, data: Path, task: str) -> dict[int, dict[str, Any]]:
    """What each admission got, without its place in the split."""
    ids = hadm_ids(data, task)
    lines = {ids[line["row"]]: line for line in rows_of(log)}
    return {hadm_id: {k: v for k, v in line.items() if k != "row"} for hadm_id, line in sorted(lines.items())}


def scored_by_admission(log: Path, data: Path, task: str) -> dict[int, dict[str, Any]]:
    """What each admission's answer became."""
    ids = hadm_ids(data, task)
    lines = [json.loads(line) for line in log.with_name("scored.jsonl").read_text().splitlines()[1:]]
    assert [line["row"] for line in lines] == list(range(ROWS))
    return {ids[line["row"]]: {k: v for k, v in line.items() if k != "row"} for line in lines}


def test_rows_in_another_order(
    asked: Options, one_by_one: Logs, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same answers, scores and intervals: patients are drawn alike, in whatever order they come."""
    moved = write_rows(tmp_path / "moved", seed=1)
    monkeypatch.setenv("CLIBENCH_DIR", str(moved))
    forget()
    for task, log in run(asked._replace(output_dir=tmp_path / "runs"), 4).items():
        assert hadm_ids(moved, task) != hadm_ids(data, task)
        assert sorted(hadm_ids(moved, task)) == sorted(hadm_ids(data, task))
        expected = one_by_one[task]
        assert by_admission(log, moved, task) == by_admission(expected, data, task)
        assert scored_by_admission(log, moved, task) == scored_by_admission(expected, data, task)
        assert summary_of(log) == summary_of(expected)


def test_moved_rows_are_not_asked_again(
    asked: Options, one_by_one: Logs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row is known by its data and prompt, not by its place."""
    copied = Path(shutil.copytree(asked.output_dir, tmp_path / "runs"))
    monkeypatch.setenv("CLIBENCH_DIR", str(write_rows(tmp_path / "moved", seed=2)))
    forget()
    for task, log in run(asked._replace(output_dir=copied), 8).items():
        assert log == same_place(one_by_one, task, copied)
        assert log.read_bytes() == one_by_one[task].read_bytes()
