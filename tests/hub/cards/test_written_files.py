"""Every file that the code writes is in the repository as it writes it, and the Hub's own readers understand it."""

import shutil
import subprocess
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from datasets.info import DatasetInfosDict
from huggingface_hub import DatasetCard, SpaceCard, metadata_load

from clinical_evals.assets import dataset_folder, metric_script
from clinical_evals.datasets_hub.features import SCHEMAS, schema_of
from clinical_evals.hub.cards import __main__ as command
from clinical_evals.hub.cards.dataset_facts import DATASETS
from clinical_evals.hub.cards.eval_yaml import CODE_SCORES, STRATEGIES, eval_yaml
from clinical_evals.hub.cards.metric_card import metric_card
from clinical_evals.hub.cards.metric_facts import GRADIO, HIER_ICD_F1, SPACES
from clinical_evals.hub.cards.prose import fill
from clinical_evals.ontology import SYSTEMS, get_system
from clinical_evals.tasks.names import TASKS

every_dataset = pytest.mark.parametrize("name", DATASETS)
every_space = pytest.mark.parametrize("name", SPACES)


@every_space
def test_metric_cards_and_requirements_are_what_the_code_writes(name: str) -> None:
    written = {path: text for path, text in command.files_of("metrics").items() if path.parent.name == name}
    assert {path.name for path in written} == {"README.md", "requirements.txt"}
    for path, text in written.items():
        assert path.read_text(encoding="utf-8") == text, "run: python -m clinical_evals.hub.cards metrics"


@every_dataset
def test_eval_yaml_is_what_the_code_writes(name: str) -> None:
    path = dataset_folder(name) / "eval.yaml"
    assert path.read_text(encoding="utf-8") == eval_yaml(DATASETS[name]), "run: python -m clinical_evals.hub.cards"


@every_dataset
def test_the_hub_reads_a_dataset_card(name: str) -> None:
    card = DatasetCard.load(dataset_folder(name) / "README.md")
    facts = DATASETS[name]
    assert (card.data.license, card.data.language) == (facts.sample.licence, list(facts.languages))
    assert card.data.tags == [*facts.tags, "synthetic"]
    assert metadata_load(dataset_folder(name) / "README.md") == card.data.to_dict()
    infos = DatasetInfosDict.from_dataset_card_data(card.data)
    for config in SCHEMAS[name]:
        assert infos[config].features == schema_of(name, config).features
        assert infos[config].splits["test"].num_examples > 20
    assert facts.paper.bibtex in card.text
    assert [part for part in ("## Data statement", "## Limits", "## Canary") if part not in card.text] == []


@every_space
def test_the_hub_reads_a_metric_card(name: str) -> None:
    card = SpaceCard.load(metric_script(name).parent / "README.md")
    assert (card.data.sdk, card.data.app_file, card.data.license) == ("gradio", "app.py", "apache-2.0")
    assert (card.data.title, card.data.tags) == (SPACES[name].title, ["evaluate", "metric"])
    assert len(card.data.short_description) <= 60
    assert (metric_script(name).parent / card.data.app_file).is_file()
    script = metric_script(name).read_text(encoding="utf-8")
    assert f"arXiv:{SPACES[name].paper.arxiv}" in script, "the metric cites the same paper"


@pytest.mark.skipif(find_spec("gradio") is None, reason="gradio is not installed")
def test_the_spaces_ask_for_the_gradio_that_is_tested() -> None:
    assert version("gradio") == GRADIO


@every_dataset
def test_eval_yaml_has_every_task_that_results_name(name: str) -> None:
    content = yaml.safe_load((dataset_folder(name) / "eval.yaml").read_text(encoding="utf-8"))
    assert {"name", "description", "tasks"} == content.keys()
    ids = {task["id"]: (task["config"], task["split"]) for task in content["tasks"]}
    scores = CODE_SCORES if name == "clibench" else ("accuracy",)
    expected = {
        f"{task.config}_{score}": (task.subset, "test") for task in TASKS if task.dataset == name for score in scores
    }
    assert ids == expected
    assert len(content["tasks"]) == len(ids)
    assert {task.strategy for task in TASKS if task.strategy} == set(STRATEGIES)


def test_the_last_level_of_every_system_is_full(written_releases: Path) -> None:
    assert {get_system(name).levels[-1] for name in SYSTEMS} == {"full"}


def test_a_text_must_use_what_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KeyError, match="citation"):
        fill("hier_icd_f1")
    with pytest.raises(ValueError, match="no place for colour"):
        fill("hier_icd_f1", citation="", colour="")


def test_a_tile_too_small_for_its_text() -> None:
    from dataclasses import replace

    with pytest.raises(ValueError, match="has 61 characters, at most 60"):
        metric_card(replace(HIER_ICD_F1, short="x" * 61))


def test_the_command_writes_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SPACES:
        shutil.copytree(metric_script(name).parent, tmp_path / name)
        (tmp_path / name / "README.md").write_text("old")
    monkeypatch.setattr(command, "metric_script", lambda name: tmp_path / name / f"{name}.py")
    monkeypatch.setattr(sys, "argv", ["cards", "metrics"])
    command.main()
    for name, facts in SPACES.items():
        assert (tmp_path / name / "README.md").read_text(encoding="utf-8") == metric_card(facts)
        assert (tmp_path / name / "README.md").stat().st_mode & 0o777 == 0o644


def test_the_command_knows_two_kinds() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "clinical_evals.hub.cards", "models"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 2
    assert "unknown kind models: expected datasets or metrics" in done.stderr
