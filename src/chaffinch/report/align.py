"""What stands beside what within a match: a place of both sides for every line; and what of it is text."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from chaffinch import fingerprinting as api
from chaffinch.comparison.language_group import recipe_for, symbol_weight
from chaffinch.errors import ChaffinchError
from chaffinch.languages import language
from chaffinch.types import Document, Match, Pair, Span

_APART = 24
"""Symbols at most from one place to the next, for in prose a line may be a page."""


class _Symbols(NamedTuple):
    """Where each symbol of a document begins, in bytes, the numbers of those that are first in a line, between
    which bytes there is markup, and what each symbol says."""

    starts: Sequence[int]
    firsts: list[int]
    markup: list[tuple[int, int]]
    weight: float

    def inside(self, span: Span) -> range:
        """The numbers of a span's symbols."""
        return range(bisect_left(self.starts, span.start), bisect_left(self.starts, span.end))

    def lines(self, numbers: range) -> list[int]:
        """Of these the first in each line, counted from the first of all."""
        of_lines = slice(bisect_left(self.firsts, numbers.start), bisect_left(self.firsts, numbers.stop))
        return [number - numbers.start for number in self.firsts[of_lines]]


_NONE = _Symbols([], [], [], 0.0)


class Beside:
    """Runs have symbol for symbol the same, so the nth of one side stands beside the nth of the other."""

    def __init__(self, documents: Mapping[str, Mapping[str, Document]], fronts: Iterable[str]) -> None:
        self._documents = documents
        self._fronts: list[str] = list(fronts)
        self._known: dict[tuple[str, str], _Symbols] = {}

    def steps(self, pair: Pair, match: Match) -> Iterator[tuple[int, int]]:
        """The bytes at which a run or a line of one of them begins, left and right."""
        left, right = (self._symbols(*at) for at in ((pair.left, match.left), (pair.right, match.right)))
        for spans in match.runs:
            yield spans[0].start, spans[1].start
            in_left, in_right = left.inside(spans[0]), right.inside(spans[1])
            size = min(len(in_left), len(in_right))
            if size > _APART:
                places = {*left.lines(in_left), *right.lines(in_right), *range(_APART, size, _APART)} - {0}
                for n in sorted(place for place in places if place < size):
                    yield left.starts[in_left.start + n], right.starts[in_right.start + n]

    def amounts(self, submission: str, document: str, spans: list[Span]) -> tuple[float, float]:
        """How much of a document lies in the spans, which may overlap, and how much there is."""
        symbols = self._symbols(submission, Span(document, 0, 0))
        inside = reached = 0
        for numbers in sorted(map(symbols.inside, spans), key=lambda numbers: numbers.start):
            inside += max(0, numbers.stop - max(numbers.start, reached))
            reached = max(reached, numbers.stop)
        return inside * symbols.weight, len(symbols.starts) * symbols.weight

    def pieces(self, submission: str, span: Span) -> list[Span]:
        """A span without the markup in it, of which nothing was compared."""
        if not (markup := self._symbols(submission, span).markup):
            return [span]
        first, behind = (bisect_left(markup, (place, place)) for place in (span.start, span.end))
        ends = [span.start, *(end for both in markup[first:behind] for end in both), span.end]
        return [Span(span.document, a, b) for a, b in zip(ends[::2], ends[1::2], strict=True)]

    def _symbols(self, submission: str, span: Span) -> _Symbols:
        key = submission, span.document
        if key not in self._known:
            self._known[key] = self._read(self._documents.get(submission, {}).get(span.document))
        return self._known[key]

    def _read(self, document: Document | None) -> _Symbols:
        """Nothing of what cannot be read again."""
        if document is None or not self._fronts:
            return _NONE
        family = language.family(document.language or "text")
        front = family if family in self._fronts else self._fronts[0]
        try:
            stream = api.stream(document, recipe_for(front))
        except ChaffinchError:
            return _NONE
        starts, data = stream.starts.data, document.data  # a list would take ten times the memory
        ends_of_lines = (found.start() for found in re.finditer(b"[\n\r]", data))
        firsts = sorted({bisect_left(starts, end) for end in ends_of_lines})
        between = zip(stream.ends.data, starts[1:], strict=False) if document.format == "html" else ()
        markup = [(a, b) for a, b in between if b - a > 2 and b"<" in data[a:b]]
        return _Symbols(starts, firsts, markup, symbol_weight(front))
