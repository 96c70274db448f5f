"""The whole recipe, by its script, on a tiny encoder and a small hospital's questions."""

import csv
import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from training_questions import write_questions

from clinical_evals.errors import GuardError
from clinical_evals.hub.guard import check_may_leave
from clinical_evals.hub.target import Target
from clinical_evals.training.departments.baselines import name_by_ngrams
from clinical_evals.training.departments.confusion import confusion_matrix, write_confusion_csv
from clinical_evals.training.departments.scaling import published_points
from clinical_evals.training.departments.scored import compare, score_names, score_of

QUICK = ("--epochs", "1", "--learning-rate", "1e-3")


@pytest.fixture(scope="session")
def script(repository: Path) -> Any:
    path = repository / "training" / "classify_department.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def finished(script: Any, encoder: Path, small_questions: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with two seeds and a sweep."""
    folder = tmp_path_factory.mktemp("run")
    given = ["--model", str(encoder), "--data", str(small_questions), "--output-dir", str(folder)]
    assert script.main([*given, *QUICK, "--seeds", "0", "1", "--train-sizes", "20", "10"]) == 0
    return folder


def read(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "results.json").read_text())
    return found


@pytest.mark.parametrize("recipe", ["bert-base-chinese/static", "e5-small-zh/questions"])
def test_every_shipped_recipe_trains_with_another_encoder(
    recipe: str, script: Any, encoder: Path, small_questions: Path, repository: Path, tmp_path: Path
) -> None:
    """A recipe's own settings, but for the steps: 60 questions leave 43 to train on, three batches of 16."""
    config = repository / "training" / "recipes" / f"{recipe}.yaml"
    given = ["--config", str(config), "--model", str(encoder), "--data", str(small_questions)]
    assert script.main([*given, "--output-dir", str(tmp_path), "--epochs", "1", "--least-steps", "3"]) == 0
    trained = [each for each in read(tmp_path)["classifiers"] if each["seed"] is not None]
    assert {len(each["epochs"]) for each in trained} == {1}


def test_a_run_writes_scores_with_intervals_the_split_and_the_versions(finished: Path) -> None:
    found = read(finished)
    assert [(each["name"], each["rows"], each["seed"]) for each in found["classifiers"]] == [
        ("majority", 43, None),
        ("TF-IDF + LR", 43, None),
        ("tiny-bert", 43, 0),
        ("tiny-bert", 43, 1),
    ]
    for each in found["classifiers"]:
        assert 0 <= each["low"] <= each["accuracy"] <= each["high"] <= 1
    assert {name: len(ids) for name, ids in found["split"].items() if name != "seed"} == {
        "fit": 43, "validation": 5, "test": 12,
    }  # fmt: skip
    assert found["seeds"]["seeds"] == [0, 1]
    assert {"torch", "transformers", "clinical-evals"} <= set(found["versions"])
    assert found["data"]["source"] == "clinical-evals:patient-data"
    assert (found["cut"], found["unseen"]) == ({"fit": 0, "validation": 0, "test": 0}, {})
    assert found["repeated"]["rows"] == 0
    assert found["repeated"]["accuracy_without"]["majority"] == found["classifiers"][0]["accuracy"]
    assert {each["baseline"] for each in found["comparisons"]} == {"majority", "TF-IDF + LR"}


def test_the_ngrams_learn_what_the_words_say(finished: Path) -> None:
    majority, ngrams = read(finished)["classifiers"][:2]
    assert ngrams["accuracy"] > majority["high"]
    texts = ["膝盖肿了", "脚踝扭伤", "眼睛发红", "看东西模糊"]
    asked = ["膝盖肿了两天", "看东西很模糊"]
    assert name_by_ngrams(texts, ["骨科", "骨科", "眼科", "眼科"], asked) == ["骨科", "眼科"]


def test_subsets_are_nested_and_scored_on_the_same_rows(finished: Path) -> None:
    found = read(finished)
    assert [(each["name"], each["rows"]) for each in found["scaling"]] == [
        (name, size) for size in (10, 20) for name in ("TF-IDF + LR", "tiny-bert", "tiny-bert")
    ]
    for folder in ("size-010-seed-0", "size-020-seed-1", "seed-0"):
        assert json.loads((finished / folder / "predictions.json").read_text())["ids"] == found["split"]["test"]


def test_figures_and_tables_are_written(finished: Path) -> None:
    for name in ("confusion.png", "scaling.png"):
        assert (finished / name).read_bytes()[:4] == b"\x89PNG"
    with (finished / "scaling.csv").open(newline="", encoding="utf-8") as stream:
        curves = {row["curve"]: row for row in csv.DictReader(stream)}
    assert set(curves) == {
        "TF-IDF + LR",
        "tiny-bert",
        "bert-base-chinese, supervised fine-tuning (published)",
        "GPT-4o, few-shot (published)",
    }
    with (finished / "confusion.csv").open(newline="", encoding="utf-8") as stream:
        table = list(csv.reader(stream))
    assert sum(int(cell) for row in table[1:] for cell in row[2:]) == 12


