"""Whole runs by both protocols, and with several answers to a prompt; real lighteval, models with known answers."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from chain_model import write_chain_model, write_letter_model
from written_log import write_dictionary

import clinical_evals  # noqa: F401 - makes the bare name known
from clinical_evals.errors import InputError, UnknownNameError
from clinical_evals.tasks.launcher import evaluate
from clinical_evals.tasks.options import Options
from clinical_evals.tasks.prediction_log import read_log
from clinical_evals.tasks.scored.explain import explain
from clinical_evals.tasks.scored.rescore import rescore
from clinical_evals.tasks.scored.tables import format_results

ANSWER = "K21.9<br>Gout"
"""Two items by either protocol; no line break, since the model starts over at one."""


def options(model: Path, out: Path, **changes: Any) -> Options:
    usual = Options(f"model_name={model},dtype=float32", "clibench|diagnosis", out, 5, 4, answer_tokens=20)
    return usual._replace(**changes)


@pytest.fixture(scope="module")
def model(tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_chain_model(tmp_path_factory.mktemp("model") / "chain", tokenizer, ANSWER)


@pytest.fixture(scope="module")
def dictionary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mimic") / "d_icd_diagnoses.csv"
    return write_dictionary(path, {"M109": "Gout", "K219": "Gastro-esophageal reflux disease without esophagitis"})


def lighteval_scores(out: Path) -> dict[str, float]:
    (file,) = out.rglob("results_*.json")
    scores: dict[str, float] = json.loads(file.read_text())["results"]["clibench:diagnosis|0"]
    return scores


def test_both_protocols_in_one_run(model: Path, dictionary: Path, tmp_path: Path) -> None:
    standard, official = evaluate(options(model, tmp_path, protocol="both", dictionary=dictionary))
    assert {answer.codes for answer in standard.scored.answers} == {("K21.9", "M10")}
    assert {answer.codes for answer in official.scored.answers} == {("K21.9", "M10.9")}
    right = sum(code in line["gold"] for line in official.lines for code in ("K21.9", "M10.9"))
    assert official.scored.scores()["precision_full"] == right / (5 * 2)
    summaries = [json.loads(standard.log.with_name(f"summary{mark}.json").read_text()) for mark in ("", ".official")]
    assert [summary["protocol"] for summary in summaries] == ["standard", "official"]
    assert "2 of the 2 ICD-10 titles of d_icd_diagnoses.csv" in summaries[1]["candidates"]
    assert [summary["scores"] for summary in summaries] == [r.scored.scores() for r in (standard, official)]
    text = format_results([standard, official])
    assert re.search(r"^ +standard +official$", text, re.MULTILINE)
    assert re.search(r"^average +(\d+\.\d\d \[[^]]+\] +){3}(\d+\.\d\d *){3}$", text, re.MULTILINE), text
    assert "(beside it scored.jsonl, summary.json, scored.official.jsonl and summary.official.json)" in text
    ours = standard.scored.scores()
    found = lighteval_scores(tmp_path)
    assert found == {key: ours[key] for key in found}


def test_the_official_protocol_alone_reaches_lightevals_table(model: Path, dictionary: Path, tmp_path: Path) -> None:
    (result,) = evaluate(options(model, tmp_path, protocol="official", dictionary=dictionary))
    found, ours = lighteval_scores(tmp_path), result.scored.scores()
    assert found == {key: ours[key] for key in found}
    assert not result.log.with_name("summary.json").exists()
    # Its answers are those of any run: the same log scored again by either protocol.
    (standard, official), _ = rescore(result.log, "both", dictionary)
    assert official.scored.scores() == ours
    assert {answer.codes for answer in standard.scored.answers} == {("K21.9", "M10")}
    assert official.intervals == result.intervals


def test_rows_left_out_of_a_whole_run(chain_model: Path, tmp_path: Path) -> None:
    # "I10, E46" has neither line break nor number: by the official rules no item, so every row is left out.
    standard, official = evaluate(options(chain_model, tmp_path, max_samples=2, protocol="both"))
    assert standard.scored.scores()["items"] == 4
    assert official.scored.scores()["rows_left_out"] == 2
    text = format_results([standard, official])
    assert re.search("^official: .*rows_left_out 2 of 2: they predict nothing", text, re.MULTILINE)
    assert "our own titles stand in for MIMIC's dictionary" in text


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"dictionary": Path("d.csv")}, InputError, "--dictionary d.csv .* no use with --protocol standard"),
        ({"protocol": "official", "dictionary": Path("no/d.csv")}, InputError, "does not exist"),
        ({"protocol": "offical"}, UnknownNameError, "Did you mean 'official'"),
        ({"samples": 0}, InputError, "--samples 0: expected"),
        (
            {"samples": 2},
            InputError,
            r"--samples 2: without a temperature .*generation_parameters=\{temperature:0.7\}",
        ),
    ],
)
def test_what_cannot_be_is_said_before_the_model_is_loaded(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Any, error: type[Exception], message: str
) -> None:
    def load(*_: object) -> None:
        raise AssertionError("the model is loaded")

    monkeypatch.setattr("clinical_evals.tasks.launcher._load_model", load)
    with pytest.raises(error, match=message):
        evaluate(options(model, tmp_path, **change))


# Several answers to a prompt


def test_several_answers_are_sampled_logged_and_resumed(tokenizer: Any, tmp_path: Path) -> None:
    letters = write_letter_model(tmp_path / "model", tokenizer)
    asked = {"model_args": f"model_name={letters},generation_parameters={{temperature:1.0}}", "samples": 3, "seed": 1}
    (once,) = evaluate(options(letters, tmp_path / "out", **asked))
    for line in once.lines:
        assert len(line["answers"]) == len(line["finish"]) == len(line["output_ids"]) == 3
        assert all(re.fullmatch("[A-Z]10", answer) for answer in line["answers"])
        assert line["output_tokens"] == [3, 3, 3]
    assert any(len(set(line["answers"])) == 3 for line in once.lines)
    # Only the first is scored; all are told.
    assert [answer.codes for answer in once.scored.answers] == [(line["answers"][0],) for line in once.lines]
    assert "3 answers to each prompt are in the log; the first is scored" in format_results([once])
    assert "[answer 3 of 3, not scored: 3 tokens" in explain(once.log, once.lines[0]["row"])
    (again,) = evaluate(options(letters, tmp_path / "out", **asked))
    assert (again.resumed, again.lines) == (5, once.lines)
    # In another folder the seed gives the same answers.
    (elsewhere,) = evaluate(options(letters, tmp_path / "other", **asked))
    assert [line["answers"] for line in elsewhere.lines] == [line["answers"] for line in once.lines]
    (fewer,) = evaluate(options(letters, tmp_path / "out", **asked | {"samples": 2}))
    assert fewer.resumed == 0
    assert fewer.log != once.log
    assert read_log(fewer.log)[0]["run"]["settings"]["samples"] == 2
