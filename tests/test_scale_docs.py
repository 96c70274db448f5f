"""docs/scale.md and the sbatch files: each command is read by the program it is for, so that a wrong flag fails."""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from slurm_nodes import NODES, recorded_commands, run_job
from small_mimic import LAB_MAP, write_mimic

from clinical_evals.cli.arguments import make_parser
from clinical_evals.errors import InputError

REPOSITORY = Path(__file__).parents[1]
DOCS = REPOSITORY / "docs"
TEXT = (DOCS / "scale.md").read_text(encoding="utf-8")
JOBS = sorted((DOCS / "slurm").glob("*.sbatch"))
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)

SBATCH = {"--job-name", "--nodes", "--ntasks-per-node", "--gpus-per-node", "--cpus-per-task", "--mem", "--exclusive",
          "--time", "--requeue", "--output"}  # fmt: skip
"""Options of sbatch's manual page; Slurm itself is not there to ask."""


def commands() -> Iterator[list[str]]:
    """The commands of the page as the shell splits them."""
    for language, block in BLOCKS:
        if language == "bash":
            for line in block.replace("\\\n", " ").splitlines():
                if words := shlex.split(line, comments=True):
                    yield words


def without_settings(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """NAME=VALUE in front of a command, and the command."""
    settings: dict[str, str] = {}
    while re.match(r"[A-Z_]+=", words[0]):
        name, _, settings[name] = words[0].partition("=")
        words = words[1:]
    return settings, words


def read_ours(words: list[str]) -> argparse.Namespace:
    assert "…" not in " ".join(words)
    args = make_parser().parse_args(words)
    if getattr(args, "backend", None) == "vllm":
        read_vllm(args.model_args)
    return args


def read_vllm(text: str) -> dict[str, Any]:
    """What vLLM's engine is given of MODEL_ARGS, by our own reading of them; the model is not looked for."""
    from clinical_evals.tasks.models.backends import BACKENDS
    from clinical_evals.tasks.models.model_args import build_config, parse_model_args
    from clinical_evals.tasks.models.vllm_generator import VllmConfig, engine_arguments

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(BACKENDS, "vllm", BACKENDS["vllm"]._replace(find_model=lambda name, revision: name))
        config = build_config(parse_model_args(text, None, "vllm"))
    assert isinstance(config, VllmConfig)
    return engine_arguments(config) | {"data_parallel_size": config.data_parallel_size}


def read_accelerate(words: list[str]) -> argparse.Namespace:
    """By accelerate's own parser and checks, and what it starts by ours."""
    from accelerate.commands import launch

    assert words[0] == "launch"
    args = launch.launch_command_parser().parse_args(words[1:])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch, "default_config_file", "")  # that of whoever runs the tests
        launch._validate_launch_command(args)
    assert (args.module, args.training_script) == (True, "clinical_evals")
    assert args.multi_gpu
    assert args.num_processes % args.num_machines == 0  # as many on each
    assert (args.machine_rank or 0) in range(args.num_machines)
    assert read_ours(args.training_script_args).backend == "accelerate"
    return args


def read_ray(words: list[str]) -> None:
    """By Ray's own parser, where Ray is installed."""
    known = {"start": {"--head", "--port", "--num-gpus", "--address", "--node-ip-address", "--include-dashboard",
                       "--block"}, "status": set(), "get-auth-token": {"--generate"}}  # fmt: skip
    assert {word.partition("=")[0] for word in words[1:]} <= known[words[0]]
    if find_spec("ray"):
        from ray.scripts.scripts import cli

        cli.commands[words[0]].make_context(words[0], words[1:])


def read_pip(words: list[str]) -> None:
    extras = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (wanted,) = (found for word in words if (found := re.fullmatch(r"clinical-evals\[(.+)\]", word)))
    assert set(wanted[1].split(",")) <= extras.keys()


def read_sbatch(words: list[str]) -> None:
    assert {word.partition("=")[0] for word in words[:-1]} <= SBATCH
    assert REPOSITORY / words[-1] in JOBS


def read_spark(words: list[str]) -> None:
    """What is before the script is run below; what is behind it is ours."""
    place = words.index("build_on_spark.py")
    assert read_ours(words[place + 1 :]).engine == "spark"


READERS: Mapping[str, Callable[[list[str]], Any]] = {
    "clinical-evals": read_ours,
    "accelerate": read_accelerate,
    "ray": read_ray,
    "pip": read_pip,
    "sbatch": read_sbatch,
    "spark-submit": read_spark,
}


