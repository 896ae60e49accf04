"""The PostgreSQL store on a real server: writers, readers, snapshots and lost connections."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from threading import Event

import numpy as np
import psycopg
import pytest

from chaffinch.errors import IndexTrouble
from chaffinch.index.koala import selection
from chaffinch.index.postgres.postgres_store import PostgresStore
from chaffinch.index.records import Settings
from chaffinch.recipe import Recipe
from tests.postgres_helpers import (
    batch,
    behind_its_back,
    end_connections,
    found,
    held_up,
    touching,
    until,
    waiting_for_lock,
    waiting_writers,
    writers,
)
from tests.postgres_server import drop_schema, new_name, with_account


def test_one_writes_at_a_time(address: str, store: PostgresStore) -> None:
    other = PostgresStore(address)
    store.add(batch(["a"]))
    with pytest.raises(IndexTrouble, match="somebody else is writing to this index"):
        other.add(batch(["b"]))
    assert other.count() == 1  # searching works meanwhile
    with pytest.raises(IndexTrouble, match="somebody else is writing to this index"):
        other.remove([0])
    with pytest.raises(IndexTrouble, match="somebody else is writing to this index"):
        other.merge(lambda _: None)
    store.close()
    until(lambda: not writers(address))
    other.add(batch(["b"]))
    assert other.numbers_by_name(["a", "b"]) == {"a": 0, "b": 1}
    other.close()


def test_readers_do_not_wait_for_a_write(address: str, store: PostgresStore) -> None:
    store.add(batch(["a"]))
    with ThreadPoolExecutor(1) as behind:
        with held_up(address), closing(PostgresStore(address)) as reader:
            adding = behind.submit(store.add, batch(["b"], gone=[0]))
            until(lambda: waiting_writers(address))
            assert reader.count() == store.count() == 1
            assert found(reader, 7) == found(store, 7) == [(0, 0, 0)]
            assert not adding.done()
        adding.result()
    assert store.numbers_by_name(["a", "b"]) == {"b": 1}
    assert found(store, 7) == [(0, 1, 0)]


def test_a_snapshot_is_one_state(address: str, store: PostgresStore) -> None:
    store.add(batch(["a"]))
    with closing(PostgresStore(address)) as reader:
        with reader.snapshot():
            store.add(batch(["b"], gone=[0]))
            store.merge(lambda _: None)
            assert reader.count() == 1
            with reader.snapshot():
                assert found(reader, 7) == [(0, 0, 0)]
            assert [stored.name for _, stored in reader.all_records()] == ["a"]
            assert reader.contents([0, 1]) == {0: b"kept"}
        assert found(reader, 7) == [(0, 1, 0)]


def test_a_killed_write_leaves_nothing(address: str, store: PostgresStore) -> None:
    store.add(batch(["a"]))
    with ThreadPoolExecutor(1) as behind, held_up(address):
        adding = behind.submit(store.add, batch(["b", "c"], gone=[0]))
        until(lambda: waiting_writers(address))
        with behind_its_back(address) as connection:
            connection.execute("SELECT pg_terminate_backend(%s::integer)", waiting_writers(address))
        with pytest.raises(IndexTrouble, match="completely or not at all; try again"):
            adding.result()
    assert store.numbers_by_name(["a", "b", "c"]) == {"a": 0}
    assert store.info().postings == 2
    assert store.verify(lambda _: None) == []
    store.add(batch(["b", "c"], gone=[0]))  # connects again, and is the writer again
    assert sorted(store.numbers_by_name(["a", "b", "c"])) == ["b", "c"]
    assert store.verify(lambda _: None) == []


def test_a_lost_connection_comes_back(address: str, store: PostgresStore) -> None:
    store.add(batch(["a"]))
    store.record_touches(touching(["a"], 1))

    end_connections(address)
    assert found(store, 7) == [(0, 0, 0)]
    end_connections(address)
    store.add(batch(["b"]))
    end_connections(address)
    store.remove([0])
    store.record_touches(touching(["b"], 1))
    end_connections(address)
    with store.snapshot():
        assert store.numbers_by_name(["a", "b"]) == {"b": 1}

    def count_in_a_lost_snapshot() -> None:
        with store.snapshot():
            end_connections(address)
            with suppress(IndexTrouble):
                store.count()
            store.count()  # not of another state

    with pytest.raises(IndexTrouble, match="try again"):
        count_in_a_lost_snapshot()
    assert store.count() == 1
    store.close()
    with pytest.raises(IndexTrouble, match="is closed"):
        store.count()


def test_a_writer_that_lost_its_lock_gets_a_message(address: str, store: PostgresStore) -> None:
    store.add(batch(["a"]))
    other = PostgresStore(address)
    with behind_its_back(address) as connection:
        connection.execute("SELECT pg_terminate_backend(%s::integer, 10000)", writers(address))
    other.add(batch(["b"]))
    with pytest.raises(IndexTrouble, match="somebody else is writing"):
        store.add(batch(["c"]))
    assert store.count() == 2
    other.close()


@contextmanager
def guest_account(postgres: str, address: str) -> Iterator[str]:
    """Return the address for a new user who may read the tables of the index."""
    name, schema = new_name(), address.partition("#")[2]
    with psycopg.connect(postgres, autocommit=True) as connection:
        row = connection.execute(
            "SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user"
        ).fetchone()
        if not (row and row[0]):
            pytest.skip("the user of this server may not create another one")
        connection.execute(f"CREATE USER \"{name}\" PASSWORD 'guest'")
        try:
            connection.execute(f'GRANT USAGE ON SCHEMA "{schema}" TO "{name}"')
            connection.execute(f'GRANT SELECT ON ALL TABLES IN SCHEMA "{schema}" TO "{name}"')
            yield with_account(address, name, "guest")
        finally:
            drop_schema(postgres, schema)
            connection.execute(f'DROP USER "{name}"')


def test_who_may_only_read_can_search(postgres: str, address: str) -> None:
    with closing(PostgresStore.create(address, selection.settings(1, "text", {}))) as store:
        store.add(batch(["a"]))
    with guest_account(postgres, address) as as_guest:
        with closing(PostgresStore(as_guest)) as guest:
            guest.record_touches(touching(["a"], 1))  # not counted, no trouble
            assert guest.probed() == []
            assert found(guest, 7 << 60) == []
            with pytest.raises(IndexTrouble, match=r"permission denied.*name another user"):
                guest.add(batch(["b"]))
        with pytest.raises(IndexTrouble, match="permission denied"):
            PostgresStore.create(as_guest + "x", Settings(Recipe("text")))


def test_searches_beside_replacing_and_merging_see_whole_states(address: str, store: PostgresStore) -> None:
    hashes = np.random.default_rng(1).integers(0, 2**64, 64, np.uint64).tolist()
    store.add(batch(["a"], hashes))
    is_replaced = Event()

    def search() -> None:
        with closing(PostgresStore(address)) as reader:
            while not is_replaced.is_set():
                with reader.snapshot():
                    number = reader.numbers_by_name(["a"])["a"]
                    assert found(reader, *hashes) == [(i, number, i) for i in range(64)]
                    assert [len(own) for _, own, _ in reader.postings_of([number])] == [64]
                documents = {document for _, document, _ in found(reader, *hashes)}
                assert len(documents) == 1

    with ThreadPoolExecutor(2) as behind:
        searching = [behind.submit(search) for _ in range(2)]
        try:
            for _ in range(40):
                store.add(batch(["a"], hashes, list(store.numbers_by_name(["a"]).values())))
                store.merge(lambda _: None)
        finally:
            is_replaced.set()
        for search_result in searching:
            search_result.result()


@pytest.fixture
def spread(store: PostgresStore) -> PostgresStore:
    """Return a store that takes its snapshots as on several servers. One server understands that too."""
    store._is_distributed = True
    return store


def test_a_snapshot_of_several_servers_waits_for_a_commit(address: str, spread: PostgresStore) -> None:
    spread.add(batch(["a"]))
    key = spread._commit_key

    def count() -> int:
        with spread.snapshot():
            with behind_its_back(address) as other:  # nobody waits for a snapshot that was taken
                assert other.execute(f"SELECT pg_try_advisory_lock({key})").fetchone() == (True,)
            return spread.count()

    with ThreadPoolExecutor(1) as behind, behind_its_back(address) as writer:
        writer.execute(f"SELECT pg_advisory_lock({key})")
        counting = behind.submit(count)
        until(lambda: waiting_for_lock(address))
        writer.execute("UPDATE meta SET documents = 2")
        writer.execute(f"SELECT pg_advisory_unlock({key})")
        assert counting.result() == 2


def test_a_commit_on_several_servers_waits_for_snapshots(address: str, spread: PostgresStore) -> None:
    spread.add(batch(["a"]))
    with ThreadPoolExecutor(1) as behind, behind_its_back(address) as reader:
        reader.execute(f"SELECT pg_advisory_lock_shared({spread._commit_key})")
        adding = behind.submit(spread.add, batch(["b"], gone=[0]))
        until(lambda: waiting_for_lock(address))
        assert spread.count() == 1
        reader.execute(f"SELECT pg_advisory_unlock_shared({spread._commit_key})")
        adding.result()
    assert found(spread, 7) == [(0, 1, 0)]
    assert spread.verify(lambda _: None) == []


def test_a_snapshot_that_fails_leaves_no_lock(address: str, spread: PostgresStore) -> None:
    spread.add(batch(["a"]))
    with behind_its_back(address) as other:
        other.execute("ALTER TABLE postings RENAME TO elsewhere")
        with pytest.raises(IndexTrouble):
            found(spread, 7)
        other.execute("ALTER TABLE elsewhere RENAME TO postings")
        until(lambda: other.execute(f"SELECT pg_try_advisory_lock({spread._commit_key})").fetchone() == (True,))
    assert found(spread, 7) == [(0, 0, 0)]
