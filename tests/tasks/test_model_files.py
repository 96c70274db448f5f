"""What is no model is said before anything is loaded."""

import json
import shutil
from pathlib import Path

import pytest

from clinical_evals.errors import InputError, ResourceMissingError
from clinical_evals.tasks.models.model_args import parse_model_args
from clinical_evals.tasks.models.model_files import check_model, identify_model


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"model_type": "llama"}))
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "tokenizer.json").write_text("{}")
    return folder


def test_a_model_folder_passes(model: Path) -> None:
    assert check_model(str(model)) == str(model)


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("config.json", r"it has no config\.json \(it holds model\.safetensors, tokenizer\.json\).*save_pretrained"),
        ("model.safetensors", r"has no weights: expected \*\.safetensors"),
        ("tokenizer.json", r"has no tokenizer: expected tokenizer\.json"),
    ],
)
def test_what_a_folder_lacks(model: Path, missing: str, message: str) -> None:
    (model / missing).unlink()
    with pytest.raises(InputError, match=message):
        check_model(str(model))


def test_an_adapter_is_to_be_merged(model: Path) -> None:
    (model / "config.json").rename(model / "adapter_config.json")
    with pytest.raises(InputError, match="merge_and_unload"):
        check_model(str(model))


@pytest.mark.parametrize(
    ("config", "message"), [("{}", "names no model_type"), ("[1]", "found list"), ("{", "not readable")]
)
def test_a_config_that_is_none(model: Path, config: str, message: str) -> None:
    (model / "config.json").write_text(config)
    with pytest.raises(InputError, match=message):
        check_model(str(model))


@pytest.mark.parametrize("name", ["/no/such/folder", "./model-typo", "~/no-such-model", "a/b/c", ""])
def test_a_path_without_a_folder(name: str) -> None:
    with pytest.raises(InputError, match="no model folder at"):
        check_model(name)


def test_a_file_is_no_model(model: Path) -> None:
    with pytest.raises(InputError, match="is a file, expected a folder"):
        check_model(str(model / "config.json"))


def test_a_hub_model_that_is_not_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ResourceMissingError, match="hf download some-org/no-such-model --revision main"):
        check_model("some-org/no-such-model")


def test_an_impossible_hub_id() -> None:
    with pytest.raises(InputError, match="nor a possible model id"):
        check_model("model--with..everything wrong")


def test_identity_is_content_not_place(model: Path, tmp_path: Path) -> None:
    before = identify_model(str(model))
    shutil.copytree(model, tmp_path / "moved")
    (model / "README.md").write_text("a note")
    assert identify_model(str(tmp_path / "moved")) == identify_model(str(model)) == before
    (model / "model.safetensors").write_bytes(b"retrained")
    assert identify_model(str(model)) != before


# MODEL_ARGS


def test_values_and_generation_parameters(model: Path) -> None:
    request = parse_model_args(
        f"model_name={model},dtype=float32,generation_parameters={{temperature:0.7,max_new_tokens:99}}"
    )
    assert request.values == {
        "model_name": str(model), "dtype": "float32", "batch_size": 8, "generation_parameters": {"temperature": 0.7},
    }  # fmt: skip
    assert request.answer_tokens == 99  # lighteval would cut the prompt to its last 99 tokens


def test_yaml(model: Path, tmp_path: Path) -> None:
    (tmp_path / "model.yaml").write_text(f"model_parameters:\n  model_name: {model}\n  batch_size: 4\n")
    assert parse_model_args(str(tmp_path / "model.yaml")).values["batch_size"] == 4
    assert parse_model_args(str(tmp_path / "model.yaml"), batch_size=2).values["batch_size"] == 2


@pytest.mark.parametrize(
    ("content", "message"), [("a: 1", "model_parameters"), ("[", "cannot be read as YAML"), (None, "cannot be read")]
)
def test_yaml_that_says_nothing(tmp_path: Path, content: str | None, message: str) -> None:
    if content is not None:
        (tmp_path / "model.yaml").write_text(content)
    with pytest.raises(InputError, match=message):
        parse_model_args(str(tmp_path / "model.yaml"))


@pytest.mark.parametrize(
    "key", ["adapter_weights", "delta_weights", "trust_remote_code", "system_prompt", "continuous_batching"]
)
def test_what_lighteval_would_misunderstand_is_refused(model: Path, key: str) -> None:
    with pytest.raises(InputError, match=f"{key} cannot be used: "):
        parse_model_args(f"model_name={model},{key}=True")
    parse_model_args(f"model_name={model},{key}=False")


@pytest.mark.parametrize("text", ["", "dtype=float32", "generation_parameters={temperature:}"])
def test_arguments_that_cannot_be_read(text: str) -> None:
    with pytest.raises(InputError, match="model_name="):
        parse_model_args(text)
