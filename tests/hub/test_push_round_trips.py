"""What was pushed, loaded again: in fresh processes, from the Hub alone, equal to the byte."""

import hashlib
import json
from pathlib import Path
from typing import Any

import datasets
import pytest
import yaml
from fresh_process import PUSH, finish, start
from hub_server import Hub
from huggingface_hub import HfApi, ModelCard, constants, hf_hub_download, parse_eval_result_entries, snapshot_download
from push_folders import MODEL_CARD, contents
from tiny_llama import write_recipe, write_tiny
from written_answers import make_line, write_log

from clinical_evals.cli import main
from clinical_evals.tasks.models.model_files import identify_model

DATASETS = """
import hashlib, json, sys
from datasets import load_dataset
for name, configs in json.loads(sys.argv[1]).items():
    for config in configs:
        for split, rows in load_dataset(name, config).items():
            said = json.dumps(rows.to_list(), sort_keys=True)
            print(name, config, split, hashlib.sha256(said.encode()).hexdigest())
assert "clinical_evals" not in sys.modules
"""
METRICS = """
import sys
import evaluate
here, sys.modules["clinical_evals"] = sys.modules.get("clinical_evals"), None  # as where it is not installed
for name in ("org/hier_icd_f1", "org/department_accuracy"):
    try:
        evaluate.load(name)
    except ImportError as error:
        print(type(error).__name__, "clinical_evals" in str(error))
del sys.modules["clinical_evals"]
assert here is None
metric = evaluate.load("org/hier_icd_f1")
print(metric.compute(predictions=[["i10", "E119"]], references=[["I10", "E11.9"]])["f1_full"])
metric = evaluate.load("org/department_accuracy")
answers = {"predictions": ["建议挂小儿外科"], "references": ["小儿外科"]}
print(metric.compute(**answers, departments=["外科", "小儿外科"])["accuracy"])
"""
MODELS = """
import hashlib, sys
from pathlib import Path
import torch
from peft import AutoPeftModelForCausalLM, LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM
out = Path(sys.argv[1])
tokens = torch.arange(12).reshape(1, 12)

def logits(model):
    with torch.no_grad():
        return hashlib.sha256(model.eval()(tokens).logits.contiguous().numpy().tobytes()).hexdigest()

torch.manual_seed(0)
sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
base = LlamaForCausalLM(LlamaConfig(vocab_size=64, **sizes))
base.save_pretrained(out / "base")
base.config._name_or_path = base.name_or_path = "org/base"  # where the adapter will look for it
adapted = get_peft_model(base, LoraConfig(r=2, target_modules=["q_proj", "v_proj"], init_lora_weights=False))
adapted.save_pretrained(out / "adapter")
before = logits(adapted)
merged = adapted.merge_and_unload()
merged.save_pretrained(out / "merged")
print(before, logits(merged), flush=True)
input()  # until they are pushed
print(logits(AutoPeftModelForCausalLM.from_pretrained("org/adapter")))
print(logits(AutoModelForCausalLM.from_pretrained("org/merged")))
"""


def digests_of(folder: Path, config: str, cache: Path) -> dict[str, str]:
    """A digest of the rows of each split, as `datasets` reads them from the folder here."""
    rows = datasets.load_dataset(str(folder), config, cache_dir=str(cache))
    said = {split: json.dumps(rows[split].to_list(), sort_keys=True).encode() for split in rows}
    return {split: hashlib.sha256(text).hexdigest() for split, text in said.items()}


def test_the_samples_load_from_the_hub_without_us(hub: Hub, repository: Path, tmp_path: Path) -> None:
    expected, configs = [], {}
    for name in ("ior-bench", "clibench"):
        folder = repository / "datasets" / name
        said = finish(start(PUSH, hub, tmp_path, "push", "dataset", name, f"org/{name}"))
        assert f"{hub.url}/datasets/org/{name} (private, main)" in said[0]
        sent = hub.store.files("dataset", f"org/{name}")
        assert sent == contents(folder)
        configs[f"org/{name}"] = sorted({place.split("/")[1] for place in sent if place.startswith("data/")})
        for config in configs[f"org/{name}"]:
            digests = digests_of(folder, config, tmp_path / "cache")
            assert {f"data/{config}/{split}.json" for split in digests} <= set(sent)
            expected += [f"org/{name} {config} {split} {digest}" for split, digest in digests.items()]
    assert [len(found) for found in configs.values()] == [3, 4]
    assert sorted(finish(start(DATASETS, hub, tmp_path, json.dumps(configs)))) == sorted(expected)


def test_the_metrics_load_from_the_hub_and_say_what_they_need(
    hub: Hub, push: Any, repository: Path, tmp_path: Path
) -> None:
    for name in ("hier_icd_f1", "department_accuracy"):
        assert push("metric", name, f"org/{name}", "--public") == 0
        assert hub.store.repos["space", f"org/{name}"].sdk == "gradio"
        local = contents(repository / "metrics" / name)
        sent = {place: content for place, content in local.items() if "__pycache__" not in place}
        assert hub.store.files("space", f"org/{name}") == sent
    assert finish(start(METRICS, hub, tmp_path)) == ["ImportError True", "ImportError True", "1.0", "1.0"]