@pytest.mark.parametrize("words", list(commands()), ids=" ".join)
def test_every_command_of_the_page_is_read_by_its_program(words: list[str]) -> None:
    settings, (program, *arguments) = without_settings(words)
    READERS[program](arguments)
    if program == "sbatch":
        assert all(f"${{{name}:" in (REPOSITORY / arguments[-1]).read_text() for name in settings)


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("--tasks", "--task-names", SystemExit),
        ("--engine", "--motor", SystemExit),
        ("--num_processes", "--number_of_processes", SystemExit),
        ("tensor_parallel_size=4", "tensor_parallel=4", InputError),
        ("--port=", "--gate=", AssertionError),
    ],
)
def test_a_wrong_flag_would_be_seen(old: str, new: str, error: type[BaseException]) -> None:
    wrong = next([word.replace(old, new) for word in words] for words in commands() if old in " ".join(words))
    _, (program, *arguments) = without_settings(wrong)
    with pytest.raises(error):
        READERS[program](arguments)


def test_every_value_of_vllm_in_the_page_and_the_readme_reaches_its_engine() -> None:
    """A value that we did not pass on would be missing here; that the engine gets all of these: test_vllm_args.py."""
    renamed = {"model_name": "model", "max_model_length": "max_model_len"}
    asked = re.findall(r'eval vllm\s+"([^"]+)"', (REPOSITORY / "README.md").read_text(encoding="utf-8") + TEXT)
    assert len(asked) >= 5
    for text in asked:
        given = dict(pair.split("=") for pair in text.split(","))
        found = read_vllm(text)
        for name, value in given.items():
            if name != "batch_size":  # ours: the rows that are logged together
                assert str(found[renamed.get(name, name)]) == value, (text, name)


def test_the_table_of_vllms_values_names_what_is_passed_on() -> None:
    from clinical_evals.tasks.models.vllm_generator import _PASSED

    table = TEXT[TEXT.index("| in MODEL_ARGS |") : TEXT.index("`eval vllm` is one process")]
    rows = [line.split("|")[1:3] for line in table.splitlines() if line.startswith("| `")]
    same = {name for names, given in rows if given.startswith(" the same") for name in re.findall(r"`(\w+)`", names)}
    assert same == {*_PASSED, "revision"}


def test_links_and_files_are_there() -> None:
    for target in re.findall(r"\]\(([^)]+)\)", TEXT):
        assert (DOCS / target).exists(), target
    for target in re.findall(r"`((?:docs|tests|clibench)/[\w/.]+)`", TEXT):
        assert (REPOSITORY / target).exists() or (REPOSITORY / "src/clinical_evals" / target).exists(), target


def test_the_example_of_bigquerys_sql_runs() -> None:
    pytest.importorskip("ibis", reason="the extra `mimic` is not installed")
    (example,) = (block for language, block in BLOCKS if language == "python" and "bigquery" in block)
    printed = subprocess.run([sys.executable, "-c", example], capture_output=True, text=True, check=True).stdout
    assert "SAFE_CAST(`t0`.`hadm_id` AS INT64)" in printed


# The sbatch files


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_bash_and_sbatch_can_read_it(job: Path) -> None:
    subprocess.run(["bash", "-n", str(job)], check=True)
    lines = job.read_text().splitlines()
    assert lines[0] == "#!/bin/bash"
    options = [line.removeprefix("#SBATCH ") for line in lines if line.startswith("#SBATCH")]
    assert {option.partition("=")[0] for option in options} <= SBATCH
    # sbatch reads no option after the first command
    commands = [place for place, line in enumerate(lines) if line and not line.startswith("#")]
    assert max(place for place, line in enumerate(lines) if line.startswith("#SBATCH")) < commands[0]


def test_one_node(tmp_path: Path) -> None:
    done = run_job(DOCS / "slurm/one_node.sbatch", tmp_path, 1, 4, {"MODEL": "/models/a model"}, ["accelerate"])
    assert done.returncode == 0, done.stderr
    ((program, *arguments), _) = only(recorded_commands(tmp_path))
    assert program == "accelerate"
    args = read_accelerate(arguments)
    assert (args.num_machines, args.num_processes) == (1, 4)
    assert args.training_script_args[2:5] == [
        "model_name=/models/a model,dtype=bfloat16",
        "--tasks",
        "clibench|diagnosis",
    ]


def test_several_nodes(tmp_path: Path) -> None:
    settings = {"TASKS": "clibench,ior_bench|static", "OUT": "/shared/my runs"}
    done = run_job(DOCS / "slurm/several_nodes.sbatch", tmp_path, 2, 4, settings, ["accelerate"])
    assert done.returncode == 0, done.stderr
    found = [read_accelerate(arguments) for (_, *arguments), _ in recorded_commands(tmp_path)]
    assert sorted(args.machine_rank for args in found) == [0, 1]
    assert {(args.num_machines, args.num_processes, args.main_process_ip) for args in found} == {(2, 8, NODES[0])}
    assert len({args.main_process_port for args in found}) == 1
    for args in found:
        ours = read_ours(args.training_script_args)
        assert (ours.tasks, ours.output_dir) == ("clibench,ior_bench|static", Path("/shared/my runs"))


