"""Notices when searches could teach somebody which fingerprints of a document are stored.

To edit just those passages away, one must tell them apart: search for pieces of the document, inside other text
perhaps, or for copies that lack a piece. Each search separates the stored fingerprints that it touches from the
others. Those that no search has separated look alike to everybody. So what counts is into how many groups all
searches since the choice have separated them, and how many different searches that took. Searches that touch
everything, or the same fingerprints as one before, teach nothing.

A number stands for the set that a search touches, and is added to the mark of each fingerprint in it. So
fingerprints with equal marks are still together, and no search needs to be remembered. An embedded index keeps
the marks in a file of their own, because searching does not write to the index. Where that file cannot be
written, nothing is counted.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chaffinch.index.koala.selection import mix
from chaffinch.native.segment import LookupResult

FILE = "probes.db"
MIN_SEARCHES = 10
"""Different searches that make a document suspicious, at least. Fewer teach too little."""
_LEARNT = 1 / 2
"""Share of the stored fingerprints: groups that make a document suspicious, and different searches. Who knows
half of them still has to edit the rest of the document blindly."""
MAX_SEARCHES = 100
"""Different searches that are counted for a document, at most."""
MARKS = 1 << 52
"""Marks are added modulo this, so that every database can."""
_PRINT_SHIFT = np.uint64(40)
"""24 bits of a hash are enough to know it again among those of one document."""

_TABLES = """
CREATE TABLE IF NOT EXISTS touched (key INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS marks (
    key INTEGER, print INTEGER, mark INTEGER NOT NULL, PRIMARY KEY (key, print)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS searches (key INTEGER, mark INTEGER, PRIMARY KEY (key, mark)) WITHOUT ROWID;
"""
_ADD_NAME = "INSERT OR IGNORE INTO touched VALUES (?, ?)"
_ADD_MARK = f"""
INSERT INTO marks VALUES (?, ?, ?)
ON CONFLICT (key, print) DO UPDATE SET mark = (mark + excluded.mark) % {MARKS}
"""
_ADD_SEARCH = f"""
INSERT OR IGNORE INTO searches SELECT ?1, ?2
WHERE (SELECT count(*) FROM searches WHERE key = ?1) < {MAX_SEARCHES}
"""
_PROBED = f"""
SELECT t.name, s.n, count(*), count(DISTINCT m.mark)
FROM (SELECT key, count(*) AS n FROM searches GROUP BY key HAVING n >= {MIN_SEARCHES}) s
JOIN touched t ON t.key = s.key JOIN marks m ON m.key = s.key GROUP BY t.key
"""


class Touches(NamedTuple):
    """The stored fingerprints that one search touched."""

    names: list[str]
    """Each document that was touched."""
    keys: list[int]
    """A number for each name."""
    sets: list[int]
    """The number that stands for what was touched of each."""
    rows: list[int]
    """For each fingerprint, the key of its document."""
    prints: list[int]
    marks: list[int]
    """What is added to the mark of each fingerprint: the number of its set."""


class Probed(NamedTuple):
    """What searches since the choice could teach about a document."""

    name: str
    searches: int
    """Different searches that touched it."""
    touched: int
    """Stored fingerprints that were touched."""
    groups: int
    """Groups that these were separated into."""

    def is_suspicious(self, stored: int) -> bool:
        return min(self.searches, self.separated(stored)) >= max(_LEARNT * stored, MIN_SEARCHES)

    def separated(self, stored: int) -> int:
        """Return the number of groups; those that were never touched are one more."""
        return self.groups + (self.touched < stored)


def key(name: str) -> int:
    """Return a number for a name of any length."""
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), signed=True)


def touches(
    postings: LookupResult, hashes: NDArray[np.uint64], documents: Mapping[int, tuple[int, str]]
) -> Touches:
    """Return what a search touched of these documents, given how many fingerprints are stored, and the name.

    Documents of which it touched all are left out.
    """
    chosen = np.isin(postings.documents, np.fromiter(documents, np.uint32))
    prints = hashes[postings.queries[chosen]] >> _PRINT_SHIFT
    rows = np.unique(postings.documents[chosen].astype(np.uint64) << np.uint64(24) | prints)
    numbers, firsts, counts = np.unique(rows >> np.uint64(24), return_index=True, return_counts=True)
    found = Touches([], [], [], [], [], [])
    for number, first, count in zip(numbers.tolist(), firsts.tolist(), counts.tolist(), strict=True):
        stored, name = documents[number]
        if count < stored:
            own = rows[first : first + count] % np.uint64(1 << 24)
            mark = int(mix(mix(own).sum(keepdims=True))[0]) % MARKS
            found.names.append(name)
            found.keys.append(key(name))
            found.sets.append(mark)
            found.rows.extend([found.keys[-1]] * count)
            found.prints.extend(own.tolist())
            found.marks.extend([mark] * count)
    return found


class ProbeFile:
    """The part of an embedded store that counts what searches touch."""

    folder: Path

    def __init__(self) -> None:
        self._waiting: deque[Touches] = deque()
        self._recording = threading.Lock()

    def record_touches(self, touches: Touches) -> None:
        """Count what a search touched. If another thread is counting, leave it to that thread."""
        if touches.keys:
            self._waiting.append(touches)
        while self._waiting and self._recording.acquire(blocking=False):
            try:
                self._record([self._waiting.popleft() for _ in range(len(self._waiting))])
            finally:
                self._recording.release()

    def _record(self, searches: Sequence[Touches]) -> None:
        with _expendable(self.folder), closing(_connect(self.folder)) as connection, connection:
            connection.execute("PRAGMA synchronous = OFF")  # a search does not wait for the disk
            connection.executescript(_TABLES)
            for each in searches:
                connection.executemany(_ADD_NAME, zip(each.keys, each.names, strict=True))
                connection.executemany(_ADD_MARK, zip(each.rows, each.prints, each.marks, strict=True))
                connection.executemany(_ADD_SEARCH, zip(each.keys, each.sets, strict=True))

    def probed(self) -> list[Probed]:
        return [Probed(*row) for row in self._ask(_PROBED)]

    def touched_names(self) -> list[str]:
        return [name for (name,) in self._ask("SELECT name FROM touched")]

    def _ask(self, statement: str) -> list[tuple[Any, ...]]:
        if (self.folder / FILE).exists():
            with _expendable(self.folder), closing(_connect(self.folder)) as connection:
                return connection.execute(statement).fetchall()
        return []

    def forget_touches(self, names: Sequence[str]) -> None:
        if names and (self.folder / FILE).exists():
            keys = [[key(name)] for name in names]
            with _expendable(self.folder), closing(_connect(self.folder)) as connection, connection:
                for table in ("touched", "marks", "searches"):
                    connection.executemany(f"DELETE FROM {table} WHERE key = ?", keys)


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
