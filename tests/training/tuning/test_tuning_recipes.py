"""Recipes: what TRL would ignore or cut off in silence is an error; every one that is shipped trains."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from built_rows import built, sample_rows
from tiny_llama import NO_SYSTEM_ROLE, write_recipe

from clinical_evals.cli import main
from clinical_evals.errors import GuardError, InputError
from clinical_evals.hub.guard import check_may_leave
from clinical_evals.hub.target import Target
from clinical_evals.markers import MIMIC_MARKER, SYNTHETIC_MARKER
from clinical_evals.training.tuning.build_preferences import COLUMNS, Pair
from clinical_evals.training.tuning.build_sft import Request, build_sft
from clinical_evals.training.tuning.recipe import read_recipe
from clinical_evals.training.tuning.recipe_check import check_recipe, check_rows
from clinical_evals.training.tuning.row_files import write_rows
from clinical_evals.training.tuning.trl_run import train
from clinical_evals.training.tuning.weights_source import source_of_weights

TRAINING = Path(__file__).parents[3] / "training"
RECIPES = sorted((TRAINING / "recipes").rglob("*.yaml"))
PUBLIC = Target("hub-public", "someone/adapter")
TUNING = [path for path in RECIPES if path.parent.name in ("llama-3-8b-instruct", "smollm2-135m-instruct")]


@pytest.fixture(scope="session")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two rows for DPO."""
    folder = tmp_path_factory.mktemp("pairs") / "diagnosis"
    prompt = [{"role": "user", "content": "Which diagnoses?"}]
    answers = ({"chosen": "I10", "rejected": "E11.9"}, {"chosen": "E11.9", "rejected": ""})
    records = [
        Pair(prompt, row["chosen"], row["rejected"], 1.0, 0.0, at).as_record() for at, row in enumerate(answers)
    ]
    write_rows(folder, records, COLUMNS, "Pairs", SYNTHETIC_MARKER, dict)
    return folder


