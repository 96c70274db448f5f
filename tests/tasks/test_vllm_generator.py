"""Whole runs of `eval vllm`, on a stand-in for vLLM that answers with the model's real weights (see `stand_ins/vllm`).

The last test runs vLLM itself where it is installed.
"""

import os
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from chain_model import write_chain_model, write_letter_model
from varied_model import varied_model

import clinical_evals  # noqa: F401 - makes the bare name known
from clinical_evals.cli import main
from clinical_evals.errors import GuardError, InputError, ResourceMissingError, RunError
from clinical_evals.tasks.launcher import evaluate
from clinical_evals.tasks.options import Options
from clinical_evals.tasks.prediction_log import read_log
from clinical_evals.tasks.scored.results import Result

ROWS, TOKENS = 6, 14
REAL_VLLM = find_spec("vllm") is not None


@pytest.fixture(scope="module")
def model(shared: Path, tokenizer: Any) -> Path:
    return varied_model(shared, tokenizer)


def options(model: Path, out: Path, args: str = "", backend: str = "vllm", **changes: Any) -> Options:
    usual = Options(f"model_name={model},dtype=float32{args}", "clibench|diagnosis", out, ROWS, answer_tokens=TOKENS)
    return usual._replace(backend=backend, **changes)


def run(model: Path, out: Path, args: str = "", backend: str = "vllm", **changes: Any) -> Result:
    (result,) = evaluate(options(model, out, args, backend, **changes))
    return result


def rows_of(log: Path) -> list[dict[str, Any]]:
    """The rows in the order of the split, without what tells how and by whom they were computed."""
    lines = [{k: v for k, v in line.items() if k not in ("seconds", "batch", "key")} for line in read_log(log)[1]]
    return sorted(lines, key=lambda line: int(line["row"]))


