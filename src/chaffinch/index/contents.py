"""The stored content of a document, compressed: its text, or the hashes its fingerprints were chosen from."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence

import numpy as np
import zstandard
from numpy.typing import NDArray

from chaffinch.errors import Damaged
from chaffinch.types import Document, Section

# The fastest level of zstd, without short repetitions: a fifth less time, and a few percent more bytes.
_COMPRESSION = zstandard.ZstdCompressionParameters.from_level(1, min_match=7, write_checksum=1)
_MAX_SIZE = 1 << 32
"""Bytes of one document, decompressed."""
_USUAL: tuple[str, str, str, tuple[Section, ...]] = "utf-8", "plain", "text", ()
"""Encoding, format, language and sections of most documents. These need no header."""
_HEADER_MARK = b"\0"
"""Precedes a content with a header. Compressed data never starts with this byte."""


class _PerThread(threading.local):
    """A decompressor for each thread. Making one takes longer than using it."""

    def __init__(self) -> None:
        self.decompressor = zstandard.ZstdDecompressor()


_PER_THREAD = _PerThread()


def pack(documents: Sequence[Document], threads: int) -> list[bytes]:
    """Compress each document on its own, so that one can be read without the others."""
    headers = [_header(document) for document in documents]
    texts = [header + d.data if header else d.data for header, d in zip(headers, documents, strict=True)]
    compressed = _compress(texts, threads)
    return [_HEADER_MARK + c if header else c for header, c in zip(headers, compressed, strict=True)]


def _header(document: Document) -> bytes:
    """Return a line with the encoding, format, language and sections, or nothing if they are the usual ones."""
    if (document.encoding, document.format, document.language, document.sections) == _USUAL:
        return b""
    sections = [list(section) for section in document.sections]
    fields = [document.encoding, document.format, document.language, sections]
    return json.dumps(fields, separators=(",", ":")).encode() + b"\n"


def unpack(name: str, packed: bytes | None) -> Document:
    """Return the document as it was read when it was added."""
    data = decompress(name, packed)
    if packed is None or not packed.startswith(_HEADER_MARK):
        return Document(name, data, *_USUAL)
    header, _, data = data.partition(b"\n")
    encoding, kind, language, sections = json.loads(header)
    return Document(name, data, encoding, kind, language, tuple(Section(*section) for section in sections))


def pack_hashes(hashes: Sequence[NDArray[np.uint64]], threads: int) -> list[bytes]:
    return _compress([np.sort(h).tobytes() for h in hashes], threads)


def unpack_hashes(name: str, packed: bytes) -> NDArray[np.uint64]:
    return np.frombuffer(decompress(name, packed), np.uint64)


def _compress(pieces: list[bytes], threads: int) -> list[bytes]:
    compressor = zstandard.ZstdCompressor(compression_params=_COMPRESSION)
    compressed = [compressor.compress(b"")] * len(pieces)
    filled = [i for i, piece in enumerate(pieces) if piece]  # multi_compress refuses empty pieces
    if filled:
        frames = compressor.multi_compress_to_buffer([pieces[i] for i in filled], threads=threads)
        for frame, i in enumerate(filled):
            compressed[i] = frames[frame].tobytes()
    return compressed


def decompress(name: str, packed: bytes | None) -> bytes:
    """Return what was compressed, or raise Damaged."""
    if packed is None:
        raise Damaged(name, "its stored content is missing")
    frame = packed.removeprefix(_HEADER_MARK)
    try:
        if not zstandard.get_frame_parameters(frame).has_checksum:  # a damaged bit says that there is none
            raise Damaged(name, "its stored content is damaged")
        return _PER_THREAD.decompressor.decompress(frame, max_output_size=_MAX_SIZE)
    except (zstandard.ZstdError, MemoryError):
        raise Damaged(name, "its stored content is damaged") from None
