"""The catalogue of an embedded index, in SQLite: documents, their contents, the segments in use.

Whatever is committed here is in the index. A segment file without a row here is left over from a crash.
"""

from __future__ import annotations

import json
import sqlite3
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from chaffinch.errors import BadRecipe, IndexTrouble, NoIndex
from chaffinch.index.folder import document_rows, key_table, last_commit
from chaffinch.index.folder.checked_rows import CheckedRows, Row
from chaffinch.index.folder.document_rows import DIGEST, NAME, NO_ORIGIN, ORIGIN, POSTINGS, Origin
from chaffinch.index.folder.key_table import KeyTable, entry, key_of
from chaffinch.index.folder.paths import REMEDY, ContentSpan
from chaffinch.index.folder.sqlite_connection import Connection, connect
from chaffinch.index.records import DocumentRecord, Settings
from chaffinch.index.store import NO_INDEX, close_on_error

_SCHEMA = (
    """
CREATE TABLE meta (key TEXT PRIMARY KEY, value, sum INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE origins (
    id INTEGER PRIMARY KEY, key INTEGER NOT NULL, url_head TEXT, contact TEXT, sum INTEGER NOT NULL
);
CREATE INDEX origins_key ON origins (key);
CREATE TABLE contents (
    document INTEGER PRIMARY KEY, at INTEGER NOT NULL, length INTEGER NOT NULL, checksum INTEGER NOT NULL,
    sum INTEGER NOT NULL
);
CREATE TABLE segments (
    id INTEGER PRIMARY KEY, postings INTEGER NOT NULL, bytes INTEGER NOT NULL, first INTEGER NOT NULL,
    last INTEGER NOT NULL, documents INTEGER NOT NULL, sum INTEGER NOT NULL
);
CREATE TABLE removed (document INTEGER PRIMARY KEY, sum INTEGER NOT NULL);
CREATE TABLE boilerplate (document INTEGER PRIMARY KEY, sum INTEGER NOT NULL);
"""
    + document_rows.SCHEMA
    + key_table.SCHEMA
)
_SCANNED = ("origins", "contents", "segments", "removed", "boilerplate", "documents")
"""Tables that can be read from end to end."""
_NUMBERS = {
    "version": 0,
    "next": 0,
    "next_segment": 1,
    "documents": 0,
    "not_language": 0,
    "texts": 1,
    "texts_end": 0,
    "generation": 0,
}
"""Numbers that belong to the whole index, and their first values."""
_NOT_AN_INDEX = "not an index, or a damaged one"
_BUSY_TIMEOUT = 60
"""Seconds to wait for another connection that is writing."""
_CACHE_KIB = 64 << 10
_SCANNED_DOCUMENTS = 1000
"""Records of a scan that are in memory at a time."""


class SegmentRow(NamedTuple):
    """A segment in use. It holds all postings of the documents `first` to `last`."""

    number: int
    postings: int
    bytes: int
    first: int
    last: int
    documents: int
    """How many have postings in it, also removed ones."""


