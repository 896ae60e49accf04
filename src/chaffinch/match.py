"""Runs of equal symbols -> matches: what two units have in common, in bytes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from chaffinch import core_compare
from chaffinch.types import Fingerprints, Match, Span
from chaffinch.units import Unit

GAP = 24
"""So many other symbols may stand between runs of one match: a line or two put in, taken out or changed."""


@dataclass(frozen=True, slots=True)
class Common:
    """What two units have in common."""

    matches: tuple[Match, ...]
    covered: tuple[int, int]
    """Symbols of each that stand in runs."""
    longest: int


def given(units: list[Unit], base: Unit | None, k: int, threads: int | None = None) -> list[NDArray[np.bool_]]:
    """Which symbols of each unit are base code, small changes to it included."""
    masks = [np.zeros(len(unit.symbols), bool) for unit in units]
    if base is None or not len(base.prints):
        return masks
    everything = core_compare.Collection(
        [u.symbols for u in (*units, base)], [u.prints for u in (*units, base)]
    )
    pairs = np.array([(i, len(units)) for i in range(len(units))], np.uint32).reshape(-1, 2)
    found = core_compare.matches(everything, pairs, k, GAP, threads)
    for i, mask in enumerate(masks):
        for m in range(int(found.pair_offsets[i]), int(found.pair_offsets[i + 1])):
            first, last = int(found.match_offsets[m]), int(found.match_offsets[m + 1]) - 1
            mask[int(found.left[first]) : int(found.left[last]) + int(found.lengths[last])] = True
    return masks


def ignore_common(units: list[Unit], masks: list[NDArray[np.bool_]], k: int, most: int) -> None:
    """Masks what more units have."""
    hashes, counts = np.unique(np.concatenate([np.unique(u.prints.hashes) for u in units]), return_counts=True)
    common = hashes[counts > most]
    for unit, mask in zip(units, masks, strict=True):
        for position in unit.prints.positions[np.isin(unit.prints.hashes, common)].tolist():
            mask[position : position + k] = True


def unlike(units: list[Unit], masks: list[NDArray[np.bool_]]) -> list[NDArray[np.uint32]]:
    """The units' symbols, with one that is nowhere else for each that is masked: no run goes on there."""
    found = []
    last = 0xFFFFFFFF - sum(len(unit.documents) for unit in units)  # those are between documents
    for unit, mask in zip(units, masks, strict=True):
        symbols = unit.symbols.copy() if mask.any() else unit.symbols
        count = int(mask.sum())
        symbols[mask] = np.arange(last - count, last)
        last -= count
        found.append(symbols)
    return found


def without(prints: Fingerprints, mask: NDArray[np.bool_], k: int) -> Fingerprints:
    """Those that do not lie wholly in what is masked."""
    if not mask.any():
        return prints
    masked = np.concatenate([[0], np.cumsum(mask)])
    keep = masked[prints.positions + k] - masked[prints.positions] < k
    return replace(prints, hashes=prints.hashes[keep], positions=prints.positions[keep])


def common(
    left: Unit,
    right: Unit,
    owners: NDArray[np.uint32],
    runs: core_compare.Runs,
    pair: int,
    sure: int,
) -> Common:
    """The matches of one pair; `owners` tells for each symbol on the left how many units have what is there.

    Matches of fewer than `sure` symbols are found by chance: they are left out unless there is nothing else.
    """
    first, last = runs.pair_offsets[pair : pair + 2].tolist()
    bounds = runs.match_offsets[first : last + 1].astype(np.int64)
    part = slice(int(bounds[0]), int(bounds[-1]))
    lefts, rights, lengths = (column[part].astype(np.int64) for column in (runs.left, runs.right, runs.lengths))
    spans = list(
        zip(
            left.spans(lefts.tolist(), (lefts + lengths).tolist()),
            right.spans(rights.tolist(), (rights + lengths).tolist()),
            strict=True,
        )
    )
    found: list[Match] = []
    bounds -= bounds[0]
    sizes = np.add.reduceat(lengths, bounds[:-1]) if len(lengths) else lengths
    if (sizes >= sure).any():
        keep = np.repeat(sizes >= sure, np.diff(bounds))
        lefts, rights, lengths = lefts[keep], rights[keep], lengths[keep]
        spans = [both for both, kept in zip(spans, keep.tolist(), strict=True) if kept]
        bounds = np.concatenate([[0], np.cumsum(np.diff(bounds)[sizes >= sure])])
    for start, end in pairwise(bounds.tolist()):
        cuts = [i for i in range(start + 1, end) if _files(spans[i]) != _files(spans[i - 1])]
        for first, last in pairwise([start, *cuts, end]):
            parts = lengths[first:last]
            shared = [owners[at : at + n] for at, n in zip(lefts[first:last], parts, strict=True)]
            found.append(
                Match(
                    _around([s for s, _ in spans[first:last]]),
                    _around([s for _, s in spans[first:last]]),
                    int(parts.sum()),
                    int(parts.max()),
                    tuple(spans[first:last]),
                    max(2, int(np.median(np.concatenate(shared)))),
                )
            )
    covered = _covered(lefts, lengths), _covered(rights, lengths)
    return Common(tuple(found), covered, int(lengths.max(initial=0)))


def _files(spans: tuple[Span, Span]) -> tuple[str, str]:
    return spans[0].document, spans[1].document


def _around(spans: list[Span]) -> Span:
    return Span(spans[0].document, min(s.start for s in spans), max(s.end for s in spans))


def _covered(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> int:
    """Symbols in at least one run."""
    order = np.argsort(starts, kind="stable")
    begins = starts[order]
    ends = np.maximum.accumulate(begins + lengths[order])
    begins[1:] = np.maximum(begins[1:], ends[:-1])  # each adds what no run before it has
    return int((ends - begins).clip(0).sum())
