"""Pairs for preference tuning: best and worst by the scorer, the prompt as it was sent, nothing of the test split."""

import json
from pathlib import Path
from typing import Any

import pytest
from datasets import load_dataset
from written_answers import USER, make_line, write_log

from clinical_evals.cli import main
from clinical_evals.clibench.prompts import SYSTEM
from clinical_evals.errors import InputError
from clinical_evals.markers import MIMIC_MARKER
from clinical_evals.training.tuning.build_preferences import build_preferences, read_prompt


def _log(folder: Path, lines: list[dict[str, Any]], **about: Any) -> Path:
    return write_log(folder, lines, **{"split": "train"} | about)


def test_best_and_worst_by_hand(tmp_path: Path) -> None:
    lines = [
        make_line(0, ["I10", "E11.9\nI10", "J18.9"], ["E11.9", "I10"]),  # half, all, nothing
        make_line(1, ["I10", "I10"], ["I10"]),  # a tie
        make_line(
            2, ["I10\nE11.9", "I10"], ["I10", "E11.9"], ["length", "stop"]
        ),  # the best was cut; what is left is worst
        make_line(3, ["I10", "E11.9"], ["I10"], ["length", "length"]),
        make_line(4, ["", "I10"], ["I10"]),  # an empty answer is the worst one
    ]
    about = build_preferences(_log(tmp_path, lines), tmp_path / "rows")
    first, second = load_dataset(str(tmp_path / "rows"), split="train")
    assert first["prompt"] == [{"role": "system", "content": SYSTEM}, {"role": "user", "content": USER}]
    assert first["chosen"] == [{"role": "assistant", "content": "E11.9\nI10"}]
    assert first["rejected"] == [{"role": "assistant", "content": "J18.9"}]
    assert (first["f1_chosen"], first["f1_rejected"], first["row"]) == (1.0, 0.0, 0)
    assert (second["chosen"][0]["content"], second["rejected"][0]["content"], second["row"]) == ("I10", "", 4)
    assert (about["rows"], about["rows_that_tie"], about["rows_without_a_finished_answer"]) == (2, 2, 1)


def test_the_mark_comes_from_the_log(tmp_path: Path) -> None:
    line = make_line(0, ["I10", "E11.9"], ["I10"])
    log = _log(tmp_path, [line], source=MIMIC_MARKER)
    assert build_preferences(log, tmp_path / "rows")["source"] == MIMIC_MARKER
    assert MIMIC_MARKER in (tmp_path / "rows" / "README.md").read_text()


@pytest.mark.parametrize(
    ("answers", "run", "message"),
    [
        (["I10", "E11.9"], {"split": "test"}, "asked the test split, which is what is measured and never trained on"),
        (["I10"], {}, "one answer a prompt; a preference needs two or more"),
        (["I10", "I10"], {}, r"no row has a best and a worst answer \(1 rows tie"),
        (["I10", "E11.9"], {"prompt": "0"}, "asked with prompt version 0, expected"),
    ],
)
def test_logs_without_preferences(tmp_path: Path, answers: list[str], run: dict[str, Any], message: str) -> None:
    log = _log(tmp_path, [make_line(0, answers, ["I10"])], **run)
    with pytest.raises(InputError, match=message):
        build_preferences(log, tmp_path / "rows")
    assert not (tmp_path / "rows").exists()


def test_pairs_replace_pairs_and_nothing_else(rows: Path, tmp_path: Path) -> None:
    log = _log(tmp_path, [make_line(0, ["I10", "E11.9"], ["I10"])])
    with pytest.raises(InputError, match=r"no earlier output .* \(no train\.parquet of this command\)"):
        build_preferences(log, rows)
    said: list[str] = []
    for _ in range(2):
        build_preferences(log, tmp_path / "rows", said.append)
    assert [line for line in said if "replaced" in line] == [f"replaced: the earlier rows in {tmp_path / 'rows'}"]


def test_a_prompt_without_system_role_stays_one_turn() -> None:
    sent = f"[INST] {SYSTEM}\n\n{USER} [/INST]"
    assert read_prompt(sent, "diagnosis", "row 0") == [{"role": "user", "content": f"{SYSTEM}\n\n{USER}"}]
    with pytest.raises(InputError, match="row 7: the prompt does not hold the instruction and question of procedure"):
        read_prompt(sent, "procedure", "row 7")


def test_sampled_answers_to_the_train_split_become_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From a model to pairs: one that answers any letter and 10, which is a code, right or wrong, or none."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "tasks")
    from chain_model import write_letter_model
    from tiny_llama import make_tokenizer

    model = write_letter_model(tmp_path / "model", make_tokenizer())
    arguments = ["--tasks", "clibench|diagnosis", "--split", "train", "--samples", "6", "--context", "2048"]
    given = f"model_name={model},dtype=float32,generation_parameters={{temperature:1.0}}"
    run = ["eval", "accelerate", given, *arguments, "--answer-tokens", "6", "--output-dir", str(tmp_path / "runs")]
    assert main(run) == 0, capsys.readouterr().err
    (log,) = (tmp_path / "runs").rglob("predictions.jsonl")
    assert json.loads(log.read_text().splitlines()[0])["run"]["split"] == "train"
    assert main(["build", "preferences", str(log), "--out", str(tmp_path / "rows")]) == 0
    pairs = load_dataset(str(tmp_path / "rows"), split="train").to_list()
    assert pairs
    assert all(pair["f1_chosen"] > pair["f1_rejected"] for pair in pairs)


def test_only_clibench_has_a_train_split(capsys: pytest.CaptureFixture[str]) -> None:
    run = ["eval", "accelerate", "model_name=x", "--tasks", "ior_bench|static", "--split", "train"]
    assert main(run) == 2
    assert "--split train is for the tasks of clibench" in capsys.readouterr().err
