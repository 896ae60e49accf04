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
from chaffinch.errors import ChaffinchError
from chaffinch.languages import language
from chaffinch.recipe import recipe_for, symbol_weight
from chaffinch.report.document_text import Numbers, span_offsets
from chaffinch.types import Document, Match, Pair, Stream

FARTHEST = 24
"""Symbols from one anchor to the next, at most: in prose a line may be as long as a page."""


class Symbols(NamedTuple):
    """Where the symbols of a document stand."""

    starts: NDArray[np.uint32]
    """The offset of each symbol."""
    is_first: NDArray[np.bool_]
    """Whether each symbol is the first in its line, with one more entry for the end."""
    markup: Numbers
    """Spans that contain markup and no symbols, a row for each."""
    weight: float
    """What a symbol counts, in tokens."""

    def positions(self, offsets: Numbers) -> Numbers:
        """Return the position of the first symbol at or after each offset."""
        return self.starts.searchsorted(offsets.astype(np.uint32))

    def total(self) -> float:
        """Return how much there is, in tokens."""
        return len(self.starts) * self.weight

    def amount(self, spans: Numbers) -> float:
        """Return how much lies in the spans, in tokens; the spans may overlap."""
        if not len(spans):
            return 0.0
        size = len(self.starts) + 1
        begin, end = (np.bincount(positions, minlength=size) for positions in self.positions(spans).T)
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


NO_SYMBOLS = Symbols(np.empty(0, np.uint32), np.zeros(1, bool), np.empty((0, 2), np.int64), 0.0)


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
    left_first, left_end = left.positions(runs[:, :2]).T
    right_first, right_end = right.positions(runs[:, 2:]).T
    size = np.minimum(left_end - left_first, right_end - right_first)
    run, step = _ranges(np.zeros_like(size), np.maximum(size, 1))
    is_first = left.is_first[left_first[run] + step] | right.is_first[right_first[run] + step]
    is_anchor = (is_first | (step % FARTHEST == 0)) & (size > FARTHEST)[run]
    chosen = np.flatnonzero(is_anchor | (step == 0))
    run, step = run[chosen], step[chosen]
    offsets = runs[run][:, [0, 2]]
    inside = np.flatnonzero(step)
    offsets[inside, 0] = left.starts[(left_first[run] + step)[inside]]
    offsets[inside, 1] = right.starts[(right_first[run] + step)[inside]]
    return offsets, run


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
    family = language.family(document.language)
    front = family if family in fronts else fronts[0]
    if stream is None:
        try:
            stream = fingerprinting.stream(document, recipe_for(front))
        except ChaffinchError:
            return NO_SYMBOLS
    data = np.frombuffer(document.data, np.uint8)
    line_ends = np.flatnonzero((data == ord("\n")) | (data == ord("\r")))
    is_first = np.zeros(len(stream) + 1, bool)
    is_first[np.searchsorted(stream.starts, line_ends.astype(np.uint32))] = True
    markup = _markup(data, stream) if document.format == "html" else NO_SYMBOLS.markup
    return Symbols(stream.starts, is_first, markup, symbol_weight(front))


def _markup(data: NDArray[np.uint8], stream: Stream) -> Numbers:
    """Return the spans between symbols that contain a tag."""
    gaps = np.column_stack((stream.ends[:-1], stream.starts[1:])).astype(np.int64)
    tags = np.concatenate(([0], np.cumsum(data == ord("<"))))
    return gaps[(gaps[:, 1] - gaps[:, 0] > 2) & (tags[gaps[:, 1]] > tags[gaps[:, 0]])]