class Catalogue:
    """One connection to the catalogue. A thread that writes needs its own."""

    def __init__(self, path: Path, *, write: bool = False) -> None:
        self.path = path
        committed = last_commit.read(path.parent)
        self._connection, self._stamp = _connect(path, write)
        self._rows = CheckedRows(self._connection)
        self._keys = KeyTable(self._rows)
        if write:
            # Keys arrive in random order, so the pages they touch should stay in memory. Deleted rows are
            # overwritten: a damaged pointer could bring them back.
            self._connection.execute(f"PRAGMA cache_size = {-_CACHE_KIB}")
            self._connection.execute("PRAGMA secure_delete = ON").fetchall()
        with close_on_error(self):
            self._check_commits(committed)

    @classmethod
    def create(cls, path: Path, settings: Settings) -> None:
        """Create an empty catalogue, all of it in this one file."""
        with closing(connect(path, "mode=rwc", timeout=_BUSY_TIMEOUT)) as connection:
            connection.executescript("PRAGMA synchronous = FULL; BEGIN;" + _SCHEMA)
            rows = CheckedRows(connection)
            totals = {f"total {table}": 0 for table in _SCANNED}
            for key, value in {**_NUMBERS, **totals, "settings": json.dumps(settings.to_dict())}.items():
                rows.set_value(key, value)
            KeyTable(rows).create()
            connection.execute("COMMIT")
            connection.execute("PRAGMA journal_mode = WAL").fetchone()

    def _check_commits(self, committed: int) -> None:
        """Fail if this state is older than a commit that was noted before it was read."""
        folder, log = self.path.parent, self.path.name + "-wal"
        try:
            version = self.number("version")
        except sqlite3.DatabaseError as error:
            raise IndexTrouble(f"{folder}: cannot be opened ({error}); {REMEDY}") from None
        if version < committed:
            raise IndexTrouble(
                f"{folder}: its last changes are lost, because {log} is damaged or was deleted; {REMEDY}, "
                f"or delete {folder / last_commit.FILE} to go on without them"
            )

    def close(self) -> None:
        self._connection.close()

    def is_stale(self) -> bool:
        """Return whether the file has changed in a way that this connection will not see."""
        return self._stamp is not None and self._stamp != _stamp(self.path)

    def version(self) -> object:
        """Return what differs between two states of the index."""
        return self._stamp, self.number("version")

    def settings(self) -> Settings:
        return _settings(self.path.parent, self._rows.value("settings"))

    def number(self, key: str) -> int:
        """Return a number that belongs to the whole index."""
        return int(self._rows.value(key))

    @contextmanager
    def transaction(self, kind: str = "DEFERRED") -> Iterator[None]:
        """Read one state; write all or nothing."""
        self._connection.execute(f"BEGIN {kind}")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    @contextmanager
    def change(self) -> Iterator[None]:
        """Run a transaction after which readers look for new segments and contents."""
        with self.transaction("IMMEDIATE"):
            yield
            version = self.take("version", 1) + 1
        last_commit.write(self.path.parent, version)

    def take(self, counter: str, count: int) -> int:
        """Reserve `count` new numbers and return the first. Call this inside `change`."""
        first = self.number(counter)
        self._rows.set_value(counter, first + count)
        return first

    def insert(self, first: int, documents: Sequence[DocumentRecord]) -> None:
        """Add documents, numbered from `first`. Call this inside `change`."""
        rows = self._to_rows(dict(enumerate(documents, first)))
        self._rows.insert("documents", rows)
        self._keys.add([entry for row in rows for entry in _entries(row)])
        boilerplate = [[number] for number, document in enumerate(documents, first) if document.boilerplate]
        self._rows.insert("boilerplate", boilerplate)
        self._count(documents, 1)

    def update(self, documents: Mapping[int, DocumentRecord]) -> None:
        """Write other metadata of documents. Call this inside `change`."""
        self._rows.delete("documents", list(documents))
        self._rows.insert("documents", self._to_rows(documents))

    def _to_rows(self, documents: Mapping[int, DocumentRecord]) -> list[Row]:
        origins: dict[Origin, int | None] = {NO_ORIGIN: None}
        rows = []
        for number, document in documents.items():
            origin = document_rows.origin_of(document)
            if origin not in origins:
                origins[origin] = self._origin_number(origin)
            rows.append(document_rows.to_row(number, document, origins[origin]))
        return rows

    def _origin_number(self, origin: Origin) -> int:
        """Return the number of an origin. One that is not found because of damage gets another number."""
        key = key_of(f"{origin.url_head}\n{origin.contact}")
        for (number,) in self._connection.execute("SELECT id FROM origins WHERE key = ?", [key]):
            (row,) = self._rows.by_number("origins", [number]).values()
            if Origin(*row[2:]) == origin:
                return int(number)
        number = self._connection.execute("SELECT max(id) FROM origins").fetchone()[0] or 0
        self._rows.insert("origins", [(number + 1, key, *origin)])
        return int(number) + 1

    def set_contents(self, spans: Iterable[ContentSpan], end: int) -> None:
        """Record where new contents are and where their file ends. Call this inside `change`."""
        self._rows.insert("contents", spans)
        self._rows.set_value("texts_end", end)

    def move_contents(self, spans: Iterable[ContentSpan], end: int) -> None:
        """Record where all contents are, in the next text file. Call this inside `change`."""
        self.take("texts", 1)
        self._rows.clear("contents")
        self.set_contents(spans, end)

    def delete(self, documents: Sequence[int]) -> None:
        """Delete documents. Their postings stay until a merge. Call this inside `change`."""
        rows, records = self._rows.by_number("documents", documents), self.records(documents)
        self._keys.remove(entry for row in rows.values() for entry in _entries(row))
        self._rows.insert("removed", [[number] for number, row in rows.items() if row[POSTINGS]])
        self._rows.delete("boilerplate", [number for number, record in records.items() if record.boilerplate])
        self._rows.delete("contents", [span.document for span in self.content_spans(documents)])
        self._rows.delete("documents", list(rows))
        self._count(records.values(), -1)

    def _count(self, records: Iterable[DocumentRecord], change: int) -> None:
        flags = [record.not_language for record in records]
        self._rows.add_to("documents", change * len(flags))
        self._rows.add_to("not_language", change * sum(flags))

    def segments(self) -> list[SegmentRow]:
        """Return the segments in use, sorted by their documents."""
        return sorted((SegmentRow(*row) for row in self._rows.all("segments")), key=lambda row: row.first)

    def add_segment(self, row: SegmentRow) -> None:
        self._rows.insert("segments", [row])

    def drop_segments(self, numbers: Sequence[int], purged: Sequence[int]) -> None:
        self._rows.delete("segments", numbers)
        self._rows.delete("removed", purged)

    def names_in(self, row: SegmentRow) -> Iterator[str]:
        """Yield the names of the documents whose postings are in a segment."""
        rows = self._rows.between("documents", row.first, row.last)
        return (document[NAME] for document in rows if document[POSTINGS])

    def removed(self) -> list[int]:
        return [document for (document,) in self._rows.all("removed")]

    def boilerplate(self) -> frozenset[int]:
        return frozenset(document for (document,) in self._rows.all("boilerplate"))

    def records(self, documents: Sequence[int]) -> dict[int, DocumentRecord]:
        return dict(self._to_records(list(self._rows.by_number("documents", documents).values())))

    def all_records(self, after: int = -1) -> Iterator[tuple[int, DocumentRecord]]:
        rows = self._rows.all("documents") if after < 0 else self._rows.after("documents", after)
        while some := list(islice(rows, _SCANNED_DOCUMENTS)):
            yield from self._to_records(some)

    def _to_records(self, rows: Sequence[Row]) -> Iterator[tuple[int, DocumentRecord]]:
        numbers = [row[ORIGIN] for row in rows if row[ORIGIN] is not None]
        origins = {number: Origin(*row[2:]) for number, row in self._rows.by_number("origins", numbers).items()}
        return ((row[0], document_rows.to_record(row, origins.get(row[ORIGIN], NO_ORIGIN))) for row in rows)

    def sizes(self, documents: Sequence[int]) -> dict[int, tuple[int, str]]:
        rows = self._rows.by_number("documents", documents)
        return {number: (row[POSTINGS], row[NAME]) for number, row in rows.items()}

    def content_spans(self, documents: Sequence[int]) -> list[ContentSpan]:
        """Return where the contents of these documents are, in the order of the file."""
        if not self.number("texts_end"):
            return []
        rows = self._rows.by_number("contents", documents)
        return sorted((ContentSpan(*row) for row in rows.values()), key=lambda span: span.offset)

    def all_content_spans(self) -> list[ContentSpan]:
        return sorted((ContentSpan(*row) for row in self._rows.all("contents")), key=lambda span: span.offset)

    def numbers_by_name(self, names: Sequence[str]) -> dict[str, int]:
        rows, wanted = self._with_keys(names), set(names)
        return {row[NAME]: row[0] for row in rows if row[NAME] in wanted}

    def names_by_digest(self, digests: Sequence[bytes]) -> dict[bytes, str]:
        rows, wanted = self._with_keys(digests), set(digests)
        return {row[DIGEST]: row[NAME] for row in reversed(rows) if row[DIGEST] in wanted}

    def _with_keys(self, contents: Sequence[str | bytes]) -> list[Row]:
        """Return the rows of documents that may have one of these names or digests, sorted by number."""
        return list(self._rows.by_number("documents", self._keys.find(map(key_of, contents))).values())

    def compact(self) -> str | None:
        """Fill pages that removals and random keys left half empty. Return why, if this cannot be done now."""
        try:
            self._connection.execute("REINDEX")
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA busy_timeout = 0").fetchall()  # does not wait for readers
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.OperationalError as error:
            return str(error)
        finally:
            self._connection.execute(f"PRAGMA busy_timeout = {_BUSY_TIMEOUT * 1000}").fetchall()
        return None

    def check(self) -> list[str]:
        """Return what is wrong, by SQLite's own checks and by the checksums of all rows."""
        try:
            problems = [row[0] for row in self._connection.execute("PRAGMA integrity_check")]
        except sqlite3.DatabaseError as error:
            problems = [str(error)]
        problems = [problem for problem in problems if problem != "ok"]
        values = (*_NUMBERS, *key_table.NUMBERS, *(f"total {table}" for table in _SCANNED), "settings")
        checks: list[Callable[[], object]] = [partial(self._rows.value, key) for key in values]
        checks += [partial(deque, self._rows.all(table), 0) for table in _SCANNED]
        for check in [*checks, self._check_keys]:
            try:
                check()
            except sqlite3.DatabaseError as error:
                problems.append(str(error))
        return [f"{self.path.name}: {problem}; {REMEDY}" for problem in problems]

    def _check_keys(self) -> None:
        rows = self._rows.all("documents")
        self._keys.check(entry for row in rows for entry in _entries(row))


