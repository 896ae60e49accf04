"""Where a query and a document have something in common: from the document's content, or from its postings."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chaffinch import fingerprinting as api
from chaffinch.languages.language import OTHER
from chaffinch.matching.base_code import drop_masked, find_base_code, mask_symbols
from chaffinch.matching.joined_stream import join_streams
from chaffinch.matching.matches import GAP
from chaffinch.native import segment as core_index
from chaffinch.native.fingerprint import Source
from chaffinch.native.segment import ExtendedMatch, LookupResult, OwnerCounts, QuerySeeds
from chaffinch.recipe import Recipe
from chaffinch.types import Document, Fingerprints, Match, Span, Stream

if TYPE_CHECKING:
    from chaffinch.index.search import Query

_WORTH_THREADS = 4 << 20
"""For fewer bytes it takes longer to start threads than to do without."""
_SLACK = 64
_FEW = 16
"""What stands more often in a document begins no chain beside one that it follows."""
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
    found: LookupResult,
    owners: NDArray[np.int64],
) -> dict[int, Evidence]:
    """The maximal matches with each of the numbered documents; boilerplate is no match.

    `owners` tells how many documents have each of the query's hashes.
    """
    if not kept:
        return {}
    how = _exact(recipe)
    spread = OwnerCounts(query.prints.positions, owners[query.number])
    threads = None if sum(len(document.data) for document in kept.values()) > _WORTH_THREADS else 1
    if boilerplate or how is not recipe or not query.is_whole or how.front.startswith(OTHER):
        return _grown_anew(query, how, kept, boilerplate, spread, threads)
    sources = {number: api.native_source(document, how) for number, document in kept.items()}
    asked = QuerySeeds(query.prints.positions, query.number)
    left = api.native_source(query.document, how)
    common = core_index.extend_matches(left, sources, asked, spread, found, how, GAP, threads)
    return {
        number: Evidence(
            _matches(query.document, document, seen.matches), seen.covered, seen.symbols, seen.identical
        )
        for (number, document), seen in zip(kept.items(), common, strict=True)
    }


def _grown_anew(
    query: Query,
    recipe: Recipe,
    kept: Mapping[int, Document],
    boilerplate: Sequence[Document],
    spread: OwnerCounts,
    threads: int | None,
) -> dict[int, Evidence]:
    """The same where matches grow from other fingerprints than those that were looked up."""
    documents = [query.document, *kept.values()]
    streams = api.streams(documents, recipe)
    sizes = [len(stream) for stream in streams]
    symbols = [stream.symbols for stream in streams]
    if boilerplate:
        *joined, base = join_streams([*([document] for document in documents), [*boilerplate]], recipe, threads)
        masks, _ = find_base_code(joined, base, recipe.k)
        sizes = [stream.size - int(mask.sum()) for stream, mask in zip(joined, masks, strict=True)]
        prints = [drop_masked(s.prints, mask, recipe.k) for s, mask in zip(joined, masks, strict=True)]
        symbols = mask_symbols(joined, masks)
    else:
        prints = list(api.fingerprint_all(documents, recipe, threads=threads))
    left, *rights = (Source.canonical(numbers) for numbers in symbols)
    asked, found = _shared_by(prints)
    common = core_index.extend_matches(
        left, dict(enumerate(rights)), asked, spread, found, recipe, GAP, threads
    )
    evidence = {}
    for (number, document), seen, stream, size in zip(
        kept.items(), common, streams[1:], sizes[1:], strict=True
    ):
        for grown_here in seen.matches:  # from symbols to bytes
            for run in grown_here.runs:
                run[:] = [*_bytes(streams[0], *run[:2]), *_bytes(stream, *run[2:])]
        matches = _matches(query.document, document, seen.matches)
        same = np.array_equal(streams[0].symbols, stream.symbols)
        evidence[number] = Evidence(matches, seen.covered, (sizes[0], size), same)
    return evidence


def _bytes(stream: Stream, first: int, end: int) -> tuple[int, int]:
    return int(stream.starts[first]), int(stream.ends[end - 1])


def _matches(left: Document, right: Document, grown_here: Sequence[ExtendedMatch]) -> tuple[Match, ...]:
    return tuple(_told(left.name, right.name, *each) for each in grown_here)


def _told(left: str, right: str, runs: list[list[int]], symbols: int, longest: int, owners: int) -> Match:
    pairs = tuple((Span(left, a, b), Span(right, c, d)) for a, b, c, d in runs)
    whole = pairs[0]
    if len(pairs) > 1:
        whole = Span(left, runs[0][0], runs[-1][1]), Span(right, runs[0][2], runs[-1][3])
    return Match(*whole, symbols, longest, pairs, owners)


def _shared_by(prints: Sequence[Fingerprints]) -> tuple[QuerySeeds, LookupResult]:
    """The first of these, and which of the others have the same, with symbols as positions."""
    hashes, numbers = np.unique(prints[0].hashes, return_inverse=True)
    rows = []
    for i, there in enumerate(prints[1:]):
        places = np.searchsorted(hashes, there.hashes)
        shared = np.isin(there.hashes, hashes)
        rows.append((places[shared], np.full(shared.sum(), i), there.positions[shared]))
    queries, documents, positions = (
        np.concatenate(columns).astype(np.uint32) for columns in zip(*rows, strict=True)
    )
    order = np.lexsort((positions, documents, queries))
    return QuerySeeds(prints[0].positions, numbers), LookupResult(
        queries[order], documents[order], positions[order]
    )


def _exact(recipe: Recipe) -> Recipe:
    """The recipe, or one that finds every run as long as a gram if it promises nothing."""
    return recipe if recipe.guarantee else Recipe(recipe.front, k=recipe.k, scheme="all")


class _Seed(NamedTuple):
    """A fingerprint of the query, and the byte where the document has it too."""

    start: int
    end: int
    position: int
    there: int


def chained(query: Query, found: LookupResult, number: int, name: str, k: int) -> Evidence:
    """Fingerprints that follow one another at about the same distance in both; their ends are not exact."""
    rows = found.documents == number
    places: dict[int, list[int]] = {}
    for hash_number, position in zip(found.queries[rows].tolist(), found.positions[rows].tolist(), strict=True):
        places.setdefault(hash_number, []).append(position)
    prints = query.prints
    order = np.argsort(prints.positions, kind="stable")
    columns = (query.number, prints.starts, prints.ends, prints.positions)
    chains: list[list[_Seed]] = []
    open_chains: list[list[_Seed]] = []
    reach = _reach(query)
    for hash_number, start, end, at in zip(*(column[order].tolist() for column in columns), strict=True):
        if (there := places.get(hash_number)) is None:
            continue
        open_chains = [c for c in open_chains[-_OPEN:] if start - c[-1].end <= reach]
        fitting: dict[int, tuple[int, list[_Seed]]] = {}  # for each place the chain that it follows best
        for chain in open_chains:
            place, drift = _nearest(chain[-1], start, there)
            if drift is not None and (place not in fitting or drift < fitting[place][0]):
                fitting[place] = drift, chain
        for place, (_, chain) in fitting.items():
            chain.append(_Seed(start, end, at, place))
        begin = there if len(there) <= _FEW else there[:1] if not fitting else []
        fresh = [[_Seed(start, end, at, place)] for place in begin if place not in fitting]
        chains += fresh
        open_chains += fresh
    return Evidence(tuple(_without_covered([_match(query, chain, name, k) for chain in chains])))


def _nearest(last: _Seed, start: int, places: list[int]) -> tuple[int, int | None]:
    """The place nearest to where the document should go on, and how far it is from there, if it can follow."""
    passed = start - last.start
    due = last.there + passed
    at = bisect_left(places, due)
    if at == len(places) or (at and due - places[at - 1] < places[at] - due):
        at -= 1
    drift = abs(places[at] - due)
    follows = passed > 0 and places[at] > last.there and drift <= _SLACK + passed // 2
    return places[at], drift if follows else None


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
    return _SLACK + (GAP + 2 * _SLACK) * max(1, len(query.document.data) // size)


def _match(query: Query, chain: list[_Seed], name: str, k: int) -> Match:
    left = Span(query.document.name, chain[0].start, max(seed.end for seed in chain))
    right = Span(name, chain[0].there, chain[-1].there + chain[-1].end - chain[-1].start)
    symbols = chain[-1].position - chain[0].position + k
    return Match(left, right, symbols, symbols, ((left, right),), 2)
