"""The PostgreSQL store on a real server: what it does differently."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import date

import numpy as np
import psycopg
import pytest

from chaffinch.errors import IndexTrouble, NoIndex
from chaffinch.index.koala import selection
from chaffinch.index.koala.probes import MIN_SEARCHES
from chaffinch.index.postgres.connection import Address
from chaffinch.index.postgres.postgres_store import PostgresStore
from chaffinch.index.records import Batch, DocumentRecord, Metadata, Settings
from chaffinch.native.segment import Postings
from chaffinch.recipe import Recipe
from tests.postgres_helpers import batch, behind_its_back, found, touching

EDGES = (0, 1, 2**63 - 1, 2**63, 2**64 - 1)


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


def test_of_short_hashes_the_top_bits_count(address: str) -> None:
    store = PostgresStore.create(address, selection.settings(1, "text", {}))
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
    store.merge(lambda _: None)
    assert found(store, *asked) == expected
    assert store.info().postings == sum(map(len, kept.values()))
    assert store.verify(lambda _: None) == []


def test_two_indexes_in_one_database(address: str) -> None:
    first = PostgresStore.create(address, Settings(Recipe("text")))
    second = PostgresStore.create(address + "b", Settings(Recipe("text")))
    first.add(batch(["a"]))
    second.add(batch(["b", "c"]))  # each has its own writer
    assert (first.count(), second.count()) == (1, 2)
    assert first.numbers_by_name(["a", "b"]) == {"a": 0}
    first.close()
    second.close()


def test_the_name_after_the_hash_is_a_schema(postgres: str, address: str) -> None:
    assert Address.parse(postgres).schema == "chaffinch"
    with pytest.raises(NoIndex, match=r"#test-\w+-\d+: there is no index here; create one"):
        PostgresStore(address)
    PostgresStore.create(address, Settings(Recipe("text"))).close()
    with psycopg.connect(postgres) as connection:
        schema = address.partition("#")[2]
        row = connection.execute(f'SELECT count(*) FROM "{schema}".documents').fetchone()
    assert row == (0,)


def test_an_index_is_not_made_twice(address: str, store: PostgresStore) -> None:
    store.add(batch(["a"]))
    with pytest.raises(IndexTrouble, match="already exists"):
        PostgresStore.create(address, Settings(Recipe("text")))
    assert store.count() == 1


def test_of_many_who_make_an_index_one_does(address: str) -> None:
    def make(_: int) -> str:
        try:
            PostgresStore.create(address, Settings(Recipe("text"))).close()
        except IndexTrouble as error:
            return str(error).partition(": ")[2].partition(";")[0]
        return "made"

    with ThreadPoolExecutor(4) as together:
        assert sorted(together.map(make, range(4))) == ["already exists"] * 3 + ["made"]


def test_other_tables_are_left_alone(postgres: str, address: str) -> None:
    server, _, schema = address.partition("#")
    with psycopg.connect(server) as connection:
        connection.execute(f'CREATE SCHEMA "{schema}" CREATE TABLE meta (other text)')
    with pytest.raises(NoIndex):
        PostgresStore(address)
    with pytest.raises(IndexTrouble, match="already exists"):
        PostgresStore.create(address, Settings(Recipe("text")))


def test_an_empty_schema_is_used(address: str) -> None:
    """An administrator may have created it for a user without that permission."""
    server, _, schema = address.partition("#")
    with psycopg.connect(server) as connection:
        connection.execute(f'CREATE SCHEMA "{schema}"')
    PostgresStore.create(address, Settings(Recipe("text"))).close()


def test_what_is_said_about_documents_comes_back(store: PostgresStore) -> None:
    names = ["", "'; DROP TABLE documents; --", "\\", '%s {} "', "ä\u202e𝄞\n\t", "long/" * 2000]
    metadata, day = Metadata("https://example.org/%s", "nobody <n@example.org>", "2026"), date(1996, 3, 1)
    documents = [
        DocumentRecord(n, bytes([i]) * 12, 2**40, 2**33, 0, metadata, i == 2, i == 3, day, day, bytes([i]))
        for i, n in enumerate(names)
    ]
    nothing = Postings(np.empty(0, np.uint64), np.empty(0, np.uint32), np.empty(0, np.uint32))
    store.add(Batch(documents, nothing, [None, b"", b"\0", *[bytes(range(256))] * 3], []))
    assert dict(store.all_records()) == dict(enumerate(documents))
    assert store.records([5, 1, 99]) == {5: documents[5], 1: documents[1]}
    assert store.numbers_by_name([*names, "x", "\0", "\udcff"]) == {name: i for i, name in enumerate(names)}
    assert store.names_by_digest([bytes([1]) * 12, b"x"]) == {bytes([1]) * 12: names[1]}
    assert store.boilerplate() == {2}
    assert store.contents(range(7)) == {1: b"", 2: b"\0", **dict.fromkeys((3, 4, 5), bytes(range(256)))}
    for i in range(MIN_SEARCHES):
        store.record_touches(touching(names, i))
    assert sorted(store.probed()) == sorted((name, MIN_SEARCHES, 2, 2) for name in names)
    store.forget_touches(names[1:])
    assert store.probed() == [("", MIN_SEARCHES, 2, 2)]


def test_what_no_database_holds_is_written_out(store: PostgresStore) -> None:
    made = batch(["a"])
    store.add(made._replace(documents=[made.documents[0]._replace(metadata=Metadata("a\0b", "\ud800", ""))]))
    assert store.records([0])[0].metadata == Metadata("a\\0b", "\\ud800", "")


def test_numbers_are_never_used_twice(address: str, store: PostgresStore) -> None:
    store.add(batch(["a", "b"]))
    store.remove([0, 1, 7])
    store.remove([0])
    assert (store.count(), found(store, 7, 8)) == (0, [])
    store.add(batch(["c"]))
    assert store.numbers_by_name(["a", "c"]) == {"c": 2}
    with behind_its_back(address) as connection:
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


def test_verify_tells_what_is_wrong(address: str, store: PostgresStore) -> None:
    store.add(batch(["a", "b", "c", "d"]))
    store.remove([3])
    assert store.verify(lambda _: None) == []
    with behind_its_back(address) as connection:
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