def _entries(row: Row) -> list[int]:
    """Return the keys by which a document is found."""
    return [entry(key_of(content), row[0]) for content in (row[NAME], row[DIGEST])]


def _settings(folder: Path, text: object) -> Settings:
    try:
        return Settings.from_dict(json.loads(str(text)), str(folder))
    except BadRecipe as error:
        raise IndexTrouble(f"{folder}: its recipe cannot be used ({error}); {REMEDY}") from None
    except (TypeError, ValueError, KeyError, AttributeError, RecursionError):
        raise IndexTrouble(f"{folder}: {_NOT_AN_INDEX}; {REMEDY}") from None


def _connect(path: Path, write: bool) -> tuple[Connection, object]:
    """Return a connection, and the stamp of the file if the connection will not see changes."""
    folder = path.parent
    try:
        if not path.exists():
            raise NoIndex(f"{folder}: {NO_INDEX}")
        stamp = _stamp(path)
    except OSError as error:
        raise IndexTrouble(f"{folder}: cannot be opened ({error.strerror})") from None
    try:
        return _open(path, "mode=rw" if write else "mode=ro"), None
    except sqlite3.DatabaseError as error:
        forbidden = getattr(error, "sqlite_errorname", "").startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY"))
        if forbidden and write:
            raise
        if forbidden and stamp[-1]:
            unfinished = "its writer did not close it; open it once with permission to write"
            raise IndexTrouble(f"{folder}: {unfinished} ({error})") from None
        if not forbidden and (write or stamp[-1]):
            raise IndexTrouble(f"{folder}: cannot be opened ({error}); {REMEDY}") from None
    try:  # nothing changes in a folder that cannot be written to
        return _open(path, "immutable=1"), stamp
    except sqlite3.DatabaseError as error:
        raise IndexTrouble(f"{folder}: {_NOT_AN_INDEX} ({error}); {REMEDY}") from None


def _stamp(path: Path) -> tuple[int, ...]:
    """Return numbers that change when the file does. The last is the size of its write-ahead log."""
    stat, log_size = path.stat(), 0
    with suppress(FileNotFoundError):
        log_size = path.with_name(path.name + "-wal").stat().st_size
    return stat.st_ino, stat.st_size, stat.st_mtime_ns, log_size


def _open(path: Path, uri_options: str) -> Connection:
    connection = connect(path, uri_options, timeout=_BUSY_TIMEOUT)
    with close_on_error(connection):
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA mmap_size = 0").fetchall()  # a file that shrinks would end the process
        if _schema(connection) != _expected_schema():
            (settings,) = connection.execute("SELECT value FROM meta WHERE key = 'settings'").fetchone() or [""]
            _settings(path.parent, settings)  # says so if the index has another format
            raise sqlite3.DatabaseError("its schema is damaged")
    return connection


def _schema(connection: sqlite3.Connection) -> list[Row]:
    return connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name").fetchall()


@cache
def _expected_schema() -> list[Row]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(_SCHEMA)
        return _schema(connection)
