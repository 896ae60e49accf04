"""Thin, typed wrappers over the native functions that compare documents."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chaffinch._native import ffi, lib
from chaffinch.errors import BadArgument
from chaffinch.native.call import call, columns, equally_long, fill, numbers, pairs_of_numbers
from chaffinch.native.fingerprint import threads_used
from chaffinch.types import Fingerprints

BASE_CODE, SEPARATOR = 1, 2
"""Symbol kinds: base code, and what stands between two documents. Every other symbol is 0."""


class Corpus:
    """The documents to compare, laid out in one set of columns.

    `owners` tells, for each document, how many documents have each of its distinct hashes, in order of the
    hashes. `kinds` holds the kind of every symbol; leave it out when there is no base code.
    """

    def __init__(
        self,
        streams: Sequence[NDArray[np.uint32]],
        prints: Sequence[Fingerprints],
        owners: Sequence[NDArray[np.uint32]] | None = None,
        kinds: Sequence[NDArray[np.uint8]] = (),
    ) -> None:
        self.kinds = _joined(kinds, np.uint8, "kinds") if len(kinds) else None
        self.symbols = _joined(streams, np.uint32, "symbols")
        self.symbol_offsets = _offsets(streams)
        for p in prints:
            equally_long(hashes=p.hashes, positions=p.positions)
        orders = [np.lexsort((p.positions, p.hashes)) for p in prints]
        self.hashes = _joined([p.hashes[o] for p, o in zip(prints, orders, strict=True)], np.uint64, "hashes")
        positions = [p.positions[o] for p, o in zip(prints, orders, strict=True)]
        self.positions = _joined(positions, np.uint32, "positions")
        self.hash_offsets = _offsets(orders)
        self.owners = np.ones(len(self.hashes), np.uint32)
        if owners is not None:
            is_first = np.append(True, self.hashes[1:] != self.hashes[:-1])[: len(self.hashes)]
            is_first[self.hash_offsets[:-1][np.diff(self.hash_offsets) > 0].astype(np.int64)] = True
            numbers_of_hashes = np.append(0, np.cumsum(is_first))
            if not np.array_equal(np.diff(numbers_of_hashes[self.hash_offsets]), [len(own) for own in owners]):
                raise BadArgument("owners: give a number for each distinct hash of each document")
            self.owners = _joined(owners, np.uint32, "owners")[numbers_of_hashes[1:] - 1]

    def __len__(self) -> int:
        return len(self.symbol_offsets) - 1

    def native(self) -> tuple[Any, list[Any]]:
        """Return the structure the core reads, and the buffers that must outlive it."""
        documents = ffi.new("ChfDocuments *")
        return documents, fill(documents, **vars(self))


def _joined(arrays: Sequence[NDArray[Any]], kind: type[np.number[Any]], name: str) -> NDArray[Any]:
    return numbers(np.concatenate([*arrays, np.empty(0, kind)]), kind, name)


def _offsets(arrays: Sequence[NDArray[Any]]) -> NDArray[np.uint64]:
    return np.cumsum([0, *map(len, arrays)], dtype=np.uint64)


class CandidatePairs(NamedTuple):
    """Pairs of documents with at least one hash in common."""

    pairs: NDArray[np.uint32]
    """Two columns, the left document before the right, in order."""
    shared: NDArray[np.uint32]
    """How many distinct hashes each pair shares."""
    owners: NDArray[np.uint32]
    """How many documents have each hash, in the order of the input."""
    background: NDArray[np.uint32]
    """For each document, the median number of hashes it shares with another, to within an eighth."""
    histogram: NDArray[np.uint32]
    """`histogram[n]` pairs share n hashes. Pairs that weigh too little to be listed are counted too."""


def candidate_pairs(
    hashes: Sequence[NDArray[np.uint64]],
    old: NDArray[np.uint8],
    rarity: NDArray[np.float32],
    *,
    min_share: float = 0.0,
    enough: float = math.inf,
    threads: int | None = None,
) -> CandidatePairs:
    """Find the pairs of documents that share hashes; each document's hashes are distinct and sorted.

    A hash that n documents have weighs `rarity[n]`. A pair is listed when its shared hashes weigh at least
    `min_share` of the lighter document, or at least `enough`. Two `old` documents are never paired.
    """
    result = call(
        lib.chf_pairs,
        _joined(hashes, np.uint64, "hashes"),
        _offsets(hashes),
        numbers(old, np.uint8, "old"),
        numbers(rarity, np.float32, "rarity"),
        min_share,
        enough,
        threads_used(threads),
    )
    pairs, shared, owners, statistics = columns(result)
    background, histogram = np.split(statistics, [len(hashes)])
    return CandidatePairs(pairs.reshape(-1, 2), shared, owners, background, histogram)


class MatchTable(NamedTuple):
    """The matches of many pairs: runs of equal symbols, which runs form a match, and whose match it is."""

    left: NDArray[np.uint32]
    """Where each run starts on the left."""
    right: NDArray[np.uint32]
    lengths: NDArray[np.uint32]
    matches: NDArray[np.uint32]
    """For each match: its first run, how many documents have most of it, and whether it repeats a passage of
    matches at least twice as long. A last row marks the end."""
    pairs: NDArray[np.uint32]
    """For each pair: its first match, and the symbols its matches cover on the left and on the right. A last
    row marks the end."""


def find_matches(
    corpus: Corpus,
    pairs: NDArray[np.uint32],
    k: int,
    gap: int,
    guarantee: int = 0,
    threads: int | None = None,
) -> MatchTable:
    """Find the matches of pairs of documents, given as an array of two columns.

    Runs of `guarantee` symbols are always found, shorter ones by chance. So shorter matches are dropped,
    unless a pair has no others.
    """
    native, buffers = corpus.native()
    pairs = pairs_of_numbers(pairs)
    result = call(lib.chf_matches, native, pairs, k, gap, guarantee, threads_used(threads))
    del buffers
    left, right, lengths, matches, per_pair = columns(result)
    return MatchTable(left, right, lengths, matches.reshape(-1, 3), per_pair.reshape(-1, 3))


class GramCounts:
    """How often each document has each gram of n symbols. A gram that m documents have weighs `rarity[m]`."""

    def __init__(self, corpus: Corpus, n: int, rarity: NDArray[np.float32], threads: int | None = None) -> None:
        weights = numbers(rarity, np.float32, "rarity")
        symbols, offsets = corpus.symbols, corpus.symbol_offsets
        self._owner = call(lib.chf_grams, symbols, offsets, n, weights, threads_used(threads))
        self.share_sums: NDArray[np.float32] = columns(self._owner)[0].view(np.float32)
        """For each document, the sum over all others of the share of its grams that the other has."""

    def shares(
        self, pairs: NDArray[np.uint32], threads: int | None = None
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return for each pair the share of the left's grams that the right has, and the reverse."""
        left, right = columns(call(lib.chf_shares, self._owner, pairs_of_numbers(pairs), threads_used(threads)))
        return left.view(np.float32), right.view(np.float32)
