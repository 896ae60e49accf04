"""Runs of equal symbols -> matches: what two units have in common, in bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import overload

import numpy as np
from numpy.typing import NDArray

from chaffinch.matching.joined_stream import Unit
from chaffinch.native import pairs as core_compare
from chaffinch.types import Fingerprints, Match, Span

GAP = 24
"""So many other symbols may stand between runs of one match: a line or two put in, taken out or changed."""

_EDIT = 4
"""So many symbols may stand where base code was edited: whoever put in more wrote something."""

Run = tuple[int, int, int]
"""Where it starts on the left and on the right, and how many symbols it has."""
Masks = list[NDArray[np.bool_]]
Places = list[NDArray[np.int32]]
"""Where in the base code each symbol of each unit stands, or -1; nothing if there is none."""


def given(units: list[Unit], base: Unit | None, k: int, threads: int | None = None) -> tuple[Masks, Places]:
    """Which symbols of each unit are base code, small changes to it included, and where they stand in it."""
    masks = [np.zeros(len(unit.symbols), bool) for unit in units]
    if base is None or not len(base.prints):
        return masks, []
    places = [np.full(len(unit.symbols), -1, np.int32) for unit in units]
    everything = core_compare.Corpus([u.symbols for u in (*units, base)], [u.prints for u in (*units, base)])
    pairs = np.array([(i, len(units)) for i in range(len(units))], np.uint32).reshape(-1, 2)
    found = core_compare.find_matches(everything, pairs, k, GAP, threads=threads)
    runs = list(zip(found.left.tolist(), found.right.tolist(), found.lengths.tolist(), strict=True))
    for mask, place, (first, end) in zip(masks, places, pairwise(found.pairs[:, 0].tolist()), strict=True):
        matches = [runs[run:behind] for run, behind in pairwise(found.matches[first : end + 1, 0].tolist())]
        # Where base code repeats itself, the longest match tells which of it this is.
        for match in sorted(matches, key=lambda match: -sum(length for *_, length in match)):
            _mark(mask, place, match)
    for unit, mask in zip(units, masks, strict=True):
        mask[unit.between] = False
    return masks, places


def _mark(mask: NDArray[np.bool_], place: NDArray[np.int32], match: list[Run]) -> None:
    for start, there, length in match:
        mask[start : start + length] = True
        known = place[start : start + length]
        np.copyto(known, np.arange(there, there + length, dtype=np.int32), where=known < 0)
    for (start, _, length), (behind, *_) in pairwise(match):
        if behind - start - length <= _EDIT:
            mask[start + length : behind] = True


def different(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Each once, in order, as np.unique gives them; it would hash, which takes many times as long."""
    ordered = np.sort(hashes)
    is_other = np.ones(len(ordered), bool)
    is_other[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_other]


def ignore_common(units: list[Unit], masks: Masks, k: int, most: int) -> None:
    """Masks what more units have."""
    hashes, counts = np.unique(np.concatenate([different(u.prints.hashes) for u in units]), return_counts=True)
    common = hashes[counts > most]
    for unit, mask in zip(units, masks, strict=True):
        for position in unit.prints.positions[np.isin(unit.prints.hashes, common)].tolist():
            mask[position : position + k] = True


def unlike(
    units: list[Unit], masks: Masks, places: Sequence[NDArray[np.int32]] = ()
) -> list[NDArray[np.uint32]]:
    """The units' symbols, with one that is nowhere else for each that is masked: no run goes on there.

    If its places are given, base code is like the same base code: what both wrote into it is one run with it.
    """
    found = []
    last = 0xFFFFFFFF - sum(len(unit.documents) for unit in units)  # those are between documents
    base = last = last - 1 - max((int(place.max(initial=-1)) for place in places), default=-1)
    for i, (unit, mask) in enumerate(zip(units, masks, strict=True)):
        symbols = unit.symbols
        if count := int(np.count_nonzero(mask)):
            symbols = symbols.copy()
            symbols[mask] = np.arange(last - count, last)
            last -= count
            if places:
                np.copyto(
                    symbols, (np.int64(base) + places[i]).astype(np.uint32), where=mask & (places[i] >= 0)
                )
        found.append(symbols)
    return found


def kinds(units: list[Unit], masks: Masks) -> list[NDArray[np.uint8]]:
    """Of every symbol what it is, as the core is told."""
    found = [mask.astype(np.uint8) for mask in masks]
    for unit, kind in zip(units, found, strict=True):
        kind[unit.between] = 2
    return found


