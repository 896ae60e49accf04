"""The PostgreSQL store, with or without Citus. Each index is a schema of its own in a database."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, Self

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg import errors
from psycopg.sql import SQL, Identifier

from chaffinch.errors import Damaged, IndexTrouble, TryAgain
from chaffinch.index.koala import probes
from chaffinch.index.koala.probes import Probed, Touches
from chaffinch.index.postgres import citus, schema
from chaffinch.index.postgres.connection import Address, Connection, Session, connect, wrap_errors
from chaffinch.index.postgres.row_formats import copy_rows, plain, to_record, to_row
from chaffinch.index.reader_pool import ReaderPool
from chaffinch.index.records import Batch, DocumentRecord, IndexInfo, Settings
from chaffinch.index.store import BUSY, NO_NUMBERS_LEFT, Hashes, Progress, Store, close_on_error
from chaffinch.native.segment import LookupResult

_BATCH_DOCUMENTS = 1000
"""Documents that are read at once."""
_MAX_DOCUMENTS = 2**31
_MAX_READERS = 8
"""Connections for searches. A server has about a hundred for everybody."""

_DOCUMENT_POSITION = np.dtype([("document", ">u4"), ("position", ">u4")])
_HASH_POSITION = np.dtype([("hash", ">u8"), ("position", ">u4")])


class PostgresStore(Store):
    """An index in a database: postgresql://user@host:port/database#name."""

    def __init__(self, where: str | Path) -> None:
        self._address = Address.parse(str(where))
        self.where = self._address.shown
        self._commit_key = _lock_number(f"commit {self._address.schema}")
        self._writing = threading.Lock()
        self._readers = ReaderPool(self.where, lambda: Session(self._address, _prepare_reader), _MAX_READERS)
        self._writer = Session(self._address, self._prepare_writer)
        with close_on_error(self):
            self._is_distributed = self._find_citus()
            settings = json.loads(self._ask("SELECT settings FROM meta")[0][0])
            self.settings = Settings.from_dict(settings, self.where)

    @classmethod
    def create(cls, where: str | Path, settings: Settings) -> Self:
        address = Address.parse(str(where))
        with closing(connect(address)) as connection, wrap_errors(address), connection.transaction():
            _create(connection, address, settings)
        return cls(where)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        if self._readers.current is not None:
            yield
            return
        with self._readers.take() as reader, self._one_state(reader), self._readers.keep(reader):
            yield

    @contextmanager
    def _reader(self) -> Iterator[Session]:
        """Yield the connection of the snapshot that this thread is in, or another one with one state.

        Use this in generators: they may keep it for long, so it is not one of the few that searches wait for.
        """
        if (current := self._readers.current) is not None:
            yield current
            return
        self._readers.refuse_closed()
        with closing(Session(self._address, _prepare_reader)) as reader, self._one_state(reader):
            yield reader

    def _one_state(self, reader: Session) -> AbstractContextManager[None]:
        """Answer every question inside the `with` block from one state."""
        opening = citus.snapshot(self._commit_key) if self._is_distributed else (schema.SNAPSHOT,)
        return reader.transaction(*opening)

    def _find_citus(self) -> bool:
        """Return whether Citus has spread the postings over several servers."""
        if not self._ask(citus.IS_PRESENT)[0][0]:
            return False
        if self._ask(citus.IS_WORKER)[0][0]:
            raise IndexTrouble(f"{self.where}: {citus.ON_WORKER}")
        return bool(self._ask(citus.IS_DISTRIBUTED)[0][0])

    def _ask(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Run one statement. It sees one state without a transaction, which saves round trips."""
        if (reader := self._readers.current) is not None:
            return reader.ask(statement, *values)
        with self._readers.take() as reader:
            return reader.ask(statement, *values)

    def lookup(self, hashes: Hashes) -> LookupResult:
        distinct, inverse = np.unique(hashes & _mask(self.settings), return_inverse=True)
        if not len(distinct):
            return LookupResult(*(np.empty(0, np.uint32) for _ in range(3)))
        with self.snapshot() if self._is_distributed else nullcontext():  # one server needs none for one query
            rows = self._ask(schema.LOOKUP, distinct.view(np.int64).tolist())
        keys = np.array([row[0] for row in rows], np.int64).view(np.uint64)
        postings = np.frombuffer(b"".join(row[1] for row in rows), _DOCUMENT_POSITION)
        lengths = np.array([len(row[1]) // _DOCUMENT_POSITION.itemsize for row in rows], np.int64)
        hash_numbers = np.repeat(np.searchsorted(distinct, keys), lengths)
        order = np.lexsort((postings["position"], postings["document"], hash_numbers))
        # A hash may be given several times, and each time all of its postings are returned.
        counts = np.bincount(hash_numbers, minlength=len(distinct))
        repeats = counts[inverse]
        ends = np.cumsum(repeats)
        within = np.arange(repeats.sum()) - np.repeat(ends - repeats, repeats)
        chosen = order[np.repeat((np.cumsum(counts) - counts)[inverse], repeats) + within]
        queries = np.repeat(np.arange(len(hashes), dtype=np.uint32), repeats)
        columns = (postings[name][chosen].astype(np.uint32) for name in ("document", "position"))
        return LookupResult(queries, *columns)

    def count(self) -> int:
        return int(self._ask("SELECT documents FROM meta")[0][0])

    def records(self, documents: Sequence[int]) -> dict[int, DocumentRecord]:
        return {row[0]: to_record(row) for row in self._ask(schema.RECORDS, _integers(documents))}

    def sizes(self, documents: Sequence[int]) -> dict[int, tuple[int, str]]:
        rows = self._ask(schema.SIZES, _integers(documents))
        return {number: (postings, name) for number, postings, name in rows}

    def contents(self, documents: Sequence[int]) -> dict[int, bytes]:
        return dict(self._ask(schema.CONTENTS, _integers(documents)))

    def numbers_by_name(self, names: Sequence[str]) -> dict[str, int]:
        possible = [name for name in names if name == plain(name)]  # the server would refuse the others
        return dict(self._ask(schema.NUMBERS_BY_NAME, possible))

    def names_by_digest(self, digests: Sequence[bytes]) -> dict[bytes, str]:
        return dict(self._ask(schema.NAMES_BY_DIGEST, list(digests)))

    def boilerplate(self) -> frozenset[int]:
        return frozenset(row[0] for row in self._ask(schema.BOILERPLATE))

    def all_records(self, after: int = -1) -> Iterator[tuple[int, DocumentRecord]]:
        with self._reader() as reader:
            while rows := reader.ask(schema.NEXT_RECORDS, after, _BATCH_DOCUMENTS):
                yield from ((row[0], to_record(row)) for row in rows)
                after = rows[-1][0]

    def postings_of(self, documents: Sequence[int]) -> Iterator[tuple[int, Hashes, NDArray[np.uint32]]]:
        wanted = sorted(_integers(documents))
        with self._reader() as reader:
            for start in range(0, len(wanted), _BATCH_DOCUMENTS):
                some = wanted[start : start + _BATCH_DOCUMENTS]
                by_document = dict(reader.ask(schema.POSTINGS_OF, some[0], some[-1], some))
                for document in some:
                    postings = np.frombuffer(by_document.get(document, b""), _HASH_POSITION)
                    postings = postings[np.lexsort((postings["hash"], postings["position"]))]
                    yield document, postings["hash"].astype(np.uint64), postings["position"].astype(np.uint32)

    def damage(self) -> tuple[Damaged, ...]:
        return ()  # the server returns everything or an error

    def info(self) -> IndexInfo:
        with self.snapshot():
            documents, postings = self._ask("SELECT documents, postings FROM meta")[0]
            removed = self._ask("SELECT count(*) FROM removed")[0][0]
            size = self._ask(citus.SIZE if self._is_distributed else schema.SIZE)[0][0]
            not_language = self._ask(schema.COUNT_NOT_LANGUAGE)[0][0]
            return IndexInfo(documents, postings, min(postings, 1), size, removed, not_language, ())

    def _prepare_writer(self, connection: Connection) -> None:
        """Take the writer's lock. The server releases it when the connection ends, however it ends."""
        row = connection.execute(schema.LOCK_WRITER, [_lock_number(self._address.schema)]).fetchone()
        if not (row and row[0]):
            raise TryAgain(f"{self.where}: {BUSY}")
        if self._is_distributed:
            with suppress(psycopg.Error):  # a worker may be out of reach; Citus tries again later
                connection.execute(citus.RECOVER)

    def begin_writing(self) -> None:
        with self._writing:
            self._writer.ask("SELECT")  # opens the connection that takes the lock

    @contextmanager
    def _change(self) -> Iterator[None]:
        """Write everything inside the `with` block or nothing."""
        with self._writer.transaction():
            yield
            if self._is_distributed:
                self._writer.ask(citus.before_commit(self._commit_key))

    def add(self, batch: Batch) -> None:
        count, postings = len(batch.documents), len(batch.postings.hashes)
        with self._writing:
            with self._change():
                after = int(self._writer.ask(schema.TAKE_NUMBERS, count, count, postings)[0][0])
                if after > _MAX_DOCUMENTS:
                    raise IndexTrouble(f"{self.where}: 2^31 {NO_NUMBERS_LEFT}")
                self._copy(after - count, batch)
                self._delete(batch.replaced)
            self._purge_if_due()

    def _copy(self, first: int, batch: Batch) -> None:
        self._copy_records(dict(enumerate(batch.documents, first)))
        cursor = self._writer.connection.cursor()
        with cursor.copy(schema.COPY_CONTENTS) as copy:
            copy.set_types(schema.CONTENT_TYPES)
            for i, data in enumerate(batch.contents):
                if data is not None:
                    copy.write_row((first + i, data))
        with cursor.copy(schema.COPY_POSTINGS) as copy:
            for piece in copy_rows(batch.postings, first, _mask(self.settings)):
                copy.write(piece)

    def _copy_records(self, documents: Mapping[int, DocumentRecord]) -> None:
        with self._writer.connection.cursor().copy(schema.COPY_DOCUMENTS) as copy:
            copy.set_types(schema.DOCUMENT_TYPES)
            for number, document in documents.items():
                copy.write_row(to_row(number, document))

    def update(self, documents: Mapping[int, DocumentRecord]) -> None:
        with self._writing, self._change():
            known = self._writer.ask(schema.DELETE_RECORDS, _integers(documents))
            self._copy_records({number: documents[number] for (number,) in known})

    def remove(self, documents: Sequence[int]) -> None:
        with self._writing:
            with self._change():
                self._delete(documents)
            self._purge_if_due()

    def _delete(self, documents: Sequence[int]) -> None:
        """Delete documents. Their postings stay until half of the table is worth rewriting."""
        if not documents:
            return
        deleted = self._writer.ask(schema.DELETE, _integers(documents))
        self._writer.ask(schema.MARK_REMOVED, [number for number, postings in deleted if postings])
        self._writer.ask(schema.COUNT_REMOVED, len(deleted), sum(postings for _, postings in deleted))

    def _purge_if_due(self) -> None:
        if self._writer.ask("SELECT removed * 2 > postings FROM meta")[0][0]:
            with self._change():
                self._writer.ask(schema.PURGE)

    def merge(self, progress: Progress) -> None:
        with self._writing:
            if removed := self._writer.ask("SELECT removed FROM meta")[0][0]:
                progress(f"Deleting {removed} postings of removed documents ...")
                with self._change():
                    self._writer.ask(schema.PURGE)
            names = [name for (name,) in self._ask("SELECT name FROM touched")]
            known = self.numbers_by_name(names)
            self.forget_touches([name for name in names if name not in known])
            for table in schema.VACUUMED:
                progress(f"Compacting {table} ...")
                self._writer.ask(f"VACUUM (ANALYZE) {table}")

    def verify(self, progress: Progress) -> list[str]:
        with self.snapshot():
            for setting in schema.READING_ALL:
                self._ask(setting)
            progress("Counting postings ...")
            wrong_counts = self._ask(schema.WRONG_COUNTS)
            progress("Counting documents ...")
            documents, postings = self._ask("SELECT documents, postings FROM meta")[0]
            counted_documents = self._ask("SELECT count(*) FROM documents")[0][0]
            counted_postings = self._ask("SELECT count(*) FROM postings")[0][0]
            unknown_contents = self._ask(schema.UNKNOWN_CONTENTS)[0][0]
        problems = [f"{name}: {n} of {known} postings" for name, n, known in wrong_counts if name is not None]
        if unknown := sum(name is None for name, _, _ in wrong_counts):
            problems.append(f"postings of {unknown} documents that are not in the catalogue")
        if documents != counted_documents:
            problems.append(f"{counted_documents} documents, but the catalogue counts {documents}")
        if postings != counted_postings:
            problems.append(f"{counted_postings} postings, but the catalogue counts {postings}")
        if unknown_contents:
            problems.append(f"contents of {unknown_contents} documents that are not in the catalogue")
        return problems

    def generation(self) -> int:
        return int(self._ask("SELECT generation FROM meta")[0][0])

    def raise_generation(self, generation: int) -> None:
        with self._writing:
            self._writer.ask("UPDATE meta SET generation = greatest(generation, %s)", generation)

    def record_touches(self, touches: Touches) -> None:
        if touches.keys:
            names = [plain(name) for name in touches.names]
            marks = touches.rows, touches.prints, touches.marks
            with suppress(IndexTrouble), self._prober() as session:  # a search does not fail because of it
                session.ask(schema.RECORD_TOUCHES, touches.keys, names, *marks, touches.keys, touches.sets)

    def _prober(self) -> AbstractContextManager[Session]:
        """Return a connection without a snapshot. A thread that has one must not wait for a second."""
        if self._readers.current is None:
            return self._readers.take()
        return closing(Session(self._address, _prepare_reader))

    def probed(self) -> list[Probed]:
        return [Probed(*row) for row in self._ask(schema.PROBED)]

    def forget_touches(self, names: Sequence[str]) -> None:
        if names:
            with suppress(IndexTrouble), self._prober() as session:
                session.ask(schema.FORGET_TOUCHES, [probes.key(name) for name in names])

    def close(self) -> None:
        self._readers.close()
        with self._writing:  # waits for the change that another thread is making
            self._writer.close()


def _create(connection: Connection, address: Address, settings: Settings) -> None:
    """Create the tables, inside a transaction, so that a crash leaves no half of an index."""

    def holds(statement: str, *values: object) -> bool:
        row = connection.execute(statement, values).fetchone()
        return bool(row and row[0])

    taken = IndexTrouble(f"{address.shown}: already exists; give another name after the #")
    has_citus = holds(citus.IS_PRESENT)
    if has_citus and holds(citus.IS_WORKER):
        raise IndexTrouble(f"{address.shown}: {citus.ON_WORKER}")
    connection.execute(citus.KEEP_SCHEMA_LOCAL)
    if holds(schema.NOT_EMPTY, address.schema):
        raise taken
    if not holds("SELECT current_setting('server_encoding') = 'UTF8'"):
        raise IndexTrouble(
            f"{address.shown}: this database cannot store every name; create one with createdb -E UTF8"
        )
    try:
        if not holds(schema.SCHEMA_EXISTS, address.schema):
            connection.execute(SQL("CREATE SCHEMA {}").format(Identifier(address.schema)))
        connection.execute(schema.SCHEMA)
    except (errors.DuplicateSchema, errors.DuplicateTable, errors.UniqueViolation):  # another was faster
        raise taken from None
    if has_citus:
        connection.execute(citus.DISTRIBUTE)
    connection.execute("INSERT INTO meta VALUES (%s, 0, 0, 0, 0, 0)", [json.dumps(settings.to_dict())])


def _prepare_reader(connection: Connection) -> None:
    connection.execute(schema.READING)


def _lock_number(name: str) -> int:
    """Return the number of a lock. A database has one set of numbers for all its schemas."""
    return int.from_bytes(blake2b(f"chaffinch {name}".encode(), digest_size=8).digest(), signed=True)


def _mask(settings: Settings) -> np.uint64:
    """Return the bits of a hash that are stored."""
    return np.uint64(2**64 - 2 ** (64 - settings.hash_bits))


def _integers(numbers: Iterable[int]) -> list[int]:
    return [int(number) for number in numbers]
