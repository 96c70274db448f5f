"""What all metric folders have in common: thin scripts, true examples, a card that a Space takes, the same by path."""

import ast
import doctest
import sys
from pathlib import Path

import pytest
import yaml

import clinical_evals  # noqa: F401 - makes the bare names known
from clinical_evals.assets import metric_script
from clinical_evals.datasets_hub.names import METRICS

evaluate = pytest.importorskip("evaluate")
# Texts of diagnoses are matched by a model, on the CPU build of torch; departments are found without one.
REQUIREMENTS = {
    "department_accuracy": ["clinical-evals"],
    "hier_icd_f1": [
        "--extra-index-url https://download.pytorch.org/whl/cpu", "torch==2.13.0", "clinical-evals[eval,hcup]",
    ],
}  # fmt: skip
ONE_RIGHT_ROW = {
    "department_accuracy": ({"predictions": ["挂外科"], "references": ["外科"], "departments": ["外科"]}, "accuracy"),
    "hier_icd_f1": ({"predictions": [["i10"]], "references": [["I10"]]}, "f1_full"),
}


@pytest.fixture(params=METRICS)
def folder(request: pytest.FixtureRequest) -> Path:
    return metric_script(request.param).parent


def test_by_path_it_is_the_same_metric(folder: Path) -> None:
    arguments, key = ONE_RIGHT_ROW[folder.name]
    by_path = evaluate.load(str(folder)).compute(**arguments)
    assert by_path == evaluate.load(folder.name).compute(**arguments)
    assert by_path[key] == 1.0


def test_the_examples_in_the_documentation_are_true(folder: Path) -> None:
    module = sys.modules[type(evaluate.load(folder.name)).__module__]
    failed, tried = doctest.testmod(module)
    assert (failed, tried >= 5) == (0, True)
    text = (folder / "README.md").read_text(encoding="utf-8").replace("```", "")
    runner = doctest.DocTestRunner()
    runner.run(doctest.DocTestParser().get_doctest(text, {}, "README", "", 0))
    failed, tried = runner.summarize(verbose=False)
    assert (failed, tried >= 4) == (0, True)


def test_the_script_is_thin(folder: Path) -> None:
    tree = ast.parse((folder / f"{folder.name}.py").read_text(encoding="utf-8"))
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert {"_info", "_compute"} <= set(functions) <= {"_info", "_compute", "_scorer"}
    assert len(functions["_compute"].body) <= 3  # all logic is in the library


def test_the_card_has_what_a_space_needs(folder: Path) -> None:
    head = yaml.safe_load((folder / "README.md").read_text(encoding="utf-8").split("---\n")[1])
    assert {"title", "emoji", "colorFrom", "colorTo"} <= head.keys()
    assert (head["sdk"], head["app_file"], head["pinned"]) == ("gradio", "app.py", False)
    assert {"evaluate", "metric"} <= set(head["tags"])
    assert len(head["description"]) > 20
    assert (folder / "requirements.txt").read_text(encoding="utf-8").splitlines() == REQUIREMENTS[folder.name]