@pytest.mark.parametrize(
    ("nodes", "settings", "copies", "each", "consent"),
    [
        (2, {"GPUS_EACH": "4", "CONSENT": "Jane Doe, 2026-11-30"}, 2, 4, "Jane Doe, 2026-11-30"),
        (2, {}, 8, 1, None),  # one copy a GPU
        (1, {"COPIES": "1", "GPUS_EACH": "2"}, 1, 2, None),
    ],
)
def test_vllm_on_ray(
    tmp_path: Path, nodes: int, settings: dict[str, str], copies: int, each: int, consent: str | None
) -> None:
    recorded = ["ray", "hostname", "python", "clinical-evals"]
    folder = tmp_path / "stand-ins"
    folder.mkdir()
    done = run_job(DOCS / "slurm/vllm_ray.sbatch", folder, nodes, 4, settings, recorded)
    assert done.returncode == 0, done.stderr
    found = [(words, environment) for words, environment in recorded_commands(folder)]
    rays = [words[1:] for words, _ in found if words[0] == "ray"]
    for words in rays:
        read_ray(words)
    starts = [words for words in rays if words[0] == "start"]
    assert ["--head" in words for words in starts] == [True, False][:nodes]
    (ours, environment) = only([one for one in found if one[0][0] == "clinical-evals"])
    args = read_ours(ours[1:])
    arguments = read_vllm(args.model_args)
    assert (arguments["data_parallel_size"], arguments["tensor_parallel_size"]) == (copies, each)
    assert args.dua_consent == consent
    assert environment["RAY_AUTH_MODE"] == "token"
    port = environment["RAY_ADDRESS"].rpartition(":")[2]
    assert f"--port={port}" in starts[0]
    assert all(f"--address={environment['RAY_ADDRESS']}" in words for words in starts[1:])


def only(found: list[Any]) -> Any:
    (one,) = found
    return one


# Spark


@pytest.mark.cluster
def test_the_spark_script_on_a_cluster_of_two_executors(tmp_path: Path, written_releases: Path) -> None:
    """The page's own script and settings; only the master is another: two executors with a process each."""
    pq = pytest.importorskip("pyarrow.parquet")
    pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
    if not shutil.which("java"):
        pytest.skip("Spark needs Java, which is not on this machine")
    from clinical_evals.datasets_hub.build_clibench import Request, build_clibench

    (written_releases / "d_labitems_to_loinc.csv").write_text(LAB_MAP)
    less = dict.fromkeys(("procedures_icd", "prescriptions", "services", "transfers", "d_labitems", "radiology"))
    mimic = write_mimic(tmp_path / "mimic", less)
    build_clibench(Request(mimic, mimic, tmp_path / "duckdb", threads=1), lambda line: None)
    (script,) = (block for language, block in BLOCKS if "# build_on_spark.py" in block)
    (tmp_path / "build_on_spark.py").write_text(script)
    (words,) = (words for words in commands() if "spark-submit" in words)
    place, own = words.index("build_on_spark.py"), words.index("spark-submit")
    options = words[own + 1 : place]
    for name, value in (("--master", "local-cluster[2,1,1024]"), ("--executor-memory", "1g")):
        options[options.index(name) + 1] = value
    arguments = words[place + 1 :]
    for name, path in (("--mimic", mimic), ("--notes", mimic), ("--out", tmp_path / "spark")):
        arguments[arguments.index(name) + 1] = str(path)
    submit = [str(Path(sys.executable).with_name("spark-submit")), *options]
    done = subprocess.run(
        [*submit, "--conf", "spark.sql.shuffle.partitions=2", str(tmp_path / "build_on_spark.py"), *arguments],
        capture_output=True, text=True, check=False, timeout=300, cwd=tmp_path,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    # the executors that were granted, each by its number: not a session of our own on this machine
    assert {"0", "1"} <= set(re.findall(r"Granted executor ID app-[\d-]+/(\d+)", done.stderr))
    built = sorted((tmp_path / "duckdb").rglob("*.parquet"))
    assert [path.parent.name for path in built] == ["diagnosis", "lab_order"]
    for path in built:
        assert pq.read_table(tmp_path / "spark" / path.relative_to(tmp_path / "duckdb")).equals(pq.read_table(path))
