"""Finds documents by short keys, which are hashes of their names and digests.

It is a hash table whose buckets are checked rows. Every bucket has its row, even if it is empty. So a key that
is not found was never added, which an index of SQLite cannot promise after damage.
"""

from __future__ import annotations

from collections.abc import Iterable
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from chaffinch.index.folder.checked_rows import CheckedRows, DamagedRow

SCHEMA = "CREATE TABLE keys (bucket INTEGER PRIMARY KEY, entries BLOB NOT NULL, sum INTEGER NOT NULL);\n"
NUMBERS = {"buckets": 1, "keys": 0}
"""How many there are, and their first values."""
_BUCKET_ENTRIES = 128
"""Entries of a bucket, on average, before the number of buckets is doubled."""
_DOCUMENT_BITS = np.uint64(32)

Entries = NDArray[np.uint64]
"""A key above the number of a document."""


def key_of(content: str | bytes) -> int:
    """Return the key of a name or a digest. Others may have the same, so compare what you find."""
    return crc32(content.encode() if isinstance(content, str) else content)


def entry(key: int, document: int) -> int:
    return key << 32 | document


class KeyTable:
    """The keys of all documents."""

    def __init__(self, rows: CheckedRows) -> None:
        self._rows = rows

    def create(self) -> None:
        for key, value in NUMBERS.items():
            self._rows.set_value(key, value)
        self._rows.replace_uncounted("keys", [(0, b"")])

    def find(self, keys: Iterable[int]) -> list[int]:
        """Return the documents that have one of these keys, sorted."""
        wanted = np.array([entry(key, 0) for key in keys], np.uint64)
        entries = self._read(np.unique(self._bucket_of(wanted)).tolist())
        is_wanted = np.isin(entries >> _DOCUMENT_BITS, wanted >> _DOCUMENT_BITS)
        return [int(document) for document in np.unique(entries[is_wanted].astype(np.uint32))]

    def add(self, entries: Iterable[int]) -> None:
        added = np.array(list(entries), np.uint64)
        self._rows.add_to("keys", len(added))
        self._grow()
        buckets = np.unique(self._bucket_of(added)).tolist()
        self._write(np.concatenate((self._read(buckets), added)), buckets)

    def remove(self, entries: Iterable[int]) -> None:
        removed = np.array(list(entries), np.uint64)
        self._rows.add_to("keys", -len(removed))
        buckets = np.unique(self._bucket_of(removed)).tolist()
        present = self._read(buckets)
        self._write(present[~np.isin(present, removed)], buckets)

    def check(self, entries: Iterable[int]) -> None:
        """Fail unless these are all entries."""
        present = np.sort(self._read(list(range(self._rows.value("buckets")))))
        if not np.array_equal(present, np.sort(np.fromiter(entries, np.uint64))):
            raise DamagedRow("keys: they do not fit the documents")

    def _bucket_of(self, entries: Entries) -> NDArray[np.uint64]:
        return (entries >> _DOCUMENT_BITS) % np.uint64(self._rows.value("buckets"))

    def _read(self, buckets: list[int]) -> Entries:
        rows = self._rows.by_number("keys", buckets)
        return np.frombuffer(b"".join(entries for _, entries in rows.values()), "<u8")

    def _write(self, entries: Entries, buckets: list[int]) -> None:
        """Write all entries of these buckets."""
        bucket_of = self._bucket_of(entries)
        order = np.argsort(bucket_of, kind="stable")
        starts = np.searchsorted(bucket_of[order], buckets).tolist()
        ends = np.searchsorted(bucket_of[order], buckets, "right").tolist()
        parts = (
            entries[order[start:end]].astype("<u8").tobytes() for start, end in zip(starts, ends, strict=True)
        )
        self._rows.replace_uncounted("keys", zip(buckets, parts, strict=True))

    def _grow(self) -> None:
        """Double the number of buckets until they are small enough, and distribute the entries again."""
        buckets, count = int(self._rows.value("buckets")), int(self._rows.value("keys"))
        if count > buckets * _BUCKET_ENTRIES:
            entries = self._read(list(range(buckets)))
            while count > buckets * _BUCKET_ENTRIES:
                buckets *= 2
            self._rows.set_value("buckets", buckets)
            self._write(entries, list(range(buckets)))
