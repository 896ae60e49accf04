"""A real PostgreSQL server for tests, on a port and in a folder of its own."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tools.programs import find_postgres

USER, PASSWORD = "finch", "open sesame"
_PATIENCE = 60


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Return the address of an empty database. A test adds the name of its own index after a #."""
    programs = find_postgres()
    assert programs, "install PostgreSQL: run `make programs`"
    with running(programs) as address:
        yield address


@contextmanager
def running(programs: Path) -> Iterator[str]:
    """Run a server inside the `with` block."""
    # Not in pytest's folder: the server runs as another user, who may not go there.
    folder = Path(tempfile.mkdtemp(prefix="chaffinch-postgres-"))
    try:
        with (folder / "log").open("wb") as log:
            server, port = _started(programs, folder, log)
            try:
                yield f"postgresql://{USER}:{PASSWORD.replace(' ', '%20')}@127.0.0.1:{port}/postgres"
            finally:
                server.send_signal(signal.SIGINT)  # ends its sessions, then itself
                try:
                    server.wait(_PATIENCE)
                except subprocess.TimeoutExpired:
                    server.kill()
                    server.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _started(programs: Path, folder: Path, log: Any) -> tuple[subprocess.Popen[bytes], int]:
    user = _other_user(folder)
    secret, data = folder / "password", folder / "data"
    secret.write_text(PASSWORD)
    if user:
        shutil.chown(secret, user["user"])
    subprocess.run(
        [programs / "initdb", "-D", data, "-U", USER, "--pwfile", secret, "-A", "scram-sha-256", "-E", "UTF8",
         "--locale=C"], check=True, stdout=log, stderr=log, cwd=folder, **user,
    )  # fmt: skip
    for _ in range(3):  # another program may take the port first
        port = _free_port()
        server = subprocess.Popen(
            [programs / "postgres", "-D", data, "-p", str(port), "-h", "127.0.0.1", "-k", ""],
            stdout=log, stderr=log, cwd=folder, **user,
        )  # fmt: skip
        if _answers(server, port):
            return server, port
    raise RuntimeError(f"PostgreSQL does not start: {(folder / 'log').read_text()}")


def _other_user(folder: Path) -> dict[str, Any]:
    """PostgreSQL does not run as root."""
    if os.name == "nt" or os.geteuid() != 0:
        return {}
    import pwd

    names = {entry.pw_name for entry in pwd.getpwall()}
    user = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
    os.chown(folder, user.pw_uid, user.pw_gid)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _answers(server: subprocess.Popen[bytes], port: int) -> bool:
    """Wait until the server answers. Return False if it ended."""
    end = time.monotonic() + _PATIENCE
    while server.poll() is None and time.monotonic() < end:
        try:
            psycopg.connect(
                host="127.0.0.1", port=port, user=USER, password=PASSWORD, dbname="postgres"
            ).close()
            return True
        except psycopg.OperationalError:
            time.sleep(0.1)
    if server.poll() is None:
        server.kill()
        server.wait()
        raise RuntimeError(f"PostgreSQL did not answer within {_PATIENCE} s")
    return False
