"""A model described in a YAML file, through the command line."""

import re
from pathlib import Path

import pytest

import clinical_evals  # noqa: F401 - makes the bare name known
from clinical_evals.cli import main
from clinical_evals.tasks.prediction_log import read_log

CONFIG = """\
model_parameters:
  model_name: {model}
  dtype: float32
  batch_size: 3
  generation_parameters:
    temperature: 0.0
    max_new_tokens: 12
    stop_tokens: ["E"]
"""


def test_every_value_of_the_file_reaches_the_model(
    chain_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(CONFIG.format(model=chain_model))
    command = ["eval", "accelerate", str(config), "--tasks", "clibench|diagnosis", "--max-samples", "4"]
    assert main([*command, "--output-dir", str(tmp_path / "out")]) == 0
    (log,) = tmp_path.rglob("predictions.jsonl")
    assert f"prediction log: {log}" in capsys.readouterr().out
    header, lines = read_log(log)
    settings = header["run"]["settings"]
    assert (settings["dtype"], settings["answer_tokens"]) == ("float32", 12)
    assert settings["generation"] == {"temperature": 0.0, "stop_tokens": ["E"], **_others(settings["generation"])}
    assert [line["batch"] for line in lines] == [[0, 3], [1, 3], [2, 3], [0, 1]]
    assert [line["answers"] for line in lines] == [["I10, E"]] * 4  # stopped after the E of E46
    # The same as text is the same run, and --batch-size goes before the file's.
    again = ["--output-dir", str(tmp_path / "out"), "--batch-size", "1"]
    assert main([*command, *again]) == 0
    assert "4 of 4 rows were already answered" in capsys.readouterr().out


def _others(generation: dict[str, object]) -> dict[str, object]:
    """lighteval's own defaults."""
    return {name: value for name, value in generation.items() if name not in ("temperature", "stop_tokens")}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model_name: x\n", "config.yaml: expected a mapping `model_parameters`"),
        ("model_parameters: [\n", "config.yaml cannot be read as YAML"),
        ("model_parameters:\n  batch_size: 2\n", "names no model"),
        ("model_parameters:\n  model_name: x\n  model_name: y\n", "'model_name' stands twice, in lines 2 and 3"),
        ("model_parameters:\n  model_name: x\n  trust_remote_code: true\n", "trust_remote_code cannot be used"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config.yaml").write_text(text)
    command = ["eval", "accelerate", str(tmp_path / "config.yaml"), "--tasks", "clibench|diagnosis"]
    assert main([*command, "--output-dir", str(tmp_path / "out")]) == 2
    assert re.search(message, capsys.readouterr().err)


def test_a_file_that_is_no_text_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.yaml").write_bytes(b"model_parameters: \xff\xfe")
    assert main(["eval", "accelerate", str(tmp_path / "config.yaml"), "--tasks", "clibench|diagnosis"]) == 2
    assert "config.yaml cannot be read as YAML" in capsys.readouterr().err
