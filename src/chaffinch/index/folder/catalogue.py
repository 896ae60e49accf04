"""The catalogue of an embedded index, in SQLite: documents, their contents, the segments in use.

Whatever is committed here is in the index. A segment file without a row here is left over from a crash.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import date
from pathlib import Path
from types import NoneType
from typing import Any, NamedTuple
from zlib import crc32

from chaffinch.errors import BadRecipe, IndexTrouble, NoIndex
from chaffinch.index.folder.paths import ContentSpan
from chaffinch.index.records import DocumentRecord, Metadata, Settings
from chaffinch.index.store import NO_INDEX, close_on_error

# A million documents should need little space. Names and digests are looked up by a short key and then
# compared: this takes a quarter of the space of an index of the names themselves. Documents from one source
# share the contact and the URL up to its last part, so these are stored once; the last part is often the name.
# A date is stored as a number if possible, and the generation and the flags, which few documents have,
# share one column: the generation above two bits, not_language and boilerplate.
_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE origins (id INTEGER PRIMARY KEY, key INTEGER NOT NULL, url_head TEXT, contact TEXT);
CREATE INDEX origins_key ON origins (key);
CREATE TABLE documents (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, name_key INTEGER NOT NULL, digest BLOB NOT NULL,
    size INTEGER NOT NULL, symbols INTEGER NOT NULL, postings INTEGER NOT NULL,
    origin INTEGER, url_tail TEXT, date, marks INTEGER
);
CREATE INDEX documents_name ON documents (name_key);
CREATE INDEX documents_digest ON documents (substr(digest, 1, 3));
CREATE INDEX documents_boilerplate ON documents (marks) WHERE marks & 1;
CREATE INDEX documents_not_language ON documents (marks) WHERE marks & 2;
CREATE TABLE contents (document INTEGER PRIMARY KEY, at INTEGER NOT NULL, length INTEGER NOT NULL);
CREATE TABLE segments (
    id INTEGER PRIMARY KEY, postings INTEGER NOT NULL, bytes INTEGER NOT NULL,
    first INTEGER NOT NULL, last INTEGER NOT NULL
);
CREATE TABLE removed (document INTEGER PRIMARY KEY);
INSERT INTO meta VALUES ('version', 0), ('next', 0), ('next_segment', 1), ('documents', 0),
    ('texts', 1), ('texts_end', 0);
"""
_COLUMNS = """
    d.id, d.name, d.digest, d.size, d.symbols, d.postings, o.url_head, d.url_tail, o.contact, d.date, d.marks
    FROM documents d LEFT JOIN origins o ON o.id = d.origin
"""
_NOT_AN_INDEX = "not an index, or a damaged one"
REMEDY = "restore a copy of it, or import an export of it"
_BUSY_TIMEOUT = 60
"""Seconds to wait for another connection that is writing."""
_CACHE_KIB = 64 << 10
_MAX_DOCUMENTS, _MAX_NUMBER = 1 << 32, 1 << 48
"""Numbers of documents, and of postings or bytes, that are larger are damaged."""
_MAX_VALUES = 512
"""Values bound in one statement, at most."""


class SegmentRow(NamedTuple):
    """A segment in use. It holds all postings of the documents `first` to `last`."""

    number: int
    postings: int
    bytes: int
    first: int
    last: int


