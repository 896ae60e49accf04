"""Documents, look-ups and second connections for the tests of the PostgreSQL store."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import psycopg

from chaffinch.index.koala.probes import Touches, key
from chaffinch.index.postgres.connection import Address
from chaffinch.index.postgres.postgres_store import PostgresStore
from chaffinch.index.records import Batch, DocumentRecord
from chaffinch.native.segment import Postings


def batch(names: Sequence[str], hashes: Sequence[int] = (7, 8), gone: Sequence[int] = ()) -> Batch:
    """Return documents that all have these hashes, at positions 0, 1, ..."""
    documents = [DocumentRecord(name, name.encode()[:12], 10, 10, len(hashes)) for name in names]
    owners = np.repeat(np.arange(len(names), dtype=np.uint32), len(hashes))
    places = np.tile(np.arange(len(hashes), dtype=np.uint32), len(names))
    postings = Postings(np.array(list(hashes) * len(names), np.uint64), owners, places)
    return Batch(documents, postings, [b"kept"] * len(names), list(gone))


def found(store: PostgresStore, *hashes: int) -> list[tuple[int, int, int]]:
    columns = store.lookup(np.array(hashes, np.uint64))
    assert [column.dtype for column in columns] == [np.uint32] * 3
    return list(zip(*(column.tolist() for column in columns), strict=True))


@contextmanager
def behind_its_back(address: str) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """Open a connection that the store does not know about."""
    server, _, schema = address.partition("#")
    with psycopg.connect(server, autocommit=True, application_name="chaffinch-tests") as connection:
        connection.execute("SELECT set_config('search_path', %s, false)", [f'"{schema}"'])
        yield connection


def until(true: Callable[[], object]) -> None:
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


@contextmanager
def held_up(address: str) -> Iterator[None]:
    """Make writers of postings wait. By then they have written documents and contents."""
    with behind_its_back(address) as connection, connection.transaction():
        connection.execute("LOCK TABLE postings IN SHARE MODE")
        yield


def connections(address: str) -> list[int]:
    """Return the processes of the server that serve this test."""
    return _processes(address, "true")


def end_connections(address: str) -> None:
    with behind_its_back(address) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM unnest(%s::integer[]) AS pid", [connections(address)]
        )


def writers(address: str) -> list[int]:
    """Return the processes of this test that hold an advisory lock, which writers do."""
    return _processes(address, "l.granted")


def waiting_writers(address: str) -> list[int]:
    """Return those that wait for another lock."""
    return _processes(address, "l.granted AND a.wait_event_type = 'Lock'")


def waiting_for_lock(address: str) -> list[int]:
    """Return the processes of this test that wait for an advisory lock."""
    return _processes(address, "NOT l.granted")


def _processes(address: str, condition: str) -> list[int]:
    with behind_its_back(address) as connection:
        rows = connection.execute(
            "SELECT DISTINCT a.pid FROM pg_stat_activity a"
            " LEFT JOIN pg_locks l ON l.pid = a.pid AND l.locktype = 'advisory'"
            f" WHERE a.application_name = %s AND {condition}",
            [Address.parse(address).connect["application_name"]],
        ).fetchall()
    return [int(str(row[0])) for row in rows]


def touching(names: list[str], number: int) -> Touches:
    """Return touches by which a search separates two fingerprints of each document."""
    keys = [key(name) for name in names]
    prints = [number % 2] * len(names)
    return Touches(names, keys, [number] * len(names), keys, prints, [number + 1] * len(names))
