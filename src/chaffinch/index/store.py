"""The one protocol of every store: batches in, postings and documents out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from chaffinch.index.records import Batch, Info, Probed, Settings, Stored
from chaffinch.native.segment import LookupResult

Hashes = NDArray[np.uint64]
Tell = Callable[[str], None]


class Store(Protocol):
    """Postings and what is known of the documents they stand in; documents have numbers, never used twice."""

    where: str
    settings: Settings

    def snapshot(self) -> AbstractContextManager[None]:
        """Within it every question is answered from one state, whatever is written meanwhile."""

    def begin(self) -> None:
        """From here on nobody else writes: what is seen before a change is still so when it is made."""

    def add(self, batch: Batch) -> None:
        """All or nothing, and for good once this returns."""

    def remove(self, documents: Sequence[int]) -> None:
        """All or nothing; what is not there is passed over."""

    def lookup(self, hashes: Hashes) -> LookupResult:
        """The postings of these hashes, by query, document and position."""

    def count(self) -> int:
        """How many documents there are."""

    def stored(self, documents: Sequence[int]) -> dict[int, Stored]: ...

    def sizes(self, documents: Sequence[int]) -> dict[int, tuple[int, str]]:
        """How many postings each has, and its name: of many, in less time than all that is stored."""

    def contents(self, documents: Sequence[int]) -> dict[int, bytes]:
        """What is kept of their contents."""

    def named(self, names: Sequence[str]) -> dict[str, int]:
        """Those of the names that are there."""

    def alike(self, digests: Sequence[bytes]) -> dict[bytes, str]:
        """The name of the first document with this content."""

    def boilerplate(self) -> frozenset[int]:
        """The documents that are never a match."""

    def each(self) -> Iterator[tuple[int, Stored]]:
        """Every document, in order of the numbers."""

    def postings_of(self, documents: Sequence[int]) -> Iterator[tuple[int, Hashes, NDArray[np.uint32]]]:
        """For each of them, in order of the numbers, its hashes and positions."""

    def damaged(self) -> tuple[str, ...]:
        """What cannot be read, and so is missing in every answer."""

    def info(self) -> Info: ...

    def merge(self, tell: Tell) -> None:
        """Makes the index as small and fast as it can be."""

    def verify(self, tell: Tell) -> list[str]:
        """Reads everything; what is wrong, if anything is."""

    def probed(self, query: bytes, names: Sequence[str]) -> None:
        """Counts a search that came close to these documents."""

    def suspicious(self) -> list[Probed]:
        """Documents that many slightly different queries came close to."""

    def forget_probes(self, names: Sequence[str]) -> None: ...

    def close(self) -> None: ...
