"""Runs of equal symbols -> matches: what two joined streams share, in bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import overload

import numpy as np
from numpy.typing import NDArray

from chaffinch.matching.joined_stream import JoinedStream
from chaffinch.native.pairs import MatchTable
from chaffinch.types import Match, Span

GAP = 24
"""Symbols. Runs of one match are at most this far apart: one or two lines inserted, deleted or changed."""

MatchesAndRepeats = tuple[tuple[Match, ...], tuple[Match, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class PairMatches:
    """What two joined streams share: one pair of a table of matches."""

    left: JoinedStream
    right: JoinedStream
    table: MatchTable
    pair: int
    is_prose: bool

    @property
    def covered(self) -> tuple[int, int]:
        """The symbols of each side that lie in runs."""
        _, left, right = self.table.pairs[self.pair].tolist()
        return left, right

    @property
    def longest(self) -> int:
        """The symbols of the longest run."""
        first, end = self._rows[[0, -1], 0].tolist()
        return int(self.table.lengths[first:end].max(initial=0))

    def longest_of(self, max_owners: int) -> int:
        """Return the symbols of the longest run in a match that at most this many submissions have."""
        rows = self._rows
        owners = np.repeat(rows[:-1, 1], rows[1:, 0] - rows[:-1, 0])
        lengths = self.table.lengths[int(rows[0, 0]) : int(rows[-1, 0])]
        return int(lengths[owners <= max_owners].max(initial=0))

    @property
    def _rows(self) -> NDArray[np.uint32]:
        """The rows of the matches in the table, and the row after them."""
        first, end = self.table.pairs[self.pair : self.pair + 2, 0].tolist()
        return self.table.matches[first : end + 1]

    def matches_and_repeats(self) -> MatchesAndRepeats:
        """Return the matches in order. A match that continues in another file is split there.

        In prose, a match that repeats part of matches at least twice as long is a repeat. In programs it is a
        match like any other, because symbols of programs stand for any names.
        """
        rows = self._rows.tolist()
        begin, end = rows[0][0], rows[-1][0]
        lefts, rights, lengths = (
            column[begin:end].tolist() for column in (self.table.left, self.table.right, self.table.lengths)
        )
        left_spans, right_spans = self.left.spans(lefts, lengths), self.right.spans(rights, lengths)
        files = [(left.document, right.document) for left, right in zip(left_spans, right_spans, strict=True)]
        matches: list[tuple[int, int, bool, Match]] = []
        for (first, owners, repeats), (next_first, *_) in pairwise(rows):
            runs = range(first - begin, next_first - begin)
            cuts = [i for i in runs[1:] if files[i] != files[i - 1]]
            for i, j in pairwise([runs.start, *cuts, runs.stop]):
                left, right, sizes = left_spans[i:j], right_spans[i:j], lengths[i:j]
                spans = tuple(zip(left, right, strict=True))
                symbols = min(_covered(starts[i:j], sizes) for starts in (lefts, rights))
                match = Match(enclosing(left), enclosing(right), symbols, max(sizes), spans, owners)
                matches.append((lefts[i], rights[i], bool(repeats and self.is_prose), match))
        matches.sort(key=lambda row: row[:2])
        return (
            tuple(match for *_, is_repeat, match in matches if not is_repeat),
            tuple(match for *_, is_repeat, match in matches if is_repeat),
        )


class _MatchLists:
    """The matches and repeats of a pair in all languages, built when first used."""

    __slots__ = ("_lists", "_parts")

    def __init__(self, parts: Sequence[PairMatches]) -> None:
        self._parts = parts
        self._lists: MatchesAndRepeats | None = None

    def lists(self) -> MatchesAndRepeats:
        if self._lists is None:
            parts = [part.matches_and_repeats() for part in self._parts]
            self._lists = tuple(chain(*(m for m, _ in parts))), tuple(chain(*(r for _, r in parts)))
            self._parts = ()
        return self._lists


class LazyMatches(Sequence[Match]):
    """Matches that are built when first used: all pairs of a class have millions of them.

    Give their number if it is known before.
    """

    __slots__ = ("_build", "_count", "_matches")

    def __init__(self, build: Callable[[], tuple[Match, ...]], count: int | None = None) -> None:
        self._build, self._count = build, count
        self._matches: tuple[Match, ...] | None = None

    def _all(self) -> tuple[Match, ...]:
        if self._matches is None:
            self._matches = self._build()
            self._build = tuple  # frees what they were built from
        return self._matches

    @overload
    def __getitem__(self, i: int) -> Match: ...
    @overload
    def __getitem__(self, i: slice) -> tuple[Match, ...]: ...
    def __getitem__(self, i: int | slice) -> Match | tuple[Match, ...]:
        return self._all()[i]

    def __len__(self) -> int:
        return len(self._all()) if self._count is None else self._count

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tuple | LazyMatches) and self._all() == tuple(other)

    def __hash__(self) -> int:
        return hash(self._all())

    def __repr__(self) -> str:
        return repr(self._all())

    def __reduce__(self) -> tuple[type, tuple[tuple[Match, ...]]]:
        return tuple, (self._all(),)


def lazy_matches(parts: Sequence[PairMatches]) -> tuple[LazyMatches, LazyMatches]:
    """Return the matches and the repeats of a pair in all languages."""
    lists = _MatchLists(parts)
    return LazyMatches(lambda: lists.lists()[0]), LazyMatches(lambda: lists.lists()[1])


def enclosing(spans: Sequence[Span]) -> Span:
    """Return the span from the first start to the last end, in one document."""
    if len(spans) == 1:
        return spans[0]
    return Span(spans[0].document, min(s.start for s in spans), max(s.end for s in spans))


def _covered(starts: Sequence[int], lengths: Sequence[int]) -> int:
    """Count the symbols in runs on one side. Runs may overlap where a document repeats itself."""
    covered = reached = 0
    for start, length in sorted(zip(starts, lengths, strict=True)):
        covered += max(start + length - max(start, reached), 0)
        reached = max(reached, start + length)
    return covered
