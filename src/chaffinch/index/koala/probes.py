"""Counts searches that come close to a document with many slightly different queries.

To learn which fingerprints are stored, somebody could edit a copy until it is no longer found. An embedded
index keeps the counts in a file of their own, because searching does not write to the index. Where that file
cannot be written, nothing is counted.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from hashlib import blake2b
from pathlib import Path

from chaffinch.index.records import ProbedDocument

FILE = "probes.db"
MIN_QUERIES = 10
"""Different queries that make a document suspicious."""
_CHANGED_COPY = 0.2
"""A query that has this share of a document is a changed copy of it."""
_PIECE = 0.5
"""If a document has this share of a query, the query is a piece of it. Pieces can probe all of it."""
_LIFETIME = 30 * 86_400
"""Seconds that a probe counts."""
_TABLE = "CREATE TABLE IF NOT EXISTS probes (name TEXT, query BLOB, at INTEGER, PRIMARY KEY (name, query))"


def is_close(query: float, document: float) -> bool:
    """Return whether a search counts as a probe, given the share of each that is in the other."""
    return document >= _CHANGED_COPY or query >= _PIECE


def now() -> int:
    return int(time.time())


def expiry() -> int:
    """Return the time before which probes no longer count."""
    return now() - _LIFETIME


def digest(query: bytes) -> bytes:
    return blake2b(query, digest_size=8).digest()


def record(folder: Path, query: bytes, names: Sequence[str]) -> None:
    """Count a search that came close to these documents, and drop their expired counts."""
    if not names:
        return
    with _expendable(folder), closing(_connect(folder)) as connection, connection:
        connection.execute("PRAGMA synchronous = OFF")  # a search does not wait for the disk
        connection.execute(_TABLE)
        expired = [(name, expiry()) for name in names]
        connection.executemany("DELETE FROM probes WHERE name = ? AND at < ?", expired)
        rows = [(name, digest(query), now()) for name in names]
        connection.executemany("INSERT OR REPLACE INTO probes VALUES (?, ?, ?)", rows)


def suspicious(folder: Path) -> list[ProbedDocument]:
    """Return the documents with many different queries, the most probed first."""
    if not (folder / FILE).exists():
        return []
    with _expendable(folder), closing(_connect(folder)) as connection:
        rows = connection.execute(
            "SELECT name, count(*) AS n FROM probes WHERE at >= ? GROUP BY name HAVING n >= ?"
            " ORDER BY n DESC, name",
            [expiry(), MIN_QUERIES],
        )
        return [ProbedDocument(*row) for row in rows]
    return []


def forget(folder: Path, names: Sequence[str]) -> None:
    """Drop the counts of documents that have changed or are gone."""
    if not (folder / FILE).exists():
        return
    with _expendable(folder), closing(_connect(folder)) as connection, connection:
        connection.executemany("DELETE FROM probes WHERE name = ?", [[name] for name in names])


@contextmanager
def _expendable(folder: Path) -> Iterator[None]:
    """Ignore errors, because a search must not fail for them. Delete a damaged file."""
    try:
        yield
    except sqlite3.OperationalError:  # the folder cannot be written to, or nothing was counted yet
        return
    except sqlite3.DatabaseError:
        with suppress(OSError):
            (folder / FILE).unlink()


def _connect(folder: Path) -> sqlite3.Connection:
    return sqlite3.connect(folder / FILE, timeout=1)
