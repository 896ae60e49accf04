"""The PostgreSQL store on a real server: what it does differently."""

from __future__ import annotations

import re
import socket
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from urllib.parse import unquote, urlsplit

import numpy as np
import psycopg
import pytest
from click.testing import CliRunner

from chaffinch.cli import main
from chaffinch.errors import IndexTrouble, NoIndex, RecipeMismatch
from chaffinch.index.index import Index
from chaffinch.index.koala import selection
from chaffinch.index.postgres.connection import Address
from chaffinch.index.postgres.postgres_store import PostgresStore
from chaffinch.index.records import Batch, DocumentRecord, Metadata, Settings
from chaffinch.native.segment import Postings
from chaffinch.recipe import Recipe
from tests.indexed import text

_numbers = count()

EDGES = (0, 1, 2**63 - 1, 2**63, 2**64 - 1)


@pytest.fixture
def where(postgres: str) -> str:
    """Return an address where there is no index yet."""
    return f"{postgres}#test-{next(_numbers)}"


@pytest.fixture
def store(where: str) -> Iterator[PostgresStore]:
    made = PostgresStore.create(where, Settings(Recipe("text")))
    yield made
    made.close()


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
def behind_its_back(where: str) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """Open a connection that the store does not know about."""
    server, _, schema = where.partition("#")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("SELECT set_config('search_path', %s, false)", [f'"{schema}"'])
        yield connection


def until(true: Callable[[], object]) -> None:
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_hashes_are_unsigned(store: PostgresStore) -> None:
    store.add(batch(["a", "b"], EDGES))
    for place, edge in enumerate(EDGES):
        assert found(store, edge) == [(0, 0, place), (0, 1, place)]
    assert found(store, *EDGES[::-1]) == [(i, d, 4 - i) for i in range(5) for d in range(2)]
    assert found(store, 5, 2**63, 5, 2**63) == [(1, 0, 3), (1, 1, 3), (3, 0, 3), (3, 1, 3)]
    assert found(store) == []
    assert found(store, 5, 6) == []
    (_, hashes, positions), *_ = store.postings_of([0])
    assert hashes.tolist() == list(EDGES)
    assert positions.tolist() == [0, 1, 2, 3, 4]


def test_positions_are_unsigned(store: PostgresStore) -> None:
    edges = np.array([0, 2**31 - 1, 2**31, 2**32 - 1], np.uint32)
    postings = Postings(np.full(4, 7, np.uint64), np.zeros(4, np.uint32), edges[::-1].copy())
    store.add(Batch([DocumentRecord("a", b"", 1, 1, 4)], postings, [None], []))
    assert found(store, 7) == [(0, 0, edge) for edge in edges.tolist()]
    assert [p.tolist() for _, _, p in store.postings_of([0])] == [edges.tolist()]


def test_of_short_hashes_the_top_bits_count(where: str) -> None:
    store = PostgresStore.create(where, selection.settings(1, "text", {}))
    store.add(batch(["a"], [2**64 - 1, 3 << 20]))
    assert found(store, (2**64 - 1) - 5, 3 << 20 | 77, 4 << 20) == [(0, 0, 0), (1, 0, 1)]
    ((_, hashes, _),) = store.postings_of([0])
    assert hashes.tolist() == [2**64 - 2**20, 3 << 20]
    store.close()


