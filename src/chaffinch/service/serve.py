"""Runs the service on this machine: the web server in this process, and workers in processes of their own."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import uvicorn

from chaffinch.service.accounts.sessions import has_accounts
from chaffinch.service.accounts.visitor import is_loopback
from chaffinch.service.housekeeping import Housekeeper
from chaffinch.service.jobs.job_worker import Worker
from chaffinch.service.moss.moss_server import MossServer
from chaffinch.service.site import Site
from chaffinch.service.web.application import create_app
from chaffinch.service.web.proxies import Network

_STOP_SECONDS = 20
_log = logging.getLogger(__name__)


def serve(
    site: Site,
    host: str,
    port: int,
    moss_port: int | None,
    workers: list[str],
    count: int,
    trusted_proxies: tuple[Network, ...] = (),
) -> None:
    """Serve until SIGINT or SIGTERM. `workers` is the command that starts a worker, `count` how many."""
    if not is_loopback(host) and not has_accounts(site):
        _log.warning(
            "nobody can use this service yet: create an administrator with `chaffinch account add EMAIL"
            " --role admin` and the same --data or --database"
        )
    supervisor, housekeeper = Supervisor(workers, count), Housekeeper(site)
    supervisor.start()
    housekeeper.start()
    config = uvicorn.Config(
        create_app(site, host, trusted_proxies),
        host=host,
        port=port,
        log_config=None,
        access_log=False,  # the addresses of links are secrets
        proxy_headers=False,
        timeout_graceful_shutdown=_STOP_SECONDS,
    )
    try:
        asyncio.run(_serve(site, uvicorn.Server(config), moss_port))
    finally:
        supervisor.stop()
        housekeeper.stop()
        site.close()


async def _serve(site: Site, web: uvicorn.Server, moss_port: int | None) -> None:
    """Run the web server, and the MOSS server beside it."""
    host, port = web.config.host, web.config.port
    shown = f"[{host}]" if ":" in host else socket.gethostname() if host in ("0.0.0.0", "") else host

    def base_url() -> str:
        return site.settings.base_url.rstrip("/") or f"http://{shown}:{port}"

    if moss_port is None:
        await web.serve()
        return
    async with await MossServer(site, base_url).listen(host, moss_port):
        _log.info("listening for MOSS clients on %s, port %s", host, moss_port)
        await web.serve()


class Supervisor:
    """Keeps a number of worker processes running."""

    def __init__(self, command: list[str], count: int) -> None:
        self._command = command
        self._stop = threading.Event()
        self._processes: list[subprocess.Popen[bytes] | None] = [None] * count
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Let the workers give their jobs back, and end them."""
        self._stop.set()
        self._thread.join()
        running = [process for process in self._processes if process is not None]
        for process in running:
            process.terminate()
        end = time.monotonic() + _STOP_SECONDS
        for process in running:
            try:
                process.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _watch(self) -> None:
        pause = 0.2
        while not self._stop.wait(pause):
            for number, process in enumerate(self._processes):
                if process is not None and process.poll() is not None:
                    _log.warning("a worker ended with code %s; starting another", process.returncode)
                    pause = 1.0  # not too fast, if it ends at once
                    process = None
                if process is None:
                    # A worker ends when its input does: that is when this process is gone, however it ended.
                    self._processes[number] = subprocess.Popen(self._command, stdin=subprocess.PIPE)


def work(site: Site, *, ends_with_input: bool) -> None:
    """Run jobs until SIGINT or SIGTERM, or until standard input ends."""
    worker = Worker(site)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: worker.stop.set())
    if ends_with_input:
        threading.Thread(target=_stop_with_input, args=[worker], daemon=True).start()
    housekeeper = Housekeeper(site)
    if not ends_with_input:  # otherwise the service that started this worker tidies up
        housekeeper.start()
    try:
        worker.run()
    finally:
        housekeeper.stop()
        site.close()


def _stop_with_input(worker: Worker) -> None:
    sys.stdin.buffer.read()
    worker.stop.set()


def worker_command(data: Path) -> list[str]:
    """Return the command that starts a worker. It finds the address of a database in the environment."""
    return [sys.executable, "-m", "chaffinch", "worker", "--data", str(data), "--until-input-ends"]
