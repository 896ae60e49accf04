"""A query -> an Answer: look up its fingerprints, rank the documents, grow the matches of the first of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chaffinch import fingerprinting as api
from chaffinch.errors import BadRecipe, Damaged
from chaffinch.index import contents
from chaffinch.index.evidence import Evidence, chained, grown
from chaffinch.index.hits import Answer, Containment, Discount, Hit, note, relation
from chaffinch.index.koala import selection as koala
from chaffinch.index.records import Settings, Stored
from chaffinch.index.store import Store
from chaffinch.matching.rarity import rarity
from chaffinch.native.segment import LookupResult
from chaffinch.types import Document, Fingerprints, Span

TOP = 20
_LEAST = 64
"""Fingerprints that are looked up at the lowest effort."""
_TIED = 2000
"""So many equally heavy documents beyond the last are looked at: the order of adding must not matter."""
_TOGETHER = 1000
"""So many documents at most are read together to take the place of those without a match."""
_HALF = 0.5
"""What weighs less is told."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """A document's fingerprints, each hash once, the smallest first."""

    document: Document
    prints: Fingerprints
    hashes: NDArray[np.uint64]
    times: NDArray[np.int64]
    """How often each hash stands in the document."""
    number: NDArray[np.int64]
    """For each fingerprint, which of the hashes it has."""
    asked: int
    """So many of the hashes are looked up."""
    total: int
    """So many different hashes the document has with the recipe's own window."""
    is_whole: bool
    """Whether every fingerprint of the recipe is looked up."""


def search(
    store: Store, document: Document, *, effort: float = 1.0, window: int | None = None, top: int | None = TOP
) -> Answer:
    """The documents that share the most with this one.

    An `effort` of 1 looks up every fingerprint: containment, and every shared run of t symbols is found. Less
    of it looks up the smallest hashes first and stops early, which still tells resemblance. A wider `window`
    looks up fewer too, and finds every run of that window's guarantee.
    """
    if not 0 <= effort <= 1:
        raise BadRecipe(f"effort is {effort}; give 0 to 1")
    if top is not None and top < 1:
        raise BadRecipe(f"top is {top}; give 1 or more, or None for all")
    query = _query(document, store.settings, effort, window)
    with store.snapshot():
        documents = store.count()
        found = store.lookup(query.hashes[: query.asked])
        shared = _shared(store, query, found, documents)
        hits, unread = _hits(store, query, shared, top)
        damaged = [*store.damaged(), *unread]
    hits.sort(key=lambda h: (-h.weight, -h.resemblance, h.document.name))
    recipe = store.settings.recipe
    receipt = {
        "recipe": recipe.receipt(),
        "effort": effort,
        "window": window or recipe.w,
        "fingerprints": len(query.hashes),
        "looked_up": query.asked,
        "documents": documents,
        "content": store.settings.content,
        "stored": store.settings.stored,
        "damaged": damaged,
    }
    return Answer(query.document, tuple(hits), len(shared.documents), shared.discounted, receipt)


def heaviest(store: Store, document: Document, top: int) -> tuple[dict[int, str], int]:
    """The numbers and names of the documents that share the most with this one, and how many share anything."""
    query = _query(document, store.settings, 1.0, None)
    with store.snapshot():
        shared = _shared(store, query, store.lookup(query.hashes), store.count())
        ranked = _stored(store, shared, islice(_ranked(store, shared, top), top))
        return {int(shared.documents[i]): stored.name for i, stored in ranked}, len(shared.documents)


def _query(document: Document, settings: Settings, effort: float, window: int | None) -> Query:
    document = api.ready_for(document, settings.recipe)
    prints = api.fingerprint(document, settings.recipe, window=window)
    hashes, number = _distinct(prints.hashes)
    asked = min(len(hashes), max(_LEAST, math.ceil(effort * len(hashes))))
    everything, total = prints, len(hashes)
    if window is not None:
        everything = api.fingerprint(document, settings.recipe)
        total = len(_distinct(everything.hashes)[0])
    # Where text repeats, a wider window may have all the hashes, but each of them less often.
    is_whole = asked == total and len(prints) == len(everything)
    return Query(document, prints, hashes, np.bincount(number), number, asked, total, is_whole)


