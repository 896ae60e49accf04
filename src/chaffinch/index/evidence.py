"""Where a query and a document match: found in the document's text, or in its postings alone."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chaffinch import fingerprinting
from chaffinch.languages.language import OTHER
from chaffinch.matching.base_code import drop_masked, find_base_code, mask_symbols
from chaffinch.matching.joined_stream import join_streams
from chaffinch.matching.matches import GAP, LazyMatches, enclosing
from chaffinch.native.fingerprint import Source
from chaffinch.native.segment import (
    ExtendedMatch,
    LookupResult,
    OwnerCounts,
    QueryMatches,
    QuerySeeds,
    extend_matches,
)
from chaffinch.read.for_recipe import native_source
from chaffinch.recipe import Recipe
from chaffinch.types import Document, Fingerprints, Match, Span, Stream

if TYPE_CHECKING:
    from chaffinch.index.search import Candidates

_WORTH_THREADS = 1 << 18
"""Bytes. For less text, starting threads takes longer than the work."""
_POSTING_REACH = 100
"""Symbols. Without texts, neighbouring fingerprints of one match are at most about this far apart."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The matches of a query with one document. The query is on the left."""

    matches: Sequence[Match]
    covered: tuple[int, int] | None = None
    """Symbols of each that the matches cover, if known."""
    sizes: tuple[int, int] = (0, 0)
    """Symbols of each that count."""
    identical: bool | None = None
    """Whether both have the same symbols, if known."""
    runs: NDArray[np.uint32] = field(default_factory=lambda: np.empty((0, 4), np.uint32))
    """Of the matches: start and end in the query, start and end in the document."""


def matches_in_texts(
    candidates: Candidates, texts: Mapping[int, Document], boilerplate: Sequence[Document]
) -> dict[int, Evidence]:
    """Find the maximal matches with each numbered document, without those in boilerplate."""
    if not texts:
        return {}
    query, recipe = candidates.query, candidates.store.settings.recipe
    # Without a guarantee, every run as long as a gram is found instead.
    exact = recipe if recipe.guarantee else Recipe(recipe.front, k=recipe.k, scheme="all")
    owner_counts = OwnerCounts(query.prints.positions, candidates.owners[query.hash_numbers])
    threads = None if sum(len(document.data) for document in texts.values()) > _WORTH_THREADS else 1
    by_seeds = exact is recipe
    if boilerplate or exact.front.startswith(OTHER) or (by_seeds and not query.is_whole):
        return _matches_of_other_fingerprints(query.document, exact, texts, boilerplate, owner_counts, threads)
    common = extend_matches(
        native_source(query.document, exact),
        {number: native_source(document, exact) for number, document in texts.items()},
        QuerySeeds(query.prints.positions, query.hash_numbers) if by_seeds else None,
        owner_counts,
        candidates.postings if by_seeds else None,
        exact,
        GAP,
        threads,
    )
    return {
        number: Evidence(
            _lazy(query.document.name, document.name, c), c.covered, c.symbols, c.identical, c.runs
        )
        for (number, document), c in zip(texts.items(), common, strict=True)
    }


def _matches_of_other_fingerprints(
    query: Document,
    recipe: Recipe,
    texts: Mapping[int, Document],
    boilerplate: Sequence[Document],
    owner_counts: OwnerCounts,
    threads: int | None,
) -> dict[int, Evidence]:
    """Fingerprint the texts again, where the fingerprints that were looked up are not enough."""
    documents = [query, *texts.values()]
    streams = fingerprinting.streams(documents, recipe)
    sizes = [len(stream) for stream in streams]
    symbols = [stream.symbols for stream in streams]
    if boilerplate:
        *joined, base = join_streams([*([document] for document in documents), [*boilerplate]], recipe, threads)
        masks, _ = find_base_code(joined, base, recipe.k)
        sizes = [stream.size - int(mask.sum()) for stream, mask in zip(joined, masks, strict=True)]
        prints = [drop_masked(s.prints, mask, recipe.k) for s, mask in zip(joined, masks, strict=True)]
        symbols = mask_symbols(joined, masks)
    else:
        prints = list(fingerprinting.fingerprint_all(documents, recipe, threads=threads))
    left, *rights = (Source.canonical(numbers) for numbers in symbols)
    seeds, postings = _shared_fingerprints(prints)
    common = extend_matches(left, dict(enumerate(rights)), seeds, owner_counts, postings, recipe, GAP, threads)
    evidence = {}
    for (number, document), c, stream, size in zip(texts.items(), common, streams[1:], sizes[1:], strict=True):
        in_bytes = c._replace(runs=_in_bytes(c.runs, streams[0], stream))
        matches = _lazy(query.name, document.name, in_bytes)
        identical = np.array_equal(streams[0].symbols, stream.symbols)
        evidence[number] = Evidence(matches, c.covered, (sizes[0], size), identical, c.runs)
    return evidence


def moved_share(runs: NDArray[np.uint32]) -> float:
    """Return the share of the runs, by their length, outside the longest chain that is in order in both."""
    if not len(runs):
        return 0.0
    left_starts, left_ends, right_starts, _ = runs[np.lexsort((runs[:, 2], runs[:, 0]))].astype(np.int64).T
    reached = np.maximum.accumulate(np.append(0, left_ends))[:-1]
    covered = int(np.maximum(left_ends - np.maximum(left_starts, reached), 0).sum())
    # The chains that end so far, by where they end in the document: a longer one ends later, or it is dropped.
    ends, lengths = [-1], [0]
    for right, length in zip(right_starts.tolist(), (left_ends - left_starts).tolist(), strict=True):
        before = bisect_right(ends, right)
        total = lengths[before - 1] + length
        after = bisect_right(lengths, total, before)
        ends[before:after], lengths[before:after] = [right], [total]
    return max(1 - lengths[-1] / max(covered, 1), 0.0)


