"""The bare names in fresh processes: from an empty directory, in either import order, without a network to ask."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

# Any try to reach a host is noted and refused; the libraries swallow the refusal, so the note is what counts.
NO_NETWORK = """
import socket
asked = []
def refuse(*args, **kwargs):
    asked.append(args)
    raise OSError("the test allows no network")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
"""

LOAD_DATASET = """
from datasets import load_dataset
print(load_dataset("clibench", "diagnosis", split="test").num_rows)
"""

LOAD_METRIC = """
import evaluate
metric = evaluate.load("hier_icd_f1")
print(metric.compute(predictions=[["i10", "E119"]], references=[["I10", "E11.9"]])["f1_full"])
"""


def environment(tmp_path: Path, **extra: str) -> dict[str, str]:
    """A home of the test's own, and no switch that tells the libraries to stay offline."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "CLIBENCH", "PYTEST"))}
    return kept | {"HF_HOME": str(tmp_path / "hf"), **extra}


def start(code: str, tmp_path: Path, **extra: str) -> subprocess.Popen[str]:
    empty = tmp_path / "empty"
    empty.mkdir(exist_ok=True)
    code = NO_NETWORK + textwrap.dedent(code) + "\nassert not asked, asked\n"
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=empty,
        env=environment(tmp_path, **extra),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(code: str, tmp_path: Path, **extra: str) -> list[str]:
    return finish(start(code, tmp_path, **extra))


def finish(process: subprocess.Popen[str]) -> list[str]:
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out.splitlines()


def test_the_dataset_name_after_importing_us(tmp_path: Path) -> None:
    assert run("import clinical_evals\n" + LOAD_DATASET, tmp_path) == ["40"]


@pytest.mark.parametrize("first", ["import datasets", "from datasets import load_dataset", "import evaluate"])
def test_the_dataset_name_when_the_library_came_first(tmp_path: Path, first: str) -> None:
    assert run(f"{first}\nimport clinical_evals\n" + LOAD_DATASET, tmp_path) == ["40"]


def test_the_metric_name_when_the_library_came_first_and_with_a_type(tmp_path: Path) -> None:
    code = "from evaluate import load\nimport clinical_evals\nprint(load('hier_icd_f1', module_type='metric').name)"
    assert run(code, tmp_path) == ["hier_icd_f1"]


def test_the_metric_by_path_without_importing_us(tmp_path: Path, repository: Path) -> None:
    assert run(LOAD_METRIC.replace("hier_icd_f1", str(repository / "metrics/hier_icd_f1")), tmp_path) == ["1.0"]


def test_the_dataset_by_path_without_importing_us(tmp_path: Path, repository: Path) -> None:
    folder = repository / "datasets" / "clibench"
    # Without us the library itself counts the load of its JSON builder at a host of its own, unless told not to.
    assert run(LOAD_DATASET.replace("clibench", str(folder)), tmp_path, HF_HUB_OFFLINE="1") == ["40"]


def test_folders_of_the_same_names_in_the_working_directory_do_not_win(tmp_path: Path) -> None:
    for name in ("clibench", "hier_icd_f1"):
        (tmp_path / "empty" / name).mkdir(parents=True)
        (tmp_path / "empty" / name / f"{name}.py").write_text("raise SystemExit('the wrong file')")
    assert run("import clinical_evals\n" + LOAD_DATASET + LOAD_METRIC, tmp_path) == ["40", "1.0"]


def test_two_processes_at_once_with_one_cache(tmp_path: Path) -> None:
    code = "import clinical_evals\n" + LOAD_DATASET + LOAD_METRIC
    both = [start(code, tmp_path) for _ in range(2)]
    assert [finish(process) for process in both] == [["40", "1.0"], ["40", "1.0"]]


def test_num_proc_starts_workers_that_know_the_builder(tmp_path: Path) -> None:
    code = """
    import clinical_evals
    from datasets import load_dataset
    print(load_dataset("clibench", "diagnosis", split="train", num_proc=2).num_rows)
    """
    assert run(code, tmp_path) == ["12"]


def test_modules_look_untouched_and_are_wrapped_once(tmp_path: Path) -> None:
    code = """
    import importlib, sys
    import clinical_evals
    import datasets.load, datasets.inspect
    from clinical_evals.datasets_hub.names import register
    from importlib.machinery import SourceFileLoader
    once = datasets.load.dataset_module_factory
    register()
    register()
    print(datasets.load.dataset_module_factory is once is datasets.inspect.dataset_module_factory)
    print(type(datasets.load.__loader__) is type(datasets.load.__spec__.loader) is SourceFileLoader)
    print(sum(type(finder).__name__ == "_Finder" for finder in sys.meta_path))
    print("evaluate" in sys.modules)
    """
    assert run(code, tmp_path) == ["True", "True", "1", "False"]


def test_a_library_without_the_function_is_reported_and_still_works(tmp_path: Path) -> None:
    code = """
    import warnings
    import datasets.load
    del datasets.load.dataset_module_factory
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        import clinical_evals
    print([str(warning.message).split(" is not there")[0] for warning in seen])
    """
    assert run(code, tmp_path) == ["['datasets.load.dataset_module_factory']"]