def test_look_ups_are_those_of_a_dictionary(store: PostgresStore) -> None:
    chance = np.random.default_rng(1)
    truth: dict[int, list[tuple[int, int]]] = {}
    for start in range(0, 60, 20):
        hashes = chance.integers(0, 500, 4000).astype(np.uint64) << np.uint64(55)
        owners = chance.integers(0, 20, 4000).astype(np.uint32)
        places = np.arange(4000, dtype=np.uint32)
        counts = np.bincount(owners, minlength=20).tolist()
        documents = [DocumentRecord(f"{start + i}", b"", 1, 1, n) for i, n in enumerate(counts)]
        store.add(Batch(documents, Postings(hashes, owners, places), [None] * 20, []))
        for h, d, p in zip(hashes.tolist(), owners.tolist(), places.tolist(), strict=True):
            truth.setdefault(h, []).append((start + d, p))
    store.remove(range(0, 60, 3))
    asked = (chance.integers(0, 600, 300).astype(np.uint64) << np.uint64(55)).tolist()
    kept = {h: sorted(row for row in rows if row[0] % 3) for h, rows in truth.items()}
    expected = [(i, *row) for i, h in enumerate(asked) for row in kept.get(h, [])]
    assert len(expected) > 1000
    assert found(store, *asked) == expected
    assert store.info().removed == 20
    store._citus = True  # which is asked in another way, that any server understands
    assert found(store, *asked) == expected
    store._citus = False
    store.merge(lambda _: None)
    assert found(store, *asked) == expected
    assert store.info().postings == sum(map(len, kept.values()))
    assert store.verify(lambda _: None) == []


_LIKE_CITUS = """
CREATE TABLE public.spread (how text);
CREATE FUNCTION pg_catalog.create_reference_table(regclass) RETURNS void LANGUAGE sql
    AS $$ INSERT INTO public.spread VALUES (format('%s everywhere', $1)) $$;
CREATE FUNCTION pg_catalog.create_distributed_table(regclass, text) RETURNS void LANGUAGE sql
    AS $$ INSERT INTO public.spread VALUES (format('%s by %s', $1, $2)) $$;
CREATE FUNCTION pg_catalog.citus_total_relation_size(regclass) RETURNS bigint LANGUAGE sql
    AS $$ SELECT pg_total_relation_size($1) $$;
INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
    VALUES (99999, 'citus', 10, 'public'::regnamespace, false, 'none');
"""
"""Citus does not come with the server. These functions replace it and record that they were called."""


def test_where_citus_is_present_postings_are_spread_by_hash(postgres: str) -> None:
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE DATABASE several")
    address = f"{postgres.removesuffix('/postgres')}/several"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(_LIKE_CITUS)
    with closing(PostgresStore.create(f"{address}#on-many", Settings(Recipe("text")))) as store:
        store.add(batch(["a", "b", "c"], EDGES))
        store.remove([1])
        expected = [(i, document, i) for i in range(len(EDGES)) for document in (0, 2)]
        assert found(store, *EDGES) == expected
        assert store.info().bytes > 0
        store.merge(lambda _: None)
        assert found(store, *EDGES) == expected
        assert store.verify(lambda _: None) == []
    with psycopg.connect(address) as connection:
        told = [how for (how,) in connection.execute("SELECT how FROM public.spread ORDER BY how")]
    assert told == ["postings by hash", "removed everywhere"]


def test_two_indexes_in_one_database(where: str) -> None:
    first = PostgresStore.create(where, Settings(Recipe("text")))
    second = PostgresStore.create(where + "b", Settings(Recipe("text")))
    first.add(batch(["a"]))
    second.add(batch(["b", "c"]))  # each has its own writer
    assert (first.count(), second.count()) == (1, 2)
    assert first.numbers_by_name(["a", "b"]) == {"a": 0}
    first.close()
    second.close()


def test_the_name_after_the_hash_is_a_schema(postgres: str) -> None:
    with pytest.raises(NoIndex, match=r"#chaffinch: there is no index here; create one"):
        PostgresStore(postgres)
    PostgresStore.create(postgres, Settings(Recipe("text"))).close()
    with psycopg.connect(postgres) as connection:
        row = connection.execute("SELECT count(*) FROM chaffinch.documents").fetchone()
    assert row == (0,)
    for name in ("a b", "pg_x", "x" * 64, "a%22b"):
        with pytest.raises(IndexTrouble, match="name an index with up to 63"):
            PostgresStore(f"{postgres}#{name}")