def _in_bytes(runs: NDArray[np.uint32], left: Stream, right: Stream) -> NDArray[np.uint32]:
    """Return the runs in bytes, given those in symbols."""
    first, end, other_first, other_end = runs.T
    columns = left.starts[first], left.ends[end - 1], right.starts[other_first], right.ends[other_end - 1]
    return np.stack(columns, axis=1)


def _lazy(left: str, right: str, common: QueryMatches) -> LazyMatches:
    def build() -> tuple[Match, ...]:
        return tuple(_match(left, right, *extended) for extended in common.matches())

    return LazyMatches(build, len(common.rows))


def _match(left: str, right: str, runs: list[list[int]], symbols: int, longest: int, owners: int) -> Match:
    pairs = tuple((Span(left, a, b), Span(right, c, d)) for a, b, c, d in runs)
    whole = enclosing([a for a, _ in pairs]), enclosing([b for _, b in pairs])
    return Match(*whole, symbols, longest, pairs, owners)


def _shared_fingerprints(prints: Sequence[Fingerprints]) -> tuple[QuerySeeds, LookupResult]:
    """Look up the fingerprints of the first document in the others. Positions are in symbols."""
    hashes, numbers = np.unique(prints[0].hashes, return_inverse=True)
    rows = []
    for i, other in enumerate(prints[1:]):
        queries = np.searchsorted(hashes, other.hashes)
        shared = np.append(hashes, 0)[queries] == other.hashes
        shared &= queries < len(hashes)
        queries = queries[shared]
        rows.append((queries, np.full(len(queries), i), other.positions[shared]))
    return QuerySeeds(prints[0].positions, numbers), _sorted(rows)


def _sorted(rows: Sequence[tuple[NDArray[Any], ...]]) -> LookupResult:
    """Join the columns of postings and sort them as a lookup does."""
    queries, documents, positions = (np.concatenate(columns) for columns in zip(*rows, strict=True))
    order = np.lexsort((positions, documents, queries))
    return LookupResult(*(column[order].astype(np.uint32) for column in (queries, documents, positions)))


def matches_in_postings(candidates: Candidates, names: Mapping[int, str]) -> dict[int, Evidence]:
    """Find about where documents match whose text is not stored. The ends of the matches are not exact.

    Fingerprints take the place of symbols: inside a shared passage both documents select the same ones, so the
    core chains runs of equal fingerprints.
    """
    query, prints, postings = candidates.query, candidates.query.prints, candidates.postings
    order = np.argsort(prints.positions, kind="stable")
    columns = (query.hash_numbers, prints.positions, prints.starts, prints.ends)
    numbers, positions, starts, ends = (column[order] for column in columns)
    indices = np.arange(len(prints), dtype=np.uint32)
    spacing = max(len(query.document.data) / len(prints), 1.0)
    streams = {number: _PostingStream(postings, number, spacing, len(query.hashes)) for number in names}
    common = extend_matches(
        Source.canonical(numbers.astype(np.uint32)),
        {number: Source.canonical(stream.symbols) for number, stream in streams.items()},
        QuerySeeds(indices, numbers),
        OwnerCounts(indices, candidates.owners[numbers]),
        _sorted([stream.rows for stream in streams.values()]),
        Recipe("text", k=1, w=1),
        max(_POSTING_REACH * len(prints) // max(prints.symbols, 1), 1),
        threads=1,
    )

    def to_bytes(name: str, stream: _PostingStream, extended: ExtendedMatch) -> Match:
        left_starts, left_ends, right_starts, right_ends = zip(*extended.runs, strict=True)
        first, last = min(left_starts), max(left_ends) - 1
        left = Span(query.document.name, int(starts[first]), int(ends[last]))
        last_length = int(ends[last]) - int(starts[last])
        right = Span(name, stream.offset(min(right_starts)), stream.offset(max(right_ends) - 1) + last_length)
        symbols = int(positions[last]) - int(positions[first]) + candidates.store.settings.recipe.k
        return Match(left, right, symbols, symbols, ((left, right),), extended.owners)

    return {
        number: Evidence(
            tuple(to_bytes(names[number], stream, extended) for extended in c.matches()), runs=c.runs
        )
        for (number, stream), c in zip(streams.items(), common, strict=True)
    }


class _PostingStream:
    """The looked-up fingerprints of a document in the order of their offsets, as a stream of symbols.

    The other fingerprints of the document are unknown. `filler`, which equals no symbol, stands for those that
    fit between two neighbours. `spacing` is the average distance between fingerprints, in bytes.
    """

    def __init__(self, postings: LookupResult, number: int, spacing: float, filler: int) -> None:
        own = np.flatnonzero(postings.documents == number)
        own = own[np.argsort(postings.positions[own], kind="stable")]
        hashes, self._offsets = postings.queries[own], postings.positions[own].astype(np.int64)
        missing = np.diff(self._offsets, prepend=self._offsets[:1]) // int(1.5 * spacing)
        self._positions = np.arange(len(own)) + np.cumsum(np.minimum(missing, _POSTING_REACH))
        self.symbols = np.full(int(self._positions[-1]) + 1, filler, np.uint32)
        self.symbols[self._positions] = hashes
        self.rows = hashes, np.full(len(own), number), self._positions

    def offset(self, position: int) -> int:
        """Return the byte offset of the fingerprint at this position."""
        return int(self._offsets[np.searchsorted(self._positions, position)])