class Catalogue:
    """One connection to the catalogue. A thread that writes needs its own."""

    def __init__(self, path: Path, *, write: bool = False) -> None:
        self.path = path
        self._connection, self._stamp = _connect(path, write)
        if write:  # keys arrive in random order, so the pages they touch should stay in memory
            self._connection.execute(f"PRAGMA cache_size = {-_CACHE_KIB}")

    @classmethod
    def create(cls, path: Path, settings: Settings) -> None:
        """Create an empty catalogue, all of it in this one file."""
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.executescript("PRAGMA synchronous = FULL; BEGIN;" + _SCHEMA)
            connection.execute("INSERT INTO meta VALUES ('settings', ?)", [json.dumps(settings.to_dict())])
            connection.execute("COMMIT")
            connection.execute("PRAGMA journal_mode = WAL").fetchone()

    def close(self) -> None:
        self._connection.close()

    def is_stale(self) -> bool:
        """Return whether the file has changed in a way that this connection will not see."""
        return self._stamp is not None and self._stamp != _stamp(self.path)

    def version(self) -> object:
        """Return what differs between two states of the index."""
        return self._stamp, self.number("version")

    def settings(self) -> Settings:
        settings = self._value("SELECT value FROM meta WHERE key = 'settings'")
        try:
            return Settings.from_dict(json.loads(settings), str(self.path.parent))
        except BadRecipe as error:
            raise IndexTrouble(f"{self.path.parent}: its recipe cannot be used ({error}); {REMEDY}") from None
        except (TypeError, ValueError, KeyError, AttributeError, RecursionError):
            raise IndexTrouble(f"{self.path.parent}: {_NOT_AN_INDEX}; {REMEDY}") from None

    def number(self, key: str) -> int:
        """Return a number that belongs to the whole index."""
        limit = _MAX_DOCUMENTS if key == "next" else _MAX_NUMBER
        (number,) = _checked((self._value("SELECT value FROM meta WHERE key = ?", key),), int, limit=limit)
        return int(number)

    def _value(self, statement: str, *values: object) -> Any:
        return next((row[0] for row in self._connection.execute(statement, values)), None)

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
            self._connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'version'")

    def take(self, counter: str, count: int) -> int:
        """Reserve `count` new numbers and return the first. Call this inside `change`."""
        first = self.number(counter)
        self._connection.execute("UPDATE meta SET value = ? WHERE key = ?", [first + count, counter])
        return first

    def insert(self, first: int, documents: Sequence[DocumentRecord]) -> None:
        """Add documents, numbered from `first`. Call this inside `change`."""
        origins: dict[tuple[str | None, str | None], int] = {}
        rows = [self._row(first + i, document, origins) for i, document in enumerate(documents)]
        self._connection.executemany(f"INSERT INTO documents VALUES ({', '.join('?' * 11)})", rows)
        self._count(len(rows))

    def set_contents(self, spans: Iterable[ContentSpan], end: int) -> None:
        """Record where contents are and where their file ends. Call this inside `change`."""
        self._connection.executemany("INSERT OR REPLACE INTO contents VALUES (?, ?, ?)", spans)
        self._connection.execute("UPDATE meta SET value = ? WHERE key = 'texts_end'", [end])

    def _row(
        self, number: int, document: DocumentRecord, origins: dict[tuple[str | None, str | None], int]
    ) -> tuple[object, ...]:
        metadata, origin, tail = document.metadata, None, None
        if metadata.url or metadata.contact:
            head, slash, tail = (metadata.url or "").rpartition("/")
            source = (head + slash if metadata.url else None), metadata.contact or None
            if source not in origins:
                origins[source] = self._origin(*source)
            origin, tail = origins[source], tail if metadata.url and tail != document.name else None
        name, *rest = document[:5]
        marks = document.generation << 2 | document.not_language << 1 | document.boilerplate or None
        return number, name, _key(name), *rest, origin, tail, _pack_date(metadata.date), marks

    def _origin(self, head: str | None, contact: str | None) -> int:
        key = _key(f"{head}\n{contact}")
        known = "SELECT id FROM origins WHERE key = ? AND url_head IS ? AND contact IS ?"
        if (origin := self._value(known, key, head, contact)) is None:
            statement = "INSERT INTO origins (key, url_head, contact) VALUES (?, ?, ?)"
            origin = self._connection.execute(statement, [key, head, contact]).lastrowid
        return int(origin)

    def delete(self, documents: Sequence[int]) -> None:
        """Delete documents. Their postings stay until a merge. Call this inside `change`."""
        known = self.records(documents)
        numbers = [[document] for document in known]
        with_postings = [[document] for document, record in known.items() if record.postings]
        self._connection.executemany("INSERT INTO removed VALUES (?)", with_postings)
        for statement in ("DELETE FROM contents WHERE document = ?", "DELETE FROM documents WHERE id = ?"):
            self._connection.executemany(statement, numbers)
        self._count(-len(numbers))

    def _count(self, change: int) -> None:
        self._connection.execute("UPDATE meta SET value = value + ? WHERE key = 'documents'", [change])

    def segments(self) -> list[SegmentRow]:
        """Return the segments in use, sorted by their documents."""
        rows = self._connection.execute("SELECT id, postings, bytes, first, last FROM segments ORDER BY first")
        return [SegmentRow(*_checked(row, int)) for row in rows]

    def add_segment(self, row: SegmentRow) -> None:
        self._connection.execute("INSERT INTO segments VALUES (?, ?, ?, ?, ?)", row)

    def drop_segments(self, numbers: Sequence[int], purged: Iterable[int]) -> None:
        self._connection.executemany("DELETE FROM segments WHERE id = ?", [[n] for n in numbers])
        self._connection.executemany("DELETE FROM removed WHERE document = ?", [[d] for d in purged])

    def names_in(self, row: SegmentRow) -> Iterator[str]:
        """Yield the names of the documents whose postings are in a segment."""
        statement = "SELECT name FROM documents WHERE id BETWEEN ? AND ? AND postings > 0 ORDER BY id"
        return (_checked(names, str)[0] for names in self._connection.execute(statement, [row.first, row.last]))

    def is_needed(self, row: SegmentRow) -> bool:
        """Return whether any document has its postings in this segment."""
        return any(True for _ in self.names_in(row))

    def removed(self) -> list[int]:
        rows = self._connection.execute("SELECT document FROM removed ORDER BY document")
        return [_document(number) for (number,) in rows]

    def records(self, documents: Sequence[int]) -> dict[int, DocumentRecord]:
        rows = self._rows(f"SELECT {_COLUMNS} WHERE d.id IN", documents)
        return {_document(row[0]): _record(row) for row in rows}

    def sizes(self, documents: Sequence[int]) -> dict[int, tuple[int, str]]:
        rows = self._rows("SELECT id, postings, name FROM documents WHERE id IN", documents)
        return {
            number: (*_checked((postings,), int), *_checked((name,), str)) for number, postings, name in rows
        }

    def content_spans(self, documents: Sequence[int]) -> list[ContentSpan]:
        """Return where the contents of these documents are, in the order of the file."""
        rows = self._rows("SELECT document, at, length FROM contents WHERE document IN", documents)
        return sorted((ContentSpan(*_checked(row, int)) for row in rows), key=lambda span: span.offset)

    def all_content_spans(self) -> Iterator[ContentSpan]:
        rows = self._connection.execute("SELECT document, at, length FROM contents ORDER BY at")
        return (ContentSpan(*_checked(row, int)) for row in rows)

    def numbers_by_name(self, names: Sequence[str]) -> dict[str, int]:
        keys = [_key(name) for name in names]
        rows = self._rows("SELECT name, id FROM documents WHERE name_key IN", keys)
        wanted = set(names)
        return {name: _document(number) for name, number in rows if name in wanted}

    def names_by_digest(self, digests: Sequence[bytes]) -> dict[bytes, str]:
        keys = [digest[:3] for digest in digests]
        rows = self._rows("SELECT id, digest, name FROM documents WHERE substr(digest, 1, 3) IN", keys)
        wanted = set(digests)
        return {digest: name for _, digest, name in sorted(rows, reverse=True) if digest in wanted}

    def _rows(self, statement: str, values: Sequence[Any]) -> list[Any]:
        rows = []
        for start in range(0, len(values), _MAX_VALUES):
            some = values[start : start + _MAX_VALUES]
            # Repeat the last value up to a power of two: SQLite caches the few different statements.
            size = 1 << (len(some) - 1).bit_length()
            filled = [*some, *[some[-1]] * (size - len(some))]
            rows += self._connection.execute(f"{statement} ({', '.join('?' * size)})", filled).fetchall()
        return rows

    def boilerplate(self) -> frozenset[int]:
        statement = "SELECT id FROM documents WHERE marks & 1"
        return frozenset(_document(number) for (number,) in self._connection.execute(statement))

    def count_not_language(self) -> int:
        return int(self._value("SELECT count(*) FROM documents WHERE marks & 2"))

    def all_records(self) -> Iterator[tuple[int, DocumentRecord]]:
        after = -1
        while rows := self._connection.execute(
            f"SELECT {_COLUMNS} WHERE d.id > ? ORDER BY d.id LIMIT 1000", [after]
        ).fetchall():
            yield from ((_document(row[0]), _record(row)) for row in rows)
            after = rows[-1][0]

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
        """Return the problems that SQLite finds."""
        try:
            problems = [row[0] for row in self._connection.execute("PRAGMA integrity_check")]
        except sqlite3.DatabaseError as error:
            problems = [str(error)]
        return [] if problems == ["ok"] else [f"{self.path.name}: {problem}" for problem in problems]


