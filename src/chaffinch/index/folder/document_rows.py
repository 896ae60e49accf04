"""The row of a document in the catalogue of an embedded index, and back.

A million documents should need little space. Documents from one source share the contact and the URL up to its
last part, so these are stored once, as an origin; the last part is often the name. A date is stored as a number
if possible. The flags and a later choice of fingerprints, which few documents have, share one column: the days
from registration to the choice above two bits, not_language and boilerplate.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import date
from typing import Any, NamedTuple

from chaffinch.index.folder.checked_rows import Row
from chaffinch.index.records import DocumentRecord, Metadata

SCHEMA = """
CREATE TABLE documents (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, digest BLOB NOT NULL, size INTEGER NOT NULL,
    symbols INTEGER NOT NULL, postings INTEGER NOT NULL, origin INTEGER, url_tail TEXT, date, marks INTEGER,
    registered INTEGER NOT NULL, stream BLOB NOT NULL, sum INTEGER NOT NULL
);
"""
NAME, DIGEST, POSTINGS, ORIGIN = 1, 2, 5, 6
"""Columns of a row."""


class Origin(NamedTuple):
    """What documents from one source share."""

    url_head: str | None
    contact: str | None


NO_ORIGIN = Origin(None, None)


def origin_of(document: DocumentRecord) -> Origin:
    url, contact = document.metadata.url, document.metadata.contact
    head, slash, _ = (url or "").rpartition("/")
    return Origin(head + slash if url else None, contact or None)


def to_row(number: int, document: DocumentRecord, origin: int | None) -> Row:
    url_tail = (document.metadata.url or "").rpartition("/")[2]
    tail = url_tail if document.metadata.url and url_tail != document.name else None
    days = (document.chosen - document.registered).days
    marks = days << 2 | document.not_language << 1 | document.boilerplate or None
    described = origin, tail, _pack_date(document.metadata.date)
    return number, *document[:5], *described, marks, document.registered.toordinal(), document.stream


def to_record(row: Row, origin: Origin) -> DocumentRecord:
    name, tail, day, marks, registered, stream = row[NAME], *row[ORIGIN + 1 :]
    url = None if origin.url_head is None else origin.url_head + (name if tail is None else tail)
    metadata = Metadata(url, origin.contact, _unpack_date(day))
    days, flags = divmod(marks or 0, 4)
    dates = date.fromordinal(registered), date.fromordinal(registered + days)
    described = metadata, bool(flags & 1), bool(flags & 2), *dates, stream
    return DocumentRecord._make((*row[NAME:ORIGIN], *described))


def _pack_date(text: str | None) -> str | int | None:
    """Return the number of the day if the text is a date in the form YYYY-MM-DD, else the text."""
    with suppress(ValueError):
        day = date.fromisoformat(text or "")
        return day.toordinal() if day.isoformat() == text else text
    return text


def _unpack_date(day: Any) -> str | None:
    return date.fromordinal(day).isoformat() if isinstance(day, int) else day
