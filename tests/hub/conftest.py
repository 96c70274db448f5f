"""The Hub for tests, and the command line of this process pointed at it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hub_server import WRITE_TOKEN, Hub, serving
from huggingface_hub import constants

from clinical_evals.cli import main

Push = Callable[..., int]


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A Hub without repositories; clients of this process go there, with a token that may write."""
    with serving(tmp_path / "hub") as server:
        monkeypatch.setattr(constants, "ENDPOINT", server.url)
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
        monkeypatch.setenv("HF_TOKEN", WRITE_TOKEN)
        monkeypatch.delenv("HUGGING_FACE_HUB_TOKEN", raising=False)
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.setenv(name, "127.0.0.1")
        monkeypatch.setenv("CLINICAL_EVALS_STATE", str(tmp_path / "state"))
        yield server


@pytest.fixture
def push() -> Push:
    """`clinical-evals push …` in this process; gives the exit code."""

    def run(*words: object) -> int:
        return main(["push", *map(str, words)])

    return run
