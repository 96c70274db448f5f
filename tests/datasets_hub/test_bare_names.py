"""The bare names in fresh processes: from an empty directory, in either import order, without a network to ask."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from clinical_evals.datasets_hub.names import DATASETS, METRICS

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

LOAD_DATASETS = {
    "clibench": LOAD_DATASET,
    "ior-bench": """
from datasets import load_dataset
print([load_dataset("ior-bench", name, split="test").num_rows for name in ("static", "dynamic_h1", "dynamic_h2")])
""",
}
ROWS = {"clibench": "40", "ior-bench": "[72, 80, 80]"}

LOAD_METRIC = """
import evaluate
metric = evaluate.load("hier_icd_f1")
print(metric.compute(predictions=[["i10", "E119"]], references=[["I10", "E11.9"]])["f1_full"])
"""

LOAD_METRICS = {
    "hier_icd_f1": LOAD_METRIC,
    "department_accuracy": """
import evaluate
metric = evaluate.load("department_accuracy")
answers = {"predictions": ["建议挂小儿外科"], "references": ["小儿外科"]}
print(metric.compute(**answers, departments=["外科", "小儿外科"])["accuracy"])
""",
}
every_dataset = pytest.mark.parametrize("dataset", LOAD_DATASETS)
every_metric = pytest.mark.parametrize("metric", LOAD_METRICS)


def environment(tmp_path: Path, **extra: str) -> dict[str, str]:
    """A home of the test's own, and no switch that tells the libraries to stay offline."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("HF_", "CLIBENCH", "IOR_BENCH", "PYTEST"))
    }
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


@every_dataset
def test_the_dataset_name_after_importing_us(tmp_path: Path, dataset: str) -> None:
    assert run("import clinical_evals\n" + LOAD_DATASETS[dataset], tmp_path) == [ROWS[dataset]]


@pytest.mark.parametrize("first", ["import datasets", "from datasets import load_dataset", "import evaluate"])
def test_the_dataset_names_when_the_library_came_first(tmp_path: Path, first: str) -> None:
    code = f"{first}\nimport clinical_evals\n" + "".join(LOAD_DATASETS.values())
    assert run(code, tmp_path) == list(ROWS.values())


def test_every_name_of_ours_is_tried_here() -> None:
    assert set(LOAD_DATASETS) == set(DATASETS)
    assert set(LOAD_METRICS) == set(METRICS)


@every_metric
def test_the_metric_name_after_importing_us(tmp_path: Path, metric: str) -> None:
    assert run("import clinical_evals\n" + LOAD_METRICS[metric], tmp_path) == ["1.0"]


@every_metric
def test_the_metric_name_when_the_library_came_first_and_with_a_type(tmp_path: Path, metric: str) -> None:
    code = f"from evaluate import load\nimport clinical_evals\nprint(load('{metric}', module_type='metric').name)"
    assert run(code, tmp_path) == [metric]


@every_metric
def test_the_metric_by_path_without_importing_us(tmp_path: Path, repository: Path, metric: str) -> None:
    assert run(LOAD_METRICS[metric].replace(metric, str(repository / "metrics" / metric)), tmp_path) == ["1.0"]


@every_dataset
def test_the_dataset_by_path_without_importing_us(tmp_path: Path, repository: Path, dataset: str) -> None:
    code = LOAD_DATASETS[dataset].replace(dataset, str(repository / "datasets" / dataset))
    code += "import sys\nassert 'clinical_evals' not in sys.modules\n"
    # Without us the library itself counts the load of its JSON builder at a host of its own, unless told not to.
    assert run(code, tmp_path, HF_HUB_OFFLINE="1") == [ROWS[dataset]]


def test_folders_of_the_same_names_in_the_working_directory_do_not_win(tmp_path: Path) -> None:
    for name in (*LOAD_DATASETS, *LOAD_METRICS):
        (tmp_path / "empty" / name).mkdir(parents=True)
        (tmp_path / "empty" / name / f"{name}.py").write_text("raise SystemExit('the wrong file')")
    code = "import clinical_evals\n" + "".join([*LOAD_DATASETS.values(), *LOAD_METRICS.values()])
    assert run(code, tmp_path) == [*ROWS.values(), "1.0", "1.0"]


def test_two_processes_at_once_with_one_cache(tmp_path: Path) -> None:
    code = "import clinical_evals\n" + "".join([*LOAD_DATASETS.values(), *LOAD_METRICS.values()])
    both = [start(code, tmp_path) for _ in range(2)]
    assert [finish(process) for process in both] == [[*ROWS.values(), "1.0", "1.0"]] * 2


def test_num_proc_starts_workers_that_know_the_builder(tmp_path: Path) -> None:
    code = """
    import clinical_evals
    from datasets import load_dataset
    print(load_dataset("clibench", "diagnosis", split="train", num_proc=2).num_rows)
    print(load_dataset("ior-bench", "dynamic_h1", num_proc=2)["test"].num_rows)
    """
    assert run(code, tmp_path) == ["12", "80"]


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
