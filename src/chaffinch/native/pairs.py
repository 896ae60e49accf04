"""Thin, typed wrappers over the native functions that compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chaffinch._native import ffi, lib
from chaffinch.native.fingerprint import column, contiguous, owned, threads_used
from chaffinch.types import Fingerprints


class Collection:
    """Documents one after another in one set of columns, as comparing takes them.

    Owners are, for each document, how many have each of its different hashes, in order of the hashes. What
    is given tells of every symbol 1 if it is base code, 2 if it is between documents, else 0.
    """

    def __init__(
        self,
        streams: Sequence[NDArray[np.uint32]],
        prints: Sequence[Fingerprints],
        owners: Sequence[NDArray[np.uint32]] | None = None,
        given: Sequence[NDArray[np.uint8]] = (),
    ) -> None:
        self.given = _joined(given, np.uint8)
        self.symbols = _joined(streams, np.uint32)
        self.symbol_offsets = _offsets(streams)
        orders = [np.lexsort((p.positions, p.hashes)) for p in prints]
        self.hashes = _joined([p.hashes[o] for p, o in zip(prints, orders, strict=True)], np.uint64)
        self.positions = _joined([p.positions[o] for p, o in zip(prints, orders, strict=True)], np.uint32)
        self.hash_offsets = _offsets(orders)
        self.owners = np.ones(len(self.hashes), np.uint32)
        if owners is not None:
            is_other = np.append(True, self.hashes[1:] != self.hashes[:-1])[: len(self.hashes)]
            is_other[self.hash_offsets[:-1][np.diff(self.hash_offsets) > 0].astype(np.int64)] = True
            self.owners = _joined(owners, np.uint32)[np.cumsum(is_other) - 1]

    def __len__(self) -> int:
        return len(self.symbol_offsets) - 1

    def native(self) -> tuple[Any, list[Any]]:
        """As the core reads it, and what must live as long."""
        documents = ffi.new("ChfDocuments *")
        documents.len = len(self)
        documents.given_len = len(self.given)
        keep = []
        for name, kind in (
            ("given", "uint8_t[]"),
            ("symbols", "uint32_t[]"),
            ("symbol_offsets", "uint64_t[]"),
            ("hashes", "uint64_t[]"),
            ("positions", "uint32_t[]"),
            ("owners", "uint32_t[]"),
            ("hash_offsets", "uint64_t[]"),
        ):
            buffer = ffi.from_buffer(kind, getattr(self, name))
            setattr(documents, name, buffer)
            keep.append(buffer)
        return documents, keep


def _joined(arrays: Sequence[NDArray[Any]], kind: type) -> NDArray[Any]:
    return np.concatenate([*arrays, np.empty(0, kind)]).astype(kind, copy=False)


def _offsets(arrays: Sequence[NDArray[Any]]) -> NDArray[np.uint64]:
    return np.cumsum([0, *map(len, arrays)], dtype=np.uint64)


def _table(owner: Any) -> list[NDArray[np.uint32]]:
    return [column(owner.columns[i], owner.lengths[i], "<u4", owner) for i in range(6)]


class Pairs(NamedTuple):
    """Documents that have something in common."""

    both: NDArray[np.uint32]
    """Two columns, left before right, in order."""
    shared: NDArray[np.uint32]
    """How many different hashes both have."""
    owners: NDArray[np.uint32]
    """In how many documents each hash stands, in the order they were given."""
    usual: NDArray[np.uint32]
    """How many hashes each document shares with another in the middle of all, to within an eighth."""
    histogram: NDArray[np.uint32]
    """How many pairs share so many, those counted that weigh too little to be listed."""


def pairs(
    hashes: Sequence[NDArray[np.uint64]],
    old: NDArray[np.uint8],
    rarity: NDArray[np.float32],
    *,
    least: float = 0.0,
    threads: int | None = None,
) -> Pairs:
    """Pairs of documents whose different hashes, sorted, are given.

    A hash weighs `rarity[n]` if n documents have it; a pair that weighs less than `least` of the lighter
    document is left out, and so is a pair of `old` ones.
    """
    data, offsets = _joined(hashes, np.uint64), _offsets(hashes)
    owner = owned(
        lib.chf_pairs(
            ffi.from_buffer("uint64_t[]", data),
            ffi.from_buffer("uint64_t[]", offsets),
            ffi.from_buffer("uint8_t[]", np.ascontiguousarray(old, np.uint8)),
            len(hashes),
            ffi.from_buffer("float[]", np.ascontiguousarray(rarity, np.float32)),
            least,
            threads_used(threads),
        ),
        lib.chf_table_free,
    )
    both, shared, owners, among_all = _table(owner)[:4]
    usual, histogram = np.split(among_all, [len(hashes)])
    return Pairs(both.reshape(-1, 2), shared, owners, usual, histogram)


class Runs(NamedTuple):
    """Matches of many pairs: runs of equal symbols, which of them make a match, which matches are whose."""

    left: NDArray[np.uint32]
    right: NDArray[np.uint32]
    lengths: NDArray[np.uint32]
    matches: NDArray[np.uint32]
    """Of each match its first run, how many documents have most of it, and whether it is the same again as part
    of some at least twice as long; then one behind them."""
    pairs: NDArray[np.uint32]
    """Of each pair its first match, and the symbols in its matches, left and right; then one behind them."""


def matches(
    documents: Collection,
    pairs: NDArray[np.uint32],
    k: int,
    gap: int,
    sure: int = 0,
    threads: int | None = None,
) -> Runs:
    """The matches of pairs of documents, an array of two columns.

    Matches of fewer than `sure` symbols are found by chance: they are left out unless there is nothing else.
    """
    native, keep = documents.native()
    data = ffi.from_buffer("uint32_t[]", contiguous(pairs))
    result = lib.chf_matches(native, data, len(pairs), k, gap, sure, threads_used(threads))
    left, right, lengths, found, of_pairs = _table(owned(result, lib.chf_table_free))[:5]
    del keep
    return Runs(left, right, lengths, found.reshape(-1, 3), of_pairs.reshape(-1, 3))


class Grams:
    """The grams of n symbols of documents, each weighing `rarity[m]` if m documents have it."""

    def __init__(
        self, documents: Collection, n: int, rarity: NDArray[np.float32], threads: int | None = None
    ) -> None:
        native, keep = documents.native()
        weights = ffi.from_buffer("float[]", np.ascontiguousarray(rarity, np.float32))
        self._owner = owned(lib.chf_bags(native, n, weights, threads_used(threads)), lib.chf_bags_free)
        del keep
        self.with_all: NDArray[np.float32] = column(self._owner.with_all, len(documents), "<f4", self._owner)
        """Of each document the shares of its grams that each of the others has, added up."""

    def shares(
        self, pairs: NDArray[np.uint32], threads: int | None = None
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Of each two documents the share of the left's grams that the right has, and the other way round."""
        data = ffi.from_buffer("uint32_t[]", contiguous(pairs))
        owner = owned(lib.chf_shares(self._owner, data, len(pairs), threads_used(threads)), lib.chf_table_free)
        left, right = _table(owner)[:2]
        return left.view(np.float32), right.view(np.float32)
