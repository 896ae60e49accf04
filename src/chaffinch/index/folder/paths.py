"""The files of an embedded index: a crash leaves at most a stray segment, and nobody's lock."""

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
from chaffinch.native.segment import Segment

CATALOGUE, SEGMENTS, LOCK = address.CATALOGUE, "segments", "writer.lock"
PART = "catalogue.part"

_AT_ONCE = 16 << 20
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)
_OURS = re.compile(r"(\d{8,})\.(?:seg|part)")


def segment_path(folder: Path, number: int) -> Path:
    return folder / SEGMENTS / f"{number:08}.seg"


def write_segment(path: Path, pieces: Iterable[Any]) -> int:
    """Durable when this returns, with its size; under its own name only when it is whole."""
    part = path.with_suffix(".part")
    try:
        with part.open("wb") as file:
            since = 0
            for piece in pieces:
                since += file.write(piece)
                if (
                    since >= _AT_ONCE
                ):  # else those who write little wait at the end until all of this is on the disk
                    file.flush()
                    os.fsync(file.fileno())
                    since = 0
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
    """Names that were given in it are there for good."""
    if os.name == "nt":  # which makes a rename durable by itself
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def open_segment(path: Path) -> Segment:
    """Mapped into memory; it can be read until it is let go, even if its file is deleted meanwhile."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if not size:
            raise Damaged(str(path), "it is empty")
        return Segment(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ), str(path))


def discard(path: Path) -> None:
    """Deletes what nobody needs; what cannot be deleted now is swept by a later writer."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


def strays(folder: Path, known: set[int]) -> list[Path]:
    """What a crash left: files of ours that the catalogue does not know."""
    found = ((path, _OURS.fullmatch(path.name)) for path in (folder / SEGMENTS).iterdir())
    return [p for p, ours in found if ours and (p.suffix == ".part" or int(ours[1]) not in known)]


def unfinished(folder: Path) -> bool:
    """Whether nothing is in it, or only what a creation that was cut off leaves."""
    for path in folder.iterdir():
        if path.name == SEGMENTS and path.is_dir() and not any(path.iterdir()):
            continue
        if not path.name.startswith((LOCK, PART)):
            return False
    return True


class WriterLock:
    """Held by the one process that writes; the system takes it back when that process dies, however it dies.

    SQLite's lock on an empty database is one that works on every system.
    """

    def __init__(self, folder: Path) -> None:
        self._connection = sqlite3.connect(
            folder / LOCK, timeout=0, isolation_level=None, check_same_thread=False
        )
        try:
            self._connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            self._connection.close()
            if "locked" in str(error):
                raise IndexTrouble(
                    f"{folder}: somebody else is writing to this index; try again when they are done "
                    "(searching works meanwhile)"
                ) from None
            raise

    def release(self) -> None:
        self._connection.close()


@contextmanager
def told(where: str | Path) -> Iterator[None]:
    """Trouble with writing, in words."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise IndexTrouble(f"{where}: {_words(error)}; nothing that was there is lost") from error


def _words(error: sqlite3.Error | OSError) -> str:
    if isinstance(error, OSError):
        reason, full, forbidden = error.strerror or str(error), error.errno in _FULL, error.errno in _FORBIDDEN
    else:
        reason, name = str(error), getattr(error, "sqlite_errorname", "")
        full, forbidden = name == "SQLITE_FULL", name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN"))
    if full:
        return f"the disk is full ({reason}); make room and try again"
    if forbidden:
        return f"cannot be written to ({reason}); get the right to write to this folder and to what is in it"
    return f"cannot be written to ({reason}); look at the disk and try again"