def _distinct(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """As np.unique does with the inverse, in a third of the time for a few hundred."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    fresh = np.ones(len(values), bool)
    fresh[1:] = ordered[1:] != ordered[:-1]
    which = np.empty(len(values), np.int64)
    which[order] = np.cumsum(fresh) - 1
    return ordered[fresh], which


@dataclass(frozen=True, slots=True, eq=False)
class _Shared:
    """What documents have of a query; a row for each document."""

    documents: NDArray[np.uint32]
    weights: Floats
    of_query: Floats
    """Fingerprints of the query that each has."""
    of_document: Floats
    """Fingerprints of each that the query has."""
    passed_over: Floats
    """Of these, fingerprints of each that do not count."""
    counted: int
    """Fingerprints of the query that count."""
    owners: NDArray[np.int64]
    """In how many documents each hash stands."""
    found: LookupResult
    boilerplate: list[int]
    """The documents that are never a match."""
    discounted: tuple[Discount, ...]


def _shared(store: Store, query: Query, found: LookupResult, documents: int) -> _Shared:
    queries, owners_of = found.queries.astype(np.int64), found.documents
    boilerplate = np.zeros(query.asked, bool)
    if given := sorted(store.boilerplate()):
        is_given = np.isin(owners_of, np.array(given, np.uint32))
        boilerplate[queries[is_given]] = True
        own = ~boilerplate[queries]
        found = LookupResult(found.queries[own], found.documents[own], found.positions[own])
        queries, owners_of = queries[~is_given], owners_of[~is_given]
    fresh = np.ones(len(queries), bool)  # the first of a hash in a document
    fresh[1:] = (queries[1:] != queries[:-1]) | (owners_of[1:] != owners_of[:-1])
    owners = np.bincount(queries[fresh], minlength=query.asked)
    ignored = koala.ignored(owners, store.settings)
    weights = rarity(owners, documents)
    weights[boilerplate | ignored] = 0
    counts = (~(boilerplate | ignored)).astype(np.float64)
    unique, which = _distinct(owners_of)
    times = query.times[: query.asked].astype(np.float64)

    def total(rows: NDArray[np.bool_] | slice, values: Floats) -> Floats:
        return np.bincount(which[rows], values[queries[rows]], minlength=len(unique)).astype(np.float64)

    everything = slice(None)
    heavy = total(fresh, weights * times)
    keep = heavy > 0
    return _Shared(
        unique[keep],
        heavy[keep],
        total(fresh, counts * times)[keep],
        total(everything, counts)[keep],
        total(everything, 1 - counts)[keep],
        int((counts * times).sum()),
        owners,
        found,
        given,
        tuple(_discounted(query, owners, weights, boilerplate, ignored)),
    )


def _discounted(
    query: Query,
    owners: NDArray[np.int64],
    weights: Floats,
    boilerplate: NDArray[np.bool_],
    ignored: NDArray[np.bool_],
) -> Iterator[Discount]:
    """Passages of the query that count less: neighbours among its fingerprints, for the same reason."""
    common = weights < _HALF
    if not (boilerplate | ignored | common).any():
        return
    reasons = np.full(len(query.hashes), "", "U11")
    reasons[: query.asked] = np.select([boilerplate, ignored, common], ["boilerplate", "ignored", "common"], "")
    order = np.argsort(query.prints.positions, kind="stable")
    why = reasons[query.number[order]]
    bounds = np.flatnonzero(why[1:] != why[:-1]) + 1
    for run in np.split(order, bounds):
        if reason := str(reasons[query.number[run[0]]]):
            first, last = int(query.prints.starts[run].min()), int(query.prints.ends[run].max())
            span = Span(query.document.name, first, last)
            yield Discount(span, int(owners[query.number[run]].max()), reason)


def _hits(store: Store, query: Query, shared: _Shared, top: int | None) -> tuple[list[Hit], list[str]]:
    """The first `top` documents that have a match, and what of the contents cannot be read.

    Where boilerplate was edited, fingerprints may be shared though no match is left: then the next come in.
    """
    hits: list[Hit] = []
    unread: list[str] = []
    most = size = len(shared.documents) if top is None else top
    rows = _ranked(store, shared, most)
    while len(hits) < most and (chosen := list(islice(rows, size))):
        ranked = _stored(store, shared, chosen)
        evidence, lost = _evidence(store, query, shared, ranked)
        unread += lost
        hits += [
            _hit(store.settings, query, stored, shared, i, seen)
            for (i, stored), seen in zip(ranked, evidence, strict=True)
            if seen is None or seen.matches
        ]
        size = min(2 * size, _TOGETHER)  # the query is read again for each lot: there should be few
    return hits[:most], [*dict.fromkeys(unread)]


def _ranked(store: Store, shared: _Shared, top: int) -> Iterator[int]:
    """The rows of the documents, the heaviest first; of equally heavy ones, those that have little else.

    They are looked at when they are asked for, `top` at a time.
    """
    order = np.lexsort((shared.documents, -shared.weights))
    lightness = -shared.weights[order]
    weights, held = shared.weights.tolist(), shared.of_document.tolist()
    first = 0
    while first < len(order):
        end = min(first + top, len(order))
        end = min(int(np.searchsorted(lightness, lightness[end - 1], "right")), end + _TIED)
        chosen = order[first:end]
        rows = dict(zip(shared.documents[chosen].tolist(), chosen.tolist(), strict=True))
        known = [
            (-weights[rows[number]], -held[rows[number]] / max(postings, 1), name, rows[number])
            for number, (postings, name) in store.sizes(list(rows)).items()
        ]
        yield from (row for *_, row in sorted(known))
        first = end


def _stored(store: Store, shared: _Shared, rows: Iterable[int]) -> list[tuple[int, Stored]]:
    numbers = {int(shared.documents[row]): row for row in rows}
    stored = store.stored(list(numbers))
    return [(row, stored[number]) for number, row in numbers.items()]


def _evidence(
    store: Store, query: Query, shared: _Shared, ranked: Sequence[tuple[int, Stored]]
) -> tuple[Sequence[Evidence | None], list[str]]:
    """What can be shown for each: matches grown from the contents, chained from positions, or nothing.

    Also what of the contents cannot be read.
    """
    settings = store.settings
    names = {int(shared.documents[i]): stored.name for i, stored in ranked}
    found: dict[int, Evidence] = {}
    unread: list[str] = []
    if settings.content == "text" and names:
        packed = store.contents([*names, *shared.boilerplate])
        kept = dict(_unpacked(names, packed, unread))
        base = dict(_unpacked({n: f"boilerplate {n}" for n in shared.boilerplate}, packed, unread))
        owners = _owners(query, shared)
        found = grown(query, settings.recipe, kept, list(base.values()), shared.found, owners)
    if settings.has_positions:
        for number in names.keys() - found.keys():
            found[number] = chained(query, shared.found, number, names[number], settings.recipe.k)
    return [found.get(number) for number in names], unread


def _unpacked(
    names: Mapping[int, str], packed: Mapping[int, bytes], unread: list[str]
) -> Iterator[tuple[int, Document]]:
    for number, name in names.items():
        try:
            yield number, contents.unpack(name, packed.get(number))
        except Damaged as error:
            unread.append(str(error))


def _owners(query: Query, shared: _Shared) -> NDArray[np.int64]:
    """In how many documents each of the query's hashes is, as far as is known."""
    owners = np.ones(len(query.hashes), np.int64)
    owners[: query.asked] = shared.owners
    return owners


def _hit(
    settings: Settings, query: Query, stored: Stored, shared: _Shared, row: int, seen: Evidence | None
) -> Hit:
    sizes = query.prints.symbols, stored.symbols
    caution, certain = "", seen is None or seen.identical
    if seen is not None and seen.covered is not None:
        of_query, of_document = (c / max(n, 1) for c, n in zip(seen.covered, seen.sizes, strict=True))
        both = sum(seen.covered) / 2
        either = sum(seen.sizes) - both
    else:
        share = query.asked / max(query.total, 1)
        total = max(stored.postings - float(shared.passed_over[row]) / share, 1)
        ratio = of_document = min(float(shared.of_document[row]) / share / total, 1.0)
        of_query = float(shared.of_query[row]) / max(shared.counted, 1)
        if settings.stored is not None:  # the few that are stored stand for all
            common = float(shared.of_document[row])
            of_query, of_document = koala.shares(ratio, common, sizes, settings.recipe)
            caution = note(ratio, sizes)
        certain = query.is_whole
        both = (of_query * sizes[0] + of_document * sizes[1]) / 2
        either = sum(sizes) - both
    resemblance = min(both / max(either, 1e-9), 1.0)
    named = relation(of_query, of_document, sizes)
    if named == "identical" and not certain:
        named = "edited"
    return Hit(
        stored,
        Containment(of_query, of_document),
        resemblance,
        named,
        seen.matches if seen else (),
        float(shared.weights[row]),
        caution,
    )