def test_an_index_is_not_made_twice(where: str, store: PostgresStore) -> None:
    store.add(batch(["a"]))
    with pytest.raises(IndexTrouble, match="already exists"):
        PostgresStore.create(where, Settings(Recipe("text")))
    assert store.count() == 1


def test_of_many_who_make_an_index_one_does(where: str) -> None:
    def make(_: int) -> str:
        try:
            PostgresStore.create(where, Settings(Recipe("text"))).close()
        except IndexTrouble as error:
            return str(error).partition(": ")[2].partition(";")[0]
        return "made"

    with ThreadPoolExecutor(4) as together:
        assert sorted(together.map(make, range(4))) == ["already exists"] * 3 + ["made"]


def test_other_tables_are_left_alone(postgres: str, where: str) -> None:
    server, _, schema = where.partition("#")
    with psycopg.connect(server) as connection:
        connection.execute(f'CREATE SCHEMA "{schema}" CREATE TABLE meta (other text)')
    with pytest.raises(NoIndex):
        PostgresStore(where)
    with pytest.raises(IndexTrouble, match="already exists"):
        PostgresStore.create(where, Settings(Recipe("text")))


def test_an_empty_schema_is_used(where: str) -> None:
    """An administrator may have created it for a user without that permission."""
    server, _, schema = where.partition("#")
    with psycopg.connect(server) as connection:
        connection.execute(f'CREATE SCHEMA "{schema}"')
    PostgresStore.create(where, Settings(Recipe("text"))).close()


def test_messages_do_not_contain_the_password(postgres: str) -> None:
    parts = urlsplit(postgres)
    user, port = parts.username, parts.port
    theirs = unquote(parts.password or "")
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        nobody = closed.getsockname()[1]
    secret = "hunter2"
    addresses = {
        f"postgresql://{user}:{secret}@127.0.0.1:{nobody}/postgres": "refused.*the server is running",
        f"postgresql://{user}:{secret}@127.0.0.1:{port}/postgres": "password authentication failed.*PGPASSWORD",
        postgres.replace("/postgres", "/nowhere"): 'database "nowhere" does not exist.*createdb',
        f"postgresql://{user}:{secret}@no.such.host.invalid/x": "cannot be reached",
        f"postgresql://{user}:{secret}%@127.0.0.1/x": "address cannot be understood",
        f"postgresql://{user}:1@{secret}@127.0.0.1/x": "address cannot be understood",
        f"postgresql://{user}:{secret}/1@127.0.0.1/x": "address cannot be understood",
        f"postgresql://{user}:{secret}#1@127.0.0.1:{nobody}/x": "refused",
        f"postgresql://{user}@127.0.0.1:{nobody}/x?password={secret}": "refused",
    }
    for address, message in addresses.items():
        for call in (PostgresStore, lambda where: PostgresStore.create(where, Settings(Recipe("text")))):
            with pytest.raises(IndexTrouble, match=f"(?s){message}") as caught:
                call(address)
            assert not isinstance(caught.value, NoIndex)
            told = unquote("".join(traceback.format_exception(caught.value)))
            assert secret not in told
            assert theirs not in told


