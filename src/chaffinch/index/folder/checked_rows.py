"""Tables of SQLite whose rows are checked when they are read. SQLite itself has no checksums.

The last column of every row is a checksum of the others. What belongs to the whole index is in the table
`meta`, also the sum of all checksums of each table: it shows whether a scan has seen every row. A row that is
asked for by its number must be there, so nothing can disappear either.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any
from zlib import crc32

Row = tuple[Any, ...]

_MAX_VALUES = 512
"""Values bound in one statement, at most."""
_SCANNED_ROWS = 1000
"""Rows of a scan that are in memory at a time."""


class DamagedRow(sqlite3.DataError):
    """A row is not as it was written, or not there."""


@cache
def _seed(table: str) -> int:
    """Return where the checksums of a table begin, so that rows of another one do not fit."""
    return crc32(table.encode())


def checksum(table: str, row: Row) -> int:
    """Return a checksum that SQLite stores in four bytes."""
    written = repr(row)  # faster than ascii, and the same if it has only ASCII
    return crc32((written if written.isascii() else ascii(row)).encode(), _seed(table)) - (1 << 31)


def _sealed(table: str, rows: Iterable[Sequence[Any]]) -> list[Row]:
    """Return the rows with their checksums."""
    return [(*row, checksum(table, tuple(row))) for row in rows]


def _verified(table: str, row: Row) -> Row:
    """Return the row without its checksum."""
    values = row[:-1]
    if checksum(table, values) != row[-1]:
        raise DamagedRow(f"{table}, row {row[0]!r}: not as it was written")
    return values


def _total(checksums: Iterable[int]) -> int:
    """Return a sum that changes with every row, since no term is 0."""
    return sum(each + (1 << 31) + 1 for each in checksums)


class CheckedRows:
    """The rows of one database. The first column of each table is its INTEGER PRIMARY KEY, except in meta."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def value(self, key: str) -> Any:
        """Return what belongs to the whole index."""
        for row in self.connection.execute("SELECT key, value, sum FROM meta WHERE key = ?", [key]):
            return _verified("meta", row)[1]
        raise DamagedRow(f"meta, row {key!r}: missing")

    def set_value(self, key: str, value: Any) -> None:
        row = key, value, checksum("meta", (key, value))
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?, ?)", row)

    def add_to(self, key: str, change: int) -> None:
        if change:
            self.set_value(key, self.value(key) + change)

    def insert(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        sealed = _sealed(table, rows)
        self._write("INSERT", table, sealed)
        self.add_to(f"total {table}", _total(row[-1] for row in sealed))

    def replace_uncounted(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        """Write rows of a table that is never scanned."""
        self._write("INSERT OR REPLACE", table, _sealed(table, rows))

    def _write(self, verb: str, table: str, rows: list[Row]) -> None:
        if rows:
            self.connection.executemany(f"{verb} INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)

    def delete(self, table: str, numbers: Sequence[int]) -> None:
        rows = self.by_number(table, numbers)
        self.connection.executemany(f"DELETE FROM {table} WHERE rowid = ?", [[number] for number in rows])
        self.add_to(f"total {table}", -_total(checksum(table, row) for row in rows.values()))

    def clear(self, table: str) -> None:
        self.connection.execute(f"DELETE FROM {table}")
        self.set_value(f"total {table}", 0)

    def by_number(self, table: str, numbers: Sequence[int]) -> dict[int, Row]:
        """Return these rows, each of which must be there, sorted by number."""
        rows: dict[int, Row] = {}
        wanted = sorted(set(numbers))
        for start in range(0, len(wanted), _MAX_VALUES):
            some = wanted[start : start + _MAX_VALUES]
            # Repeat the last value up to a power of two: SQLite caches the few different statements.
            size = 1 << (len(some) - 1).bit_length()
            filled = [*some, *[some[-1]] * (size - len(some))]
            statement = f"SELECT * FROM {table} WHERE rowid IN ({', '.join('?' * size)})"
            rows |= {row[0]: _verified(table, row) for row in self.connection.execute(statement, filled)}
        if len(rows) < len(wanted):
            missing = next(number for number in wanted if number not in rows)
            raise DamagedRow(f"{table}, row {missing}: missing")
        return rows

    def all(self, table: str) -> Iterator[Row]:
        """Yield every row, sorted by number. At the end, fail if one was missing."""
        with self._one_state():
            after, total = -1, 0
            for number, row, checked_sum in self._scan(table, after, None):
                if number <= after:
                    raise DamagedRow(f"{table}, row {number}: out of order")
                after, total = number, total + _total([checked_sum])
                yield row
            if total != self.value(f"total {table}"):
                raise DamagedRow(f"{table}: rows are missing")

    def after(self, table: str, number: int) -> Iterator[Row]:
        """Yield the rows after this number that are there."""
        return (row for _, row, _ in self._scan(table, number, None))

    def between(self, table: str, first: int, last: int) -> Iterator[Row]:
        """Yield the rows of this range that are there."""
        return (row for _, row, _ in self._scan(table, first - 1, last))

    def _scan(self, table: str, after: int, last: int | None) -> Iterator[tuple[int, Row, int]]:
        statement = f"SELECT * FROM {table} WHERE rowid > ? AND rowid <= ? ORDER BY rowid LIMIT ?"
        end = (1 << 63) - 1 if last is None else last
        while rows := self.connection.execute(statement, [after, end, _SCANNED_ROWS]).fetchall():
            for row in rows:
                yield row[0], _verified(table, row), row[-1]
            if row[0] <= after:
                raise DamagedRow(f"{table}, row {row[0]}: out of order")
            after = row[0]

    @contextmanager
    def _one_state(self) -> Iterator[None]:
        """Read the rows and their total in one transaction: the caller's, if there is one."""
        if self.connection.in_transaction:
            yield
            return
        self.connection.execute("BEGIN")
        try:
            yield
        finally:
            if self.connection.in_transaction:
                self.connection.execute("COMMIT")