def without(prints: Fingerprints, mask: NDArray[np.bool_], k: int) -> Fingerprints:
    """Those that do not lie wholly in what is masked."""
    if not np.count_nonzero(mask):
        return prints
    masked = np.concatenate([[0], np.cumsum(mask)])
    keep = masked[prints.positions + k] - masked[prints.positions] < k
    return replace(prints, hashes=prints.hashes[keep], positions=prints.positions[keep])


@dataclass(frozen=True, slots=True, eq=False)
class Common:
    """What two units have in common, as one of many pairs whose runs are known."""

    left: Unit
    right: Unit
    runs: core_compare.MatchTable
    pair: int
    is_prose: bool

    @property
    def covered(self) -> tuple[int, int]:
        """Symbols of each that stand in runs."""
        _, left, right = self.runs.pairs[self.pair].tolist()
        return left, right

    @property
    def longest(self) -> int:
        """Of the runs, in symbols."""
        first, end = self._matches[[0, -1], 0].tolist()
        return int(self.runs.lengths[first:end].max(initial=0))

    @property
    def _matches(self) -> NDArray[np.uint32]:
        """As the core gives them, and one behind them."""
        first, end = self.runs.pairs[self.pair : self.pair + 2, 0].tolist()
        return self.runs.matches[first : end + 1]

    def made(self) -> tuple[list[Match], list[Match]]:
        """The matches; what goes on in another file is another. Of prose, what is on one side part of matches
        at least twice as long is apart."""
        bounds = self._matches.tolist()
        start, end = bounds[0][0], bounds[-1][0]
        runs = self.runs
        # Lists: most pairs have a few runs, which NumPy would take longer for.
        lefts, rights, lengths = (c[start:end].tolist() for c in (runs.left, runs.right, runs.lengths))
        found: list[tuple[int, int, bool, Match]] = []
        for (one, owners, again), (next_one, *_) in pairwise(bounds):
            match = range(one - start, next_one - start)
            spans = self.left.spans(lefts, lengths, match), self.right.spans(rights, lengths, match)
            both = list(zip(*spans, strict=True))
            cuts = [i for i in range(1, len(match)) if _files(both[i]) != _files(both[i - 1])]
            for i, j in pairwise([0, *cuts, len(match)]):
                sizes = lengths[match[i] : match[j - 1] + 1]
                around = [_around(side[i:j]) for side in spans]
                made = Match(around[0], around[1], sum(sizes), max(sizes), tuple(both[i:j]), owners)
                # The symbols of programs stand for any names: there a second place is a match of its own.
                found.append((lefts[match[i]], rights[match[i]], bool(again and self.is_prose), made))
        found.sort(key=lambda one: one[:2])
        return [m for *_, again, m in found if not again], [m for *_, again, m in found if again]


class _Made:
    """The matches and the repeats of a pair in all its parts, once somebody looks at them."""

    __slots__ = ("_lists", "_parts")

    def __init__(self, parts: Sequence[Common]) -> None:
        self._parts = parts
        self._lists: tuple[tuple[Match, ...], tuple[Match, ...]] | None = None

    def lists(self) -> tuple[tuple[Match, ...], tuple[Match, ...]]:
        if self._lists is None:
            each = [part.made() for part in self._parts]
            self._lists = tuple(chain(*(m for m, _ in each))), tuple(chain(*(r for _, r in each)))
            self._parts = ()
        return self._lists


class Later(Sequence[Match]):
    """Matches that are made when somebody looks at them: all pairs of a class have millions."""

    __slots__ = ("_made", "_which")

    def __init__(self, made: _Made, which: int) -> None:
        self._made = made
        self._which = which

    def _all(self) -> tuple[Match, ...]:
        return self._made.lists()[self._which]

    @overload
    def __getitem__(self, i: int) -> Match: ...
    @overload
    def __getitem__(self, i: slice) -> tuple[Match, ...]: ...
    def __getitem__(self, i: int | slice) -> Match | tuple[Match, ...]:
        return self._all()[i]

    def __len__(self) -> int:
        return len(self._all())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tuple | Later) and self._all() == tuple(other)

    def __hash__(self) -> int:
        return hash(self._all())

    def __repr__(self) -> str:
        return repr(self._all())

    def __reduce__(self) -> tuple[type, tuple[tuple[Match, ...]]]:
        return tuple, (self._all(),)


def later(parts: Sequence[Common]) -> tuple[Later, Later]:
    """The matches and the repeats of a pair in all its parts."""
    made = _Made(parts)
    return Later(made, 0), Later(made, 1)


def _files(spans: tuple[Span, Span]) -> tuple[str, str]:
    return spans[0].document, spans[1].document


def _around(spans: list[Span]) -> Span:
    if len(spans) == 1:
        return spans[0]
    return Span(spans[0].document, min(s.start for s in spans), max(s.end for s in spans))
