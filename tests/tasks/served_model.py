"""`transformers serve` with a model on loopback, and requests that are passed on to it."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
from endpoint_server import Action, Asked, Send

NEEDED = ("fastapi", "uvicorn", "openai")
needs_serving = pytest.mark.skipif(
    not all(map(find_spec, NEEDED)),
    reason='transformers serve is not installed (pip install "transformers[serving]")',
)


@contextmanager
def serve(model: str, folder: Path) -> Iterator[str]:
    """The base URL of a server that answers with a model as long as the context lasts; its words go to the folder."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code = "from transformers.cli.transformers import main; main()"
    command = [sys.executable, "-c", code, "serve", model, "--host", "127.0.0.1", "--port", str(port)]
    said = folder / "serve.log"
    with said.open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | {"HF_HUB_OFFLINE": "1"})
        try:
            _wait_for(f"http://127.0.0.1:{port}/health", process, said)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()
            process.wait()


def forward(asked: Asked, url: str) -> Action:
    """What a server answers to a request.

    Args:
        asked: the request.
        url: the server's base URL.
    """
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{url}/chat/completions", json.dumps(asked.body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        return Send(response.read())


def _wait_for(url: str, process: "subprocess.Popen[bytes]", said: Path) -> None:
    for _ in range(600):
        assert process.poll() is None, f"transformers serve ended: {said.read_text()[-2000:]}"
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except urllib.error.HTTPError:
            return  # it answers
        except OSError:
            time.sleep(0.2)
        else:
            return
    pytest.fail(f"transformers serve does not answer at {url}")
