"""Processes that know of the Hub for tests and of nothing else."""

import os
import subprocess
import sys
from pathlib import Path

from hub_server import Hub

PUSH = "import sys; from clinical_evals.cli import main; sys.exit(main(sys.argv[1:]))"
"""The command line, as code."""


def start(code: str, hub: Hub, tmp_path: Path, *words: str, **more: str) -> subprocess.Popen[str]:
    """A process that knows of the Hub and of nothing else, in an empty directory; more: of its environment."""
    empty = tmp_path / "empty"
    empty.mkdir(exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "CLIBENCH", "IOR_BENCH"))}
    return subprocess.Popen(
        [sys.executable, "-c", code, *words],
        cwd=empty,
        env=kept | hub.environment(tmp_path / "home") | more,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str], said: str = "") -> list[str]:
    out, err = process.communicate(said, timeout=300)
    assert process.returncode == 0, err
    return out.splitlines()
