"""Base code and common code: which symbols are not compared, and what stands in their place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from chaffinch.matching.joined_stream import JoinedStream, reserved_symbols
from chaffinch.matching.matches import GAP
from chaffinch.native.pairs import BASE_CODE, SEPARATOR, Corpus, find_matches
from chaffinch.types import Fingerprints

LONGEST_EDIT = 4
"""Symbols. A change to base code up to this long still counts as base code; more is work of one's own."""

Run = tuple[int, int, int]
"""The positions where it starts on the left and on the right, and its length in symbols."""
Mask = NDArray[np.bool_]
"""Which symbols of a joined stream are not compared."""
BasePositions = NDArray[np.int32]
"""For each symbol of a joined stream, its position in the base code, or -1."""


def find_base_code(
    streams: Sequence[JoinedStream], base: JoinedStream | None, k: int, threads: int | None = None
) -> tuple[list[Mask], list[BasePositions]]:
    """Return which symbols of each stream are base code, with small edits, and their positions in it.

    Without base code there are no positions.
    """
    masks = [np.zeros(len(stream.symbols), bool) for stream in streams]
    if base is None or not len(base.prints):
        return masks, []
    positions = [np.full(len(stream.symbols), -1, np.int32) for stream in streams]
    both = (*streams, base)
    corpus = Corpus([stream.symbols for stream in both], [stream.prints for stream in both])
    pairs = np.array([(i, len(streams)) for i in range(len(streams))], np.uint32).reshape(-1, 2)
    table = find_matches(corpus, pairs, k, GAP, threads=threads)
    runs = list(zip(table.left.tolist(), table.right.tolist(), table.lengths.tolist(), strict=True))
    for mask, own_positions, (first, last) in zip(
        masks, positions, pairwise(table.pairs[:, 0].tolist()), strict=True
    ):
        matches = [runs[a:b] for a, b in pairwise(table.matches[first : last + 1, 0].tolist())]
        # Where base code repeats itself, the longest match decides which part of it this is.
        for match in sorted(matches, key=lambda match: -sum(length for *_, length in match)):
            _mark(mask, own_positions, match)
    for stream, mask in zip(streams, masks, strict=True):
        mask[stream.separators] = False
    return masks, positions


def _mark(mask: Mask, positions: BasePositions, match: Sequence[Run]) -> None:
    for start, base_start, length in match:
        mask[start : start + length] = True
        known = positions[start : start + length]
        np.copyto(known, np.arange(base_start, base_start + length, dtype=np.int32), where=known < 0)
    for (start, _, length), (next_start, *_) in pairwise(match):
        if next_start - start - length <= LONGEST_EDIT:
            mask[start + length : next_start] = True


def mask_common_code(streams: Sequence[JoinedStream], masks: Sequence[Mask], k: int, max_owners: int) -> None:
    """Also mask what more than `max_owners` streams have."""
    distinct_hashes = [distinct(stream.prints.hashes) for stream in streams]
    hashes, owners = np.unique(np.concatenate(distinct_hashes), return_counts=True)
    common = hashes[owners > max_owners]
    for stream, mask in zip(streams, masks, strict=True):
        for position in stream.prints.positions[np.isin(stream.prints.hashes, common)].tolist():
            mask[position : position + k] = True


def distinct(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return each hash once, sorted, like np.unique, which takes many times as long."""
    ordered = np.sort(hashes)
    is_first = np.ones(len(ordered), bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_first]


def mask_symbols(
    streams: Sequence[JoinedStream], masks: Sequence[Mask], positions: Sequence[BasePositions] = ()
) -> list[NDArray[np.uint32]]:
    """Return the symbols of each stream with a symbol of its own for each masked one, so that no run continues.

    With positions, the same base code has the same symbols in every stream: what two people wrote into it is
    one run with it.
    """
    documents = sum(len(stream.documents) for stream in streams)  # each has a separator
    base_size = 1 + max((int(own.max(initial=-1)) for own in positions), default=-1)
    masked_counts = [int(np.count_nonzero(mask)) for mask in masks]
    reserved = reserved_symbols(documents, base_size + sum(masked_counts))
    base_symbols, own_symbols = reserved[:base_size], reserved[base_size:]
    masked_streams = []
    for i, (stream, mask, count) in enumerate(zip(streams, masks, masked_counts, strict=True)):
        symbols = stream.symbols
        if count:
            symbols = symbols.copy()
            symbols[mask], own_symbols = own_symbols[:count], own_symbols[count:]
            if positions:
                is_base = mask & (positions[i] >= 0)
                symbols[is_base] = base_symbols[positions[i][is_base]]
        masked_streams.append(symbols)
    return masked_streams


def symbol_kinds(streams: Sequence[JoinedStream], masks: Sequence[Mask]) -> list[NDArray[np.uint8]]:
    """Return for every symbol whether it is base code, a separator, or neither, as the core reads it."""
    all_kinds = [mask * np.uint8(BASE_CODE) for mask in masks]
    for stream, kinds in zip(streams, all_kinds, strict=True):
        kinds[stream.separators] = SEPARATOR
    return all_kinds


def drop_masked(prints: Fingerprints, mask: Mask, k: int) -> Fingerprints:
    """Return the fingerprints that do not lie entirely in masked symbols."""
    if not mask.any():
        return prints
    masked = np.concatenate([[0], np.cumsum(mask)])
    keep = masked[prints.positions + k] - masked[prints.positions] < k
    return replace(prints, hashes=prints.hashes[keep], positions=prints.positions[keep])