@pytest.mark.parametrize("path", TUNING, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_shipped_recipe_trains_three_steps(
    path: Path, tiny: Path, rows: Path, pairs: Path, tmp_path: Path
) -> None:
    data = pairs if "dpo" in path.name else rows
    swapped = {"model_name_or_path": tiny, "dataset_name": data, "output_dir": tmp_path / "out", "max_length": 1024}
    small = {"max_steps": 3, "gradient_accumulation_steps": 1, "save_steps": 3, "logging_steps": 1, "use_cpu": True}
    if "dpo" not in path.name:
        swapped["chat_template_path"] = rows / "chat_template.jinja"
    overrides = [part for key, value in (swapped | small).items() for part in (f"--{key}", str(value))]
    losses = train(path, [*overrides, "--disable_tqdm", "True"])
    assert len(losses) == 3
    assert all(0 < loss < 20 for loss in losses)
    recipe = read_recipe(path)
    saved = {each.name for each in (tmp_path / "out").iterdir()}
    assert ("adapter_model.safetensors" if recipe.model.use_peft else "model.safetensors") in saved
    if "qlora" in path.name:
        import torch

        assert recipe.model.load_in_4bit == torch.cuda.is_available()
        assert torch.cuda.is_available() or "load_in_4bit needs a GPU" in recipe.notes[0]


def test_the_shipped_recipes_are_all_there() -> None:
    names = {f"{path.parent.name}/{path.stem}" for path in TUNING}
    for model in ("llama-3-8b-instruct", "smollm2-135m-instruct"):
        for task in ("diagnosis", "procedure", "lab_order", "prescription"):
            assert f"{model}/{task}_lora" in names
        assert f"{model}/diagnosis_dpo" in names
    assert {"llama-3-8b-instruct/diagnosis_full", "llama-3-8b-instruct/diagnosis_qlora"} <= names


@pytest.mark.parametrize("path", TUNING, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_recipe_says_what_decides_what_is_learnt(path: Path) -> None:
    given = yaml.safe_load(path.read_text())
    assert {"max_length", "seed", "dataset_name", "report_to"} <= set(given)
    assert given["push_to_hub"] is False
    assert given.get("completion_only_loss", "dpo" in path.name) is True
    head = path.read_text().split("model_name_or_path:")[0]
    assert f"--config training/recipes/{path.parent.name}/{path.name}" in head
    assert f"--out {given['dataset_name']}" in head


@pytest.mark.parametrize("path", sorted((TRAINING / "accelerate").glob("*.yaml")), ids=lambda path: path.stem)
def test_accelerate_reads_its_configurations(path: Path) -> None:
    from accelerate.commands.config.config_args import load_config_from_file

    config = load_config_from_file(str(path))
    assert config.num_processes >= 8
    assert config.distributed_type.value in ("FSDP", "DEEPSPEED")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_lenght": 1024}, r"TRL knows no key 'max_lenght' \(did you mean 'max_length'"),
        ({"lora_rank": 8}, r"'lora_rank' \(did you mean .*'lora_r'"),
        ({"zzzzzzzzz": 1}, "knows no key 'zzzzzzzzz', and would train without it"),
        ({"lr_scheduler_type": "cosyne"}, "TRL refuses it: cosyne is not a valid SchedulerType"),
        ({"max_length": None}, "max_length is not set. TRL would keep the first 1024"),
        ({"max_length": 700}, r"row 0 \(hadm_id 950000006\) has \d+ tokens, .*: no supervised token would be left"),
        ({"max_length": 1000}, r"row 0 \(hadm_id 950000006\) .*: only \d+ of the \d+ tokens of its completion"),
        ({"dataset_name": "nowhere"}, "dataset_name 'nowhere' is no folder here"),
        ({"dataset_train_split": "test"}, "has no split 'test', only train"),
        ({"model_name_or_path": None}, "model_name_or_path is not set"),
        ({"trust_remote_code": True}, "code that comes with a model is not run"),
        ({"completion_only_loss": False}, "completion_only_loss is False, expected true"),
        ({"assistant_only_loss": True}, "assistant_only_loss is True, expected false"),
        ({"learning_rate": 0}, r"recipe\.yaml: learning_rate is 0, expected a number above 0\."),
        ({"learning_rate": "-2e-5"}, "learning_rate is '-2e-5', expected a number above 0"),
        ({"learning_rate": float("nan")}, "learning_rate is nan, expected"),
        ({"num_train_epochs": 0, "max_steps": None}, "num_train_epochs is 0, expected a number above 0, or max_steps"),
        ({"max_steps": 0}, "max_steps is 0, expected a whole number of at least 1, or -1"),
        (
            {"per_device_train_batch_size": 0},
            "per_device_train_batch_size is 0, expected a whole number",
        ),
        ({"per_device_train_batch_size": 1.5}, "per_device_train_batch_size is 1.5, expected a whole number"),
        ({"gradient_accumulation_steps": 0}, "gradient_accumulation_steps is 0, expected a whole number"),
        ({"lora_r": 0}, "lora_r is 0, expected a whole number of at least 1"),
        ({"lora_alpha": 0}, "lora_alpha is 0, expected a number above 0"),
        ({"lora_dropout": 1}, "lora_dropout is 1, expected a number from 0 on and below 1"),
        ({"max_length": -1}, "max_length is -1, expected a whole number of at least 1"),
    ],
)
def test_what_trl_would_do_wrong(
    changes: dict[str, Any], message: str, tiny: Path, rows: Path, tmp_path: Path
) -> None:
    recipe = write_recipe(tmp_path / "recipe.yaml", tiny, rows, tmp_path / "out", **changes)
    with pytest.raises(InputError, match=message):
        check_recipe(recipe)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a\n- b\n", "expected lines of `key: value`, found list"),
        ("a: [", "is not readable YAML"),
        ("seed: 1\nbf16: false\n'seed': 2\n", r"recipe\.yaml: the key 'seed' stands twice, in lines 1 and 3"),
        ("env: {A: b, A: c}", "the key 'A' stands twice, in lines 1 and 1"),
    ],
)
def test_files_that_are_no_recipe(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "recipe.yaml").write_text(text)
    with pytest.raises(InputError, match=message):
        read_recipe(tmp_path / "recipe.yaml")
    with pytest.raises(InputError, match="no recipe at"):
        read_recipe(tmp_path / "other.yaml")


