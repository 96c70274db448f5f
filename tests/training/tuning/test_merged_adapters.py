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
