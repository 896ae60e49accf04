"""A real service for tests: `chaffinch serve` in a process of its own, with its workers."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from chaffinch.index.address import is_database

_PATIENCE = 60


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Service:
    """A running service. `http` sends requests to it."""

    def __init__(self, data: Path, where: str, *options: str) -> None:
        self.port, self.moss_port = free_port(), free_port()
        database = {"CHAFFINCH_DATABASE": where} if is_database(where) else {}
        command = [sys.executable, "-m", "chaffinch", "serve", "--data", str(data)]
        ports = ["--port", str(self.port), "--moss-port", str(self.moss_port)]
        self.log = data.with_suffix(".log")
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, *ports, *options], env={**os.environ, **database}, stdout=log, stderr=log
            )
        self.address = f"http://127.0.0.1:{self.port}"
        self.http = httpx.Client(base_url=self.address, timeout=_PATIENCE)

    def wait_until_ready(self) -> None:
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end and self.process.poll() is None:
            try:
                if self.http.get("/readyz").status_code == 200:
                    return
            except httpx.TransportError:
                time.sleep(0.1)
        raise RuntimeError(f"the service does not start: {self.log.read_text()}")

    def stop(self) -> int:
        self.http.close()
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(_PATIENCE)

    def wait_for(self, run_id: str) -> dict[str, object]:
        """Return the state of a run once it is over."""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            state: dict[str, object] = self.http.get(f"/api/v1/runs/{run_id}").raise_for_status().json()
            if state["state"] in ("done", "failed"):
                return state
            time.sleep(0.1)
        raise RuntimeError(f"the run is not over: {self.log.read_text()}")


@contextmanager
def running_service(data: Path, where: str, *options: str) -> Iterator[Service]:
    """Run a service inside the `with` block."""
    service = Service(data, where, *options)
    try:
        service.wait_until_ready()
        yield service
    finally:
        service.stop()
