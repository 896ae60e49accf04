"""The values that flow along the line: frozen, arrays rather than lists of objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Document:
    """A name and the bytes under it. Format ("plain" or "html") and encoding are found out unless given."""

    name: str
    data: bytes
    encoding: str | None = None
    format: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Stream:
    """The canonical form of a document, and the half-open byte range of each symbol in the original."""

    symbols: NDArray[np.uint32]
    starts: NDArray[np.uint32]
    ends: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.symbols)


@dataclass(frozen=True, slots=True, eq=False)
class Fingerprints:
    """The chosen grams of a document: hash, position in the stream, byte range in the original."""

    hashes: NDArray[np.uint64]
    positions: NDArray[np.uint32]
    starts: NDArray[np.uint32]
    ends: NDArray[np.uint32]
    symbols: int
    """Length of the document's stream."""

    def __len__(self) -> int:
        return len(self.hashes)


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes start to end (not included) of a document."""

    document: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Match:
    """Two spans that have so many symbols in common."""

    left: Span
    right: Span
    symbols: int
