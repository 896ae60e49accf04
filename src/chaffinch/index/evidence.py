"""Where a query and a document have something in common: from the document's content, or from its postings."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chaffinch import api, core_compare, match
from chaffinch.core_index import Found
from chaffinch.recipe import Recipe
from chaffinch.types import Document, Fingerprints, Match, Span, Stream
from chaffinch.units import units

if TYPE_CHECKING:
    from chaffinch.index.search import Query

_WORTH_THREADS = 4 << 20
"""For fewer bytes it takes longer to start threads than to do without."""
_SLACK = 64
_FEW = 16
"""Of a fingerprint that stands often in a document, so many places are looked at."""
_OPEN = 64
"""More chains than these at one place are repetition, and the oldest of them stay as they are."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Matches with the query on the left."""

    matches: tuple[Match, ...]
    covered: tuple[int, int] | None = None
    """Symbols of each that stand in runs, if it is known."""
    sizes: tuple[int, int] = (0, 0)
    """All symbols of each that count."""
    identical: bool = True
    """Whether nothing speaks against it."""


def grown(
    query: Query,
    recipe: Recipe,
    kept: Mapping[int, Document],
    boilerplate: Sequence[Document],
    found: Found,
    owners: NDArray[np.int64],
) -> dict[int, Evidence]:
    """The maximal matches with each of the numbered documents; boilerplate is no match.

    `owners` tells how many documents have each of the query's hashes.
    """
    if not kept:
        return {}
    how = _exact(recipe)
    documents = [query.document, *kept.values()]
    threads = None if sum(len(document.data) for document in documents) > _WORTH_THREADS else 1
    streams = api.streams(documents, how)
    sizes = [len(stream) for stream in streams]
    symbols = [stream.symbols for stream in streams]
    if boilerplate:
        *made, base = units([*([document] for document in documents), [*boilerplate]], how, threads)
        masks = match.given(made, base, how.k)
        sizes = [unit.size - int(mask.sum()) for unit, mask in zip(made, masks, strict=True)]
        prints = [match.without(unit.prints, mask, how.k) for unit, mask in zip(made, masks, strict=True)]
        symbols = match.unlike(made, masks)
    elif how is recipe and query.is_whole:
        prints = list(_seeds(query, kept, streams, found))
    else:
        prints = list(api.fingerprint_all(documents, how, threads=threads))
    pairs = np.array([(0, i) for i in range(1, len(documents))], np.uint32)
    runs = core_compare.matches(core_compare.Collection(symbols, prints), pairs, how.k, match.GAP, threads)
    often = _spread(len(streams[0]), query, owners)
    sides = [_Side(document, stream) for document, stream in zip(documents, streams, strict=True)]
    evidence = {}
    for i, number in enumerate(kept, 1):
        common = match.common(sides[0], sides[i], often, runs, i - 1, how.guarantee or how.k)
        same = np.array_equal(streams[0].symbols, streams[i].symbols)
        evidence[number] = Evidence(common.matches, common.covered, (sizes[0], sizes[i]), same)
    return evidence


class _Side(NamedTuple):
    """One of two documents that are looked at side by side."""

    document: Document
    stream: Stream

    def spans(self, starts: Sequence[int], lengths: Sequence[int], runs: Sequence[int]) -> list[Span]:
        first, last = self.stream.starts, self.stream.ends
        return [
            Span(self.document.name, int(first[starts[r]]), int(last[starts[r] + lengths[r] - 1])) for r in runs
        ]


def _seeds(
    query: Query, kept: Mapping[int, Document], streams: Sequence[Stream], found: Found
) -> Iterator[Fingerprints]:
    """The fingerprints that the query and each document share: they were just looked up."""
    nowhere = np.empty(0, np.uint32)
    yield replace(query.prints, hashes=query.number.astype(np.uint64))
    for number, stream in zip(kept, streams[1:], strict=True):
        rows = found.documents == number
        first, last = (
            np.searchsorted(stream.starts, found.positions[rows], side) for side in ("left", "right")
        )
        # Symbols that come of one character begin at one byte: each may be meant, the others grow to nothing.
        times = last - first
        at = np.repeat(last - np.cumsum(times), times) + np.arange(times.sum())
        hashes = np.repeat(found.queries[rows], times).astype(np.uint64)
        yield Fingerprints(hashes, at.astype(np.uint32), nowhere, nowhere, len(stream))


