"""A real PostgreSQL server for tests: one that is started here, or the one at CHAFFINCH_POSTGRES."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from chaffinch.index.postgres.postgres_store import PostgresStore
from chaffinch.index.records import Settings
from chaffinch.recipe import Recipe
from tools.programs import find_postgres

USER, PASSWORD = "finch", "open sesame"
_PATIENCE = 60


OUTSIDE = os.environ.get("CHAFFINCH_POSTGRES", "")
"""The address of a database on a server that is already running. Its user must be able to create schemas."""
_RUN = f"test-{secrets.token_hex(4)}"
"""The start of the names of all indexes that this process creates."""
_numbers = count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Return the address of a database. Others may use it too, so a test adds # and a new name."""
    if OUTSIDE:
        yield OUTSIDE
        with psycopg.connect(OUTSIDE, autocommit=True) as connection:
            rows = connection.execute("SELECT nspname FROM pg_namespace WHERE starts_with(nspname, %s)", [_RUN])
            names = [str(name) for (name,) in rows]
        for name in names:
            drop_schema(OUTSIDE, name)
        return
    programs = find_postgres()
    assert programs, "install PostgreSQL: run `make programs`"
    with running(programs) as address:
        yield address


@pytest.fixture
def address(postgres: str) -> str:
    """Return an address where there is no index yet. Its connections have the name of the index."""
    name = new_name()
    return f"{with_option(postgres, 'application_name', name)}#{name}"


@pytest.fixture
def store(address: str) -> Iterator[PostgresStore]:
    with closing(PostgresStore.create(address, Settings(Recipe("text")))) as made:
        yield made


def new_name() -> str:
    """Return a name that no index has, in this process or in any other."""
    return f"{_RUN}-{next(_numbers)}"


def drop_schema(server: str, name: str) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(Identifier(name)))


def with_option(server: str, key: str, value: str) -> str:
    """Return the address of a server with a parameter of libpq."""
    return f"{server}{'&' if '?' in server else '?'}{key}={quote(value)}"


def with_account(address: str, user: str, password: str) -> str:
    """Return an address for another user."""
    parts = urlsplit(address)
    server = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=f"{quote(user)}:{quote(password)}@{server}").geturl()


@cache
def has_citus() -> bool:
    """Return whether the server has Citus. The one that tests start themselves has not."""
    if not OUTSIDE:
        return False
    try:
        with psycopg.connect(OUTSIDE) as connection:
            row = connection.execute("SELECT FROM pg_extension WHERE extname = 'citus'").fetchone()
    except psycopg.Error as error:
        raise pytest.UsageError(f"CHAFFINCH_POSTGRES: {error}") from None
    return row is not None


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
