"""Which symbols of the left stand beside which of the right: an offset of both for every line of a match.

A run has the same symbols on both sides, so its nth symbol on the left stands beside its nth on the right.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chaffinch import fingerprinting
from chaffinch.comparison.language_group import recipe_for, symbol_weight
from chaffinch.errors import ChaffinchError
from chaffinch.languages import language
from chaffinch.report.document_text import Numbers, span_offsets
from chaffinch.types import Document, Match, Pair, Stream

FARTHEST = 24
"""Symbols from one anchor to the next, at most: in prose a line may be as long as a page."""


class Symbols(NamedTuple):
    """Where the symbols of a document stand."""

    starts: NDArray[np.uint32]
    """The offset of each symbol."""
    first_in_line: Numbers
    """The positions of the symbols that come first in a line."""
    markup: Numbers
    """Spans that contain markup and no symbols, a row for each."""
    weight: float
    """What a symbol counts, in tokens."""

    def positions(self, offsets: Numbers) -> Numbers:
        """Return the position of the first symbol at or behind each offset."""
        return np.searchsorted(self.starts, offsets.astype(np.uint32))

    def total(self) -> float:
        """Return how much there is, in tokens."""
        return len(self.starts) * self.weight

    def amount(self, spans: Numbers) -> float:
        """Return how much lies in the spans, in tokens; the spans may overlap."""
        size = len(self.starts) + 1
        begin, end = (np.bincount(self.positions(offsets), minlength=size) for offsets in spans.T)
        return np.count_nonzero(np.cumsum(begin - end)) * self.weight

    def without_markup(self, spans: Numbers) -> tuple[Numbers, Numbers]:
        """Return the pieces of the spans between markup, and the number of the span that each is from."""
        numbers = np.arange(len(spans))
        if not len(self.markup):
            return spans, numbers
        which, inside = _ranges(*np.searchsorted(self.markup[:, 0], spans.T))
        which = np.concatenate((numbers, which))
        starts = np.concatenate((spans[:, 0], self.markup[inside, 1]))
        ends = np.concatenate((spans[:, 1], self.markup[inside, 0]))
        order = np.lexsort((starts, which))
        return np.column_stack((starts[order], ends[np.lexsort((ends, which))])), which[order]


NO_SYMBOLS = Symbols(np.empty(0, np.uint32), np.empty(0, np.int64), np.empty((0, 2), np.int64), 0.0)


class FileMatches(NamedTuple):
    """The matches of a pair between one file of the left and one of the right."""

    left: str
    right: str
    """The names of the documents."""
    numbers: list[int]
    """Which matches of the pair they are."""
    matches: list[Match]
    runs: Numbers
    """As `run_offsets` returns them."""
    bounds: list[int]
    """The first run of each match, and the end of the last."""


def by_files(pair: Pair) -> list[FileMatches]:
    """Return the matches of a pair, and its repeats, by the files they are in."""
    groups: dict[tuple[str, str], list[tuple[int, Match]]] = {}
    for number, match in enumerate(pair.places):
        groups.setdefault((match.left.document, match.right.document), []).append((number, match))
    return [_file_matches(*files, *zip(*group, strict=True)) for files, group in groups.items()]


def _file_matches(left: str, right: str, numbers: Sequence[int], matches: Sequence[Match]) -> FileMatches:
    bounds = [0, *accumulate(len(match.runs) for match in matches)]
    return FileMatches(left, right, list(numbers), list(matches), run_offsets(matches), bounds)


def run_offsets(matches: Sequence[Match]) -> Numbers:
    """Return the offsets of all runs, a row for each: start and end on the left, start and end on the right."""
    return span_offsets([span for match in matches for run in match.runs for span in run]).reshape(-1, 4)


def anchors(left: Symbols, right: Symbols, runs: Numbers) -> tuple[Numbers, Numbers]:
    """Return offsets that stand beside each other, left and right in a row, and the run of each.

    There is an anchor where a run begins, and in a long run where a line of either side begins.
    """
    first = np.column_stack((left.positions(runs[:, 0]), right.positions(runs[:, 2])))
    behind = np.column_stack((left.positions(runs[:, 1]), right.positions(runs[:, 3])))
    size = (behind - first).min(axis=1, initial=0x7FFFFFFF)
    long = size * (size > FARTHEST)
    which, regular = _ranges(np.zeros_like(size), np.maximum(size - 1, 0) // FARTHEST + 1)
    keys = [which << 32 | regular * FARTHEST]
    for side, symbols in enumerate((left, right)):
        lines = symbols.first_in_line
        which, inside = _ranges(*np.searchsorted(lines, (first[:, side], first[:, side] + long)))
        keys.append(which << 32 | lines[inside] - first[which, side])
    key = np.sort(np.concatenate(keys))
    key = key[np.diff(key, prepend=-1) != 0]
    which, step = key >> 32, key & 0xFFFFFFFF
    offsets = runs[which][:, [0, 2]]
    moved = step > 0
    for side, symbols in enumerate((left, right)):
        offsets[moved, side] = symbols.starts[(first[which, side] + step)[moved]]
    return offsets, which


def _ranges(starts: Numbers, ends: Numbers) -> tuple[Numbers, Numbers]:
    """Return the numbers from each start to its end, one range after another, and the range of each."""
    lengths = ends - starts
    which = np.repeat(np.arange(len(lengths)), lengths)
    return which, np.arange(len(which)) + (starts + lengths - np.cumsum(lengths))[which]


def read_symbols(document: Document, fronts: Sequence[str], stream: Stream | None = None) -> Symbols:
    """Return where the symbols of a document stand; none if it cannot be read.

    `fronts` are the languages that were compared; `stream` is the document's, if comparing made it.
    """
    if not fronts:
        return NO_SYMBOLS
    family = language.family(document.language or "text")
    front = family if family in fronts else fronts[0]
    try:
        stream = stream or fingerprinting.stream(document, recipe_for(front))
    except ChaffinchError:
        return NO_SYMBOLS
    data = np.frombuffer(document.data, np.uint8)
    line_ends = np.flatnonzero((data == ord("\n")) | (data == ord("\r")))
    first_in_line = np.searchsorted(stream.starts, line_ends.astype(np.uint32))
    first_in_line = first_in_line[np.diff(first_in_line, prepend=-1) != 0]
    markup = _markup(data, stream) if document.format == "html" else NO_SYMBOLS.markup
    return Symbols(stream.starts, first_in_line, markup, symbol_weight(front))


def _markup(data: NDArray[np.uint8], stream: Stream) -> Numbers:
    """Return the spans between symbols that contain a tag."""
    gaps = np.column_stack((stream.ends[:-1], stream.starts[1:])).astype(np.int64)
    tags = np.concatenate(([0], np.cumsum(data == ord("<"))))
    return gaps[(gaps[:, 1] - gaps[:, 0] > 2) & (tags[gaps[:, 1]] > tags[gaps[:, 0]])]
