"""Thin, typed wrappers over the native functions of the index: segments, and the matches of a search."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chaffinch._native import ffi, lib
from chaffinch.errors import BadArgument, Damaged
from chaffinch.native.call import call, columns, equally_long, fill, numbers
from chaffinch.native.fingerprint import FORMS, Source, level, native_sources, threads_used
from chaffinch.native.turns import side_by_side
from chaffinch.recipe import Recipe

PIECE = 2**20
"""Postings that a scan returns at a time."""


class Postings(NamedTuple):
    """A hash, a document that has it, and the position there. The columns are equally long."""

    hashes: NDArray[np.uint64]
    documents: NDArray[np.uint32]
    positions: NDArray[np.uint32]


class LookupResult(NamedTuple):
    """The postings of the hashes that were looked up, sorted by all three columns."""

    queries: NDArray[np.uint32]
    """Which of the hashes it is, by its number."""
    documents: NDArray[np.uint32]
    positions: NDArray[np.uint32]


class _Opened:
    """A native segment and the buffer it reads. Readers hold on to this object, so neither is freed early."""

    def __init__(self, data: Any, name: str) -> None:
        self.name = name
        self.mapped = data if isinstance(data, mmap.mmap) else None
        self.buffer = ffi.from_buffer("uint8_t[]", data)
        self.handle = _read([self], lib.chf_segment_open, (self.buffer, len(self.buffer), 1))

    def check_size(self) -> None:
        """Raise Damaged if the file has shrunk. Call this after reading.

        The core notices pages that are gone, but what is left of the last page reads as zeros.
        """
        if self.mapped is not None and (size := self.mapped.size()) < len(self.buffer):
            raise Damaged(self.name, f"it was cut short: {size:,} of {len(self.buffer):,} bytes are left")


class Segment:
    """Sorted postings in a memory-mapped file, which may shrink but not change, or in bytes."""

    def __init__(self, data: Any, name: str) -> None:
        self.name = name
        self._opened: _Opened | None = _Opened(data, name)
        shape = columns(self._opened.handle)[0].tolist()
        self.postings, self.first_document, self.last_document, self.hash_bits = shape

    @property
    def opened(self) -> _Opened:
        if self._opened is None:
            raise BadArgument(f"{self.name} is closed")
        return self._opened

    def check(self, *, threads: int | None = None) -> None:
        """Read everything, and raise Damaged unless it is in order and just as it was written."""
        opened = self.opened
        _read([opened], lib.chf_segment_check, opened.handle, threads_used(threads))

    def scan(self, pieces: int = PIECE) -> Iterator[Postings]:
        """Yield every posting, sorted by hash, document and position, at most `pieces` at a time.

        Bits of a hash that the segment does not keep come back as zeros.
        """
        opened, where = self.opened, [0, 0]
        while True:
            result = _read([opened], lib.chf_segment_scan, opened.handle, *where, max(1, pieces))
            *postings_now, next_posting = columns(result)
            postings, where = Postings(*postings_now), next_posting.tolist()
            if not len(postings.hashes):
                return
            yield postings

    def close(self) -> None:
        """Release the buffer. A scan or merge that still reads it releases it at its own end."""
        self._opened = None


def _read(opened: Sequence[_Opened], function: Any, *arguments: Any) -> Any:
    """Return what a function of the core reads from segments, or raise Damaged if one of them is."""
    result = call(function, *arguments, segments=[one.name for one in opened])
    for one in opened:
        one.check_size()
    return result


def build(postings: Postings, *, hash_bits: int = 64, threads: int | None = None) -> NDArray[np.uint8]:
    """Return the bytes of a segment with these postings, in any order. It keeps the top bits of every hash."""
    hashes, documents, positions = postings
    equally_long(hashes=hashes, documents=documents, positions=positions)
    result = call(
        lib.chf_segment_build,
        numbers(hashes, np.uint64, "hashes"),
        numbers(documents, np.uint32, "documents"),
        numbers(positions, np.uint32, "positions"),
        hash_bits,
        threads_used(threads),
    )
    return columns(result)[0]


def lookup(
    segments: Sequence[Segment],
    hashes: NDArray[np.uint64],
    removed: NDArray[np.uint32],
    *,
    threads: int | None = None,
) -> LookupResult:
    """Find the postings of these hashes, except those of removed documents, which are sorted."""
    opened = [segment.opened for segment in segments]
    with side_by_side():
        result = _read(
            opened,
            lib.chf_lookup,
            _handles(opened),
            len(opened),
            numbers(hashes, np.uint64, "hashes"),
            numbers(removed, np.uint32, "removed"),
            threads_used(threads),
        )
    return LookupResult(*columns(result))


class QuerySeeds(NamedTuple):
    """The fingerprints of a query from which matches are extended. The columns are equally long."""

    positions: NDArray[np.uint32]
    numbers: NDArray[Any]
    """Which hash each of them has."""


class OwnerCounts(NamedTuple):
    """How many documents have what a query has from each position up to the next."""

    positions: NDArray[np.uint32]
    owners: NDArray[Any]


class ExtendedMatch(NamedTuple):
    """A match of a query with a document."""

    runs: list[list[int]]
    """Bytes: start and end in the query, start and end in the document."""
    symbols: int
    longest: int
    """Symbols of the longest run."""
    owners: int
    """How many documents have most of it."""


class QueryMatches(NamedTuple):
    """What a query and a document have in common. Pairs of numbers are the query's and the document's."""

    covered: tuple[int, int]
    """Symbols that matches cover."""
    symbols: tuple[int, int]
    """All symbols."""
    identical: bool
    """Whether both have the same symbols."""
    rows: NDArray[np.uint32]
    """A row for each match: its first run, its symbols, its longest run, its owners."""
    runs: NDArray[np.uint32]
    """The runs of the matches."""

    def matches(self) -> list[ExtendedMatch]:
        runs, rows = self.runs.tolist(), self.rows.tolist()
        bounds = pairwise([*(first - rows[0][0] for first, *_ in rows), len(runs)])
        return [
            ExtendedMatch(runs[start:end], *rest) for (start, end), (_, *rest) in zip(bounds, rows, strict=True)
        ]


def extend_matches(
    query: Source,
    documents: Mapping[int, Source],
    seeds: QuerySeeds | None,
    owners: OwnerCounts,
    postings: LookupResult | None,
    recipe: Recipe,
    gap: int,
    threads: int | None = None,
) -> list[QueryMatches]:
    """Extend the postings of a query to its matches with numbered documents, and return those of each.

    The position of a posting is where a symbol begins in its source: a byte, or an index into numbers. Without
    seeds and postings, all runs as long as a gram are found.
    """
    if seeds is None or postings is None:
        none = np.empty(0, np.uint32)
        seeds, postings = QuerySeeds(none, none), LookupResult(none, none, none)
        all_grams = True
    else:
        all_grams = False
    texts, buffers = native_sources([query, *documents.values()])
    shared = ffi.new("ChfShared *")
    number_columns = {
        "positions": seeds.positions,
        "numbers": seeds.numbers,
        "owner_positions": owners.positions,
        "owners": owners.owners,
        "queries": postings.queries,
        "documents": postings.documents,
        "offsets": postings.positions,
    }
    buffers += fill(
        shared,
        **{name: numbers(column, np.uint32, name) for name, column in number_columns.items()},
        k=recipe.k,
        gap=gap,
        guarantee=recipe.guarantee or recipe.k,
        all_grams=all_grams,
    )
    with side_by_side():
        result = call(
            lib.chf_extend_matches,
            texts,
            len(documents) + 1,
            numbers(list(documents), np.uint32, "the numbers of documents"),
            FORMS.get(recipe.front, 0),
            shared,
            threads_used(threads),
            level(),
        )
    del buffers
    runs, matches, rows, sizes = columns(result)
    runs, matches = runs.reshape(-1, 4), matches.reshape(-1, 4)
    per_document = rows.reshape(-1, 5).tolist()
    bounds = pairwise([*(first for first, *_ in per_document), len(matches)])
    first_runs = [*matches[:, 0].tolist(), len(runs)]
    size = int(sizes[0])
    return [
        QueryMatches(
            (left, right),
            (size, symbols),
            bool(identical),
            matches[start:end],
            runs[first_runs[start] : first_runs[end]],
        )
        for (start, end), (_, left, right, symbols, identical) in zip(bounds, per_document, strict=True)
    ]


def merge(
    segments: Sequence[Segment], removed: NDArray[np.uint32], *, threads: int | None = None
) -> Iterator[NDArray[np.uint8]]:
    """Merge segments without the postings of removed documents; yield the new one's bytes in pieces."""
    if len({segment.hash_bits for segment in segments}) > 1:
        raise BadArgument("segments that keep different numbers of hash bits cannot be merged")
    opened = [segment.opened for segment in segments]
    return _pieces(opened, numbers(removed, np.uint32, "removed"), threads_used(threads))


def _pieces(opened: list[_Opened], removed: NDArray[np.uint32], threads: int) -> Iterator[NDArray[np.uint8]]:
    # The merge reads the segments and the removed documents until it ends, so both are kept here.
    merging = _read(opened, lib.chf_merge, _handles(opened), len(opened), removed, threads)
    while len(piece := columns(_read(opened, lib.chf_merge_next, merging))[0]):
        yield piece


def _handles(opened: Sequence[_Opened]) -> Any:
    return ffi.new("ChfResult *[]", [one.handle for one in opened])
