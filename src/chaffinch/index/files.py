"""The files of an embedded index: a crash leaves at most a stray segment, and nobody's lock."""

from __future__ import annotations

import mmap
import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from chaffinch.core_index import Segment
from chaffinch.errors import Damaged, IndexTrouble

CATALOGUE, SEGMENTS, LOCK = "catalogue.db", "segments", "writer.lock"


def segment_path(folder: Path, number: int) -> Path:
    return folder / SEGMENTS / f"{number:08}.seg"


def write_segment(path: Path, pieces: Iterable[Any]) -> int:
    """Durable when this returns, with its size; under its own name only when it is whole."""
    part = path.with_suffix(".part")
    try:
        with part.open("wb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
            size = file.tell()
        part.replace(path)
        _sync_folder(path.parent)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return size


def _sync_folder(folder: Path) -> None:
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


def sweep(folder: Path, known: set[int]) -> None:
    """Deletes what a crash left: files that the catalogue does not know."""
    for path in (folder / SEGMENTS).iterdir():
        if path.suffix == ".part" or (path.suffix == ".seg" and int(path.stem) not in known):
            path.unlink(missing_ok=True)


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
        except sqlite3.OperationalError as error:
            self._connection.close()
            if "locked" in str(error):
                raise IndexTrouble(
                    f"{folder}: somebody else is writing to this index; try again when they are done "
                    "(searching works meanwhile)"
                ) from None
            raise IndexTrouble(f"{folder}: cannot be written to ({error})") from None

    def release(self) -> None:
        self._connection.close()
