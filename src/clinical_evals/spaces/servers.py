"""The Spaces on this machine: each app.py in a process of its own, on a port of its own."""

import errno
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

from clinical_evals.assets import metric_script
from clinical_evals.errors import RunError

HOST = "127.0.0.1"
PATIENCE = 180
"""Seconds until a page must answer; importing everything takes a few."""
_LAST = 2_000


def free_port() -> int:
    """A port of this machine that nobody listens on now."""
    with socket.socket() as found:
        found.bind((HOST, 0))
        port: int = found.getsockname()[1]
    return port


def check_port(port: int) -> None:
    """Refuse a port that cannot be listened on: whoever listens there already would be taken for the Space.

    Raises:
        RunError: it is taken, or not one that this user may have.
    """
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((HOST, port))
        except (OSError, OverflowError) as error:
            reason = "is taken" if getattr(error, "errno", None) == errno.EADDRINUSE else f"cannot be used ({error})"
            raise RunError(f"port {port} of {HOST} {reason}. Leave --port out, or give another one.") from error


@contextmanager
def running_space(name: str, port: int) -> Iterator[str]:
    """The address of a Space that runs until the block ends.

    Args:
        name: of the metric.
        port: to listen on, at 127.0.0.1 alone.

    Raises:
        RunError: the port is taken, or it ended, or did not answer in time; the end of what it said is in the message.
        ResourceMissingError: this installation has no such metric.
    """
    check_port(port)
    app = metric_script(name).parent / "app.py"
    own = {"GRADIO_SERVER_NAME": HOST, "GRADIO_SERVER_PORT": str(port), "GRADIO_ANALYTICS_ENABLED": "False"}
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [sys.executable, str(app)], env=os.environ | own, stdin=subprocess.DEVNULL, stdout=said, stderr=said
        )
        try:
            address = f"http://{HOST}:{port}"
            if not _answers(address, process):
                said.seek(max(0, said.tell() - _LAST))
                raise RunError(f"{app} does not run:\n{said.read().decode(errors='replace').strip()}")
            yield address
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _answers(address: str, process: "subprocess.Popen[bytes]") -> bool:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # never by way of a proxy
    until = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < until:
        try:
            with opener.open(address, timeout=10):
                return True
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    return False
