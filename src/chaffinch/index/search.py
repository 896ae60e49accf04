"""A query -> an Answer: look up its fingerprints, rank the candidates, find the matches of the best."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chaffinch import fingerprinting
from chaffinch.errors import BadRecipe, Damaged
from chaffinch.index import answers, contents
from chaffinch.index.answers import Answer, Containment, Discount, DiscountReason, Hit, Relation, SearchReceipt
from chaffinch.index.evidence import Evidence, matches_in_postings, matches_in_texts, moved_share
from chaffinch.index.koala import selection
from chaffinch.index.koala.probes import Touches, touches
from chaffinch.index.records import DocumentRecord, Settings
from chaffinch.index.store import Store
from chaffinch.index.stream_digest import have_same_symbols, stream_digests
from chaffinch.index.weights import MAX_DIVISOR, divisor, is_common, owner_weights
from chaffinch.native.segment import LookupResult
from chaffinch.native.tally import Tally
from chaffinch.native.turns import taking_turns
from chaffinch.read.for_recipe import ready_for
from chaffinch.types import Document, Fingerprints, Span

TOP = 20
"""Hits returned by default."""
_MOVED = 0.1
"""Share of the matched text that is in another order before a document is reorganised."""
_MAX_TOUCHED = 200
"""Documents that are counted for one search of a secret choice, at most: those that share the rarest. A query
of 1,000 fingerprints meets about 100 that are stored, so filler cannot push out a document that has its own."""
_MIN_LOOKUPS = 64
"""Fingerprints looked up at the lowest effort."""
_MAX_SIZES = 2000
"""Upper bound on candidates beyond the last one whose sizes are read, because they may still rank before it."""
_MAX_REFILL = 1000
"""Upper bound on documents read in one batch when refilling dropped hits."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """The fingerprints of a document, and its different hashes in ascending order."""

    document: Document
    prints: Fingerprints
    hashes: NDArray[np.uint64]
    counts: NDArray[np.int64]
    """How often the document has each hash."""
    hash_numbers: NDArray[np.int64]
    """The index in `hashes` of each fingerprint."""
    looked_up: int
    """How many of the hashes are looked up."""
    total: int
    """How many different hashes the document has with the window of the recipe."""
    is_whole: bool
    """Whether every fingerprint of the recipe is looked up."""


def search(store: Store, document: Document, effort: float, window: int | None, top: int | None) -> Answer:
    """Find the documents that share the most with this one, and count what the search touched.

    `effort=1` looks up every fingerprint, and finds every shared run of t symbols. Less effort looks up the
    smallest hashes only, which is enough to estimate the resemblance. A wider `window` also looks up fewer
    fingerprints, and finds every run that this window guarantees.
    """
    if not 0 <= effort <= 1:
        raise BadRecipe(f"effort is {effort}; give 0 to 1")
    if top is not None and top < 1:
        raise BadRecipe(f"top is {top}; give 1 or more, or None for all")
    query, settings = _query(document, store.settings, effort, window), store.settings
    with taking_turns(), store.snapshot():
        candidates = Candidates(store, query)
        hits = candidates.hits(top)
        damaged = (*map(str, store.damage()), *dict.fromkeys(candidates.unreadable))
        touched = candidates.touches()
    if touched:
        store.record_touches(touched)
    hits.sort(key=lambda h: (-h.weight, -h.resemblance, h.document.name))
    receipt = SearchReceipt(
        settings.recipe,
        effort,
        window or settings.recipe.w,
        len(query.hashes),
        query.looked_up,
        candidates.searched,
        settings.content,
        settings.stored,
        damaged,
    )
    return Answer(query.document, tuple(hits), len(candidates.documents), candidates.discounted, receipt)


def top_candidates(store: Store, document: Document, top: int) -> tuple[dict[int, str], int]:
    """Return the numbers and names of the best candidates, and the number of all candidates."""
    query = _query(document, store.settings, 1.0, None)
    with taking_turns(), store.snapshot():
        candidates = Candidates(store, query)
        best = candidates.records(islice(candidates.ranked(top), top))
        touched = candidates.touches()
    if touched:
        store.record_touches(touched)
    return {int(candidates.documents[row]): r.name for row, r in best.items()}, len(candidates.documents)


def _query(document: Document, settings: Settings, effort: float, window: int | None) -> Query:
    document = ready_for(document, settings.recipe)
    prints = fingerprinting.fingerprint(document, settings.recipe, window=window)
    hashes, numbers = _distinct(prints.hashes)
    looked_up = min(len(hashes), max(_MIN_LOOKUPS, math.ceil(effort * len(hashes))))
    all_prints, total = prints, len(hashes)
    if window is not None:
        all_prints = fingerprinting.fingerprint(document, settings.recipe)
        total = len(_distinct(all_prints.hashes)[0])
    # In repetitive text a wider window may select every hash, but fewer times.
    is_whole = looked_up == total and len(prints) == len(all_prints)
    return Query(document, prints, hashes, np.bincount(numbers), numbers, looked_up, total, is_whole)


def _distinct(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Do what np.unique with return_inverse does, in a third of the time for a few hundred values."""
    order = np.argsort(values)  # equal values in any order
    ordered = values[order]
    is_first = np.ones(len(values), bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    inverse = np.empty(len(values), np.int64)
    inverse[order] = np.cumsum(is_first) - 1
    return ordered[is_first], inverse


class Candidates:
    """The documents that share anything with a query. Use this inside a snapshot of the store."""

    def __init__(self, store: Store, query: Query) -> None:
        self.store, self.query = store, query
        self.unreadable: list[str] = []
        """What is wrong with contents that could not be read."""
        self.searched = store.count()
        """Documents in the index."""
        self._sizes: dict[int, tuple[int, str]] = {}
        """How many postings documents have, and their names, as far as they were read."""
        self.boilerplate = sorted(store.boilerplate())
        """Documents whose passages are never part of a match."""
        self.postings = store.lookup(query.hashes[: query.looked_up])
        """Without those of hashes that are boilerplate."""
        tally = Tally(self.postings, query.looked_up, np.array(self.boilerplate, np.uint32))
        owners, is_boilerplate = tally.count_owners()
        if is_boilerplate.any():
            own = ~is_boilerplate[self.postings.queries]
            self.postings = LookupResult(*(column[own] for column in self.postings))
        self.owners = np.ones(len(query.hashes), np.int64)
        """How many documents have each hash of the query, as far as it was looked up."""
        self.owners[: query.looked_up] = owners
        is_ignored = selection.ignored(owners, store.settings)
        repeats = query.counts[: query.looked_up].copy()
        repeats[is_boilerplate | is_ignored] = 0
        # A passage that the query repeats weighs once, as it does when a document repeats it.
        shared = tally.shared(owner_weights(owners, self.searched) * (repeats > 0), repeats)
        keep = shared.weights > 0
        # Each document has a row in these columns.
        self.documents, self.weights, self.of_query, self.of_document, self.uncounted = (
            column[keep] for column in shared
        )
        self.counted = int(repeats.sum())
        """Fingerprints of the query that count."""
        self._common = is_common(owners, self.searched)
        discounts = {
            DiscountReason.BOILERPLATE: is_boilerplate,
            DiscountReason.IGNORED: is_ignored,
            DiscountReason.COMMON: self._common,
        }
        numbers = np.select([*discounts.values()], range(1, len(discounts) + 1), 0)
        self.discounted = tuple(self._discounts(numbers, [*discounts])) if numbers.any() else ()

    def _discounts(self, numbers: NDArray[np.int64], reasons: Sequence[DiscountReason]) -> Iterator[Discount]:
        """Yield the passages of the query that count less: neighbouring fingerprints with the same reason."""
        query, prints = self.query, self.query.prints
        reason_of = np.zeros(len(query.hashes), np.int64)
        reason_of[: query.looked_up] = numbers
        order = np.argsort(prints.positions, kind="stable")
        in_order = reason_of[query.hash_numbers[order]]
        firsts = np.flatnonzero(np.append(True, in_order[1:] != in_order[:-1]))
        starts = np.minimum.reduceat(prints.starts[order], firsts)
        ends = np.maximum.reduceat(prints.ends[order], firsts)
        owners = np.maximum.reduceat(self.owners[query.hash_numbers[order]], firsts)
        passages = np.stack((in_order[firsts], starts, ends, owners), axis=1)
        for reason, start, end, most in passages[passages[:, 0] > 0].tolist():
            yield Discount(Span(query.document.name, start, end), most, reasons[reason - 1])

    def hits(self, top: int | None) -> list[Hit]:
        """Return the first `top` candidates that have a match.

        Where boilerplate was edited, a candidate may share fingerprints and still have no match. The next ones
        replace it.
        """
        hits: list[Hit] = []
        wanted = size = len(self.documents) if top is None else top
        rows = self.ranked(wanted)
        while len(hits) < wanted and (some := list(islice(rows, size))):
            records = self.records(some)
            evidence = self._evidence({int(self.documents[row]): r.name for row, r in records.items()})
            hits += [
                self._hit(row, record, e)
                for (row, record), e in zip(records.items(), evidence, strict=True)
                if e is None or e.matches
            ]
            size = min(2 * size, _MAX_REFILL)  # every batch reads the query again, so there should be few
        return hits[:wanted]

    def ranked(self, top: int) -> Iterator[int]:
        """Yield the rows of the candidates, the heaviest for their size first; among equals, those that have
        little else.

        Sizes are read from the store when they are needed: for about `top` candidates at a time, and for those
        that weigh enough to rank among them if they are small.
        """
        order = np.argsort(-self.weights, kind="stable")
        lightness = -self.weights[order]
        weights, shared = self.weights.tolist(), self.of_document.tolist()
        waiting: list[tuple[float, float, str, int]] = []
        first = 0
        while first < len(order) or waiting:
            if first < len(order):
                last = min(first + top, len(order)) - 1
                end = int(np.searchsorted(lightness, lightness[last] / MAX_DIVISOR, "right"))
                some = order[first : min(end, last + 1 + _MAX_SIZES)]
                rows = dict(zip(self.documents[some].tolist(), some.tolist(), strict=True))
                sizes = self.store.sizes(list(rows))
                self._sizes |= sizes
                for number, (postings, name) in sizes.items():
                    row = rows[number]
                    lighter = -weights[row] / divisor(postings, self.query.total)
                    waiting.append((lighter, -shared[row] / max(postings, 1), name, row))
                waiting.sort()
                first += len(some)
            rest = lightness[first] if first < len(order) else 0.0
            count = max(bisect_left(waiting, (rest,)), top)
            yield from (row for *_, row in waiting[:count])
            waiting = waiting[count:]

    def touches(self) -> Touches | None:
        """Return what the search could teach about a secret choice.

        What is common does not count. In an archive every search touches it, and who shares nothing else with
        a document has not copied it.
        """
        if self.store.settings.stored is None:
            return None
        own = ~self._common[self.postings.queries]
        postings = LookupResult(*(column[own] for column in self.postings))
        heaviest = self.documents[np.argsort(-self.weights, kind="stable")][:_MAX_TOUCHED].tolist()
        unread = [number for number in heaviest if number not in self._sizes]
        sizes = self._sizes | (self.store.sizes(unread) if unread else {})
        documents = {number: sizes[number] for number in heaviest}
        return touches(postings, self.query.hashes, documents)

    def records(self, rows: Iterable[int]) -> dict[int, DocumentRecord]:
        numbers = {row: int(self.documents[row]) for row in rows}
        records = self.store.records(list(numbers.values()))
        return {row: records[number] for row, number in numbers.items()}

    def _evidence(self, names: Mapping[int, str]) -> list[Evidence | None]:
        """Find the matches of each document in its text or its postings, or None where neither shows them."""
        settings = self.store.settings
        evidence: dict[int, Evidence] = {}
        if settings.content == "text":
            packed = self.store.contents([*names, *self.boilerplate])
            texts = dict(self._unpack(names, packed))
            base = dict(self._unpack({n: f"boilerplate {n}" for n in self.boilerplate}, packed))
            evidence = matches_in_texts(self, texts, list(base.values()))
        rest = {number: name for number, name in names.items() if number not in evidence}
        if settings.has_positions and rest:
            evidence |= matches_in_postings(self, rest)
        return [evidence.get(number) for number in names]

    def _unpack(self, names: Mapping[int, str], packed: Mapping[int, bytes]) -> Iterator[tuple[int, Document]]:
        for number, name in names.items():
            try:
                yield number, contents.unpack(name, packed.get(number))
            except Damaged as error:
                self.unreadable.append(str(error))

    def _hit(self, row: int, record: DocumentRecord, evidence: Evidence | None) -> Hit:
        query, settings = self.query, self.store.settings
        sizes = query.prints.symbols, record.symbols
        note = ""
        shared: tuple[float, float]
        if evidence is not None and evidence.covered is not None:
            shared, counted = evidence.covered, evidence.sizes
            of_query, of_document = (c / max(n, 1) for c, n in zip(shared, counted, strict=True))
        else:
            common, share = float(self.of_document[row]), query.looked_up / max(query.total, 1)
            total = max(record.postings - float(self.uncounted[row]) / share, 1)
            ratio = of_document = min(common / share / total, 1.0)
            of_query = float(self.of_query[row]) / max(self.counted, 1)
            if settings.stored is not None:  # the few that are stored stand for all
                of_query, of_document = selection.shares(ratio, common, sizes, settings.recipe)
                note = answers.caution(ratio, sizes)
            shared, counted = (of_query * sizes[0], of_document * sizes[1]), sizes
        both = min(shared)  # where one repeats a passage that the other has once, they share it once
        resemblance = both / max(sum(counted) - both, 1)
        named = answers.relation(of_query, of_document, sizes)
        if named in (Relation.IDENTICAL, Relation.EDITED):
            named = self._by_order(named, record, evidence)
        matches = evidence.matches if evidence else ()
        weight = float(self.weights[row]) / divisor(record.postings, query.total)
        return Hit(record, Containment(of_query, of_document), resemblance, named, matches, weight, note)

    def _by_order(self, named: Relation, record: DocumentRecord, evidence: Evidence | None) -> Relation:
        """Tell identical, edited and reorganised documents apart, given that they share nearly everything."""
        is_identical = evidence.identical if evidence else None
        if is_identical is None and record.stream:
            if record.stream == self._stream_digest:
                is_identical = self.query.is_whole
            elif have_same_symbols(record.stream, self._stream_digest):
                return Relation.REORGANISED
        if is_identical:
            return named
        has_moved = evidence is not None and moved_share(evidence.runs) >= _MOVED
        return Relation.REORGANISED if has_moved else Relation.EDITED

    @cached_property
    def _stream_digest(self) -> bytes:
        return stream_digests([self.query.document], self.store.settings.recipe)[0]