class _Connection(sqlite3.Connection):
    """A connection that raises an error of SQLite even if the message quotes damaged bytes."""

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        try:
            return super().execute(*arguments)
        except UnicodeDecodeError:
            raise sqlite3.DatabaseError("malformed database schema") from None


def _document(number: Any) -> int:
    """Return the number of a document, unless it is damaged."""
    _checked((number,), int, limit=_MAX_DOCUMENTS - 1)
    return int(number)


def _checked(values: Sequence[Any], *kinds: type, limit: int = _MAX_NUMBER) -> Sequence[Any]:
    """Return values of these types. SQLite stores any type in any column, so damage can change the type."""
    for value in values:
        if not isinstance(value, kinds) or (isinstance(value, int) and not 0 <= value <= limit):
            raise sqlite3.DataError("a value is damaged")
    return values


def _connect(path: Path, write: bool) -> tuple[sqlite3.Connection, object]:
    """Return a connection, and the stamp of the file if the connection will not see changes."""
    folder, uri = path.parent, path.absolute().as_uri()
    try:
        if not path.exists():
            raise NoIndex(f"{folder}: {NO_INDEX}")
        stamp = _stamp(path)
    except OSError as error:
        raise IndexTrouble(f"{folder}: cannot be opened ({error.strerror})") from None
    try:
        return _open(f"{uri}?mode={'rw' if write else 'ro'}"), None
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
        return _open(f"{uri}?immutable=1"), stamp
    except sqlite3.DatabaseError as error:
        raise IndexTrouble(f"{folder}: {_NOT_AN_INDEX} ({error}); {REMEDY}") from None


