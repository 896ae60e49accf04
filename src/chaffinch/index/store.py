"""The protocol that every store follows: batches in, postings and documents out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from chaffinch.errors import Damaged
from chaffinch.index.koala.probes import Probed, Touches
from chaffinch.index.records import Batch, DocumentRecord, IndexInfo, Settings
from chaffinch.native.segment import LookupResult

BUSY = "somebody else is writing to this index; try again when they are done (you can search meanwhile)"
FORKED = (
    "was open when this process was forked from another; open it only after the fork, or start processes with "
    "the method spawn or forkserver"
)
CLOSED = "is closed; open it again"
NO_INDEX = "there is no index here; create one with chaffinch index create"
NO_NUMBERS_LEFT = "documents have been added over time; export it and import it into a new index"

Hashes = NDArray[np.uint64]
Progress = Callable[[str], None]
"""Called with a line that says what is being done."""


@contextmanager
def close_on_error(resource: Any) -> Iterator[None]:
    """Close the resource if the block fails."""
    try:
        yield
    except BaseException:
        resource.close()
        raise


class Store(Protocol):
    """Postings and document records. Every document has a number, which is never used again.

    Stores inherit from this class, so that the type checker rejects one that lacks a method of the protocol.
    """

    where: str
    """The path or address, without a password."""
    settings: Settings

    def __init__(self, where: str | Path) -> None:
        """Open an existing store."""

    @classmethod
    def create(cls, where: str | Path, settings: Settings) -> Self:
        """Create an empty store and open it."""

    def close(self) -> None: ...

    def snapshot(self) -> AbstractContextManager[None]:
        """Answer every question inside the `with` block from one state, whatever is written meanwhile."""

    def begin_writing(self) -> None:
        """Lock out other writers until the store is closed, so that changes can rely on what was read."""

    def add(self, batch: Batch) -> None:
        """Add all of the batch or nothing. It is durable when this returns."""

    def update(self, documents: Mapping[int, DocumentRecord]) -> None:
        """Write other metadata of documents, all or none. Everything else about them stays as it is."""

    def remove(self, documents: Sequence[int]) -> None:
        """Remove all of these documents or none."""

    def lookup(self, hashes: Hashes) -> LookupResult:
        """Return the postings of these hashes, sorted by hash, document and position."""

    def count(self) -> int:
        """Return the number of documents."""

    def records(self, documents: Sequence[int]) -> dict[int, DocumentRecord]: ...

    def sizes(self, documents: Sequence[int]) -> dict[int, tuple[int, str]]:
        """Return the posting count and the name of each document. Faster than `records` for many documents."""

    def contents(self, documents: Sequence[int]) -> dict[int, bytes]:
        """Return the compressed contents of those documents that have any."""

    def numbers_by_name(self, names: Sequence[str]) -> dict[str, int]:
        """Return the numbers of the documents with these names. Unknown names are missing from the result."""

    def names_by_digest(self, digests: Sequence[bytes]) -> dict[bytes, str]:
        """Return the name of the first document with each content."""

    def boilerplate(self) -> frozenset[int]:
        """Return the documents whose passages are never part of a match."""

    def all_records(self, after: int = -1) -> Iterator[tuple[int, DocumentRecord]]:
        """Yield every document, sorted by number, or those after a number."""

    def postings_of(self, documents: Sequence[int]) -> Iterator[tuple[int, Hashes, NDArray[np.uint32]]]:
        """Yield the number, hashes and positions of each document, sorted by number."""

    def damage(self) -> tuple[Damaged, ...]:
        """Describe what cannot be read and is therefore missing from every answer."""

    def info(self) -> IndexInfo: ...

    def merge(self, progress: Progress) -> None:
        """Make the index as small and fast as it can be."""

    def verify(self, progress: Progress) -> list[str]:
        """Read everything and return what is wrong."""

    def generation(self) -> int:
        """Return the number that documents are chosen by now. It only grows, so no choice comes back."""

    def raise_generation(self, generation: int) -> None:
        """Make the generation at least this number."""

    def record_touches(self, touches: Touches) -> None:
        """Count what a search touched. A merge forgets documents that are no longer in the index."""

    def probed(self) -> list[Probed]:
        """Return what searches could teach about documents that several searches touched."""

    def forget_touches(self, names: Sequence[str]) -> None: ...
