"""What clients ask of the Hub from a push to loading again, held against a record of it.

The record tells what a Hub, or a mirror of it, must answer. To write it anew, after huggingface_hub has moved on:
`CLINICAL_EVALS_WRITE_REQUESTS=1 pytest tests/hub/test_recorded_requests.py`, then read the difference.
"""

import importlib.metadata
import json
import os
import re
from pathlib import Path

import pytest
from fresh_process import finish, start
from hub_server import Hub
from push_folders import MODEL_CARD, dataset
from tiny_llama import write_tiny

RECORD = Path(__file__).with_name("requests_of_huggingface_hub_1_33.txt")
HEAD = """\
# What huggingface_hub {versions} sent
# from pushing to loading again, and the status of the answer: written by test_recorded_requests.py, which says how.
# {path} is a file that is there; /lfs-storage and /cdn are where the Hub for tests keeps large files.
"""
LIBRARIES = ("huggingface_hub", "datasets", "evaluate", "transformers", "peft")
PUSHES = """
import json, sys
from clinical_evals.cli import main
for words in json.loads(sys.argv[1]):
    assert main(["push", *words]) == 0, words
"""
LOAD = """
import evaluate
from datasets import load_dataset
from huggingface_hub import hf_hub_download
from peft import AutoPeftModelForCausalLM
assert len(load_dataset("org/letters", "letters", revision="v1")["test"]) == 20
assert len(load_dataset("org/ior-bench", "static")["test"]) > 0
evaluate.load("org/hier_icd_f1")
assert AutoPeftModelForCausalLM.from_pretrained("org/adapter").num_parameters() > 0
hf_hub_download("org/results", "run/summary.json", repo_type="dataset")
"""


def small_adapter(folder: Path) -> tuple[Path, Path]:
    """A base model and an adapter that names it as it is named on the Hub."""
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    base, adapter = write_tiny(folder / "base"), folder / "adapter"
    get_peft_model(
        AutoModelForCausalLM.from_pretrained(base), LoraConfig(r=2, target_modules=["q_proj"], task_type="CAUSAL_LM")
    ).save_pretrained(adapter)
    config = json.loads((adapter / "adapter_config.json").read_text())
    (adapter / "adapter_config.json").write_text(json.dumps(config | {"base_model_name_or_path": "org/base"}))
    for made in (base, adapter):
        (made / "README.md").write_text(MODEL_CARD)
    return base, adapter


def pattern_of(answer: str) -> str:
    """The route of a request: names, hashes, branches but main, and files that are there become placeholders.

    What clients look for by a name of their own, and is not there, keeps its name.
    """
    method, address, status = answer.split(" ")
    named = re.search(r"/org/([^/]+?)(?=\.git/|/|$)", address)
    if named:
        address = address.replace(named[0], "/{ns}/{repo}", 1).replace(f"/{named[1]}.py", "/{repo}.py")
    address = re.sub(r"/[0-9a-f]{40}(?=/|$)", "/{sha}", address)
    address = re.sub(r"/[0-9a-f]{64}$", "/{sha256}", address)
    address = re.sub(r"/v1(?=/|$)", "/{branch}", address)
    address = re.sub(r"/resolve/v\d+(?:\.\d+)+/", "/resolve/{version}/", address)  # of evaluate, which tries its own
    if status != "404":
        address = re.sub(r"(/(?:resolve|tree)/[^/]+)/.+", r"\1/{path}", address)
    return f"{method} {address} {status}"


@pytest.mark.slow
def test_the_requests_from_push_to_load_are_those_of_the_record(hub: Hub, tmp_path: Path) -> None:
    """In processes of their own: some requests are sent once a process, and none that a cache answers."""
    pytest.importorskip("peft")
    version = importlib.metadata.version("huggingface_hub")
    if not version.startswith("1.33."):
        pytest.skip(f"the record is of huggingface_hub 1.33, here is {version}")
    base, adapter = small_adapter(tmp_path)
    (tmp_path / "runs" / "run").mkdir(parents=True)
    (tmp_path / "runs" / "run" / "summary.json").write_text(json.dumps({"scores": {"f1_full": 0.5}}))
    branch = ("--public", "--gated", "auto", "--revision", "v1")
    trained_on = ("--trained-on", "nothing: drawn by a seed")
    pushes = (
        ("dataset", dataset(tmp_path / "letters"), "org/letters", *branch),
        ("dataset", "ior-bench", "org/ior-bench"),
        ("dataset", "ior-bench", "org/ior-bench"),  # again: nothing new
        ("metric", "hier_icd_f1", "org/hier_icd_f1"),
        ("model", base, "org/base", *trained_on),
        ("model", adapter, "org/adapter", *trained_on),
        ("results", tmp_path / "runs", "org/results"),
    )
    said = json.dumps(pushes, default=str)
    finish(start(PUSHES, hub, tmp_path, said, HF_HUB_DISABLE_TELEMETRY="0"))  # with what it asks of a user's machine
    finish(start(LOAD, hub, tmp_path))
    seen = sorted({pattern_of(answer) for answer in hub.answers})
    if os.environ.get("CLINICAL_EVALS_WRITE_REQUESTS"):
        versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in LIBRARIES)
        head = HEAD.replace("huggingface_hub {versions}", versions)
        RECORD.write_text(head + "".join(f"{line}\n" for line in seen))
    assert seen == [line for line in RECORD.read_text().splitlines() if not line.startswith("#")]
