"""Who looks at one document again and again: searches with ever so slightly changed queries are counted.

Somebody who wants to know which fingerprints are stored edits a copy until it is no longer found. Kept beside
the index, since those who search do not write to it; where nobody can write, nothing is counted.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from hashlib import blake2b
from pathlib import Path

from chaffinch.index.records import Probed

FILE = "probes.db"
CLOSE = 0.2
"""A query that has so much of a document is a changed copy of it."""
TAKEN = 0.5
"""A query that has so much from a document is a piece of it: piece by piece all can be searched through."""
MANY = 10
"""So many different queries in the time looked at are suspicious."""
DAYS = 30
_DAY = 86_400
_TABLE = "CREATE TABLE IF NOT EXISTS probes (name TEXT, query BLOB, at INTEGER, PRIMARY KEY (name, query))"


def is_close(query: float, document: float) -> bool:
    """Whether a search counts, by the share of each that is in the other."""
    return document >= CLOSE or query >= TAKEN


def record(folder: Path, query: bytes, names: Sequence[str]) -> None:
    """One search touched these documents."""
    if not names:
        return
    now = int(time.time())
    with _expendable(folder), closing(_opened(folder)) as connection, connection:
        connection.execute("PRAGMA synchronous = OFF")  # no search waits for the disk
        connection.execute(_TABLE)
        digest = blake2b(query, digest_size=8).digest()
        old = [(name, now - DAYS * _DAY) for name in names]
        connection.executemany("DELETE FROM probes WHERE name = ? AND at < ?", old)
        rows = [(name, digest, now) for name in names]
        connection.executemany("INSERT OR REPLACE INTO probes VALUES (?, ?, ?)", rows)


def suspicious(folder: Path, many: int = MANY, days: int = DAYS) -> list[Probed]:
    """Those with the most different queries first."""
    if not (folder / FILE).exists():
        return []
    since = int(time.time()) - days * _DAY
    with _expendable(folder), closing(_opened(folder)) as connection:
        rows = connection.execute(
            "SELECT name, count(*) AS n FROM probes WHERE at >= ? GROUP BY name HAVING n >= ?"
            " ORDER BY n DESC, name",
            [since, many],
        )
        return [Probed(*row) for row in rows]
    return []


def forget(folder: Path, names: Sequence[str]) -> None:
    """What was learned about these is worth nothing any more."""
    if not (folder / FILE).exists():
        return
    with _expendable(folder), closing(_opened(folder)) as connection, connection:
        connection.executemany("DELETE FROM probes WHERE name = ?", [[name] for name in names])


@contextmanager
def _expendable(folder: Path) -> Iterator[None]:
    """What goes wrong here is no trouble of who searches; a damaged count begins anew."""
    try:
        yield
    except sqlite3.OperationalError:  # nobody can write here, or nothing was counted yet
        return
    except sqlite3.DatabaseError:
        with suppress(OSError):
            (folder / FILE).unlink()


def _opened(folder: Path) -> sqlite3.Connection:
    return sqlite3.connect(folder / FILE, timeout=1)
