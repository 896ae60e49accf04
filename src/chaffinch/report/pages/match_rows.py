"""The matches of a pair, as the pages read them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from chaffinch.report.align import FileMatches, Symbols, anchors, by_files
from chaffinch.report.document_text import DocumentText, Numbers, span_offsets
from chaffinch.report.report_texts import ReportTexts
from chaffinch.types import Pair, Span

MatchRow = list[Any]
"""Left file, start and end; right file, start and end; symbols, longest run, owners, number of runs; left runs,
right runs, steps; 1 if it is a repeat.

Starts and ends are UTF-16 units. Runs are start, end, start, end and so on. Steps are units that stand beside
each other, left and right in turn, each less the one before it on its side.
"""


class _Side(NamedTuple):
    """The left or the right of some matches: a file by its number, its text and its symbols."""

    file: int
    text: DocumentText
    symbols: Symbols

    def spans(self, spans: Sequence[Span]) -> list[list[int]]:
        """Return the start and end of each span, in units."""
        ends: list[list[int]] = self.text.units(self.text.spans(span_offsets(spans))).tolist()
        return ends

    def runs(self, runs: Numbers, bounds: Sequence[int]) -> list[list[int]]:
        """Return the starts and ends of the runs of each match, without the markup in them."""
        pieces, run = self.symbols.without_markup(runs)
        return _split(self.text.units(self.text.spans(pieces)), run.searchsorted(bounds))


def match_rows(pair: Pair, texts: ReportTexts) -> list[MatchRow]:
    """Return the matches of a pair and its repeats; those in files that are not there are left out."""
    rows: dict[int, MatchRow] = {}
    for files in by_files(pair):
        left = _side(pair.left, files.left, texts)
        right = _side(pair.right, files.right, texts)
        if left and right:
            rows |= zip(files.numbers, _rows(files, left, right), strict=True)
    return [[*rows[n], int(n >= len(pair.matches))] for n in sorted(rows)]


def _side(submission: str, document: str, texts: ReportTexts) -> _Side | None:
    if (text := texts.text(submission, document)) is None:
        return None
    names = [d.name for d in texts.submissions[submission].documents]
    return _Side(names.index(document), text, texts.symbols(submission, document))


def _rows(files: FileMatches, left: _Side, right: _Side) -> Iterator[MatchRow]:
    columns = (
        files.matches,
        left.spans([match.left for match in files.matches]),
        right.spans([match.right for match in files.matches]),
        left.runs(files.runs[:, :2], files.bounds),
        right.runs(files.runs[:, 2:], files.bounds),
        _steps(files, left, right),
    )
    for m, left_span, right_span, *details in zip(*columns, strict=True):
        figures = m.symbols, m.longest, m.owners, len(m.runs)
        yield [left.file, *left_span, right.file, *right_span, *figures, *details]


def _steps(files: FileMatches, left: _Side, right: _Side) -> list[list[int]]:
    offsets, run = anchors(left.symbols, right.symbols, files.runs)
    bounds = run.searchsorted(files.bounds)
    units = np.zeros((len(run) + 1, 2), np.int64)
    for side, of_side in enumerate((left, right)):
        units[1:, side] = of_side.text.units(of_side.text.characters(offsets[:, side]))
    steps = units[1:] - units[:-1]
    first = bounds[:-1][bounds[:-1] < bounds[1:]]
    steps[first] = units[first + 1]
    return _split(steps, bounds)


def _split(rows: Numbers, bounds: Numbers) -> list[list[int]]:
    """Return the numbers of the rows from each bound to the next, one after another."""
    numbers: list[int] = rows.ravel().tolist()
    return [numbers[a:b] for a, b in pairwise((bounds * 2).tolist())]
