"""Rows as they go to a PostgreSQL server and come back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple
from typing import Any

import numpy as np

from chaffinch.index.records import DocumentRecord, Metadata
from chaffinch.native.segment import Postings

_BATCH_POSTINGS = 1 << 16
"""Postings that are sent at once."""

# The binary format of COPY: the number of fields, and before each field its length in bytes.
_ROW = np.dtype(
    [("fields", ">i2"), ("a", ">i4"), ("hash", ">i8"), ("b", ">i4"), ("document", ">i4"), ("c", ">i4"),
     ("position", ">i4")]
)  # fmt: skip
_COPY_HEAD = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_COPY_END = b"\xff\xff"


def copy_rows(postings: Postings, first: int, mask: np.uint64) -> Iterator[bytes]:
    """Yield the data of COPY, sorted by hash, so that neighbours in the B-tree are written together."""
    hashes = (postings.hashes & mask).view(np.int64)
    order = np.argsort(hashes, kind="stable")
    yield _COPY_HEAD
    for start in range(0, len(order), _BATCH_POSTINGS):
        some = order[start : start + _BATCH_POSTINGS]
        rows = np.empty(len(some), _ROW)
        rows["fields"], rows["a"], rows["b"], rows["c"] = 3, 8, 4, 4
        rows["hash"] = hashes[some]
        rows["document"] = postings.documents[some].astype(np.int64) + first
        rows["position"] = postings.positions[some].view(np.int32)
        yield rows.tobytes()
    yield _COPY_END


def to_row(number: int, document: DocumentRecord) -> tuple[object, ...]:
    metadata = (text and plain(text) for text in astuple(document.metadata))
    return number, *document[:5], *metadata, *document[6:]


def plain(text: str) -> str:
    """Escape what a database cannot store."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")


def to_record(row: tuple[Any, ...]) -> DocumentRecord:
    return DocumentRecord._make((*row[1:6], Metadata(*row[6:9]), *row[9:]))