def _stamp(path: Path) -> tuple[int, ...]:
    """Return numbers that change when the file does. The last is the size of its write-ahead log."""
    stat, log_size = path.stat(), 0
    with suppress(FileNotFoundError):
        log_size = path.with_name(path.name + "-wal").stat().st_size
    return stat.st_ino, stat.st_size, stat.st_mtime_ns, log_size


def _open(uri: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        uri,
        uri=True,
        timeout=_BUSY_TIMEOUT,
        isolation_level=None,
        check_same_thread=False,
        factory=_Connection,
    )
    with close_on_error(connection):
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("SELECT count(*) FROM meta").fetchone()
    return connection


def _key(name: str) -> int:
    """Return a hash that SQLite stores in three bytes."""
    return (crc32(name.encode("utf-8", "surrogatepass")) & 0xFFFFFF) - 0x800000


def _pack_date(text: str | None) -> str | int | None:
    """Return the number of the day if the text is a date in the form YYYY-MM-DD, else the text."""
    with suppress(ValueError):
        day = date.fromisoformat(text or "")
        return day.toordinal() if day.isoformat() == text else text
    return text


def _record(row: tuple[Any, ...]) -> DocumentRecord:
    _checked(row[1:2], str)
    _checked(row[2:3], bytes)
    _checked(row[3:6], int)
    head, tail, contact, day, marks = row[6:]
    _checked((head, tail, contact), str, NoneType)
    _checked((day,), str, int, NoneType)
    _checked((marks,), int, NoneType)
    if isinstance(day, int) and not 0 < day <= date.max.toordinal():
        raise sqlite3.DataError("a date is damaged")
    url = None if head is None else head + (row[1] if tail is None else tail)
    metadata = Metadata(url, contact, date.fromordinal(day).isoformat() if isinstance(day, int) else day)
    generation, flags = divmod(marks or 0, 4)
    return DocumentRecord._make((*row[1:6], metadata, generation, bool(flags & 1), bool(flags & 2)))