def test_a_model_that_is_not_on_this_machine(rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "some-org/no-such-model"
    recipe = write_recipe(tmp_path / "recipe.yaml", Path(name), rows, tmp_path / "out")
    build = ["build", "sft", "--task", "diagnosis", "--tokenizer", name, "--out", str(tmp_path / "rows")]
    for command in (["check-recipe", str(recipe)], build):
        assert main(command) == 3
        said = capsys.readouterr().err
        assert f"{name!r} is neither a folder on this machine nor a tokenizer in the Hub cache" in said
        assert said.rstrip().endswith(f"hf download {name}")
    assert main([*build[:5], "./nowhere", *build[6:]]) == 2
    assert "no tokenizer folder at './nowhere'. Give a folder that holds tokenizer.json" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["recipe.yaml"]


def test_rows_longer_than_what_the_model_reads(tiny: Path, rows: Path, tmp_path: Path) -> None:
    model = Path(shutil.copytree(tiny, tmp_path / "model"))
    config = json.loads((model / "config.json").read_text()) | {"max_position_embeddings": 512}
    (model / "config.json").write_text(json.dumps(config))
    recipe = write_recipe(tmp_path / "recipe.yaml", model, rows, tmp_path / "out")
    with pytest.raises(InputError, match=r"a row has \d+ tokens, and the model reads at most 512, as config\.json"):
        check_recipe(recipe)


def test_epochs_do_not_count_beside_steps(tiny: Path, rows: Path, tmp_path: Path) -> None:
    recipe = write_recipe(tmp_path / "recipe.yaml", tiny, rows, tmp_path / "out", num_train_epochs=0, max_steps=3)
    assert "4 rows" in check_recipe(recipe)


def test_rows_of_the_other_trainer(tiny: Path, rows: Path, pairs: Path, tmp_path: Path) -> None:
    recipe = write_recipe(tmp_path / "recipe.yaml", tiny, pairs, tmp_path / "out")
    with pytest.raises(InputError, match="no conversation in column 'completion'; sft rows have prompt, completion"):
        check_recipe(recipe)
    assert (
        check_rows(
            read_recipe(write_recipe(tmp_path / "dpo.yaml", tiny, pairs, tmp_path / "out", completion_only_loss=None))
        ).rows
        == 2
    )


def test_the_check_counts_as_trl_does(tiny: Path, rows: Path, tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM
    from trl import SFTTrainer

    recipe = read_recipe(write_recipe(tmp_path / "recipe.yaml", tiny, rows, tmp_path / "out"))
    found = check_rows(recipe)
    from datasets import load_dataset

    prepared = SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(tiny),
        args=recipe.training,
        train_dataset=load_dataset(str(rows), split="train"),
    ).train_dataset
    assert found.rows == len(prepared)
    assert found.longest == max(len(ids) for ids in prepared["input_ids"])
    assert found.learnt == sum(label != -100 for labels in prepared["labels"] for label in labels)


def test_the_mark_is_noted_where_the_weights_will_lie(
    tiny: Path, rows: Path, mimic_rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = write_recipe(tmp_path / "recipe.yaml", tiny, mimic_rows, tmp_path / "out", max_steps=2)
    assert main(["check-recipe", str(recipe)]) == 0
    assert f"source of the rows: {MIMIC_MARKER}" in capsys.readouterr().out
    train(recipe)
    with pytest.raises(GuardError, match="marker"):
        check_may_leave(tmp_path / "out", PUBLIC)
    others = write_recipe(tmp_path / "others.yaml", tiny, rows, tmp_path / "out")
    with pytest.raises(InputError, match="Give another output_dir"):
        check_recipe(others)


def test_the_mark_goes_with_weights_that_nobody_checked(tiny: Path, tmp_path: Path) -> None:
    """By the chat template, into every checkpoint; it does not change what the model sees."""
    from transformers import AutoTokenizer

    data = built(tmp_path, sample_rows(1), MIMIC_MARKER)
    build_sft(Request("diagnosis", str(tiny), tmp_path / "rows", data, "codes", 1024))
    template = tmp_path / "rows" / "chat_template.jinja"
    changes = {"chat_template_path": str(template), "max_steps": 2}
    train(write_recipe(tmp_path / "recipe.yaml", tiny, tmp_path / "rows", tmp_path / "out", **changes))
    for folder in (tmp_path / "out", tmp_path / "out" / "checkpoint-2"):
        with pytest.raises(GuardError, match="marker"):
            check_may_leave(folder, PUBLIC)
        assert source_of_weights(folder, None) == MIMIC_MARKER
    said = [{"role": "user", "content": "Which diagnoses?"}]
    own, saved = (AutoTokenizer.from_pretrained(folder) for folder in (tiny, tmp_path / "out"))
    assert own.apply_chat_template(said, tokenize=False) == saved.apply_chat_template(said, tokenize=False)


def test_rows_that_were_built_for_another_model(tiny: Path, rows: Path, tmp_path: Path) -> None:
    shutil.copytree(rows, tmp_path / "rows")
    template = tmp_path / "rows" / "chat_template.jinja"
    changes = {"chat_template_path": str(template)}
    recipe = write_recipe(tmp_path / "recipe.yaml", tiny, tmp_path / "rows", tmp_path / "out", **changes)
    check_recipe(recipe)
    template.write_text("{# source of the training rows: x #}" + NO_SYSTEM_ROLE)
    with pytest.raises(InputError, match="the rows were built for another model"):
        check_recipe(recipe)


def test_weights_of_marked_rows_are_not_pushed(tiny: Path, mimic_rows: Path, tmp_path: Path) -> None:
    recipe = write_recipe(tmp_path / "recipe.yaml", tiny, mimic_rows, tmp_path / "out", push_to_hub=True)
    with pytest.raises(GuardError, match="push_to_hub would send weights"):
        check_recipe(recipe)