def test_a_password_is_in_no_output(postgres: str, where: str, tmp_path: Path) -> None:
    password = urlsplit(postgres).password or ""
    (tmp_path / "d.txt").write_text(text(100, "d"))
    (tmp_path / "query.txt").write_text(text(100, "d"))
    shown = []
    for command in (
        ["index", "create", where, "--json"],
        ["index", "create", where],
        ["index", "create", f"{where}-too"],
        ["index", "info", f"{where}-not"],
        ["index", "add", where, tmp_path / "d.txt", "--json"],
        ["index", "info", where, "--documents", "--json"],
        ["search", where, tmp_path / "query.txt", "--json", "-o", tmp_path / "report.html"],
        ["search", where, tmp_path / "query.txt"],
        ["index", "rotate", where],
        ["index", "merge", where, "--json"],
        ["index", "verify", where],
        ["index", "export", where, tmp_path / "all.jsonl"],
        ["index", "import", f"{where}-too", tmp_path / "all.jsonl"],
    ):
        shown.append(CliRunner().invoke(main, [str(word) for word in command]).output)
    shown += [(tmp_path / name).read_text() for name in ("report.html", "all.jsonl")]
    with pytest.raises(RecipeMismatch) as refused:
        Index.open(where, Recipe("text", k=9, w=9))
    shown.append("".join(traceback.format_exception(refused.value)))
    with Index.open(where) as index:
        answer = index.search(text(100, "d"))
        shown += [
            repr(x) for x in (index, index.store, index.info(), answer, answer.receipt, Address.parse(where))
        ]
        shown.append(str(answer.receipt.to_dict()))
    with pytest.raises(IndexTrouble) as closed:
        len(index)
    shown.append("".join(traceback.format_exception(closed.value)))
    assert [line for line in shown if password in line or unquote(password) in line] == []
    assert len([line for line in shown if "127.0.0.1" in line]) >= 5, "the rest of the address is shown"


def test_where_has_no_password(store: PostgresStore) -> None:
    assert re.fullmatch(r"postgresql://finch@127\.0\.0\.1:\d+/postgres#test-\d+", store.where)


def test_one_writes_at_a_time(where: str, store: PostgresStore) -> None:
    other = PostgresStore(where)
    store.add(batch(["a"]))
    with pytest.raises(IndexTrouble, match="somebody else is writing to this index"):
        other.add(batch(["b"]))
    assert other.count() == 1  # searching works meanwhile
    with pytest.raises(IndexTrouble, match="somebody else is writing to this index"):
        other.remove([0])
    with pytest.raises(IndexTrouble, match="somebody else is writing to this index"):
        other.merge(lambda _: None)
    store.close()
    until(lambda: not _locks(where))
    other.add(batch(["b"]))
    assert other.numbers_by_name(["a", "b"]) == {"a": 0, "b": 1}
    other.close()


def _locks(where: str) -> int:
    with behind_its_back(where) as connection:
        row = connection.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'").fetchone()
    assert row
    return int(str(row[0]))


def test_readers_do_not_wait_for_a_write(where: str, store: PostgresStore) -> None:
    store.add(batch(["a"]))
    with ThreadPoolExecutor(1) as behind:
        with _held_up(where), closing(PostgresStore(where)) as reader:
            adding = behind.submit(store.add, batch(["b"], gone=[0]))
            until(lambda: _writers(where, waiting=True))
            assert reader.count() == store.count() == 1
            assert found(reader, 7) == found(store, 7) == [(0, 0, 0)]
            assert not adding.done()
        adding.result()
    assert store.numbers_by_name(["a", "b"]) == {"b": 1}
    assert found(store, 7) == [(0, 1, 0)]


def test_a_snapshot_is_one_state(where: str, store: PostgresStore) -> None:
    store.add(batch(["a"]))
    with closing(PostgresStore(where)) as reader:
        with reader.snapshot():
            store.add(batch(["b"], gone=[0]))
            store.merge(lambda _: None)
            assert reader.count() == 1
            with reader.snapshot():
                assert found(reader, 7) == [(0, 0, 0)]
            assert [stored.name for _, stored in reader.all_records()] == ["a"]
            assert reader.contents([0, 1]) == {0: b"kept"}
        assert found(reader, 7) == [(0, 1, 0)]


