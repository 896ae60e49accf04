"""The files of an embedded index. A crash leaves at most an unused segment, and no lock.

Contents are in one file that grows until a merge rewrites it. The catalogue knows where each content is and
where the file ends. Bytes after that end are left over from a crash and are overwritten.
"""

from __future__ import annotations

import errno
import mmap
import os
import re
import sqlite3
import threading
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from chaffinch.errors import Damaged, IndexTrouble, TryAgain
from chaffinch.index import address
from chaffinch.index.folder.checked_rows import DamagedRow
from chaffinch.index.folder.sqlite_connection import connect
from chaffinch.index.store import BUSY
from chaffinch.native.segment import Segment

CATALOGUE, SEGMENTS, LOCK = address.CATALOGUE, "segments", "writer.lock"
PART = "catalogue.part"
DISK_FULL = "the disk is full; make room and try again"
REMEDY = "restore a copy of it, or import an export of it"
STILL_THERE = "what was in the index is still there"

_SYNC_SIZE = 16 << 20
"""Bytes of a segment that are written before they are synced to the disk."""
_WRITE_SIZE = 1 << 20
"""Bytes of contents that are collected before they are written."""
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)
_SEGMENT_NAME = re.compile(r"(\d{8,})\.(?:seg|part)")


def segment_path(folder: Path, number: int) -> Path:
    return folder / SEGMENTS / f"{number:08}.seg"


def write_segment(path: Path, pieces: Iterable[Any]) -> int:
    """Write a segment durably and return its size. The file gets its name only when it is complete."""
    part = path.with_suffix(".part")
    try:
        with part.open("wb") as file:
            unsynced = 0
            for piece in pieces:
                unsynced += file.write(piece)
                if unsynced >= _SYNC_SIZE:  # one large sync would hold up other writers on this disk
                    file.flush()
                    os.fsync(file.fileno())
                    unsynced = 0
            file.flush()
            os.fsync(file.fileno())
            size = file.tell()
        part.replace(path)
        sync_folder(path.parent)
    except BaseException:
        discard(part)
        raise
    return size


def sync_folder(folder: Path) -> None:
    """Make renames in this folder durable."""
    if os.name == "nt":  # Windows makes them durable by itself
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def open_segment(path: Path) -> Segment:
    """Map a segment into memory. It stays readable after its file is deleted."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if not size:
            raise Damaged(str(path), "it is empty")
        try:
            mapped = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
        except ValueError:
            raise Damaged(str(path), "it was cut short while it was opened") from None
        return Segment(mapped, str(path))


def discard(path: Path) -> None:
    """Delete a file that is not needed. If that fails, the next writer tries again."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


def unused_files(folder: Path, segments: set[int], generation: int) -> list[Path]:
    """Return the segments and text files that the catalogue does not know. A crash leaves them."""
    files = ((path, _SEGMENT_NAME.fullmatch(path.name)) for path in (folder / SEGMENTS).iterdir())
    unused = [p for p, name in files if name and (p.suffix == ".part" or int(name[1]) not in segments)]
    return unused + [path for path in folder.glob("texts-*.dat") if path != text_path(folder, generation)]


def is_free(folder: Path) -> bool:
    """Return whether the folder is empty or holds only the rest of a creation that was cut off."""
    for path in folder.iterdir():
        if path.name == SEGMENTS and path.is_dir() and not any(path.iterdir()):
            continue
        if not path.name.startswith((LOCK, PART)):
            return False
    return True


class ContentSpan(NamedTuple):
    """The bytes of a document's content in the text file."""

    document: int
    offset: int
    length: int
    checksum: int


def text_path(folder: Path, generation: int) -> Path:
    return folder / f"texts-{generation:04}.dat"


def append_contents(path: Path, end: int, pieces: Iterable[tuple[int, bytes]]) -> tuple[list[ContentSpan], int]:
    """Write the contents of documents from `end` on, durably. Return where each is, and the new end."""
    spans = []
    start = end
    is_new = not path.exists()
    # Unbuffered, because a buffer could not be discarded after an error.
    with path.open("wb" if is_new else "r+b", buffering=0) as file:
        file.truncate(end)
        file.seek(end)
        try:
            buffer = bytearray()
            for document, packed in pieces:
                buffer += packed
                spans.append(ContentSpan(document, end, len(packed), crc32(packed)))
                end += len(packed)
                if len(buffer) >= _WRITE_SIZE:
                    _write(file, buffer)
                    buffer.clear()
            _write(file, buffer)
            os.fsync(file.fileno())
        except OSError:
            file.truncate(start)  # frees the space on a full disk
            raise
    if is_new:
        sync_folder(path.parent)
    return spans, end


def _write(file: FileIO, data: bytearray) -> None:
    with memoryview(data) as view:
        written = 0
        while written < len(view):
            written += file.write(view[written:])


class TextFile:
    """The open text file of one generation, for any number of threads. A merge may delete it meanwhile."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb", buffering=0)  # a buffer would remember an end that has moved
        self._seeking = threading.Lock()
        weakref.finalize(self, self._file.close)

    def read(self, span: ContentSpan) -> bytes:
        """Return the bytes of the span, or none if they are not as they were written."""
        data = self._read(span.offset, span.length)
        while len(data) < span.length and (
            more := self._read(span.offset + len(data), span.length - len(data))
        ):
            data += more
        return data if crc32(data) == span.checksum else b""

    def _read(self, offset: int, length: int) -> bytes:
        if hasattr(os, "pread"):
            return os.pread(self._file.fileno(), length, offset)
        with self._seeking:  # on Windows
            self._file.seek(offset)
            return self._file.read(length)

    def close(self) -> None:
        self._file.close()


class WriterLock:
    """The lock of the one process that writes. The system releases it when the process dies.

    It is SQLite's lock on an empty database, because that works on every system.
    """

    def __init__(self, folder: Path) -> None:
        self._connection = connect(folder / LOCK, "mode=rwc", timeout=0)
        try:
            self._connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            self._connection.close()
            if error.sqlite_errorname.startswith("SQLITE_BUSY"):
                raise TryAgain(f"{folder}: {BUSY}") from None
            if error.sqlite_errorname.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
                raise IndexTrouble(f"{folder / LOCK}: should be empty; delete it and try again") from None
            raise

    def close(self) -> None:
        self._connection.close()


@contextmanager
def wrap_errors(where: str | Path) -> Iterator[None]:
    """Raise errors of the disk and of SQLite as IndexTrouble, with what to do."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        name = getattr(error, "sqlite_errorname", "")
        if isinstance(error, DamagedRow) or name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
            raise IndexTrouble(f"{where}: its catalogue is damaged ({error}); {REMEDY}") from error
        raise IndexTrouble(f"{where}: {_explain(error)}; {STILL_THERE}") from error


def _explain(error: sqlite3.Error | OSError) -> str:
    if isinstance(error, OSError):
        reason, full, forbidden = error.strerror or str(error), error.errno in _FULL, error.errno in _FORBIDDEN
    else:
        reason, name = str(error), getattr(error, "sqlite_errorname", "")
        full, forbidden = name == "SQLITE_FULL", name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN"))
    if full:
        return f"the disk is full ({reason}); make room and try again"
    if forbidden:
        return f"cannot be written to ({reason}); you need permission to write to this folder and its files"
    return f"cannot be written to ({reason}); check the disk and try again"
