"""The command line as a user meets it: what it prints, its exit codes, never a traceback."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from clinical_evals.cli import main
from clinical_evals.errors import InputError
from clinical_evals.version import __version__

EVAL = ["eval", "accelerate"]


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from clinical_evals.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print('loaded:', [name for name in ('torch', 'transformers', 'datasets', 'evaluate', 'lighteval', 'numpy', "
        "'yaml',"
        " 'simple_icd_10_cm') if name in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "loaded: []" in out
    assert all(command in out for command in ("eval", "score", "explain", "tasks", "demo", "prompts", "install"))


def test_module_and_entry_point_are_the_same_command() -> None:
    out = subprocess.run(
        [sys.executable, "-m", "clinical_evals", "tasks"], capture_output=True, text=True, check=True
    ).stdout
    assert re.match(r"clibench:diagnosis +\S", out)
    assert re.search(r"^ior_bench:static_cot +\S", out, re.MULTILINE)


def test_version_names_everything_a_result_depends_on(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["--version"])
    assert exit_.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"clinical-evals {__version__}"
    versions = ["clinical-evals", "protocol", "prompts", "prompts", "icd10cm", "icd10pcs", "loinc", "atc"]
    assert [line.split()[0] for line in lines] == versions
    assert "2026" in lines[4]


def test_prompts_show(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prompts", "show", "clibench|diagnosis", "--row", "3"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("# clibench:diagnosis, row 3, prompt version ")
    assert [
        heading
        for heading in ("[system]", "[user]", "## Record at admission", "## Laboratory results")
        if heading not in out
    ] == []


@pytest.mark.parametrize(
    ("arguments", "exit_code", "message"),
    [
        (
            ["prompts", "show", "clibench|diagnosis", "--row", "4000"],
            2,
            r"--row 4000: the test split .* has the rows 0 to \d+",
        ),
        (["prompts", "show", "clibench|diagnose"], 2, "Did you mean 'clibench:diagnosis'"),
        (
            [*EVAL, "model_name=x", "--tasks", "clibench|diagnosis", "--max-samples", "0"],
            2,
            "--max-samples 0: expected",
        ),
        (
            [*EVAL, "model_name=x", "--tasks", "clibench|diagnosis", "--batch-size", "-1"],
            2,
            "--batch-size -1: expected",
        ),
        ([*EVAL, "model_name=x", "--tasks", "clibench|diagnosis", "--context", "0"], 2, "--context 0: expected"),
        (
            [*EVAL, "model_name=x", "--tasks", "clinbench|diagnosis"],
            2,
            "unknown task .*Did you mean 'clibench:diagnosis'",
        ),
        ([*EVAL, "model_name=/no/such/model", "--tasks", "clibench"], 2, "no model folder at '/no/such/model'"),
        ([*EVAL, "model_name=org/no-such-model", "--tasks", "clibench"], 3, "hf download org/no-such-model"),
        (["eval", "vllm", "model_name=x", "--tasks", "clibench", "--samples", "0"], 2, "--samples 0: expected"),
        (
            ["eval", "vllm", "model_name=/no/such/model", "--tasks", "clibench"],
            2,
            "no model folder at '/no/such/model'",
        ),
        (
            ["eval", "vllm", "model_name=org/no-such-model,swap_space=8", "--tasks", "clibench"],
            2,
            "swap_space cannot be used: vLLM has no such argument any more",
        ),
        (["demo", "--rows", "0"], 2, "--rows 0: expected"),
        (["score", "no.jsonl"], 2, "no prediction log at no.jsonl"),
        (["score", "no.jsonl", "--dictionary", "d.csv"], 2, "--dictionary d.csv .* no use with --protocol standard"),
        (["explain", "no.jsonl", "--row", "0"], 2, "no prediction log at no.jsonl"),
    ],
)
def test_errors_name_the_way_out(
    arguments: list[str], exit_code: int, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == exit_code
    err = capsys.readouterr().err
    assert re.search(message, err)
    assert err.splitlines()[-1].startswith("clinical-evals: error: ")
    assert "Traceback" not in err


def test_both_backends_take_the_same_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    helps = {}
    for backend in ("accelerate", "vllm"):
        with pytest.raises(SystemExit) as exit_:
            main(["eval", backend, "--help"])
        assert exit_.value.code == 0
        helps[backend] = capsys.readouterr().out
    options = {backend: re.findall(r"^  (--[a-z-]+)", text, re.MULTILINE) for backend, text in helps.items()}
    assert options["accelerate"] == options["vllm"]
    assert {"--tasks", "--batch-size", "--context", "--seed", "--samples", "--protocol"} <= set(options["vllm"])
    assert "need not end in the same bytes" in " ".join(helps["vllm"].split())


@pytest.mark.parametrize("command", [[*EVAL, "model_name=x", "--tasks", "clibench"], ["demo"]])
def test_an_output_folder_that_cannot_be_written_to_is_found_first(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    assert main([*command, "--output-dir", str(tmp_path / "file" / "runs")]) == 2
    out = capsys.readouterr()
    assert re.search(
        r"the output folder .*file/runs cannot be written to \(.+\)\. Name another one: --output-dir FOLDER", out.err
    )
    assert out.out == ""


def test_an_interruption_says_how_to_go_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("clinical_evals.tasks.show.format_prompt", interrupt)
    assert main(["prompts", "show", "clibench|diagnosis"]) == 130
    assert "the same command goes on" in capsys.readouterr().err


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log with one row, whose answer needs no model."""
    from clinical_evals.tasks.prediction_log import PredictionLog

    line = {
        "key": "k", "row": 7, "subject_id": 1, "prompt": "the prompt", "answers": ["1. E11.9\n2. Gout"],
        "finish": ["stop"], "gold": ["E11.9"], "input_tokens": 3, "whole_tokens": 3, "output_tokens": [9],
        "kept_prompt": 1.0, "kept_long": 1.0,
    }  # fmt: skip
    log = PredictionLog(tmp_path / "predictions.jsonl", {"task": "clibench:diagnosis"}, {})
    log.append([line])
    log.close()
    return log.path


