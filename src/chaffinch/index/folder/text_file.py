"""The contents of an embedded index, compressed, in one file that grows until a merge rewrites it.

The catalogue knows where each content is and where the file ends. Bytes after that end are left over from a
crash and are overwritten.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable
from io import FileIO
from pathlib import Path
from typing import NamedTuple

from chaffinch.index.folder.paths import sync_folder

_WRITE_SIZE = 1 << 20
"""Bytes that are collected before they are written."""


class ContentSpan(NamedTuple):
    """The bytes of a document's content in the text file."""

    document: int
    offset: int
    length: int


def text_path(folder: Path, generation: int) -> Path:
    return folder / f"texts-{generation:04}.dat"


def unused_text_files(folder: Path, generation: int) -> list[Path]:
    """Return the files of other generations: old ones, and those of a merge that was cut off."""
    return [path for path in folder.glob("texts-*.dat") if path != text_path(folder, generation)]


def append(path: Path, end: int, pieces: Iterable[tuple[int, bytes]]) -> tuple[list[ContentSpan], int]:
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
                spans.append(ContentSpan(document, end, len(packed)))
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
    """The open text file of one generation. It stays readable after a merge deletes it."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb", buffering=0)  # a buffer would remember an end that has moved
        weakref.finalize(self, self._file.close)

    def read(self, span: ContentSpan) -> bytes:
        """Return the bytes of the span, or fewer if the file ends before it."""
        self._file.seek(span.offset)
        data = self._file.read(span.length)
        while len(data) < span.length and (more := self._file.read(span.length - len(data))):
            data += more
        return data

    def close(self) -> None:
        self._file.close()
