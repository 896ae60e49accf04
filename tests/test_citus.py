"""The PostgreSQL store on a real Citus cluster, if CHAFFINCH_POSTGRES is the address of its coordinator."""

from __future__ import annotations

import secrets
from contextlib import closing
from urllib.parse import urlsplit

import numpy as np
import psycopg
import pytest

from chaffinch.errors import IndexTrouble
from chaffinch.index.postgres import citus, schema
from chaffinch.index.postgres.postgres_store import PostgresStore
from chaffinch.index.records import Settings
from chaffinch.recipe import Recipe
from tests.postgres_helpers import batch, behind_its_back, found
from tests.postgres_server import with_option

pytestmark = pytest.mark.citus

HASHES = tuple(np.random.default_rng(2).integers(0, 2**64, 500, np.uint64).tolist())
"""Enough to have some on every worker."""


def how_spread(address: str) -> dict[str, str]:
    """Return how Citus spreads each table of an index: h is by hash, n is a copy on every server."""
    with behind_its_back(address) as connection:
        rows = connection.execute(
            "SELECT c.relname, p.partmethod::text FROM pg_dist_partition p"
            " JOIN pg_class c ON c.oid = p.logicalrelid JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname = current_schema()"
        ).fetchall()
    return {str(name): str(method) for name, method in rows}


def worker_of(postgres: str) -> str:
    """Return the address of the same database on a worker."""
    with psycopg.connect(postgres) as connection:
        row = connection.execute(
            "SELECT nodename, nodeport FROM pg_dist_node"
            " WHERE groupid <> 0 AND isactive AND noderole = 'primary' ORDER BY nodeid LIMIT 1"
        ).fetchone()
    if not row:
        pytest.skip("this cluster has no workers")
    parts = urlsplit(postgres)
    account, at, _ = parts.netloc.rpartition("@")
    worker = parts._replace(netloc=f"{account}{at}{row[0]}:{row[1]}").geturl()
    try:
        psycopg.connect(worker, connect_timeout=5).close()
    except psycopg.OperationalError as error:
        pytest.skip(f"the worker cannot be reached from here: {error}")
    return worker


def test_postings_are_spread_by_hash(address: str, store: PostgresStore) -> None:
    assert how_spread(address) == {"postings": "h", "removed": "n"}
    store.add(batch(["a", "b", "c"], HASHES))
    store.remove([1])
    expected = [(i, document, i) for i in range(len(HASHES)) for document in (0, 2)]
    assert found(store, *HASHES) == expected
    assert store.info().bytes > 0
    assert store.info().removed == 1
    store.merge(lambda _: None)
    assert found(store, *HASHES) == expected
    assert store.info().removed == 0
    assert store.verify(lambda _: None) == []


def test_planner_settings_reach_the_workers(store: PostgresStore) -> None:
    """The shards were just filled, so the planner has no statistics and would scan them."""
    store.add(batch(["a"], HASHES))
    numbers = ",".join(str(n) for n in np.array(HASHES, np.uint64).view(np.int64).tolist())
    with store.snapshot():
        rows = store._ask("EXPLAIN" + schema.LOOKUP.replace("%s", f"'{{{numbers}}}'"))
        plan = "\n".join(str(row[0]) for row in rows)
    assert "postings_hash" in plan
    assert "Seq Scan on postings" not in plan
    assert found(store, *HASHES) == [(i, 0, i) for i in range(len(HASHES))]


def test_an_index_from_before_citus_stays_on_the_coordinator(address: str, store: PostgresStore) -> None:
    store.add(batch(["a", "b"], HASHES))
    store.close()
    with behind_its_back(address) as connection:
        for table in ("postings", "removed"):
            connection.execute(f"SELECT undistribute_table('{table}')")
    assert how_spread(address) == {}
    with closing(PostgresStore(address)) as local:
        local.add(batch(["c"], HASHES, gone=[0]))
        assert found(local, HASHES[0]) == [(0, 1, 0), (0, 2, 0)]
        assert local.info().bytes > 0
        local.merge(lambda _: None)
        assert local.verify(lambda _: None) == []


def test_the_schema_of_an_index_is_not_distributed_as_a_whole(address: str) -> None:
    server, _, name = address.partition("#")
    on = with_option(server, "options", "-c citus.enable_schema_based_sharding=on")
    with closing(PostgresStore.create(f"{on}#{name}", Settings(Recipe("text")))) as store:
        store.add(batch(["a"], HASHES))
        assert len(found(store, *HASHES)) == len(HASHES)
    assert how_spread(address) == {"postings": "h", "removed": "n"}


def test_a_worker_is_refused(postgres: str, address: str, store: PostgresStore) -> None:
    store.add(batch(["a"]))
    worker, name = worker_of(postgres), address.partition("#")[2]
    with pytest.raises(IndexTrouble, match="connect to the coordinator"):
        PostgresStore(f"{worker}#{name}")
    with pytest.raises(IndexTrouble, match="connect to the coordinator"):
        PostgresStore.create(f"{worker}#{name}-new", Settings(Recipe("text")))


def test_a_writer_finishes_what_a_lost_server_left(postgres: str, store: PostgresStore) -> None:
    with psycopg.connect(postgres, autocommit=True) as connection:
        row = connection.execute("SELECT oid FROM pg_database WHERE datname = current_database()").fetchone()
        may_recover = connection.execute(citus.RECOVER).fetchone() != (None,)
    if not may_recover:
        pytest.skip("the user of this server may not recover transactions")
    # As Citus names them: coordinator, process, transaction, connection, database.
    left = f"citus_0_{secrets.randbelow(2**31)}_0_0_{row and row[0]}"
    with psycopg.connect(worker_of(postgres), autocommit=True) as worker:
        worker.execute("BEGIN; SELECT txid_current()")
        worker.execute(f"PREPARE TRANSACTION '{left}'")
        store.add(batch(["a"]))
        assert worker.execute("SELECT FROM pg_prepared_xacts WHERE gid = %s", [left]).fetchall() == []
