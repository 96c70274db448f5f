"""A real little HTTP server in the test process that plays an OpenAI endpoint, with scripted faults."""

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

DEPARTMENT = "骨科"


class Asked(NamedTuple):
    """One request."""

    number: int
    """From 0, over all requests."""
    prompt: int
    """From 0, in the order in which different prompts were first seen."""
    attempt: int
    """From 1: how often this very request has come."""
    body: dict[str, Any]
    headers: Mapping[str, str]
    path: str


class Send(NamedTuple):
    """What is sent back."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = {}
    cut: int = 0
    """Bytes that are promised and never sent."""


class Silence(NamedTuple):
    """Nothing is sent until the test is over."""


class HangUp(NamedTuple):
    """The connection is closed without a word."""


Action = Send | Silence | HangUp


def marked_answer(body: Mapping[str, Any]) -> str:
    """An answer that tells which prompt it is of."""
    said = json.dumps(body["messages"], ensure_ascii=False)
    return f"{DEPARTMENT} {hashlib.sha256(said.encode()).hexdigest()[:8]}"


def completion(asked: Asked, text: object = None, finish: str | None = "stop", **changes: Any) -> Send:
    """An answer; `text` None is the marked one. The usage that it reports is 100 and 7 tokens."""
    message = {"role": "assistant", "content": marked_answer(asked.body) if text is None else text}
    reply = {
        "id": "x",
        "object": "chat.completion",
        "model": f"{asked.body['model']}-2026",
        "system_fingerprint": "fp_1",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107},
    }
    return Send(json.dumps({name: value for name, value in (reply | changes).items() if value is not None}).encode())


def error(status: int, message: str = "no", code: str | None = None, **headers: str) -> Send:
    """An error in OpenAI's form; headers with _ for -."""
    body = json.dumps({"error": {"message": message, "code": code}}).encode()
    return Send(body, status, {name.replace("_", "-"): value for name, value in headers.items()})


@dataclass
class EndpointServer:
    """Answers by `script`, and remembers what it was asked."""

    script: Callable[[Asked], Action] = completion
    asked: list[Asked] = field(default_factory=list)
    answered: int = 0
    most_at_once: int = 0
    port: int = 0

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._prompts: dict[str, int] = {}
        self._attempts: Counter[str] = Counter()
        self._at_once = 0
        self.start()

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        """Listen, on the port of before if there was one."""
        self._over.clear()
        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), _handler(self))
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Hear no more; whoever waits is let go."""
        self._over.set()
        server = self._server
        server.shutdown()
        server.server_close()

    def reset(self, script: Callable[[Asked], Action] = completion) -> None:
        """Forget what was asked."""
        self.script, self.answered, self.most_at_once = script, 0, 0
        self.asked.clear()
        self._prompts.clear()
        self._attempts.clear()

    def note(self, body: dict[str, Any], headers: Mapping[str, str], path: str) -> Asked:
        """Remember a request."""
        said, whole = json.dumps(body["messages"]), json.dumps(body, sort_keys=True)
        with self._lock:
            self._attempts[whole] += 1
            prompt = self._prompts.setdefault(said, len(self._prompts))
            asked = Asked(len(self.asked), prompt, self._attempts[whole], body, dict(headers), path)
            self.asked.append(asked)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        return asked

    def leave(self, answered: bool) -> None:
        """A request has been dealt with."""
        with self._lock:
            self._at_once -= 1
            self.answered += answered

    def wait_until_over(self) -> None:
        """Until the server stops."""
        self._over.wait(60)


def _handler(server: EndpointServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked = server.note(body, dict(self.headers.items()), self.path)
            action: Action = HangUp()
            try:
                action = server.script(asked)
            finally:
                server.leave(isinstance(action, Send) and action.status == 200)
            if isinstance(action, Silence):
                server.wait_until_over()
            if not isinstance(action, Send):
                self.close_connection = True
                return
            self.send_response(action.status)
            for name, value in action.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(action.body) + action.cut))
            self.end_headers()
            self.wfile.write(action.body)
            self.close_connection = bool(action.cut) or self.close_connection

        def log_message(self, *_: object) -> None:
            """Nothing on the terminal."""

    return Handler
