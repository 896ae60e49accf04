"""The contents of an embedded index: packed, one after another in a file that grows until a merge renews it.

The catalogue says where each one is and where the file ends: what lies behind is the rest of a crash, and the
next one is written over it.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable
from io import FileIO
from pathlib import Path
from typing import NamedTuple

from chaffinch.index.folder.paths import sync_folder

_AT_ONCE = 1 << 20


class Place(NamedTuple):
    """Where the content of a document is."""

    document: int
    at: int
    length: int


def path_of(folder: Path, generation: int) -> Path:
    return folder / f"texts-{generation:04}.dat"


def others(folder: Path, generation: int) -> list[Path]:
    """Files of generations that no longer count, or never did."""
    return [path for path in folder.glob("texts-*.dat") if path != path_of(folder, generation)]


def append(path: Path, end: int, pieces: Iterable[tuple[int, bytes]]) -> tuple[list[Place], int]:
    """Durable when this returns: where the content of each document is, and the end."""
    places = []
    start = end
    fresh = not path.exists()
    with path.open("wb" if fresh else "r+b", buffering=0) as file:  # what is in a buffer cannot be given up
        file.truncate(end)
        file.seek(end)
        try:
            waiting = bytearray()
            for document, packed in pieces:
                waiting += packed
                places.append(Place(document, end, len(packed)))
                end += len(packed)
                if len(waiting) >= _AT_ONCE:
                    _write(file, waiting)
                    waiting.clear()
            _write(file, waiting)
            os.fsync(file.fileno())
        except OSError:
            file.truncate(start)  # a full disk gets its room back
            raise
    if fresh:
        sync_folder(path.parent)
    return places, end


def _write(file: FileIO, data: bytearray) -> None:
    with memoryview(data) as left:
        done = 0
        while done < len(left):
            done += file.write(left[done:])


class Texts:
    """The file of one generation, open: it can be read though a merge deletes it meanwhile."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb", buffering=0)  # a buffer would hold on to an end that has moved
        weakref.finalize(self, self._file.close)

    def read(self, place: Place) -> bytes:
        """What is there, be it too short."""
        self._file.seek(place.at)
        found = self._file.read(place.length)
        while len(found) < place.length and (more := self._file.read(place.length - len(found))):
            found += more
        return found

    def close(self) -> None:
        self._file.close()
