"""The store in PostgreSQL, with or without Citus: an index is a schema of its own in a database."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg import errors
from psycopg.sql import SQL, Identifier

from chaffinch.errors import IndexTrouble
from chaffinch.index.koala import probes
from chaffinch.index.postgres import schema as tables
from chaffinch.index.postgres.connection import Address, Connection, Session, connected, told
from chaffinch.index.records import About, Batch, Info, Probed, Settings, Stored
from chaffinch.index.store import Hashes, Tell
from chaffinch.native.segment import LookupResult, Postings

_TOGETHER = 1000
"""Documents that are read at once."""
_ROWS = 1 << 16
"""Postings that are sent at once."""
_MOST_DOCUMENTS = 2**31

# A row as COPY wants it: how many fields, and before each its length in bytes.
_ROW = np.dtype(
    [("fields", ">i2"), ("a", ">i4"), ("hash", ">i8"), ("b", ">i4"), ("document", ">i4"), ("c", ">i4"),
     ("position", ">i4")]
)  # fmt: skip
_COPY_HEAD = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_COPY_END = b"\xff\xff"
_PLACE = np.dtype([("document", ">u4"), ("position", ">u4")])
_MARK = np.dtype([("hash", ">u8"), ("position", ">u4")])


class Postgres:
    """An index in a database: postgresql://user@host:port/database#name."""

    def __init__(self, where: str | Path) -> None:
        self._address = Address.parse(str(where))
        self.where = self._address.shown
        self._reading = threading.RLock()
        self._depth = 0
        self._writing = threading.Lock()
        self._reader = Session(self._address, _prepare_reader)
        self._writer = Session(self._address, partial(_prepare_writer, self._address))
        self._prober = Session(self._address, _prepare_reader)
        try:
            self._citus = bool(self._ask(tables.HAS_CITUS)[0][0])
            settings = json.loads(self._ask("SELECT settings FROM meta")[0][0])
            self.settings = Settings.from_dict(settings, self.where)
        except BaseException:
            self.close()
            raise

    @classmethod
    def create(cls, where: str | Path, settings: Settings) -> Postgres:
        address = Address.parse(str(where))
        connection = connected(address)
        try:
            with told(address), connection.transaction():
                _create(connection, address, settings)
        finally:
            connection.close()
        return cls(where)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with self._reading:
            if self._depth:  # within another
                yield
                return
            with self._reader.transaction(tables.SNAPSHOT):
                self._depth = 1
                try:
                    yield
                finally:
                    self._depth = 0

    def _ask(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """One question has one state by itself, and is one round trip."""
        with self._reading:
            return self._reader.ask(statement, *values)

    def lookup(self, hashes: Hashes) -> LookupResult:
        asked, which = np.unique(hashes & _mask(self.settings), return_inverse=True)
        if not len(asked):
            return LookupResult(*(np.empty(0, np.uint32) for _ in range(3)))
        statement = tables.LOOKUP_ON_CITUS if self._citus else tables.LOOKUP
        rows = self._ask(statement, asked.view(np.int64).tolist())
        keys = np.array([row[0] for row in rows], np.int64).view(np.uint64)
        places = np.frombuffer(b"".join(row[1] for row in rows), _PLACE)
        counts = np.array([len(row[1]) // _PLACE.itemsize for row in rows], np.int64)
        of_asked = np.repeat(np.searchsorted(asked, keys), counts)
        order = np.lexsort((places["position"], places["document"], of_asked))
        # The same hash may have been asked for several times: each time, all of its postings.
        each = np.bincount(of_asked, minlength=len(asked))
        times = each[which]
        ends = np.cumsum(times)
        within = np.arange(times.sum()) - np.repeat(ends - times, times)
        chosen = order[np.repeat((np.cumsum(each) - each)[which], times) + within]
        queries = np.repeat(np.arange(len(hashes), dtype=np.uint32), times)
        return LookupResult(queries, *(places[c][chosen].astype(np.uint32) for c in ("document", "position")))

    def count(self) -> int:
        return int(self._ask("SELECT documents FROM meta")[0][0])

    def stored(self, documents: Sequence[int]) -> dict[int, Stored]:
        return {row[0]: _stored(row) for row in self._ask(tables.STORED, _integers(documents))}

    def sizes(self, documents: Sequence[int]) -> dict[int, tuple[int, str]]:
        rows = self._ask(tables.SIZES, _integers(documents))
        return {number: (postings, name) for number, postings, name in rows}

    def contents(self, documents: Sequence[int]) -> dict[int, bytes]:
        return dict(self._ask(tables.CONTENTS, _integers(documents)))

    def named(self, names: Sequence[str]) -> dict[str, int]:
        # A name that no document can have is not there, like any other.
        return dict(self._ask(tables.NAMED, [name for name in names if name == _plain(name)]))

    def alike(self, digests: Sequence[bytes]) -> dict[bytes, str]:
        return dict(self._ask(tables.ALIKE, list(digests)))

    def boilerplate(self) -> frozenset[int]:
        return frozenset(row[0] for row in self._ask(tables.BOILERPLATE))

    def each(self) -> Iterator[tuple[int, Stored]]:
        after = -1
        while rows := self._ask(tables.EACH, after, _TOGETHER):
            yield from ((row[0], _stored(row)) for row in rows)
            after = rows[-1][0]

    def postings_of(self, documents: Sequence[int]) -> Iterator[tuple[int, Hashes, NDArray[np.uint32]]]:
        wanted = sorted(_integers(documents))
        for start in range(0, len(wanted), _TOGETHER):
            some = wanted[start : start + _TOGETHER]
            found = dict(self._ask(tables.POSTINGS_OF, some[0], some[-1], some))
            for document in some:
                marks = np.frombuffer(found.get(document, b""), _MARK)
                marks = marks[np.lexsort((marks["hash"], marks["position"]))]
                yield document, marks["hash"].astype(np.uint64), marks["position"].astype(np.uint32)

    def damaged(self) -> tuple[str, ...]:
        return ()  # the server gives an answer or an error

    def info(self) -> Info:
        with self.snapshot():
            documents, postings = self._ask("SELECT documents, postings FROM meta")[0]
            removed = self._ask("SELECT count(*) FROM removed")[0][0]
            size = self._ask(tables.SIZE_ON_CITUS if self._citus else tables.SIZE)[0][0]
            return Info(documents, postings, min(postings, 1), size, removed, ())

    def begin(self) -> None:
        with self._writing:
            self._writer.ask("SELECT")  # over a connection that has the lock

    def add(self, batch: Batch) -> None:
        count, postings = len(batch.documents), len(batch.postings.hashes)
        with self._writing:
            with self._writer.transaction():
                after = int(self._writer.ask(tables.TAKE_NUMBERS, count, count, postings)[0][0])
                if after > _MOST_DOCUMENTS:
                    raise IndexTrouble(
                        f"{self.where}: 2^31 documents were ever added; export it, and import it anew"
                    )
                self._copy(after - count, batch)
                self._delete(batch.gone)
            self._purge_if_due()

    def _copy(self, first: int, batch: Batch) -> None:
        cursor = self._writer.connection.cursor()
        with cursor.copy(tables.COPY_DOCUMENTS) as copy:
            copy.set_types(tables.DOCUMENT_TYPES)
            for i, document in enumerate(batch.documents):
                copy.write_row(_row(first + i, document))
        with cursor.copy(tables.COPY_CONTENTS) as copy:
            copy.set_types(tables.CONTENT_TYPES)
            for i, data in enumerate(batch.contents):
                if data is not None:
                    copy.write_row((first + i, data))
        with cursor.copy(tables.COPY_POSTINGS) as copy:
            for piece in _rows(batch.postings, first, _mask(self.settings)):
                copy.write(piece)

    def remove(self, documents: Sequence[int]) -> None:
        with self._writing:
            with self._writer.transaction():
                self._delete(documents)
            self._purge_if_due()

    def _delete(self, documents: Sequence[int]) -> None:
        """Their postings, which lie anywhere, stay until so many wait that it is worth reading all."""
        if not documents:
            return
        gone = self._writer.ask(tables.DELETE, _integers(documents))
        waiting = [number for number, postings in gone if postings]
        if waiting:
            self._writer.ask(tables.MARK_REMOVED, waiting)
        self._writer.ask(tables.COUNT_REMOVED, len(gone), sum(postings for _, postings in gone))

    def _purge_if_due(self) -> None:
        if self._writer.ask("SELECT removed * 2 > postings FROM meta")[0][0]:
            with self._writer.transaction():
                self._writer.ask(tables.PURGE)

    def merge(self, tell: Tell) -> None:
        with self._writing:
            if waiting := self._writer.ask("SELECT removed FROM meta")[0][0]:
                tell(f"Deleting {waiting} postings of removed documents ...")
                with self._writer.transaction():
                    self._writer.ask(tables.PURGE)
            for table in tables.TIDY:
                tell(f"Packing {table} ...")
                self._writer.ask(f"VACUUM (ANALYZE) {table}")

    def verify(self, tell: Tell) -> list[str]:
        problems = []
        with self.snapshot():
            self._ask(tables.READING_ALL)
            tell("Counting postings ...")
            wrong = self._ask(tables.WRONG_COUNTS)
            tell("Counting documents ...")
            documents, postings = self._ask("SELECT documents, postings FROM meta")[0]
            there = self._ask("SELECT count(*) FROM documents")[0][0]
            counted = self._ask("SELECT count(*) FROM postings")[0][0]
            strays = self._ask(tables.STRAY_CONTENTS)[0][0]
        problems += [
            f"{name}: {n} postings, {known} were stored" for name, n, known in wrong if name is not None
        ]
        if unknown := sum(name is None for name, _, _ in wrong):
            problems.append(f"postings of {unknown} documents that are not in the catalogue")
        if documents != there:
            problems.append(f"{there} documents, {documents} were counted when they were added")
        if postings != counted:
            problems.append(f"{counted} postings, {postings} were counted when they were added")
        if strays:
            problems.append(f"contents of {strays} documents that are not in the catalogue")
        return problems

    def probed(self, query: bytes, names: Sequence[str]) -> None:
        # Counted where one may write; a search does not fail because of it.
        if names:
            digest = blake2b(query, digest_size=8).digest()
            once = sorted(set(names))
            with suppress(IndexTrouble), self._reading:
                self._prober.ask(tables.PROBED, digest, int(time.time()), _keys(once), once)

    def suspicious(self) -> list[Probed]:
        since = int(time.time()) - probes.DAYS * 86_400
        return [Probed(*row) for row in self._ask(tables.SUSPICIOUS, since, probes.MANY)]

    def forget_probes(self, names: Sequence[str]) -> None:
        with suppress(IndexTrouble), self._reading:
            self._prober.ask(tables.FORGET, _keys(names))

    def close(self) -> None:
        for session in (self._writer, self._prober, self._reader):
            session.close()


def _create(connection: Connection, address: Address, settings: Settings) -> None:
    """Within a transaction: a crash leaves no half of an index."""

    def holds(statement: str, *values: object) -> bool:
        row = connection.execute(statement, values).fetchone()
        return bool(row and row[0])

    there = IndexTrouble(f"{address.shown}: something is there already; name another after the #")
    if holds(tables.NOT_EMPTY, address.schema):
        raise there
    if not holds("SELECT current_setting('server_encoding') = 'UTF8'"):
        raise IndexTrouble(
            f"{address.shown}: this database cannot hold every name; make one with createdb -E UTF8"
        )
    try:
        if not holds(tables.THERE, address.schema):
            connection.execute(SQL("CREATE SCHEMA {}").format(Identifier(address.schema)))
        connection.execute(tables.SCHEMA)
    except (errors.DuplicateSchema, errors.DuplicateTable, errors.UniqueViolation):  # somebody was faster
        raise there from None
    if holds(tables.HAS_CITUS):
        connection.execute(tables.ON_CITUS)
    connection.execute("INSERT INTO meta VALUES (%s, 0, 0, 0, 0)", [json.dumps(settings.to_dict())])


def _prepare_reader(connection: Connection) -> None:
    connection.execute(tables.READING)


def _prepare_writer(address: Address, connection: Connection) -> None:
    """One writes at a time; the server takes the lock back when the connection ends, however it ends."""
    row = connection.execute(tables.WRITER, [_lock(address)]).fetchone()
    if not (row and row[0]):
        raise IndexTrouble(
            f"{address.shown}: somebody else is writing to this index; try again when they are done "
            "(searching works meanwhile)"
        )


def _lock(address: Address) -> int:
    """The number of the writer's lock; they are counted within a database."""
    return int.from_bytes(blake2b(f"chaffinch {address.schema}".encode(), digest_size=8).digest(), signed=True)


def _mask(settings: Settings) -> np.uint64:
    """The bits of a hash that are kept."""
    return np.uint64(2**64 - 2 ** (64 - settings.hash_bits))


def _rows(postings: Postings, first: int, mask: np.uint64) -> Iterator[bytes]:
    """What COPY sends, in order of the hashes: neighbours in the tree are then written together."""
    hashes = (postings.hashes & mask).view(np.int64)
    order = np.argsort(hashes, kind="stable")
    yield _COPY_HEAD
    for start in range(0, len(order), _ROWS):
        some = order[start : start + _ROWS]
        rows = np.empty(len(some), _ROW)
        rows["fields"], rows["a"], rows["b"], rows["c"] = 3, 8, 4, 4
        rows["hash"] = hashes[some]
        rows["document"] = postings.documents[some].astype(np.int64) + first
        rows["position"] = postings.positions[some].view(np.int32)
        yield rows.tobytes()
    yield _COPY_END


def _row(number: int, document: Stored) -> tuple[object, ...]:
    about = document.about
    said = (text and _plain(text) for text in (about.url, about.contact, about.date))
    return (
        number, document.name, document.digest, document.size, document.symbols, document.postings, *said,
        document.generation, document.boilerplate,
    )  # fmt: skip


def _plain(text: str) -> str:
    """What a database cannot hold is written out."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")


def _stored(row: tuple[Any, ...]) -> Stored:
    _, name, digest, size, symbols, postings, url, contact, date, generation, boilerplate = row
    return Stored(name, digest, size, symbols, postings, About(url, contact, date), generation, boilerplate)


def _integers(numbers: Iterable[int]) -> list[int]:
    return [int(number) for number in numbers]


def _keys(names: Iterable[str]) -> list[bytes]:
    """For names of any length."""
    return [blake2b(name.encode(), digest_size=16).digest() for name in names]
