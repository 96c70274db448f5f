"""The wheel carries metric scripts and sample, and nothing that git does not know; installed elsewhere, it works."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

import pytest

from clinical_evals.datasets_hub.names import METRICS

pytest.importorskip("hatchling", reason="hatchling builds the wheel (part of the dev extra)")
ALLOWED = {".py", ".md", ".txt", ".json", ".typed", ".yaml"}
# Where files lie in the repository, by where they lie in the wheel.
SOURCES = {"clinical_evals/assets/": "", "clinical_evals/": "src/clinical_evals/"}
SECRETS = (
    "datasets/clibench/data/diagnosis/validation.json",  # not ignored by git, and not in the list either
    "datasets/clibench/data/procedure/validation.json",
    "datasets/clibench/data/diagnosis/test.parquet",  # ignored by git
    "datasets/ior-bench/data/static/test.parquet",  # what a hospital built in the wrong place
    "datasets/ior-bench/data/static/build-report.txt",
    "datasets/ior-bench/data/dynamic_h1/train.json",
    "datasets/ior-bench/final_static.csv",
    "metrics/hier_icd_f1/cache.arrow",
    "runs/log.jsonl",
)


def call(arguments: Sequence[str | Path], cwd: Path, **extra: str) -> str:
    done = subprocess.run(
        [str(argument) for argument in arguments],
        cwd=cwd,
        env=os.environ | extra,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def known_to_git(repository: Path) -> list[str]:
    """The files that are tracked."""
    if not (repository / ".git").exists():
        pytest.skip("not a git checkout: there is no list of files to compare with")
    listed = call(["git", "ls-files", "-z", "--cached"], repository)
    return sorted(name for name in listed.split("\0") if name and (repository / name).is_file())


@pytest.fixture(scope="module")
def copy(repository: Path, known_to_git: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout with files in it that must never be packed."""
    folder = tmp_path_factory.mktemp("copy") / "clinical-evals"
    for name in known_to_git:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes((repository / name).read_bytes())
    for name in SECRETS:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("must not leave")
    return folder


