"""The contents of an embedded index: packed, one after another in a file that grows until a merge renews it.

The catalogue says where each one is and where the file ends: what lies behind is the rest of a crash, and the
next one is written over it.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from chaffinch.index.files import sync_folder


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
    fresh = not path.exists()
    with path.open("wb" if fresh else "r+b") as file:
        file.truncate(end)
        file.seek(end)
        try:
            for document, packed in pieces:
                file.write(packed)
                places.append(Place(document, end, len(packed)))
                end += len(packed)
            file.flush()
            os.fsync(file.fileno())
        except OSError:
            file.truncate(places[0].at if places else end)  # a full disk gets its room back
            raise
    if fresh:
        sync_folder(path.parent)
    return places, end


class Texts:
    """The file of one generation, open: it can be read though a merge deletes it meanwhile."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb", buffering=0)  # a buffer would hold on to an end that has moved
        weakref.finalize(self, self._file.close)

    def read(self, place: Place) -> bytes:
        """What is there, be it too short."""
        self._file.seek(place.at)
        pieces, left = [], place.length
        while left and (piece := self._file.read(left)):
            pieces.append(piece)
            left -= len(piece)
        return b"".join(pieces)

    def close(self) -> None:
        self._file.close()
