"""The catalogue of an embedded index in SQLite: documents, where their contents are, which segments count.

What is committed here is there; a segment's file without a row here is the rest of a crash.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from chaffinch.errors import IndexTrouble, NoIndex
from chaffinch.index.folder.text_file import Place
from chaffinch.index.records import About, Settings, Stored

# Made so that a million documents need little. A name or a content is looked up by a short hash of it and then
# compared: a quarter of the size of an index of the names themselves. What comes from one place has one contact
# and one address up to its last part, which is often the name: that is kept once. A date is a number if it can
# be, and what few documents have is in one column.
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
CREATE INDEX documents_boilerplate ON documents (marks) WHERE marks % 2 = 1;
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
_NOT_ONE = "not an index, or a damaged one"
_CURE = "put back a copy of it, or import what was exported"
_PATIENCE = 60
"""Seconds that one waits for another who is writing."""
_CACHE_KIB = 64 << 10
_MANY = 512
"""Values bound in one statement."""


class SegmentRow(NamedTuple):
    """A segment that counts: the documents first to last have all their postings in it."""

    number: int
    postings: int
    bytes: int
    first: int
    last: int


class Catalogue:
    """One connection; a thread that writes needs its own."""

    def __init__(self, path: Path, *, write: bool = False) -> None:
        self.path = path
        self._connection, self._stamp = _connect(path, write)
        if write:  # keys come in any order: what they touch should stay in memory
            self._connection.execute(f"PRAGMA cache_size = {-_CACHE_KIB}")

    @classmethod
    def create(cls, path: Path, settings: Settings) -> None:
        """All of it is in this one file when this returns."""
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.executescript("PRAGMA synchronous = FULL; BEGIN;" + _SCHEMA)
            connection.execute("INSERT INTO meta VALUES ('settings', ?)", [json.dumps(settings.to_dict())])
            connection.execute("COMMIT")
            connection.execute("PRAGMA journal_mode = WAL").fetchone()

    def close(self) -> None:
        self._connection.close()

    def stale(self) -> bool:
        """Whether there is something newer that this connection will not see."""
        return self._stamp is not None and self._stamp != _stamp(self.path)

    def settings(self) -> Settings:
        said = self.meta("settings")
        if said is None:
            raise IndexTrouble(f"{self.path.parent}: {_NOT_ONE}; {_CURE}")
        return Settings.from_dict(json.loads(said), str(self.path.parent))

    def meta(self, key: str) -> Any:
        return self._one("SELECT value FROM meta WHERE key = ?", key)

    def _one(self, statement: str, *values: object) -> Any:
        row = self._connection.execute(statement, values).fetchone()
        return None if row is None else row[0]

    @contextmanager
    def transaction(self, kind: str = "DEFERRED") -> Iterator[None]:
        """One state for all that is read; all or nothing for what is written."""
        self._connection.execute(f"BEGIN {kind}")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    @contextmanager
    def changing(self) -> Iterator[None]:
        """A transaction after which readers look again at what there is."""
        with self.transaction("IMMEDIATE"):
            yield
            self._connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'version'")

    def take(self, counter: str, count: int) -> int:
        """The first of so many numbers that nobody has had; within a change."""
        first = int(self.meta(counter))
        self._connection.execute("UPDATE meta SET value = ? WHERE key = ?", [first + count, counter])
        return first

    def insert(self, first: int, documents: Sequence[Stored]) -> None:
        """Documents numbered from `first`; within a change."""
        origins: dict[tuple[str | None, str | None], int] = {}
        rows = [self._row(first + i, document, origins) for i, document in enumerate(documents)]
        places = ", ".join("?" * 11)
        self._connection.executemany(f"INSERT INTO documents VALUES ({places})", rows)
        self._count(len(rows))

    def place(self, places: Iterable[Place], end: int) -> None:
        """Where contents are, new or anew, and where their file ends; within a change."""
        self._connection.executemany("INSERT OR REPLACE INTO contents VALUES (?, ?, ?)", places)
        self._connection.execute("UPDATE meta SET value = ? WHERE key = 'texts_end'", [end])

    def _row(
        self, number: int, document: Stored, origins: dict[tuple[str | None, str | None], int]
    ) -> tuple[object, ...]:
        about, origin, tail = document.about, None, None
        if about.url or about.contact:
            head, slash, tail = (about.url or "").rpartition("/")
            place = (head + slash if about.url else None), about.contact or None
            if place not in origins:
                origins[place] = self._origin(*place)
            origin, tail = origins[place], tail if about.url and tail != document.name else None
        return (
            number, document.name, _key(document.name), document.digest, document.size, document.symbols,
            document.postings, origin, tail, _packed_date(about.date),
            document.generation * 2 + document.boilerplate or None,
        )  # fmt: skip

    def _origin(self, head: str | None, contact: str | None) -> int:
        key = _key(f"{head}\n{contact}")
        found = self._one(
            "SELECT id FROM origins WHERE key = ? AND url_head IS ? AND contact IS ?", key, head, contact
        )
        if found is None:
            statement = "INSERT INTO origins (key, url_head, contact) VALUES (?, ?, ?)"
            found = self._connection.execute(statement, [key, head, contact]).lastrowid
        return int(found)

    def delete(self, documents: Sequence[int]) -> None:
        """Their postings stay in segments until these are merged; within a change."""
        known = self.stored(documents)
        there = [[document] for document in known]
        waiting = [[document] for document, stored in known.items() if stored.postings]
        self._connection.executemany("INSERT INTO removed VALUES (?)", waiting)
        for statement in ("DELETE FROM contents WHERE document = ?", "DELETE FROM documents WHERE id = ?"):
            self._connection.executemany(statement, there)
        self._count(-len(there))

    def _count(self, change: int) -> None:
        self._connection.execute("UPDATE meta SET value = value + ? WHERE key = 'documents'", [change])

    def segments(self) -> list[SegmentRow]:
        """In order of their documents."""
        rows = self._connection.execute("SELECT id, postings, bytes, first, last FROM segments ORDER BY first")
        return [SegmentRow(*row) for row in rows]

    def add_segment(self, row: SegmentRow) -> None:
        self._connection.execute("INSERT INTO segments VALUES (?, ?, ?, ?, ?)", row)

    def drop_segments(self, numbers: Sequence[int], purged: Iterable[int]) -> None:
        self._connection.executemany("DELETE FROM segments WHERE id = ?", [[n] for n in numbers])
        self._connection.executemany("DELETE FROM removed WHERE document = ?", [[d] for d in purged])

    def between(self, first: int, last: int) -> list[str]:
        """The names of the documents whose postings are in a segment."""
        rows = self._connection.execute(
            "SELECT name FROM documents WHERE id BETWEEN ? AND ? AND postings > 0 ORDER BY id", [first, last]
        )
        return [row[0] for row in rows]

    def is_alive(self, row: SegmentRow) -> bool:
        """Whether any document has its postings there."""
        return bool(
            self._one(
                "SELECT EXISTS (SELECT 1 FROM documents WHERE id BETWEEN ? AND ? AND postings > 0)",
                row.first,
                row.last,
            )
        )

    def removed(self) -> list[int]:
        return [row[0] for row in self._connection.execute("SELECT document FROM removed ORDER BY document")]

    def stored(self, documents: Sequence[int]) -> dict[int, Stored]:
        rows = self._rows(f"SELECT {_COLUMNS} WHERE d.id IN", documents)
        return {row[0]: _stored(row) for row in rows}

    def sizes(self, documents: Sequence[int]) -> dict[int, tuple[int, str]]:
        rows = self._rows("SELECT id, postings, name FROM documents WHERE id IN", documents)
        return {number: (postings, name) for number, postings, name in rows}

    def places(self, documents: Sequence[int]) -> list[Place]:
        """Where the contents of these are, in the order of the file."""
        rows = self._rows("SELECT document, at, length FROM contents WHERE document IN", documents)
        return sorted((Place(*row) for row in rows), key=lambda place: place.at)

    def all_places(self) -> Iterator[Place]:
        rows = self._connection.execute("SELECT document, at, length FROM contents ORDER BY at")
        return (Place(*row) for row in rows)

    def named(self, names: Sequence[str]) -> dict[str, int]:
        keys = [_key(name) for name in names]
        rows = self._rows("SELECT name, id FROM documents WHERE name_key IN", keys)
        wanted = set(names)
        return {name: number for name, number in rows if name in wanted}

    def alike(self, digests: Sequence[bytes]) -> dict[bytes, str]:
        keys = [digest[:3] for digest in digests]
        rows = self._rows("SELECT id, digest, name FROM documents WHERE substr(digest, 1, 3) IN", keys)
        wanted = set(digests)
        return {digest: name for _, digest, name in sorted(rows, reverse=True) if digest in wanted}

    def _rows(self, statement: str, values: Sequence[Any]) -> list[Any]:
        found = []
        for start in range(0, len(values), _MANY):
            some = values[start : start + _MANY]
            # The last again and again, up to a power of two: SQLite remembers statements that it has seen.
            size = 1 << (len(some) - 1).bit_length()
            places = ", ".join("?" * size)
            filled = [*some, *[some[-1]] * (size - len(some))]
            found += self._connection.execute(f"{statement} ({places})", filled).fetchall()
        return found

    def boilerplate(self) -> frozenset[int]:
        rows = self._connection.execute("SELECT id FROM documents WHERE marks % 2 = 1")
        return frozenset(row[0] for row in rows)

    def each(self) -> Iterator[tuple[int, Stored]]:
        after = -1
        while rows := self._connection.execute(
            f"SELECT {_COLUMNS} WHERE d.id > ? ORDER BY d.id LIMIT 1000", [after]
        ).fetchall():
            yield from ((row[0], _stored(row)) for row in rows)
            after = rows[-1][0]

    def tidy(self) -> str | None:
        """Packs what removals and random keys have left half empty; why not, if it cannot be done now."""
        try:
            for statement in (
                "REINDEX",
                "VACUUM",
                "PRAGMA busy_timeout = 0",
                "PRAGMA wal_checkpoint(TRUNCATE)",
            ):
                self._connection.execute(statement).fetchall()  # without a wait for those who read
        except sqlite3.OperationalError as error:
            return str(error)
        finally:
            self._connection.execute(f"PRAGMA busy_timeout = {_PATIENCE * 1000}").fetchall()
        return None

    def check(self) -> list[str]:
        """What SQLite finds wrong."""
        try:
            found = [row[0] for row in self._connection.execute("PRAGMA integrity_check")]
        except sqlite3.DatabaseError as error:
            found = [str(error)]
        return [] if found == ["ok"] else [f"{self.path.name}: {problem}" for problem in found]


def _connect(path: Path, write: bool) -> tuple[sqlite3.Connection, object]:
    """A connection; with what the file is like, if it is one that sees no changes."""
    folder, uri = path.parent, path.absolute().as_uri()
    try:
        if not path.exists():
            raise NoIndex(f"{folder}: no index there; make one with chaffinch index create")
        stamp = _stamp(path)
    except OSError as error:
        raise IndexTrouble(f"{folder}: cannot be opened ({error.strerror})") from None
    try:
        return _opened(f"{uri}?mode={'rw' if write else 'ro'}"), None
    except sqlite3.DatabaseError as error:
        forbidden = error.sqlite_errorname.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY"))
        if forbidden and write:
            raise
        if forbidden and stamp[-1]:
            raise IndexTrouble(
                f"{folder}: was not closed by its writer; open it once where you may write to it ({error})"
            ) from None
        if not forbidden and (write or stamp[-1]):
            raise IndexTrouble(f"{folder}: cannot be opened ({error}); {_CURE}") from None
    try:  # in a folder that nobody can write to, nobody writes
        return _opened(f"{uri}?immutable=1"), stamp
    except sqlite3.DatabaseError as error:
        raise IndexTrouble(f"{folder}: {_NOT_ONE} ({error}); {_CURE}") from None


def _stamp(path: Path) -> tuple[int, ...]:
    """Changes when the file does; the last is what waits to be written into it."""
    seen = path.stat()
    try:
        waiting = path.with_name(path.name + "-wal").stat().st_size
    except FileNotFoundError:
        waiting = 0
    return seen.st_ino, seen.st_size, seen.st_mtime_ns, waiting


def _opened(uri: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        uri, uri=True, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("SELECT count(*) FROM meta").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _key(name: str) -> int:
    """Of three bytes, which is how SQLite keeps it."""
    return (crc32(name.encode("utf-8", "surrogatepass")) & 0xFFFFFF) - 0x800000


def _packed_date(said: str | None) -> str | int | None:
    """The number of a day, if it is one and is written in no other way."""
    if said is None:
        return None
    try:
        day = date.fromisoformat(said)
    except ValueError:
        return said
    return day.toordinal() if day.isoformat() == said else said


def _stored(row: tuple[Any, ...]) -> Stored:
    _, name, digest, size, symbols, postings, head, tail, contact, day, marks = row
    url = None if head is None else head + (name if tail is None else tail)
    about = About(url, contact, date.fromordinal(day).isoformat() if isinstance(day, int) else day)
    generation, boilerplate = divmod(marks or 0, 2)
    return Stored(name, digest, size, symbols, postings, about, generation, bool(boilerplate))
