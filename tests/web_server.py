"""A web server on this machine, for tests of fetching."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from chaffinch.service.settings import Settings
from chaffinch.service.site import Site

Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Web:
    """A web server on this machine."""

    port: int
    pages: dict[str, Answer] = field(default_factory=dict)
    requests: list[Any] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def settings(self) -> Settings:
        """Settings that allow this server and nothing else on this machine."""
        return Settings(fetch_urls=True, fetch_also=f"127.0.0.1:{self.port}")

    def allow(self, site: Site) -> None:
        """Let a service fetch from this server."""
        with site.database.writing() as session:
            Settings.change(session, fetch_urls=True, fetch_also=self.settings.fetch_also)
        site.reload_settings()

    def show(self, path: str, body: bytes, status: int = 200, **headers: str) -> str:
        def answer(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(status)
            for name, value in headers.items():
                handler.send_header(name.replace("_", "-"), value)
            handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            handler.wfile.write(body)

        self.pages[path] = answer
        return self.url + path


@contextmanager
def running_web() -> Iterator[Web]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            shown.requests.append((self.path, dict(self.headers)))
            if self.path in shown.pages:
                shown.pages[self.path](self)
            else:
                self.send_error(404)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    shown = Web(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield shown
    server.shutdown()
    server.server_close()