def test_the_model_and_the_results_of_patients_rows_are_known_to_the_guard(finished: Path) -> None:
    assert {path.name for path in finished.glob("seed-*")} == {"seed-0", "seed-1"}
    for path in (finished / "seed-1" / "model", finished / "results.json"):
        with pytest.raises(GuardError, match="patient"):
            check_may_leave(path, Target("hub-public", "somebody/model"))


def test_several_processes_are_refused(
    script: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert script.main([]) == 2
    assert "trains in one process" in capsys.readouterr().err


def test_a_finished_run_is_not_run_over_and_goes_on_by_resume(
    finished: Path, script: Any, encoder: Path, small_questions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--model", str(encoder), "--data", str(small_questions), "--output-dir", str(finished), *QUICK]
    assert script.main([*given, "--seeds", "0", "1"]) == 2
    assert "go on with it by --resume" in capsys.readouterr().err
    assert script.main([*given, "--seeds", "0", "1", "--train-sizes", "10", "20", "--resume"]) == 0
    assert capsys.readouterr().out.count("trained before") == 2 + 2 * 2
    assert script.main([*given, "--batch-size", "3", "--resume"]) == 2
    assert "batch_size changed since" in capsys.readouterr().err


def test_bad_input_is_one_line_and_an_exit_code(
    script: Any, encoder: Path, small_questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--model", str(encoder), "--output-dir", str(tmp_path / "run")]
    one = write_questions(tmp_path / "one", departments=("骨科",))
    for more, code, message in (
        (["--data", str(small_questions), "--train-sizes", "44"], 2, "train_sizes has 44, but there are 43 training"),
        (["--data", str(one)], 2, "all 60 rows of ior-bench, static are '骨科'"),
        (["--data", str(write_questions(tmp_path / "few", rows=6))], 2, "6 rows give"),
        (["--data", str(tmp_path / "absent")], 2, "absent"),
        (["--data", str(small_questions), "--model", "nobody/has-this"], 3, "hf download nobody/has-this"),
    ):
        assert script.main([*given, *more]) == code
        error = capsys.readouterr().err.splitlines()[-1]  # before it the bar of `datasets`
        assert error.startswith("classify_department: error: ")
        assert message in error
    assert not (tmp_path / "run" / "results.json").exists()


def test_the_published_curve_is_that_of_the_papers_table(published: Path) -> None:
    with (published / "ior_table4_scaling.csv").open(encoding="utf-8", newline="") as stream:
        printed = [(int(row["examples"]), float(row["accuracy"])) for row in csv.DictReader(stream)]
    assert [(point.rows, point.accuracy) for point in published_points()] == printed


def test_one_department_alone_is_always_named() -> None:
    assert name_by_ngrams(["膝盖肿", "脚扭了"], ["骨科", "骨科"], ["眼睛红"]) == ["骨科"]


def outcomes(predicted: Sequence[str], gold: Sequence[str]) -> Any:
    return score_names(predicted, gold, ["骨科", "外科", "=科"]).outcomes


def test_departments_are_scored_as_answers_are_and_compared_in_pairs() -> None:
    gold = ["骨科"] * 6 + ["外科"] * 2
    better, worse = outcomes(["骨科"] * 6 + ["外科", "骨科"], gold), outcomes(["外科"] * 8, gold)
    assert score_of(better).accuracy == 7 / 8
    assert score_of(better).macro_f1 == pytest.approx((2 * 6 / (6 + 7) + 2 * 1 / (2 + 1)) / 2)
    found = compare(("a", better), ("b", worse), [str(place) for place in range(8)])
    assert found.difference.value == pytest.approx(7 / 8 - 2 / 8)
    assert found.p == pytest.approx(2 * 8 / 2**7)  # of 7 cases that differ, 6 are better: 0, 1, 6 or 7 swapped


def test_the_confusion_matrix_has_no_formulas(tmp_path: Path) -> None:
    found = outcomes(["骨科", "=科", "外科"], ["骨科", "外科", "外科"])
    assert confusion_matrix(found, ["骨科", "外科", "=科"]) == [[1, 0, 0], [0, 1, 1], [0, 0, 0]]
    write_confusion_csv(tmp_path / "confusion.csv", found, ["骨科", "外科", "=科"])
    assert (tmp_path / "confusion.csv").read_text(encoding="utf-8").splitlines()[3] == "3,'=科,0,0,0"