def test_a_killed_write_leaves_nothing(where: str, store: PostgresStore) -> None:
    store.add(batch(["a"]))
    with ThreadPoolExecutor(1) as behind, _held_up(where):
        adding = behind.submit(store.add, batch(["b", "c"], gone=[0]))
        until(lambda: _writers(where, waiting=True))
        with behind_its_back(where) as connection:
            connection.execute("SELECT pg_terminate_backend(%s)", _writers(where, waiting=True))
        with pytest.raises(IndexTrouble, match="completely or not at all; try again"):
            adding.result()
    assert store.numbers_by_name(["a", "b", "c"]) == {"a": 0}
    assert store.info().postings == 2
    assert store.verify(lambda _: None) == []
    store.add(batch(["b", "c"], gone=[0]))  # connects again, and is the writer again
    assert sorted(store.numbers_by_name(["a", "b", "c"])) == ["b", "c"]
    assert store.verify(lambda _: None) == []


def test_a_lost_connection_comes_back(where: str, store: PostgresStore) -> None:
    store.add(batch(["a"]))
    store.record_probe(b"query", ["a"])

    def lose_all() -> None:
        with behind_its_back(where) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
                " WHERE application_name = 'chaffinch'"
            )

    lose_all()
    assert found(store, 7) == [(0, 0, 0)]
    lose_all()
    store.add(batch(["b"]))
    lose_all()
    store.remove([0])
    store.record_probe(b"query", ["b"])
    lose_all()
    with store.snapshot():
        assert store.numbers_by_name(["a", "b"]) == {"b": 1}

    def count_in_a_lost_snapshot() -> None:
        with store.snapshot():
            lose_all()
            with suppress(IndexTrouble):
                store.count()
            store.count()  # not of another state

    with pytest.raises(IndexTrouble, match="try again"):
        count_in_a_lost_snapshot()
    assert store.count() == 1
    store.close()
    with pytest.raises(IndexTrouble, match="is closed"):
        store.count()


def test_a_writer_that_lost_its_lock_gets_a_message(where: str, store: PostgresStore) -> None:
    store.add(batch(["a"]))
    other = PostgresStore(where)
    with behind_its_back(where) as connection:
        connection.execute("SELECT pg_terminate_backend(%s, 10000)", _writers(where))
    other.add(batch(["b"]))
    with pytest.raises(IndexTrouble, match="somebody else is writing"):
        store.add(batch(["c"]))
    assert store.count() == 2
    other.close()


def test_who_may_only_read_can_search(postgres: str, where: str) -> None:
    store = PostgresStore.create(where, selection.settings(1, "text", {}))
    store.add(batch(["a"]))
    schema = where.partition("#")[2]
    with psycopg.connect(postgres) as connection:
        connection.execute("CREATE USER guest PASSWORD 'guest'")
        connection.execute(f'GRANT USAGE ON SCHEMA "{schema}" TO guest')
        connection.execute(f'GRANT SELECT ON ALL TABLES IN SCHEMA "{schema}" TO guest')
    store.close()
    address = re.sub(r"//[^@]*@", "//guest:guest@", where)
    with closing(PostgresStore(address)) as guest:
        guest.record_probe(b"query", ["a"])  # not counted, no trouble
        assert guest.suspicious() == []
        assert found(guest, 7 << 60) == []
        with pytest.raises(IndexTrouble, match=r"permission denied.*name another user"):
            guest.add(batch(["b"]))
    with pytest.raises(IndexTrouble, match="permission denied"):
        PostgresStore.create(address + "x", Settings(Recipe("text")))


def test_what_is_said_about_documents_comes_back(store: PostgresStore) -> None:
    names = ["", "'; DROP TABLE documents; --", "\\", '%s {} "', "ä\u202e𝄞\n\t", "long/" * 2000]
    metadata = Metadata("https://example.org/%s", "nobody <n@example.org>", "2026")
    documents = [
        DocumentRecord(n, bytes([i]) * 12, 2**40, 2**33, 0, metadata, i, i == 2) for i, n in enumerate(names)
    ]
    nothing = Postings(np.empty(0, np.uint64), np.empty(0, np.uint32), np.empty(0, np.uint32))
    store.add(Batch(documents, nothing, [None, b"", b"\0", *[bytes(range(256))] * 3], []))
    assert dict(store.all_records()) == dict(enumerate(documents))
    assert store.records([5, 1, 99]) == {5: documents[5], 1: documents[1]}
    assert store.numbers_by_name([*names, "x", "\0", "\udcff"]) == {name: i for i, name in enumerate(names)}
    assert store.names_by_digest([bytes([1]) * 12, b"x"]) == {bytes([1]) * 12: names[1]}
    assert store.boilerplate() == {2}
    assert store.contents(range(7)) == {1: b"", 2: b"\0", **dict.fromkeys((3, 4, 5), bytes(range(256)))}
    for i in range(10):
        store.record_probe(bytes([i]), [*names, *names])
    assert sorted(store.suspicious()) == sorted((name, 10) for name in names)
    store.forget_probes(names[1:])
    assert store.suspicious() == [("", 10)]


