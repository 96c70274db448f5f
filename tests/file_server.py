"""A real little HTTP server in the test process that hands out one body, or fails as told."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class FileServer:
    """What it answers to every GET; `url` is where it listens."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    announce: int | None = None
    """The Content-Length that is sent; None for the true one, -1 for none at all."""
    silent: str = ""
    """"head" to answer nothing, "body" to stop after the half of the body, until the test is over."""
    redirects: int = 0
    """How often it sends a client on to another path first."""
    url: str = ""
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    """Path and headers of each request."""
    over: threading.Event = field(default_factory=threading.Event)


@contextmanager
def serving(server: FileServer) -> Iterator[FileServer]:
    """The server listens on a free port of this machine while the block runs."""
    listening = ThreadingHTTPServer(("127.0.0.1", 0), _handler(server))
    server.url = f"http://127.0.0.1:{listening.server_address[1]}"
    threading.Thread(target=listening.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield server
    finally:
        server.over.set()
        listening.shutdown()
        listening.server_close()


def _handler(server: FileServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            server.asked.append((self.path, dict(self.headers.items())))
            self.close_connection = True
            if server.silent == "head":
                server.over.wait(60)
                return
            if len(server.asked) <= server.redirects:
                self._head(302, {"Location": f"/{len(server.asked)}{self.path}"}, 0)
                return
            announced = len(server.body) if server.announce is None else server.announce
            self._head(server.status, server.headers, announced)
            half = len(server.body) // 2 if server.silent == "body" else len(server.body)
            self.wfile.write(server.body[:half])
            if server.silent == "body":
                self.wfile.flush()
                server.over.wait(60)

        def _head(self, status: int, headers: Mapping[str, str], length: int) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if length >= 0:
                self.send_header("Content-Length", str(length))
            self.send_header("Connection", "close")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing on the terminal."""

    return Handler
