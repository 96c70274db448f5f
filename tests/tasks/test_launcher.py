"""Whole runs with a model that always answers "I10, E46": real lighteval, real tokenizer, the embedded admissions."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from chain_model import write_chain_model

import clinical_evals  # noqa: F401 - makes the bare name known
from clinical_evals.clibench.prompts import SYSTEM, TASK_PROMPTS
from clinical_evals.errors import InputError
from clinical_evals.ontology import get_system
from clinical_evals.tasks.launcher import evaluate
from clinical_evals.tasks.names import PROTOCOL_VERSION
from clinical_evals.tasks.options import Options
from clinical_evals.tasks.prediction_log import read_log
from clinical_evals.tasks.scored.results import Result
from clinical_evals.tasks.scored.tables import format_result

ANSWER_CODES = ("E46", "I10")


def options(model: Path, out: Path, **changes: Any) -> Options:
    usual = Options(
        model_args=f"model_name={model},dtype=float32",
        tasks="clibench|diagnosis",
        output_dir=out,
        max_samples=5,
        batch_size=2,
        answer_tokens=20,
    )
    return usual._replace(**changes)


def run(model: Path, out: Path, **changes: Any) -> Result:
    (result,) = evaluate(options(model, out, **changes))
    return result


def without_seconds(log: Path) -> list[dict[str, Any]]:
    return [{key: value for key, value in line.items() if key != "seconds"} for line in read_log(log)[1]]


@contextmanager
def counted_generation(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The ids of the documents that the model is asked."""
    from clinical_evals.tasks.models.transformers_generator import TransformersGenerator

    asked: list[str] = []
    generate = TransformersGenerator.generate

    def counted(self: Any, docs: Any, *more: Any) -> Any:
        asked.extend(doc.id for doc in docs)
        return generate(self, docs, *more)

    with monkeypatch.context() as patch:
        patch.setattr(TransformersGenerator, "generate", counted)
        yield asked


