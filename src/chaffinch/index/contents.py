"""What is kept of a document's content, packed: its text as it was read, or the hashes it may be found by."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence

import numpy as np
import zstandard
from numpy.typing import NDArray

from chaffinch.errors import Damaged
from chaffinch.types import Document, Section

# zstd at its fastest, and no look for short repetitions: a fifth less time for a few percent of size.
_HOW = zstandard.ZstdCompressionParameters.from_level(1, min_match=7, write_checksum=1)
_MOST = 1 << 32
_USUAL: tuple[str, str, str, tuple[Section, ...]] = "utf-8", "plain", "text", ()
"""Encoding, format, language and parts of most documents, which need not be said."""
_WITH_HEAD = b"\0"
"""Before what is packed, which begins otherwise."""
_OF_THREAD = threading.local()


def pack(documents: Sequence[Document], threads: int) -> list[bytes]:
    """Each on its own, so that one can be read without the others."""
    heads = [_head(document) for document in documents]
    texts = [head + d.data if head else d.data for head, d in zip(heads, documents, strict=True)]
    packed = _compressed(texts, threads)
    return [_WITH_HEAD + p if head else p for head, p in zip(heads, packed, strict=True)]


def _head(document: Document) -> bytes:
    """What is to be said of it in a line, if anything is."""
    if (document.encoding, document.format, document.language, document.sections) == _USUAL:
        return b""
    said = [document.encoding, document.format, document.language, [list(part) for part in document.sections]]
    return json.dumps(said, separators=(",", ":")).encode() + b"\n"


def unpack(name: str, packed: bytes | None) -> Document:
    """The document as it was read when it was added."""
    data = _decompressed(name, packed)
    if packed is None or not packed.startswith(_WITH_HEAD):
        return Document(name, data, *_USUAL)
    head, _, data = data.partition(b"\n")
    encoding, kind, language, parts = json.loads(head)
    return Document(name, data, encoding, kind, language, tuple(Section(*part) for part in parts))


def pack_hashes(hashes: Sequence[NDArray[np.uint64]], threads: int) -> list[bytes]:
    return _compressed([np.sort(h).tobytes() for h in hashes], threads)


def unpack_hashes(name: str, packed: bytes) -> NDArray[np.uint64]:
    return np.frombuffer(_decompressed(name, packed), np.uint64)


def check(name: str, packed: bytes | None) -> None:
    """Raises Damaged unless it is as it was packed."""
    _decompressed(name, packed)


def _compressed(pieces: list[bytes], threads: int) -> list[bytes]:
    packer = zstandard.ZstdCompressor(compression_params=_HOW)
    found = [packer.compress(b"")] * len(pieces)
    filled = [i for i, piece in enumerate(pieces) if piece]  # it takes nothing empty together with others
    if filled:
        packed = packer.multi_compress_to_buffer([pieces[i] for i in filled], threads=threads)
        for place, i in enumerate(filled):
            found[i] = packed[place].tobytes()
    return found


def _unpacker() -> zstandard.ZstdDecompressor:
    """One for each thread, for it takes longer to make than to use."""
    if not hasattr(_OF_THREAD, "unpacker"):
        _OF_THREAD.unpacker = zstandard.ZstdDecompressor()
    unpacker: zstandard.ZstdDecompressor = _OF_THREAD.unpacker
    return unpacker


def _decompressed(name: str, packed: bytes | None) -> bytes:
    if packed is None:
        raise Damaged(name, "what was kept of it is gone")
    try:
        return _unpacker().decompress(packed.removeprefix(_WITH_HEAD), max_output_size=_MOST)
    except (zstandard.ZstdError, MemoryError):
        raise Damaged(name, "what was kept of it is not as it was written") from None