@pytest.fixture(scope="module")
def wheel(copy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    call([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", out], copy)
    (built,) = out.glob("*.whl")
    return built


def files_of(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return [name for name in archive.namelist() if ".dist-info/" not in name]


def repository_path(name: str) -> str:
    prefix = next(prefix for prefix in SOURCES if name.startswith(prefix))
    return SOURCES[prefix] + name.removeprefix(prefix)


def test_every_file_is_known_to_git_and_of_a_harmless_kind(wheel: Path, known_to_git: list[str]) -> None:
    files = files_of(wheel)
    assert [name for name in files if repository_path(name) not in known_to_git] == []
    published = {name for name in files if fnmatch(name, "clinical_evals/report/published/*.csv")}  # papers' tables
    assert [name for name in files if PurePosixPath(name).suffix not in ALLOWED and name not in published] == []


def test_metric_script_sample_and_all_modules_are_there(wheel: Path, known_to_git: list[str]) -> None:
    packed = {repository_path(name) for name in files_of(wheel)}
    wanted = {name for name in known_to_git if name.startswith(("src/clinical_evals/", "metrics/", "datasets/"))}
    assert wanted - packed == set(), "name new data files in pyproject.toml, [tool.hatch.build.targets.wheel]"
    assert {f"metrics/{name}/{name}.py" for name in METRICS} <= packed
    assert {name for name in packed if name.startswith("datasets/")} == {
        "datasets/clibench/README.md",
        "datasets/clibench/eval.yaml",
        "datasets/clibench/data/diagnosis/test.json",
        "datasets/clibench/data/diagnosis/train.json",
        "datasets/clibench/data/lab_order/test.json",
        "datasets/clibench/data/lab_order/train.json",
        "datasets/clibench/data/prescription/test.json",
        "datasets/clibench/data/prescription/train.json",
        "datasets/clibench/data/procedure/test.json",
        "datasets/clibench/data/procedure/train.json",
        "datasets/ior-bench/README.md",
        "datasets/ior-bench/eval.yaml",
        "datasets/ior-bench/data/static/test.json",
        "datasets/ior-bench/data/dynamic_h1/test.json",
        "datasets/ior-bench/data/dynamic_h2/test.json",
    }


def test_what_must_not_leave_is_in_no_wheel(wheel: Path) -> None:
    packed = {repository_path(name) for name in files_of(wheel)}
    assert packed.isdisjoint(SECRETS)


def test_a_wheel_by_way_of_the_source_archive_is_the_same(copy: Path, wheel: Path, tmp_path: Path) -> None:
    call([sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", tmp_path / "sdist"], copy)
    (archive,) = (tmp_path / "sdist").glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        assert {name.partition("/")[2] for name in opened.getnames()}.isdisjoint(SECRETS)
        opened.extractall(tmp_path, filter="data")
    call([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path], tmp_path / archive.name[:-7])
    (built,) = tmp_path.glob("*.whl")
    assert files_of(built) == files_of(wheel)


def test_an_editable_install_points_at_the_sources(copy: Path, tmp_path: Path) -> None:
    call([sys.executable, "-m", "hatchling", "build", "-t", "wheel:editable", "-d", tmp_path], copy)
    (built,) = tmp_path.glob("*.whl")
    (pointer,) = files_of(built)
    with zipfile.ZipFile(built) as archive:
        assert Path(archive.read(pointer).decode().strip()) == copy / "src"


def test_installed_elsewhere_the_names_work_from_an_empty_directory(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=False)
    python = environment / "bin" / "python"
    site = next((environment / "lib").glob("python*")) / "site-packages"
    call([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", site, wheel], tmp_path)
    # The libraries are those of this environment, which follow the new folder on the path: our package is the wheel's.
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    (tmp_path / "empty").mkdir()
    code = """
import socket
asked = []
def refuse(*args, **kwargs):
    asked.append(args)
    raise OSError("the test allows no network")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
import clinical_evals, evaluate, sys
from datasets import load_dataset
assert clinical_evals.__file__.startswith(sys.prefix), clinical_evals.__file__
rows = load_dataset("clibench", "diagnosis", split="test")
metric = evaluate.load("hier_icd_f1")
print(rows.num_rows, metric.compute(predictions=rows["codes"], references=rows["codes"])["f1_average"])
metric = evaluate.load("department_accuracy")
print(metric.compute(predictions=["挂外科"], references=["外科"], departments=["外科", "儿科"])["accuracy"])
print(*(load_dataset("ior-bench", name, split="test").num_rows for name in ("static", "dynamic_h1", "dynamic_h2")))
assert not asked, asked
"""
    output = call([python, "-c", code], tmp_path / "empty", HF_HOME=str(tmp_path / "hf"), PYTHONPATH="")
    assert output.split() == ["40", "1.0", "1.0", "72", "80", "80"]


@pytest.mark.parametrize(
    "name", ["src/clinical_evals/secret.json", "src/clinical_evals/new.py", "metrics/hier_icd_f1/untracked.py"]
)
def test_a_file_that_git_does_not_track_stops_the_build(copy: Path, tmp_path: Path, name: str) -> None:
    checkout = Path(shutil.copytree(copy, tmp_path / "checkout"))
    for secret in SECRETS:
        (checkout / secret).unlink()
    call(["git", "init", "--quiet"], checkout)
    call(["git", "add", "--all", "--force"], checkout)
    (checkout / name).write_text("x = 1")
    (checkout / "notes.txt").write_text("not packed, so of no matter")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "out")]
    done = subprocess.run(build, cwd=checkout, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode != 0
    assert f"untracked files would be packed: {name}" in done.stderr
    assert not list((tmp_path / "out").glob("*.whl"))
    (checkout / name).unlink()
    call(build, checkout)


def test_without_git_a_checkout_is_not_packed_unseen(copy: Path, tmp_path: Path) -> None:
    checkout = Path(shutil.copytree(copy, tmp_path / "checkout"))
    (checkout / ".git").write_text("gitdir: /no/such/place")  # a worktree whose repository is gone
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "out")]
    done = subprocess.run(build, cwd=checkout, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode != 0
    assert "git does not say which files it tracks" in done.stderr
    assert not list((tmp_path / "out").glob("*.whl"))