def test_an_adapter_and_a_merged_model(hub: Hub, push: Any, tmp_path: Path) -> None:
    pytest.importorskip("peft")
    out = tmp_path / "models"
    process = start(MODELS, hub, tmp_path, str(out))
    assert process.stdout is not None
    adapted, merged = process.stdout.readline().split() or ["", finish(process)[0]]
    for name in ("base", "adapter", "merged"):
        (out / name / "README.md").write_text(MODEL_CARD)
        assert push("model", out / name, f"org/{name}", "--trained-on", "nothing: drawn by a seed") == 0
        assert hub.store.files("model", f"org/{name}") == contents(out / name)
    assert finish(process, "go on\n") == [adapted, merged]


def test_what_our_own_way_of_tuning_made(
    hub: Hub, push: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows, recipe, TRL, merge, cards with results: adapter and model arrive as they are here, without TRL's state."""
    pytest.importorskip("trl")
    from clinical_evals.training.tuning.trl_run import train

    base, adapter, merged = (tmp_path / name for name in ("base", "small-lora", "small-merged"))
    write_tiny(base)
    recipe = write_recipe(tmp_path / "recipe.yaml", base, tmp_path / "rows", adapter, max_steps=2, save_steps=2)
    rows = ("--task", "diagnosis", "--target", "codes", "--max-length", "1024", "--limit", "2")
    assert main(["build", "sft", *rows, "--tokenizer", str(base), "--out", str(tmp_path / "rows")]) == 0
    assert main(["check-recipe", str(recipe)]) == 0
    train(recipe)
    assert main(["tuned", "merge", str(adapter), "--out", str(merged)]) == 0
    # The base model names nothing; the merged one names one of two codes: precision 1 and recall 1/2 give F1 2/3.
    base_log, log = (
        write_log(
            tmp_path / "logs" / model.name,
            [make_line(0, [answer], ["I10"]), make_line(1, [""], ["J18.9"])],
            model={"weights": identify_model(str(model))},
        )
        for model, answer in ((base, ""), (merged, "I10"))
    )
    card = ("--recipe", str(recipe), "--base-log", str(base_log), "--log", str(log))
    assert main(["tuned", "card", str(merged), *card]) == 0
    assert main(["tuned", "card", str(adapter), *card, "--merged", str(merged)]) == 0, capsys.readouterr().err

    monkeypatch.setattr(
        constants, "HUGGINGFACE_CO_URL_TEMPLATE", f"{hub.url}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    )
    for folder, library in ((adapter, "peft"), (merged, "transformers")):
        name = f"org/{folder.name}"
        assert push("model", folder, name, "--public") == 0, capsys.readouterr().err
        here = contents(folder)
        state = {place for place in here if place.startswith("checkpoint-") or place == "training_args.bin"}
        assert bool(state) == (folder == adapter)
        sent = {place: content for place, content in here.items() if place not in state}
        assert {"README.md", ".eval_results/clibench.yaml", "clinical_evals_source.json"} < set(sent)
        assert hub.store.files("model", name) == sent
        got = Path(snapshot_download(name, endpoint=hub.url, cache_dir=tmp_path / "cache"))
        arrived = contents(got)
        del arrived[".gitattributes"]  # the Hub's own
        assert arrived == sent

        data = ModelCard.load(got / "README.md").data
        assert data.library_name == library
        assert data.to_dict()["model-index"][0]["name"] == folder.name
        assert {each.metric_name: each.metric_value for each in data.eval_results}["f1_full"] == 66.67
        entries = parse_eval_result_entries(yaml.safe_load(arrived[".eval_results/clibench.yaml"]))
        assert {entry.task_id: entry.value for entry in entries}["diagnosis_f1_full"] == 66.67


def test_results(hub: Hub, push: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    template = f"{hub.url}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)  # it names the Hub of the process's start
    folder = tmp_path / "runs" / "clibench_diagnosis" / "model-1a2b"
    folder.mkdir(parents=True)
    for name in ("summary.json", "summary.official.json"):
        (folder / name).write_text(json.dumps({"task": "clibench:diagnosis", "scores": {"f1_full": 1 / 3}}))
    assert push("results", tmp_path / "runs", "org/results") == 0
    place = "clibench_diagnosis/model-1a2b/summary.official.json"
    got = hf_hub_download("org/results", place, repo_type="dataset", endpoint=hub.url, cache_dir=tmp_path / "cache")
    assert Path(got).read_bytes() == (tmp_path / "runs" / place).read_bytes()
    assert len(HfApi(endpoint=hub.url).list_repo_files("org/results", repo_type="dataset")) == 3
