"""The files of an embedded index. A crash leaves at most an unused segment, and no lock."""

from __future__ import annotations

import errno
import mmap
import os
import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from chaffinch.errors import Damaged, IndexTrouble
from chaffinch.index import address
from chaffinch.index.store import BUSY
from chaffinch.native.segment import Segment

CATALOGUE, SEGMENTS, LOCK = address.CATALOGUE, "segments", "writer.lock"
PART = "catalogue.part"
STILL_THERE = "what was in the index is still there"

_SYNC_SIZE = 16 << 20
"""Bytes of a segment that are written before they are synced to the disk."""
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
        return Segment(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ), str(path))


def discard(path: Path) -> None:
    """Delete a file that is not needed. If that fails, the next writer tries again."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


def unused_segments(folder: Path, known: set[int]) -> list[Path]:
    """Return segment files that the catalogue does not know. A crash leaves them."""
    files = ((path, _SEGMENT_NAME.fullmatch(path.name)) for path in (folder / SEGMENTS).iterdir())
    return [p for p, name in files if name and (p.suffix == ".part" or int(name[1]) not in known)]


def is_free(folder: Path) -> bool:
    """Return whether the folder is empty or holds only the rest of a creation that was cut off."""
    for path in folder.iterdir():
        if path.name == SEGMENTS and path.is_dir() and not any(path.iterdir()):
            continue
        if not path.name.startswith((LOCK, PART)):
            return False
    return True


class WriterLock:
    """The lock of the one process that writes. The system releases it when the process dies.

    It is SQLite's lock on an empty database, because that works on every system.
    """

    def __init__(self, folder: Path) -> None:
        self._connection = sqlite3.connect(
            folder / LOCK, timeout=0, isolation_level=None, check_same_thread=False
        )
        try:
            self._connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            self._connection.close()
            if error.sqlite_errorname.startswith("SQLITE_BUSY"):
                raise IndexTrouble(f"{folder}: {BUSY}") from None
            raise

    def release(self) -> None:
        self._connection.close()


@contextmanager
def wrap_errors(where: str | Path) -> Iterator[None]:
    """Raise errors of the disk and of SQLite as IndexTrouble, with what to do."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
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