@pytest.fixture(scope="module")
def by_transformers(model: Path, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What `eval accelerate` gives."""
    rows = rows_of(run(model, tmp_path_factory.mktemp("accelerate"), backend="accelerate", batch_size=2).log)
    assert {finish for row in rows for finish in row["finish"]} == {"stop", "length"}
    assert len({row["answers"][0] for row in rows}) >= 4
    return rows


# One run


def test_rows_are_those_of_the_other_backend(
    vllm_stand_in: Any, model: Path, by_transformers: list[dict[str, Any]], tmp_path: Path
) -> None:
    result = run(model, tmp_path)
    assert rows_of(result.log) == by_transformers  # prompts, answers, tokens, and why they ended
    header, lines = read_log(result.log)
    assert [line["batch"] for line in lines] == [[place, ROWS] for place in range(ROWS)]  # 64 fit into one
    assert header["versions"]["vllm"] == "0.30.0"
    assert header["run"]["settings"] == {
        "backend": "vllm", "dtype": "float32", "tensor_parallel_size": 1, "pipeline_parallel_size": 1,
        "context": 2600, "answer_tokens": TOKENS, "generation": {"temperature": 0}, "seed": None, "samples": 1,
        "chat_template": True, "special_tokens": False,
    }  # fmt: skip
    (results,) = tmp_path.rglob("results_*.json")
    assert '"max_model_length"' in results.read_text()  # lighteval's own files tell its configuration
    (engine,) = vllm_stand_in.engines
    assert not engine.llm_engine.engine_core.running  # its memory is free before answers are matched
    assert os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] == "0"  # else a killed run leaves an engine behind
    assert os.environ["VLLM_NO_USAGE_STATS"] == "1"


def test_long_prompts_are_cut_by_us_and_never_by_vllm(vllm_stand_in: Any, model: Path, tmp_path: Path) -> None:
    result = run(model, tmp_path, ",max_model_length=900")
    for row in rows_of(result.log):
        assert row["input_tokens"] <= 900 - TOKENS < row["whole_tokens"]
        assert row["kept_long"] < 1
    assert read_log(result.log)[0]["run"]["settings"]["context"] == 900


def test_an_endless_answer_and_a_stop_token(vllm_stand_in: Any, tokenizer: Any, tmp_path: Path) -> None:
    endless = write_chain_model(tmp_path / "endless", tokenizer, "I10, E46", ends=False)
    (row,) = rows_of(run(endless, tmp_path / "a", max_samples=1).log)
    assert (row["answers"], row["finish"]) == (["I10, E46I10, E46"], ["length"])  # 7 tokens, twice
    stopped = ',generation_parameters={stop_tokens:[","]}'
    (row,) = rows_of(run(endless, tmp_path / "b", stopped, max_samples=1).log)
    assert (row["answers"], row["finish"], row["output_tokens"]) == (["I10,"], ["stop"], [4])  # I 1 0 ,


def test_a_yaml_file_through_the_command_line(
    vllm_stand_in: Any, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "vllm.yaml").write_text(
        f"model_parameters:\n  model_name: {model}\n  dtype: float32\n  tensor_parallel_size: 2\n  batch_size: 3\n"
        "  generation_parameters:\n    max_new_tokens: 5\n"
    )
    command = ["eval", "vllm", str(tmp_path / "vllm.yaml"), "--tasks", "clibench|diagnosis", "--max-samples", "4"]
    assert main([*command, "--output-dir", str(tmp_path / "out")]) == 0
    (log,) = tmp_path.rglob("predictions.jsonl")
    assert f"prediction log: {log}" in capsys.readouterr().out
    header, lines = read_log(log)
    assert (header["run"]["settings"]["tensor_parallel_size"], header["run"]["settings"]["answer_tokens"]) == (2, 5)
    assert [line["batch"][1] for line in lines] == [3, 3, 3, 1]
    assert vllm_stand_in.engines[-1].arguments["tensor_parallel_size"] == 2


# Which run it is


def test_what_decides_the_answers_is_another_run(vllm_stand_in: Any, model: Path, tmp_path: Path) -> None:
    first = run(model, tmp_path, max_samples=1)
    for args in (",tensor_parallel_size=2", ",pipeline_parallel_size=2", ",quantization=fp8", ",load_format=auto"):
        assert run(model, tmp_path, args, max_samples=1).resumed == 0, args
    rounded = options(model, tmp_path).model_args.replace("dtype=float32", "dtype=bfloat16")
    assert run(model, tmp_path, max_samples=1, model_args=rounded).resumed == 0
    same = ",gpu_memory_utilization=0.5,max_num_seqs=8,max_num_batched_tokens=512,enable_prefix_caching=False"
    again = run(model, tmp_path, same, max_samples=1, batch_size=1)
    assert (again.resumed, again.log) == (1, first.log)
    assert run(model, tmp_path, backend="accelerate", max_samples=1).resumed == 0


# Sampling and resume


def test_a_sampled_row_draws_the_same_whatever_is_in_its_batch(
    vllm_stand_in: Any, tokenizer: Any, tmp_path: Path
) -> None:
    letters = write_letter_model(tmp_path / "model", tokenizer)
    hot = ",generation_parameters={temperature:1.0}"

    def answers(out: str, **changes: Any) -> list[list[str]]:
        return [row["answers"] for row in rows_of(run(letters, tmp_path / out, hot, samples=2, **changes).log)]

    once = answers("a")
    assert len({answer for pair in once for answer in pair}) > ROWS  # of 12 draws from 26 letters
    assert answers("b", batch_size=2) == once
    assert answers("c", seed=1) != once
    shutil.copytree(tmp_path / "a", tmp_path / "d")
    (log,) = (tmp_path / "d").rglob("predictions.jsonl")
    header, *lines = log.read_bytes().splitlines(keepends=True)
    kept = [line.replace(b'"batch":[%d,6]' % i, b'"batch":[%d,2]' % i) for i, line in enumerate(lines[:2])]
    log.write_bytes(b"".join([header, *kept]))
    assert answers("d") == once


def test_an_engine_that_dies_keeps_what_was_logged(vllm_stand_in: Any, model: Path, tmp_path: Path) -> None:
    vllm_stand_in.faults["die_after"] = 2
    with pytest.raises(RunError, match=r"a batch of 2 rows: RuntimeError: EngineCore encountered.*same command again"):
        run(model, tmp_path, batch_size=2)
    (log,) = tmp_path.rglob("predictions.jsonl")
    assert len(read_log(log)[1]) == 4
    vllm_stand_in.faults.clear()
    result = run(model, tmp_path, batch_size=2)
    assert (result.resumed, len(result.lines)) == (4, ROWS)


@pytest.mark.parametrize(
    ("fault", "value", "message"),
    [
        ("cut", True, r"row \d+ of clibench:diagnosis\|0: vLLM did not read the prompt of \d+ tokens as it was sent"),
        ("drop", True, "vLLM answered 1 of 2 prompts"),
        ("finish", "abort", r"row \d+ of clibench:diagnosis\|0: vLLM ended an answer with 'abort'"),
        ("finish", None, "vLLM ended an answer with None"),
    ],
)
def test_what_is_no_answer_is_not_logged(
    vllm_stand_in: Any, model: Path, tmp_path: Path, fault: str, value: Any, message: str
) -> None:
    vllm_stand_in.faults[fault] = value
    with pytest.raises(RunError, match=message):
        run(model, tmp_path, max_samples=2)
    (log,) = tmp_path.rglob("predictions.jsonl")
    assert read_log(log)[1] == []


# Data-parallel


def test_copies_on_ray_give_the_rows_of_one(
    vllm_stand_in: Any, model: Path, by_transformers: list[dict[str, Any]], tmp_path: Path
) -> None:
    import ray

    result = run(model, tmp_path, ",data_parallel_size=2,tensor_parallel_size=4", batch_size=2)
    assert rows_of(result.log) == by_transformers
    assert [line["batch"][1] for line in read_log(result.log)[1]] == [4, 4, 4, 4, 2, 2]  # batch size x copies
    assert [actor.resources for actor in ray.actors] == [{"num_cpus": 0, "num_gpus": 4}] * 2
    assert [engine.arguments["distributed_executor_backend"] for engine in vllm_stand_in.engines] == ["mp"] * 2
    assert [engine.asked for engine in vllm_stand_in.engines] == [[2, 1], [2, 1]]
    assert [actor.alive for actor in ray.actors] == [False] * 2
    assert ray.calls == ["init", "shutdown"]
    # The number of copies decides the speed only.
    assert run(model, tmp_path, ",tensor_parallel_size=4").resumed == ROWS


@pytest.mark.parametrize(
    ("machines", "found"),
    [
        ([8], "Ray has 8, on machines with 8: room for 4"),
        ([3, 3, 3, 3], "Ray has 12, on machines with 3, 3, 3, 3: room"),
    ],
)
def test_ray_is_not_left_waiting_for_gpus(
    vllm_stand_in: Any, model: Path, tmp_path: Path, machines: list[int], found: str
) -> None:
    import ray

    ray.machines = machines
    message = rf"data_parallel_size=5 with 2 GPUs for each copy .* needs 10 free GPUs; {found}"
    with pytest.raises(InputError, match=message):
        run(model, tmp_path, ",data_parallel_size=5,tensor_parallel_size=2")
    assert ray.calls == ["init", "shutdown"]
    assert vllm_stand_in.engines == []


def test_a_copy_that_dies_is_told_in_its_own_words(vllm_stand_in: Any, model: Path, tmp_path: Path) -> None:
    vllm_stand_in.faults["die_after"] = 0
    with pytest.raises(RunError, match="RuntimeError: EngineCore encountered an issue"):
        run(model, tmp_path, ",data_parallel_size=2")


def test_a_cluster_elsewhere_is_a_sender(
    vllm_stand_in: Any, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mimic_like: None
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "ray://10.20.30.40:10001")
    with pytest.raises(
        GuardError, match=r"nothing was sent to the model endpoint 'Ray cluster ray://10.20.30.40:10001'"
    ):
        run(model, tmp_path / "out", ",data_parallel_size=2")
    assert vllm_stand_in.engines == []  # asked before the model is loaded
    agreed = run(model, tmp_path / "out", ",data_parallel_size=2", dua_consent="Jane Doe, 2026-11-30")
    header, _ = read_log(agreed.log)
    assert "under the data use agreement of: Jane Doe, 2026-11-30" in header["consent"]
    assert "ray://10.20.30.40:10001" in (tmp_path / "state" / "dua-consent.jsonl").read_text()


@pytest.mark.parametrize("address", ["127.0.0.1:6379", "auto"])
def test_a_cluster_whose_head_is_here_may_have_other_machines(
    vllm_stand_in: Any, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mimic_like: None, address: str
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", address)
    with pytest.raises(GuardError, match=f"Ray cluster {address}"):
        run(model, tmp_path / "out", ",data_parallel_size=2")


def test_a_cluster_that_is_started_for_the_run_is_no_sender(
    vllm_stand_in: Any, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mimic_like: None
) -> None:
    for place, address in enumerate(("local", "")):
        monkeypatch.setenv("RAY_ADDRESS", address)
        run(model, tmp_path / str(place), ",data_parallel_size=2", max_samples=2)
    with pytest.raises(InputError, match="--dua-consent: nothing leaves this machine"):
        run(model, tmp_path / "out", dua_consent="Jane Doe, 2026-11-30")


# What cannot be run


def test_a_model_that_vllm_cannot_load(vllm_stand_in: Any, model: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be loaded: ValueError: User-specified max_model_len \(9999\)"):
        run(model, tmp_path, ",max_model_length=9999")


@pytest.mark.parametrize(
    ("missing", "args", "message"),
    [
        ("vllm", "", "`eval vllm` needs the package vllm"),
        ("ray", ",data_parallel_size=2", "data_parallel_size above 1 needs the package ray"),
    ],
)
def test_a_missing_package_is_named_before_anything_is_loaded(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str, args: str, message: str
) -> None:
    there = {"vllm", "ray"} - {missing}
    monkeypatch.setattr("clinical_evals.tasks.models.vllm_generator.find_spec", lambda name: name in there or None)
    monkeypatch.setattr("clinical_evals.tasks.launcher._identify", None)  # reads the weights: comes later
    with pytest.raises(ResourceMissingError, match=rf'{message}, .*pip install "clinical-evals\[eval,vllm\]"'):
        run(model, tmp_path, args)


def test_accelerate_launch_is_not_for_vllm(
    vllm_stand_in: Any, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(InputError, match=r"`eval vllm` was started in 2 processes: .*data_parallel_size"):
        run(model, tmp_path)


# vLLM itself


@pytest.mark.slow
@pytest.mark.skipif(not REAL_VLLM, reason='vLLM is not installed (pip install "clinical-evals[eval,vllm]")')
def test_vllm_itself_gives_the_rows_of_the_other_backend(
    model: Path, by_transformers: list[dict[str, Any]], tmp_path: Path
) -> None:
    # Seen with vLLM 0.30 on CPU, in float32; vLLM promises no such equality.
    result = run(model, tmp_path, ",enforce_eager=True,gpu_memory_utilization=0.2")
    assert rows_of(result.log) == by_transformers