def test_what_no_database_holds_is_written_out(store: PostgresStore) -> None:
    made = batch(["a"])
    store.add(made._replace(documents=[made.documents[0]._replace(metadata=Metadata("a\0b", "\ud800", ""))]))
    assert store.records([0])[0].metadata == Metadata("a\\0b", "\\ud800", "")


def test_numbers_are_never_used_twice(where: str, store: PostgresStore) -> None:
    store.add(batch(["a", "b"]))
    store.remove([0, 1, 7])
    store.remove([0])
    assert (store.count(), found(store, 7, 8)) == (0, [])
    store.add(batch(["c"]))
    assert store.numbers_by_name(["a", "c"]) == {"c": 2}
    with behind_its_back(where) as connection:
        connection.execute("UPDATE meta SET next = 2147483648")
    with pytest.raises(IndexTrouble, match=r"2\^31 documents"):
        store.add(batch(["d"]))
    assert store.count() == 1


def test_postings_of_removed_documents_do_not_pile_up(store: PostgresStore) -> None:
    store.add(batch(["a", "b", "c"]))
    store.remove([0])
    assert (store.info().postings, store.info().removed) == (6, 1)
    store.remove([1])
    assert (store.info().postings, store.info().removed) == (2, 0)
    assert found(store, 7) == [(0, 2, 0)]


def test_verify_tells_what_is_wrong(where: str, store: PostgresStore) -> None:
    store.add(batch(["a", "b", "c", "d"]))
    store.remove([3])
    assert store.verify(lambda _: None) == []
    with behind_its_back(where) as connection:
        connection.execute("DELETE FROM postings WHERE document = 0 AND position = 1")
        connection.execute("DELETE FROM documents WHERE id = 1")
    assert store.verify(lambda _: None) == [
        "a: 1 of 2 postings",
        "postings of 1 documents that are not in the catalogue",
        "2 documents, but the catalogue counts 3",
        "7 postings, but the catalogue counts 8",
        "contents of 1 documents that are not in the catalogue",
    ]


def test_merge_says_what_it_does(store: PostgresStore) -> None:
    store.add(batch(["a", "b", "c"]))
    store.remove([1])
    said: list[str] = []
    store.merge(said.append)
    assert said[0] == "Deleting 2 postings of removed documents ..."
    assert store.info().removed == 0
    assert store.info().segments == 1
    assert store.info().bytes > 0


@contextmanager
def _held_up(where: str) -> Iterator[None]:
    """Make writers of postings wait. By then they have written documents and contents."""
    with behind_its_back(where) as connection, connection.transaction():
        connection.execute("LOCK TABLE postings IN SHARE MODE")
        yield


def _writers(where: str, *, waiting: bool = False) -> list[int]:
    """Return the processes that have the writer's lock, or those of them that wait for another lock."""
    with behind_its_back(where) as connection:
        rows = connection.execute(
            "SELECT a.pid FROM pg_stat_activity a JOIN pg_locks l ON l.pid = a.pid AND l.locktype = 'advisory'"
            " WHERE a.wait_event_type = 'Lock' OR NOT %s",
            [waiting],
        ).fetchall()
    return [int(str(row[0])) for row in rows]
