"""Settings: a YAML file, flags before it, and what is wrong with either."""

from pathlib import Path

import pytest

from clinical_evals.errors import InputError, UnknownNameError
from clinical_evals.training.departments.settings import Settings
from clinical_evals.training.settings_file import read_settings


def yaml(folder: Path, text: str) -> Path:
    path = folder / "recipe.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_flags_go_before_the_file_and_the_file_before_the_defaults(tmp_path: Path) -> None:
    config = yaml(tmp_path, "learning_rate: 2e-5\nepochs: 5\nseeds: [0, 1, 2]\n")  # YAML reads 2e-5 as text
    found = read_settings(Settings, config, {"epochs": 1, "train_sizes": [50, 100]})
    assert (found.learning_rate, found.epochs, found.seeds) == (2e-5, 1, (0, 1, 2))
    assert (found.train_sizes, found.batch_size) == ((50, 100), Settings().batch_size)


def test_the_defaults_are_those_of_the_papers_appendix() -> None:
    found = Settings()
    assert (found.model, found.learning_rate, found.batch_size, found.epochs) == ("bert-base-chinese", 2e-5, 16, 3)


@pytest.mark.parametrize("recipe", ["bert-base-chinese/static", "e5-small-zh/questions"])
def test_every_recipe_can_be_read(repository: Path, recipe: str) -> None:
    assert (
        read_settings(Settings, repository / "training" / "recipes" / f"{recipe}.yaml", {}).model
        == recipe.split("/")[0]
    )


def test_an_unknown_setting_names_the_nearest_one_and_the_file(tmp_path: Path) -> None:
    config = yaml(tmp_path, "learning_rat: 0.1\n")
    with pytest.raises(UnknownNameError, match=r"recipe\.yaml.*learning_rat.*Did you mean 'learning_rate'\?"):
        read_settings(Settings, config, {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("epochs: three", "epochs is 'three', expected a whole number"),
        ("epochs: 2.5", "epochs is 2.5, expected a whole number"),
        ("epochs: true", "epochs is True, expected a whole number"),
        ("learning_rate: fast", "learning_rate is 'fast', expected a number"),
        ("learning_rate: true", "learning_rate is True, expected a number"),
        ("seeds: [0, one]", r"seeds is \[0, 'one'\], expected a list of whole numbers"),
        ("model: 7", "model is 7, expected text"),
        ("model:", "model is None, expected text"),
        ("- epochs", "holds list, expected settings"),
        ("epochs: [", "cannot be read as YAML"),
        ("epochs: 1\nseeds: 3\nepochs: 2", "the key 'epochs' stands twice, in lines 1 and 3"),
    ],
)
def test_a_value_of_another_kind_is_an_error_that_names_the_file(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        read_settings(Settings, yaml(tmp_path, text), {})
    assert "recipe.yaml" in str(raised.value)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"epochs": 0}, "epochs is 0, expected at least 1"),
        ({"max_length": 2}, "max_length is 2, expected at least 8"),
        ({"learning_rate": float("nan")}, "learning_rate is nan"),
        ({"head_factor": 0.0}, "head_factor is 0.0, expected a number above 0"),
        ({"head_factor": float("nan")}, "head_factor is nan"),
        ({"head_factor": 1e5}, r"times learning_rate \(2e-05\) stays below 1"),
        ({"least_steps": -1}, "least_steps is -1, expected at least 0"),
        ({"seeds": []}, "seeds names none"),
        ({"seeds": [1, 1]}, "each once"),
        ({"train_sizes": [0, 50]}, "at least one row"),
        ({"train_sizes": [-5]}, "whole numbers from 0 on"),
        ({"precision": "float8"}, "unknown precision 'float8'"),
    ],
)
def test_a_value_that_no_run_can_have_is_an_error(flags: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_settings(Settings, None, flags)


@pytest.mark.parametrize(
    ("rows", "epochs"),
    [
        (5503, 2),  # 344 batches an epoch: more than enough
        (50, 25),  # 4 batches an epoch, the last with 2 rows
        (801, 2),  # 51
        (800, 2),  # 50: exactly
        (784, 3),  # 49
        (1, 100),
    ],
)
def test_few_rows_are_gone_through_more_often(rows: int, epochs: int) -> None:
    assert Settings(batch_size=16, epochs=2, least_steps=100).epochs_of(rows) == epochs
    assert Settings(batch_size=16, epochs=2).epochs_of(rows) == 2


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing\.yaml cannot be read"):
        read_settings(Settings, tmp_path / "missing.yaml", {})