@pytest.fixture(scope="module")
def finished(chain_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Result:
    """One uninterrupted run."""
    return run(chain_model, tmp_path_factory.mktemp("finished"))


def test_scores_are_those_of_sets_of_codes(finished: Result) -> None:
    right = sum(code in line["gold"] for line in finished.lines for code in ANSWER_CODES)
    gold = sum(len(line["gold"]) for line in finished.lines)
    scores = finished.scored.scores()
    assert len(finished.lines) == 5
    assert scores["precision_full"] == right / (5 * 2)
    assert scores["recall_full"] == right / gold
    assert (scores["items"], scores["share_code"], scores["empty_answers"]) == (10, 1.0, 0)


def test_the_log_tells_everything_of_a_row(finished: Result) -> None:
    header, lines = read_log(finished.log)
    assert header["source"] == "clinical-evals:synthetic"
    assert header["run"]["task"] == "clibench:diagnosis"
    assert {"clinical-evals", "lighteval", "transformers", "torch"} <= header["versions"].keys()
    # What its answers can be scored with: `score` may be asked of it years later.
    assert header["versions"]["protocol"] == PROTOCOL_VERSION
    assert header["versions"]["icd10cm"] == get_system("icd10cm").release
    for line in lines:
        assert line["answers"] == ["I10, E46"]
        assert line["finish"] == ["stop"]
        assert line["output_tokens"] == [7] == [len(ids) for ids in line["output_ids"]]  # I 1 0 , ␣E 4 6
        assert line["input_tokens"] == line["whole_tokens"] > 1000
        assert (line["kept_prompt"], line["kept_long"]) == (1.0, 1.0)
        assert line["prompt"].startswith("<|im_start|>system\n")
        assert line["seconds"] > 0
        assert line["gold"] == sorted(line["gold"])
    lengths = [len(line["prompt"]) for line in lines]
    assert lengths == sorted(lengths, reverse=True)  # batches are made of prompts of similar length


def test_no_identifier_of_the_admission_is_in_the_log(finished: Result) -> None:
    assert "hadm_id" not in finished.log.read_text()


def test_scored_and_summary_files(finished: Result) -> None:
    header, *rows = [json.loads(line) for line in finished.log.with_name("scored.jsonl").read_text().splitlines()]
    assert (header["task"], header["protocol"], header["system"]) == ("clibench:diagnosis", "standard", "icd10cm")
    assert [row["row"] for row in rows] == sorted(line["row"] for line in finished.lines)
    for row in rows:
        assert row["predicted"] == list(ANSWER_CODES)
        assert [match["code"] for item in row["items"] for match in item["matches"]] == ["I10", "E46"]
        assert {match["how"] for item in row["items"] for match in item["matches"]} == {"code"}
    summary = json.loads(finished.log.with_name("summary.json").read_text())
    assert summary["scores"] == finished.scored.scores()
    low, high = summary["intervals"]["f1_average"]
    assert 0 <= low <= summary["scores"]["f1_average"] <= high <= 1
    assert summary["output_tokens"] == 5 * 7


def test_lighteval_writes_its_own_files_as_usual(finished: Result, chain_model: Path) -> None:
    import pandas as pd

    out = finished.log.parents[2]
    (results,) = out.rglob("results_*.json")
    (details,) = out.rglob("details_*.parquet")
    content = json.loads(results.read_text())
    assert content["config_general"]["model_name"] == str(chain_model)
    scores = content["results"]["clibench:diagnosis|0"]
    ours = finished.scored.scores()
    assert {"f1_average", "f1_full", "precision_average", "recall_average", "macro_f1_average"} < scores.keys()
    assert scores == {key: ours[key] for key in scores}  # and so no standard error of lighteval's
    table = pd.read_parquet(details)
    sent = {line["prompt"] for line in finished.lines}
    assert (
        {doc["query"] for doc in table["doc"]} == sent == {response["input"] for response in table["model_response"]}
    )
    assert all(list(response["text"]) == ["I10, E46"] for response in table["model_response"])


def test_lighteval_leaves_nothing_in_the_models_folder(finished: Result, chain_model: Path) -> None:
    assert finished.lines
    assert not [path for path in chain_model.iterdir() if path.is_dir()]


def test_the_printed_result(finished: Result) -> None:
    text = format_result(finished)
    for level in ("chapter", "block", "category", "subcategory", "full", "average"):
        assert re.search(rf"^{level} +(\d+\.\d\d \[\d+\.\d\d, \d+\.\d\d\] *){{4}}$", text, re.MULTILINE), text
    assert (
        "10 items: 100.0 % from codes, 0.0 % exact titles, 0.0 % embeddings, 0.0 % unmatched; 0 invalid codes, 0 "
        "empty answers" in text
    )
    assert f"prediction log: {finished.log}" in text
    assert "already answered" not in text


# Resume


def test_a_finished_run_asks_nothing_and_changes_nothing(
    chain_model: Path, finished: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(finished.log.parents[2], tmp_path / "out")
    before = {
        path.name: path.read_bytes() for path in (tmp_path / "out").rglob("*.json*") if "results" not in path.name
    }
    with counted_generation(monkeypatch) as asked:
        again = run(chain_model, tmp_path / "out")
    assert asked == []
    assert again.resumed == 5
    assert "5 of 5 rows were already answered in the log" in format_result(again)
    assert before == {
        path.name: path.read_bytes() for path in (tmp_path / "out").rglob("*.json*") if "results" not in path.name
    }
    details = sorted(path.read_bytes() for path in (tmp_path / "out").rglob("*.parquet"))
    assert details[0] == details[1]


KILLED = """
import os, signal, sys
from pathlib import Path
from clinical_evals.tasks.launcher import evaluate
from clinical_evals.tasks.options import Options
from clinical_evals.tasks.prediction_log import PredictionLog

append, appended = PredictionLog.append, []
def append_then_die(self, batch):
    append(self, batch)
    appended.append(batch)
    if len(appended) == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
PredictionLog.append = append_then_die
evaluate(Options(f"model_name={sys.argv[1]},dtype=float32", "clibench|diagnosis", Path(sys.argv[2]), 5, 2,
answer_tokens=20))
"""


@pytest.mark.parametrize("batches", [1, 2])
def test_a_killed_run_goes_on_from_the_last_finished_row(
    chain_model: Path, finished: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batches: int
) -> None:
    command = [sys.executable, "-c", KILLED, str(chain_model), str(tmp_path / "out"), str(batches)]
    killed = subprocess.run(command, capture_output=True, env={**os.environ, "OMP_NUM_THREADS": "2"}, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()[-2000:]
    (log,) = (tmp_path / "out").rglob("predictions.jsonl")
    done = without_seconds(log)
    assert done == without_seconds(finished.log)[: 2 * batches]
    with counted_generation(monkeypatch) as asked:
        result = run(chain_model, tmp_path / "out")
    assert result.resumed == 2 * batches
    assert sorted(map(int, asked)) == sorted({line["row"] for line in finished.lines} - {line["row"] for line in done})
    assert without_seconds(result.log) == without_seconds(finished.log)
    for name in ("scored.jsonl", "summary.json"):
        assert result.log.with_name(name).read_bytes() == finished.log.with_name(name).read_bytes()


def test_more_rows_ask_only_for_those(
    chain_model: Path, finished: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(finished.log.parents[2], tmp_path / "out")
    with counted_generation(monkeypatch) as asked:
        result = run(chain_model, tmp_path / "out", max_samples=7)
    assert (len(asked), result.resumed, len(result.lines)) == (2, 5, 7)


def test_another_batch_size_is_the_same_run(
    chain_model: Path, finished: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(finished.log.parents[2], tmp_path / "out")
    with counted_generation(monkeypatch) as asked:
        run(chain_model, tmp_path / "out", batch_size=4)
    assert asked == []


def test_retrained_weights_at_the_same_path_are_asked_anew(tokenizer: Any, tmp_path: Path) -> None:
    first = run(write_chain_model(tmp_path / "model", tokenizer, "I10"), tmp_path / "out")
    second = run(write_chain_model(tmp_path / "model", tokenizer, "E46"), tmp_path / "out")
    assert ({line["answers"][0] for line in first.lines}, first.resumed) == ({"I10"}, 0)
    assert ({line["answers"][0] for line in second.lines}, second.resumed) == ({"E46"}, 0)


@pytest.mark.parametrize(
    "change",
    [{"answer_tokens": 21}, {"context": 2500}, {"model_args": "dtype=bfloat16"}],
    ids=["answer", "context", "dtype"],
)
def test_another_setting_is_another_run(
    chain_model: Path, finished: Result, tmp_path: Path, change: dict[str, Any]
) -> None:
    shutil.copytree(finished.log.parents[2], tmp_path / "out")
    if "model_args" in change:
        change = {"model_args": f"model_name={chain_model},{change['model_args']}"}
    result = run(chain_model, tmp_path / "out", **change)
    assert result.resumed == 0
    assert result.log.parent != finished.log.parent


def test_another_prompt_version_is_another_run(
    chain_model: Path, finished: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(finished.log.parents[2], tmp_path / "out")
    monkeypatch.setattr("clinical_evals.tasks.clibench.PROMPT_VERSION", "other")
    assert run(chain_model, tmp_path / "out").resumed == 0


def test_an_edited_row_alone_is_asked_anew(
    chain_model: Path, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    shutil.copytree(repository / "datasets" / "clibench" / "data", data)
    monkeypatch.setenv("CLIBENCH_DIR", str(data))
    run(chain_model, tmp_path / "out", max_samples=None)
    content = json.loads((data / "diagnosis" / "test.json").read_text())
    content["rows"][6]["codes"], content["rows"][6]["titles"] = (
        ["I10"],
        ["Essential (primary) hypertension"],
    )  # not in the prompt
    (data / "diagnosis" / "test.json").write_text(json.dumps(content))
    with counted_generation(monkeypatch) as asked:
        result = run(chain_model, tmp_path / "out", max_samples=None)
    assert asked == ["6"]
    assert next(line for line in result.lines if line["row"] == 6)["gold"] == ["I10"]


# Truncation


def test_long_prompts_are_cut_to_the_model_and_answered_in_full(chain_model: Path, tmp_path: Path) -> None:
    result = run(chain_model, tmp_path, context=1000, answer_tokens=200)
    for line in result.lines:
        assert line["input_tokens"] <= 800 < line["whole_tokens"]
        assert 0 < line["kept_long"] < line["kept_prompt"] < 1
        assert line["answers"] == ["I10, E46"]
        assert line["prompt"].endswith(f"{TASK_PROMPTS['diagnosis'].question}<|im_end|>\n<|im_start|>assistant\n")
    summary = json.loads(result.log.with_name("summary.json").read_text())
    assert summary["prompts_cut"] == 5
    assert summary["kept_prompt"]["min"] == min(line["kept_prompt"] for line in result.lines)
    assert re.search(r"5 prompts were cut: kept of the whole prompt \d+\.\d % \(median", format_result(result))


def test_an_endless_answer_is_cut_at_its_tokens_and_counted(tokenizer: Any, tmp_path: Path) -> None:
    model = write_chain_model(tmp_path / "model", tokenizer, "I10, E46", ends=False)
    result = run(model, tmp_path / "out", max_samples=2, answer_tokens=14)
    assert [line["answers"] for line in result.lines] == [["I10, E46I10, E46"]] * 2  # 7 tokens, twice
    assert [line["finish"] for line in result.lines] == [["length"]] * 2
    assert "2 answers were cut at their token limit" in format_result(result)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"context": 300},
            r"row \d+ of clibench:diagnosis\|0: .* never cut and take \d+ tokens, but a context of 300 tokens",
        ),
        ({"context": 20}, "a context of 20 tokens leaves nothing for the prompt beside 20"),
        ({"context": 100_000}, "--context 100000: .* reads at most 2600 tokens"),
        ({"model_args": ",batch_size=many"}, "batch_size: .*Known: .*model_name"),
        ({"model_args": ",no_such_key=1"}, "no_such_key: "),
        ({"model_args": ",dtype=float31"}, "cannot be loaded: AttributeError"),
    ],
)
def test_what_cannot_be_run_is_said(chain_model: Path, tmp_path: Path, change: dict[str, Any], message: str) -> None:
    if "model_args" in change:
        change = {"model_args": f"model_name={chain_model}{change['model_args']}", "batch_size": None}
    with pytest.raises(InputError, match=message):
        run(chain_model, tmp_path, **change)


def test_plain_text_for_a_model_without_template(tokenizer: Any, chain_model: Path, tmp_path: Path) -> None:
    result = run(
        chain_model, tmp_path, model_args=f"model_name={chain_model},override_chat_template=False", max_samples=1
    )
    prompt = result.lines[0]["prompt"]
    assert prompt.startswith(f"{SYSTEM}\n\n")
    assert prompt.endswith(f"{TASK_PROMPTS['diagnosis'].question}\n")
    assert result.lines[0]["answers"] == ["I10, E46"]


def test_a_few_rows_do_not_replace_the_scores_of_a_larger_run(chain_model: Path, tmp_path: Path) -> None:
    large = run(chain_model, tmp_path, max_samples=3)
    summary = large.log.with_name("summary.json").read_bytes()
    small = run(chain_model, tmp_path, max_samples=1)
    assert small.log == large.log
    assert small.resumed == 1
    assert large.log.with_name("summary.json").read_bytes() == summary
    assert json.loads(large.log.with_name("summary.1-rows.json").read_text())["rows"] == 1
    assert "summary.1-rows.json" in format_result(small)


def test_a_wrong_gold_code_is_told_before_anything_is_asked(
    chain_model: Path, tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    (data / "diagnosis").mkdir(parents=True)
    content = json.loads((repository / "datasets/clibench/data/diagnosis/test.json").read_text(encoding="utf-8"))
    content["rows"] = content["rows"][:2]
    content["rows"][1]["codes"][0] = "E11.99"
    (data / "diagnosis" / "test.json").write_text(json.dumps(content), encoding="utf-8")
    monkeypatch.setenv("CLIBENCH_DIR", str(data))
    with (
        counted_generation(monkeypatch) as asked,
        pytest.raises(InputError, match=r"row 1 of clibench:diagnosis, column codes: 'E11\.99' is not a code"),
    ):
        run(chain_model, tmp_path / "out", max_samples=None)
    assert asked == []
