"""Which folder is an encoder, and what is said of one that is none or is not there."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from clinical_evals.errors import InputError, ResourceMissingError
from clinical_evals.training.departments.encoder import find_encoder, load_tokenizer, most_tokens


@pytest.fixture
def copied(encoder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(encoder, tmp_path / "copied"))


def change_config(folder: Path, **changed: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))


def test_a_folder_of_save_pretrained_is_found(encoder: Path) -> None:
    assert find_encoder(str(encoder)) == encoder


@pytest.mark.parametrize("kind", ["llama", "gpt2", "qwen2"])
def test_a_decoder_is_refused(copied: Path, kind: str) -> None:
    change_config(copied, model_type=kind)
    with pytest.raises(InputError, match=f"type '{kind}', which is no encoder"):
        find_encoder(str(copied))


def test_a_bert_that_decodes_is_refused(copied: Path) -> None:
    change_config(copied, is_decoder=True)
    with pytest.raises(InputError, match="no encoder"):
        find_encoder(str(copied))


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (["config.json"], "has no config.json"),
        (["model.safetensors"], "has no weights: expected .*safetensors"),
        (["tokenizer.json", "tokenizer_config.json"], "has no tokenizer"),
    ],
)
def test_what_a_folder_lacks_is_named(copied: Path, files: list[str], message: str) -> None:
    for name in files:
        (copied / name).unlink()
    with pytest.raises(InputError, match=message):
        find_encoder(str(copied))


@pytest.mark.parametrize("name", ["bert-base-chinese-of-nobody", "nobody/bert-base-chinese"])
def test_a_model_that_is_not_here_names_the_command_that_brings_it(name: str) -> None:
    with pytest.raises(ResourceMissingError, match=f"hf download {name}"):
        find_encoder(name)


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no model folder"):
        find_encoder(str(tmp_path / "absent"))


def test_a_tokenizer_without_padding_is_refused(copied: Path) -> None:
    path = copied / "tokenizer_config.json"
    config = {name: value for name, value in json.loads(path.read_text()).items() if name != "pad_token"}
    path.write_text(json.dumps(config))
    with pytest.raises(InputError, match="has no padding token"):
        load_tokenizer(copied)


def test_no_more_tokens_are_read_than_the_model_has_places_for(encoder: Path, copied: Path, tokenizer: Any) -> None:
    assert most_tokens(encoder, tokenizer, 512) == 64
    assert most_tokens(encoder, tokenizer, 32) == 32
    change_config(copied, model_type="xlm-roberta", pad_token_id=1, max_position_embeddings=50)
    assert most_tokens(copied, tokenizer, 512) == 50 - 2
