"""After training: an adapter goes into its own base only, the mark goes with the weights, and the card says it all."""

import json
import shutil
from pathlib import Path

import pytest
import yaml
from tiny_llama import write_recipe, write_tiny
from written_answers import make_line, write_log

from clinical_evals.cli import main
from clinical_evals.errors import GuardError, InputError
from clinical_evals.hub.cards.dataset_facts import CLIBENCH
from clinical_evals.hub.cards.eval_yaml import eval_yaml
from clinical_evals.hub.guard import check_may_leave
from clinical_evals.hub.target import Target
from clinical_evals.markers import MIMIC_MARKER, SYNTHETIC_MARKER
from clinical_evals.tasks.models.model_files import identify_model
from clinical_evals.training.tuning.merge import Request, merge_adapter
from clinical_evals.training.tuning.model_card import write_card
from clinical_evals.training.tuning.recipe_check import check_recipe
from clinical_evals.training.tuning.row_files import read_source
from clinical_evals.training.tuning.trl_run import train

PUBLIC = Target("hub-public", "someone/model")


@pytest.fixture(scope="module")
def trained(tiny: Path, rows: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recipe that was checked and run, its adapter beside it in `adapter`."""
    folder = tmp_path_factory.mktemp("trained")
    recipe = write_recipe(folder / "recipe.yaml", tiny, rows, folder / "adapter", max_steps=4, save_steps=4)
    check_recipe(recipe)
    train(recipe)
    return recipe


def logs_of_two(folder: Path, base: Path, tuned: Path) -> tuple[Path, Path]:
    """Logs of two rows with gold I10 and J18.9: the base model answers the first alone, the tuned one both."""
    answers = {base: ["I10", ""], tuned: ["I10", "J18.9"]}
    base_log, log = (
        write_log(
            folder / "logs" / model.name,
            [
                make_line(row, [said], [gold])
                for row, (said, gold) in enumerate(zip(given, ("I10", "J18.9"), strict=True))
            ],
            model={"weights": identify_model(str(model))},
        )
        for model, given in answers.items()
    )
    return base_log, log


@pytest.fixture
def adapter(trained: Path, tmp_path: Path) -> Path:
    """A copy of the adapter."""
    return Path(shutil.copytree(trained.parent / "adapter", tmp_path / "adapter"))


def test_merging_changes_what_the_adapter_changes(trained: Path, tiny: Path, tmp_path: Path) -> None:
    import torch
    from peft import AutoPeftModelForCausalLM
    from transformers import AutoModelForCausalLM, AutoTokenizer

    merge_adapter(Request(trained.parent / "adapter", tmp_path / "merged"))
    tokens = AutoTokenizer.from_pretrained(tmp_path / "merged")("chest pain", return_tensors="pt")
    with torch.no_grad():
        merged = AutoModelForCausalLM.from_pretrained(tmp_path / "merged")(**tokens).logits
        beside = AutoPeftModelForCausalLM.from_pretrained(trained.parent / "adapter")(**tokens).logits
        base = AutoModelForCausalLM.from_pretrained(tiny)(**tokens).logits
    torch.testing.assert_close(merged, beside)
    assert not torch.allclose(merged, base, atol=1e-4)


def test_an_adapter_for_another_base_is_refused(adapter: Path, tmp_path: Path) -> None:
    other = write_tiny(tmp_path / "other", seed=1)
    with pytest.raises(InputError, match=r"is an adapter for .*/base, not for .*/other"):
        merge_adapter(Request(adapter, tmp_path / "merged", str(other)))
    wider = write_tiny(tmp_path / "wider", hidden=32)
    with pytest.raises(InputError, match=r"layers\.0\.\S+ is for \d+ inputs, that model's has \d+ \(shape"):
        merge_adapter(Request(adapter, tmp_path / "merged", str(wider), copy_of_base=True))
    shorter = write_tiny(tmp_path / "shorter", layers=1)
    with pytest.raises(InputError, match=r"it changes model\.layers\.1\.\S+, which that model does not have"):
        merge_adapter(Request(adapter, tmp_path / "merged", str(shorter), copy_of_base=True))
    assert not (tmp_path / "merged").exists()


def test_a_copy_of_the_base_is_the_base(adapter: Path, tiny: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(tiny, tmp_path / "copy")
    assert main(["tuned", "merge", str(adapter), "--out", str(tmp_path / "merged"), "--base", str(copy)]) == 0


@pytest.mark.parametrize("named", [True, False])
def test_the_mark_follows_the_weights(named: bool, mimic_rows: Path, adapter: Path, tmp_path: Path) -> None:
    """Of rows that are marked, and of an adapter that says nothing of its rows."""
    from transformers import AutoModelForCausalLM

    (adapter / "clinical_evals_source.json").unlink()
    said = merge_adapter(Request(adapter, tmp_path / "merged", rows=mimic_rows if named else None))
    assert f"source of the training rows: {MIMIC_MARKER}" in said
    with pytest.raises(GuardError, match="marker"):
        check_may_leave(tmp_path / "merged", PUBLIC)
    AutoModelForCausalLM.from_pretrained(tmp_path / "merged").save_pretrained(tmp_path / "elsewhere")
    with pytest.raises(GuardError, match="marker"):
        check_may_leave(tmp_path / "elsewhere", PUBLIC)


def test_rows_that_contradict_the_note(mimic_rows: Path, adapter: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="they were trained on other rows"):
        merge_adapter(Request(adapter, tmp_path / "merged", rows=mimic_rows))


def test_rows_are_looked_for_in_their_folder_only(
    adapter: Path, rows: Path, mimic_rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not in the tree below it: there may be other rows, or a file that cannot be read."""
    merge = ["tuned", "merge", str(adapter), "--out", str(tmp_path / "merged"), "--rows"]
    for place, found in ((tmp_path, "adapter, mimic-rows"), (tmp_path / "nowhere", "no folder")):
        assert main([*merge, str(place)]) == 2
        said = capsys.readouterr().err
        assert f"{place} is not a folder of training rows: expected train.parquet and build.json" in said
        assert f"write them, found {found}." in said
    copy = Path(shutil.copytree(rows, tmp_path / "rows"))
    mimic_rows.rename(copy / "others")
    (copy / "others" / "broken.parquet").write_text("")
    assert main([*merge, str(copy)]) == 0, capsys.readouterr().err
    assert SYNTHETIC_MARKER in capsys.readouterr().out


def test_the_data_folder_of_rows_counts(rows: Path, mimic_rows: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(rows, tmp_path / "rows"))
    assert read_source(copy) == SYNTHETIC_MARKER
    mimic_rows.rename(copy / "data")
    assert read_source(copy) == MIMIC_MARKER


def test_what_is_no_adapter(tiny: Path, adapter: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def refused(folder: Path) -> str:
        assert main(["tuned", "merge", str(folder), "--out", str(tmp_path / "merged")]) == 2
        return capsys.readouterr().err

    assert "It is a whole model already" in refused(tiny)
    assert "holds no adapter" in refused(tmp_path / "nowhere")
    (tmp_path / "merged").mkdir()
    (tmp_path / "merged" / "note.txt").write_text("mine")
    assert "is there already and not empty" in refused(adapter)
    (adapter / "adapter_model.safetensors").rename(adapter / "adapter_model.bin")
    assert "such as a pickle (.bin), are not read" in refused(adapter)
    config = json.loads((adapter / "adapter_config.json").read_text()) | {"peft_type": "IA3"}
    (adapter / "adapter_config.json").write_text(json.dumps(config))
    assert "expected peft_type LORA, found IA3" in refused(adapter)


def test_the_card_of_a_model_of_mimic(
    trained: Path, tiny: Path, mimic_rows: Path, adapter: Path, tmp_path: Path
) -> None:
    (adapter / "clinical_evals_source.json").unlink()
    merge_adapter(Request(adapter, tmp_path / "merged", rows=mimic_rows))
    base_log, log = (
        write_log(
            tmp_path / "logs" / model.name,
            [make_line(row, [answer], ["I10"]) for row in range(2)],
            model={"weights": identify_model(str(model))},
        )
        for model, answer in ((tiny, "E11.9"), (tmp_path / "merged", "I10"))
    )
    write_card(tmp_path / "merged", trained, base_log, log)
    card = tmp_path / "merged" / "README.md"
    assert "PhysioNet Credentialed Health Data License" in card.read_text()
    with pytest.raises(GuardError, match="marker"):
        check_may_leave(card, PUBLIC)
    assert check_may_leave(tmp_path / "merged" / ".eval_results", PUBLIC)  # scores may be published


def test_base_beside_tuned_and_the_card(
    trained: Path, tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from huggingface_hub import ModelCard, parse_eval_result_entries

    from clinical_evals.tasks.scored.comparison import compare_logs

    merged = tmp_path / "merged"
    assert main(["tuned", "merge", str(trained.parent / "adapter"), "--out", str(merged)]) == 0
    gold = [["I10", "E11.9"], ["J18.9"], ["N17.9"]]
    identity = identify_model(str(merged))
    base_log, log = (
        write_log(
            tmp_path / name,
            [make_line(row, [answer], codes) for row, (answer, codes) in enumerate(zip(answers, gold, strict=True))],
            model={"weights": identify_model(str(model))},
        )
        for name, model, answers in (("b", tiny, ["I10", "", "J18.9"]), ("t", merged, ["I10\nE11.9", "J18.9", ""]))
    )
    card = ["tuned", "card", str(merged), "--recipe", str(trained), "--base-log", str(base_log)]
    assert main([*card, "--log", str(log)]) == 0, capsys.readouterr().err

    data = ModelCard.load(merged / "README.md").data
    text = (merged / "README.md").read_text()
    entries = parse_eval_result_entries(yaml.safe_load((merged / ".eval_results" / "clibench.yaml").read_text()))
    tuned = compare_logs([base_log, log]).runs[-1]
    assert {entry.task_id: entry.value for entry in entries} == {
        f"diagnosis_{name}": round(100 * value, 2) for name, value in tuned.scores.items()
    }
    assert {entry.task_id for entry in entries} <= {
        task["id"] for task in yaml.safe_load(eval_yaml(CLIBENCH))["tasks"]
    }
    assert {entry.dataset_id for entry in entries} == {CLIBENCH.repository}
    assert {result.metric_name: result.metric_value for result in data.eval_results} == {
        name: round(100 * value, 2) for name, value in tuned.scores.items()
    }
    assert SYNTHETIC_MARKER in data.tags
    assert all("the synthetic sample: not comparable" in entry.notes for entry in entries)
    assert all(part in text for part in ("| `lora_r` | 4 |", "rows 4", "difference from run 1", "## Limits"))
    assert str(tmp_path) not in text
    assert str(tiny.parent) not in text
    assert check_may_leave(merged, PUBLIC).synthetic

    assert identify_model(str(merged)) == identity  # with its card it is the same model

    assert main([*card, "--log", str(base_log)]) == 2
    assert "is not of the model" in capsys.readouterr().err
    asked_train = write_log(tmp_path / "train", [make_line(0, ["I10"], ["I10"])], split="train")
    assert main([*card, "--log", str(asked_train)]) == 2
    assert "asked the train split" in capsys.readouterr().err


def test_the_card_of_an_adapter(
    trained: Path, tiny: Path, adapter: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """TRL has left a draft there, which names this machine's folders; the scores are of the merged model."""
    from huggingface_hub import ModelCard, parse_eval_result_entries

    merged = tmp_path / "merged"
    merge_adapter(Request(adapter, merged))
    base_log, log = logs_of_two(tmp_path, tiny, merged)
    card = ["tuned", "card", str(adapter), "--recipe", str(trained), "--base-log", str(base_log), "--log", str(log)]
    assert str(tiny) in (adapter / "README.md").read_text()
    capsys.readouterr()
    assert main([*card, "--merged", str(merged)]) == 0, capsys.readouterr().err
    draft_replaced = f"wrote {adapter / 'README.md'} (in place of the draft that training left there) and {adapter}"
    said = capsys.readouterr().out
    assert draft_replaced in said
    assert f"source of the training rows: {SYNTHETIC_MARKER}" in said

    data, text = ModelCard.load(adapter / "README.md").data, (adapter / "README.md").read_text()
    assert (data.library_name, data.model_name) == ("peft", "adapter")
    assert {"lora", "sft", SYNTHETIC_MARKER} <= set(data.tags)
    assert "A LoRA adapter for base, after supervised fine-tuning" in text
    assert "the second it with this adapter merged" in text
    assert str(tmp_path) not in text
    assert str(tiny.parent) not in text
    # Of two rows the base hits one exactly, the merged model both.
    assert {each.metric_name: each.metric_value for each in data.eval_results}["f1_full"] == 100.0
    entries = parse_eval_result_entries(yaml.safe_load((adapter / ".eval_results" / "clibench.yaml").read_text()))
    assert {entry.task_id: entry.value for entry in entries}["diagnosis_f1_full"] == 100.0
    assert check_may_leave(adapter, PUBLIC).synthetic

    assert main([*card, "--merged", str(merged)]) == 0
    assert "in place of" not in capsys.readouterr().out


def test_the_base_on_the_card_of_an_adapter_is_its_own(
    tiny: Path, rows: Path, trained: Path, adapter: Path, tmp_path: Path
) -> None:
    """A base of the Hub is named in the card's head, for which the Hub draws the model tree."""
    from huggingface_hub import ModelCard

    config = json.loads((adapter / "adapter_config.json").read_text()) | {"base_model_name_or_path": "org/base"}
    (adapter / "adapter_config.json").write_text(json.dumps(config))
    merge_adapter(Request(adapter, tmp_path / "merged", str(tiny), copy_of_base=True))
    line = [make_line(0, ["I10"], ["I10"])]
    base_log = write_log(tmp_path / "b", line, model={"weights": {"id": "org/base", "commit": "main"}})
    log = write_log(tmp_path / "t", line, model={"weights": identify_model(str(tmp_path / "merged"))})
    with pytest.raises(InputError, match=rf"is an adapter for org/base, but {trained} trains {tiny}"):
        write_card(adapter, trained, base_log, log, tmp_path / "merged")
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text(trained.read_text().replace(str(tiny), "org/base"))
    write_card(adapter, recipe, base_log, log, tmp_path / "merged")
    assert ModelCard.load(adapter / "README.md").data.base_model == "org/base"


def test_the_card_of_an_adapter_that_says_nothing(trained: Path, tiny: Path, adapter: Path, tmp_path: Path) -> None:
    merge_adapter(Request(adapter, tmp_path / "merged"))
    for said in ("clinical_evals_source.json", "chat_template.jinja"):
        (adapter / said).unlink()
    said = write_card(adapter, trained, *logs_of_two(tmp_path, tiny, tmp_path / "merged"), tmp_path / "merged")
    assert f"source of the training rows: {MIMIC_MARKER}" in said
    with pytest.raises(GuardError, match="marker"):
        check_may_leave(adapter / "README.md", PUBLIC)


def test_whose_card_it_is(
    trained: Path, tiny: Path, adapter: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The log must be of a model that was made of this adapter."""
    from safetensors.numpy import load_file, save_file

    merged, others = tmp_path / "merged", tmp_path / "others"
    merge_adapter(Request(adapter, merged))
    other = Path(shutil.copytree(adapter, tmp_path / "another" / "adapter"))
    weights = load_file(other / "adapter_model.safetensors")
    save_file({name: 2 * matrix for name, matrix in weights.items()}, other / "adapter_model.safetensors")
    merge_adapter(Request(other, others))
    base_log, log = logs_of_two(tmp_path, tiny, merged)

    def refused(folder: Path, *more: str) -> str:
        words = ["--recipe", str(trained), "--base-log", str(base_log), "--log", str(log), *more]
        assert main(["tuned", "card", str(folder), *words]) == 2
        return capsys.readouterr().err

    assert "only merged models are scored. Say which one the log is of: --merged FOLDER" in refused(adapter)
    assert f"{others} does not say that it was made of {adapter}" in refused(adapter, "--merged", str(others))
    assert f"{tiny} does not say that it was made of {adapter}" in refused(adapter, "--merged", str(tiny))
    assert f"{log} is not of the model {others}" in refused(other, "--merged", str(others))
    assert "is a whole model, not an adapter: leave --merged out" in refused(merged, "--merged", str(merged))
    assert "neither config.json nor adapter_config.json" in refused(tmp_path)
    assert not (adapter / ".eval_results").exists()