def _exact(recipe: Recipe) -> Recipe:
    """The recipe, or one that finds every run as long as a gram if it promises nothing."""
    return recipe if recipe.guarantee else Recipe(recipe.front, k=recipe.k, scheme="all")


def _spread(size: int, query: Query, owners: NDArray[np.int64]) -> NDArray[np.uint32]:
    """For each symbol, how many documents have the fingerprint that begins there or last before."""
    if not len(query.prints):
        return np.ones(size, np.uint32)
    order = np.argsort(query.prints.positions, kind="stable")
    at = np.searchsorted(query.prints.positions[order], np.arange(size), "right") - 1
    spread: NDArray[np.uint32] = owners[query.number[order]][at.clip(0)].astype(np.uint32)
    return spread


class _Seed(NamedTuple):
    """A fingerprint of the query, and the byte where the document has it too."""

    start: int
    end: int
    position: int
    there: int


def chained(query: Query, found: Found, number: int, name: str, k: int) -> Evidence:
    """Fingerprints that follow one another at about the same distance in both; their ends are not exact."""
    rows = found.documents == number
    places: dict[int, list[int]] = {}
    for hash_number, position in zip(found.queries[rows].tolist(), found.positions[rows].tolist(), strict=True):
        places.setdefault(hash_number, []).append(position)
    prints = query.prints
    seeds = [
        _Seed(int(prints.starts[i]), int(prints.ends[i]), int(prints.positions[i]), there)
        for i in np.argsort(prints.positions, kind="stable").tolist()
        for there in places.get(int(query.number[i]), [])[:_FEW]
    ]
    chains: list[list[_Seed]] = []
    open_chains: list[list[_Seed]] = []
    reach = _reach(query)
    for seed in seeds:
        open_chains = [c for c in open_chains[-_OPEN:] if seed.start - c[-1].end <= reach]
        fitting = [c for c in open_chains if _follows(c[-1], seed)]
        if fitting:
            drifts = [_drift(c[-1], seed) for c in fitting]
            fitting[drifts.index(min(drifts))].append(seed)
        else:
            chains.append([seed])
            open_chains.append(chains[-1])
    return Evidence(tuple(_without_covered([_match(query, chain, name, k) for chain in chains])))


def _without_covered(matches: list[Match]) -> list[Match]:
    """Without those that lie within one that is kept on the left and within one that is kept on the right."""
    lefts, rights = _Intervals(), _Intervals()
    kept = []
    for found in sorted(matches, key=lambda m: (-m.symbols, m.left.start, m.right.start)):
        inside = lefts.hold(found.left), rights.hold(found.right)
        if not all(inside):
            kept.append(found)
            lefts.add(found.left)
            rights.add(found.right)
    return sorted(kept, key=lambda m: (m.left.start, m.right.start))


class _Intervals:
    """Spans of which none lies within another, by where they start."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def hold(self, span: Span) -> bool:
        at = bisect_right(self._starts, span.start) - 1
        return at >= 0 and self._ends[at] >= span.end

    def add(self, span: Span) -> None:
        if self.hold(span):
            return
        at = bisect_left(self._starts, span.start)
        end = at
        while end < len(self._ends) and self._ends[end] <= span.end:
            end += 1
        self._starts[at:end], self._ends[at:end] = [span.start], [span.end]


def _reach(query: Query) -> int:
    """So many bytes may lie between fingerprints of one match."""
    size = max(query.prints.symbols, 1)
    return _SLACK + (match.GAP + 2 * _SLACK) * max(1, len(query.document.data) // size)


def _drift(last: _Seed, seed: _Seed) -> int:
    return abs((seed.there - last.there) - (seed.start - last.start))


def _follows(last: _Seed, seed: _Seed) -> bool:
    here = seed.start - last.start
    return here > 0 and seed.there > last.there and _drift(last, seed) <= _SLACK + here // 2


def _match(query: Query, chain: list[_Seed], name: str, k: int) -> Match:
    left = Span(query.document.name, chain[0].start, max(seed.end for seed in chain))
    right = Span(name, chain[0].there, chain[-1].there + chain[-1].end - chain[-1].start)
    symbols = chain[-1].position - chain[0].position + k
    return Match(left, right, symbols, symbols, ((left, right),), 2)