def test_score_and_explain(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", str(log), "--protocol", "both", "--output", str(tmp_path / "scores.json")]) == 0
    out = capsys.readouterr().out
    assert "clibench:diagnosis, 1 rows, both protocols" in out
    assert f"summary: {tmp_path / 'scores.json'}" in out
    assert main(["explain", str(log), "--row", "7"]) == 0
    out = capsys.readouterr().out
    assert "# clibench:diagnosis, row 7, standard protocol" in out
    assert re.search(r"^  full +50\.00  100\.00   66\.67$", out, re.MULTILINE)


def test_protocols_that_do_not_exist(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["score", str(log)], ["explain", str(log), "--row", "7"], [*EVAL, "m", "--tasks", "clibench"]):
        with pytest.raises(SystemExit) as exit_:
            main([*command, "--protocol", "offical"])
        assert exit_.value.code == 2
        assert "'standard', 'official'" in capsys.readouterr().err


def test_install_and_uninstall(tmp_path: Path) -> None:
    environment = {**os.environ, "HF_HOME": str(tmp_path / "hf")}
    for name in ("HF_DATASETS_CACHE", "HF_MODULES_CACHE"):
        environment.pop(name, None)
    command = [sys.executable, "-m", "clinical_evals"]
    for what, said in (("install", r'evaluate\.load\("hier_icd_f1"\)'), ("uninstall", "removed .*hier_icd_f1")):
        done = subprocess.run([*command, what], capture_output=True, text=True, check=False, env=environment)
        assert done.returncode == 0, done.stderr
        assert re.search(said, done.stdout)


@pytest.mark.parametrize(
    "model_args",
    ["", "nonsense", "model_name=/no/such/model", "model_name=x,generation_parameters={max_new_tokens:0}"],
)
def test_a_refused_run_leaves_no_folder(model_args: str, tmp_path: Path) -> None:
    out = tmp_path / "runs"
    assert main([*EVAL, model_args, "--tasks", "clibench", "--output-dir", str(out)]) in (2, 3)
    assert not out.exists()


@pytest.mark.parametrize("tokens", ["0", "-5", "abc", "1.5"])
def test_an_answer_has_a_whole_number_of_tokens(tokens: str) -> None:
    from clinical_evals.tasks.models.model_args import _answer_tokens

    with pytest.raises(InputError, match=r"max_new_tokens .*expected a whole number of at least 1"):
        _answer_tokens(tokens)
    assert (_answer_tokens(7), _answer_tokens("64"), _answer_tokens(None)) == (7, 64, None)
