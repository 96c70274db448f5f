"""A small Hub on this machine for tests: what huggingface_hub 1.33, datasets and evaluate ask when they push and load.

Large files go by the basic LFS transfer, so clients need HF_HUB_DISABLE_XET=1; HF_ENDPOINT names its address.
"""

import json
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import hub_api
from hub_call import Answer, Call, failure
from hub_store import HubError, Store

WRITE_TOKEN, READ_TOKEN = "hf_writeWriteWriteWriteWriteWriteWrite", "hf_readReadReadReadReadReadReadReadRe"
USER = "someone"


@dataclass
class Fault:
    """What goes wrong at the nth request whose "METHOD path" a pattern is found in, and at the `times - 1` after it.

    kind: a status; "cut" closes the connection before the request is read to its end, "lost" after it was carried out
    and before the answer, "short" in the middle of the answer.
    """

    pattern: str
    kind: int | str
    nth: int = 1
    times: int = 1
    retry_after: int | None = None
    says: str = "as the test wants it"
    seen: int = 0

    def strikes(self, request: str) -> bool:
        """Count a request; whether it is one that fails."""
        if not re.search(self.pattern, request):
            return False
        self.seen += 1
        return self.nth <= self.seen < self.nth + self.times


@dataclass
class Hub:
    """The Hub: its repositories, what it was asked, what is to go wrong."""

    store: Store
    url: str = ""
    requests: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    """The requests that were answered, with the status."""
    connections: int = 0
    faults: list[Fault] = field(default_factory=list)
    page: int = 1_000
    """Entries a page of a tree listing."""
    tokens: dict[str, str] = field(default_factory=lambda: {WRITE_TOKEN: "write", READ_TOKEN: "read"})

    def environment(self, home: Path, token: str | None = WRITE_TOKEN) -> dict[str, str]:
        """What a client process needs to talk to it."""
        return {
            "HF_ENDPOINT": self.url,
            "HF_HOME": str(home),
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_OFFLINE": "0",
            "HF_EVALUATE_OFFLINE": "0",
            "HF_DATASETS_OFFLINE": "0",
            "HF_UPDATE_DOWNLOAD_COUNTS": "0",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "no_proxy": "127.0.0.1",
            "NO_PROXY": "127.0.0.1",
            **({"HF_TOKEN": token} if token else {}),
        }


@contextmanager
def serving(folder: Path) -> Iterator[Hub]:
    """A Hub that listens on a free port of this machine while the block runs, and keeps its files in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    hub = Hub(Store(folder))
    listening = _Server(("127.0.0.1", 0), _handler(hub))
    hub.url = f"http://127.0.0.1:{listening.server_address[1]}"
    threading.Thread(target=listening.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield hub
    finally:
        listening.shutdown()
        listening.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # clients keep connections open

    def handle_error(self, *_: object) -> None:
        """Connections that end are no news."""


def _handler(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            super().setup()
            hub.connections += 1

        def _serve(self) -> None:
            address = urlsplit(self.path)
            request = f"{self.command} {unquote(address.path)}"
            hub.requests.append(request)
            fault = next((fault for fault in hub.faults if fault.strikes(request)), None)
            if fault and fault.kind == "cut":
                self._hang_up()
                return
            body = self._body()
            if fault and isinstance(fault.kind, int):
                more = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
                said = {"error": fault.says, "errors": [{"message": fault.says}]}
                self._answer(Answer(fault.kind, said, more))
                return
            try:
                query, role = parse_qs(address.query), self._role()
                call = Call(self.command, address.path, query, body, role, hub.url, hub.page)
                answer = hub_api.answer(hub.store, call)
            except HubError as error:
                answer = failure(error)
            if fault and fault.kind == "lost":
                self._hang_up()
            else:
                self._answer(answer, short=fault is not None)

        do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = _serve

        def _role(self) -> str:
            """read or write by token, empty without one."""
            given = self.headers.get("Authorization", "").removeprefix("Bearer ")
            if given and given not in hub.tokens:
                raise HubError(401, "", "Invalid credentials in Authorization header")
            return hub.tokens[given] if given else ""

        def _body(self) -> bytes:
            if self.headers.get("Transfer-Encoding") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return body

        def _answer(self, answer: Answer, short: bool = False) -> None:
            hub.answers.append(f"{self.command} {unquote(urlsplit(self.path).path)} {answer.status}")
            content = answer.content if isinstance(answer.content, bytes) else json.dumps(answer.content).encode()
            headers: dict[str, Any] = {"Content-Length": len(content), **answer.headers}
            self.send_response(answer.status)
            for name, value in headers.items():
                self.send_header(name, str(value))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content[: len(content) // 2] if short else content)
            if short:
                self._hang_up()

        def _hang_up(self) -> None:
            self.close_connection = True
            self.wfile.flush()
            with suppress(OSError):
                self.connection.shutdown(socket.SHUT_RDWR)

        def log_message(self, *_: object) -> None:
            """Nothing on the terminal."""

    return Handler
