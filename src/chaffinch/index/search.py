"""A query -> an Answer: look up its fingerprints, rank the candidates, find the matches of the best."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chaffinch import fingerprinting
from chaffinch.errors import BadRecipe, Damaged
from chaffinch.index import contents
from chaffinch.index.evidence import Evidence, matches_in_postings, matches_in_texts
from chaffinch.index.hits import (
    Answer,
    Containment,
    Discount,
    DiscountReason,
    Hit,
    Relation,
    SearchReceipt,
    caution,
    relation,
)
from chaffinch.index.koala import selection
from chaffinch.index.records import DocumentRecord, Settings
from chaffinch.index.store import Store
from chaffinch.matching.rarity import rarity
from chaffinch.native.segment import LookupResult
from chaffinch.read.for_recipe import ready_for
from chaffinch.types import Document, Fingerprints, Span

TOP = 20
"""Hits returned by default."""
_MIN_LOOKUPS = 64
"""Fingerprints looked up at the lowest effort."""
_MAX_TIES = 2000
"""Upper bound on equally heavy candidates beyond the last one. The order of adding should not decide."""
_MAX_REFILL = 1000
"""Upper bound on documents read in one batch when refilling dropped hits."""
_COMMON = 0.5
"""Fingerprints that weigh less than this are reported as discounted."""

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


def search(
    store: Store, document: Document, *, effort: float = 1.0, window: int | None = None, top: int | None = TOP
) -> Answer:
    """Find the documents that share the most with this one.

    `effort=1` looks up every fingerprint, and finds every shared run of t symbols. Less effort looks up the
    smallest hashes only, which is enough to estimate the resemblance. A wider `window` also looks up fewer
    fingerprints, and finds every run that this window guarantees.
    """
    if not 0 <= effort <= 1:
        raise BadRecipe(f"effort is {effort}; give 0 to 1")
    if top is not None and top < 1:
        raise BadRecipe(f"top is {top}; give 1 or more, or None for all")
    query = _query(document, store.settings, effort, window)
    with store.snapshot():
        documents = store.count()
        candidates = _candidates(store, query, store.lookup(query.hashes[: query.looked_up]), documents)
        hits, unreadable = _hits(store, query, candidates, top)
        damaged = (*store.damage(), *unreadable)
    hits.sort(key=lambda h: (-h.weight, -h.resemblance, h.document.name))
    settings = store.settings
    receipt = SearchReceipt(
        settings.recipe,
        effort,
        window or settings.recipe.w,
        len(query.hashes),
        query.looked_up,
        documents,
        settings.content,
        settings.stored,
        damaged,
    )
    return Answer(query.document, tuple(hits), len(candidates.documents), candidates.discounted, receipt)


def top_candidates(store: Store, document: Document, top: int) -> tuple[dict[int, str], int]:
    """Return the numbers and names of the best candidates, and the number of all candidates."""
    query = _query(document, store.settings, 1.0, None)
    with store.snapshot():
        candidates = _candidates(store, query, store.lookup(query.hashes), store.count())
        best = _records(store, candidates, islice(_ranked(store, candidates, top), top))
        return {int(candidates.documents[i]): record.name for i, record in best}, len(candidates.documents)


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
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    is_first = np.ones(len(values), bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    inverse = np.empty(len(values), np.int64)
    inverse[order] = np.cumsum(is_first) - 1
    return ordered[is_first], inverse


@dataclass(frozen=True, slots=True, eq=False)
class _Candidates:
    """The documents that share anything with a query. Each has a row in the first five columns."""

    documents: NDArray[np.uint32]
    weights: Floats
    of_query: Floats
    """Fingerprints of the query that the document has."""
    of_document: Floats
    """Fingerprints of the document that the query has."""
    uncounted: Floats
    """Shared fingerprints of the document that do not count."""
    counted: int
    """Fingerprints of the query that count."""
    owners: NDArray[np.int64]
    """How many documents have each hash of the query, as far as it was looked up."""
    postings: LookupResult
    """Without those of hashes that are boilerplate."""
    boilerplate: list[int]
    """Documents whose passages are never part of a match."""
    discounted: tuple[Discount, ...]


def _candidates(store: Store, query: Query, postings: LookupResult, documents: int) -> _Candidates:
    hash_numbers, holders = postings.queries.astype(np.int64), postings.documents
    is_boilerplate = np.zeros(query.looked_up, bool)
    if boilerplate := sorted(store.boilerplate()):
        in_boilerplate = np.isin(holders, np.array(boilerplate, np.uint32))
        is_boilerplate[hash_numbers[in_boilerplate]] = True
        own = ~is_boilerplate[hash_numbers]
        postings = LookupResult(*(column[own] for column in postings))
        hash_numbers, holders = hash_numbers[~in_boilerplate], holders[~in_boilerplate]
    is_first = np.ones(len(hash_numbers), bool)  # of the postings of a hash in a document
    is_first[1:] = (hash_numbers[1:] != hash_numbers[:-1]) | (holders[1:] != holders[:-1])
    owners = np.bincount(hash_numbers[is_first], minlength=query.looked_up)
    is_ignored = selection.ignored(owners, store.settings)
    weights = rarity(owners, documents)
    weights[is_boilerplate | is_ignored] = 0
    counts = (~(is_boilerplate | is_ignored)).astype(np.float64)
    numbers, rows = _distinct(holders)
    repeats = query.counts[: query.looked_up].astype(np.float64)

    def total(chosen: NDArray[np.bool_] | slice, values: Floats) -> Floats:
        sums = np.bincount(rows[chosen], values[hash_numbers[chosen]], minlength=len(numbers))
        return sums.astype(np.float64)

    everything = slice(None)
    heavy = total(is_first, weights * repeats)
    keep = heavy > 0
    return _Candidates(
        numbers[keep],
        heavy[keep],
        total(is_first, counts * repeats)[keep],
        total(everything, counts)[keep],
        total(everything, 1 - counts)[keep],
        int((counts * repeats).sum()),
        owners,
        postings,
        boilerplate,
        tuple(_discounts(query, owners, weights, is_boilerplate, is_ignored)),
    )


def _discounts(
    query: Query,
    owners: NDArray[np.int64],
    weights: Floats,
    is_boilerplate: NDArray[np.bool_],
    is_ignored: NDArray[np.bool_],
) -> Iterator[Discount]:
    """Yield the passages of the query that count less: neighbouring fingerprints with the same reason."""
    is_common = weights < _COMMON
    if not (is_boilerplate | is_ignored | is_common).any():
        return
    reasons = ("", *DiscountReason)
    reason_of = np.zeros(len(query.hashes), np.int64)
    reason_of[: query.looked_up] = np.select([is_boilerplate, is_ignored, is_common], [1, 2, 3], 0)
    order = np.argsort(query.prints.positions, kind="stable")
    in_order = reason_of[query.hash_numbers[order]]
    bounds = np.flatnonzero(in_order[1:] != in_order[:-1]) + 1
    for passage in np.split(order, bounds):
        numbers = query.hash_numbers[passage]
        if reason := reasons[reason_of[numbers[0]]]:
            first, last = int(query.prints.starts[passage].min()), int(query.prints.ends[passage].max())
            span = Span(query.document.name, first, last)
            yield Discount(span, int(owners[numbers].max()), DiscountReason(reason))


def _hits(store: Store, query: Query, candidates: _Candidates, top: int | None) -> tuple[list[Hit], list[str]]:
    """Return the first `top` candidates that have a match, and which contents cannot be read.

    Where boilerplate was edited, a candidate may share fingerprints and still have no match. The next ones
    replace it.
    """
    hits: list[Hit] = []
    unreadable: list[str] = []
    wanted = size = len(candidates.documents) if top is None else top
    rows = _ranked(store, candidates, wanted)
    while len(hits) < wanted and (some := list(islice(rows, size))):
        records = _records(store, candidates, some)
        evidence = _evidence(store, query, candidates, records, unreadable)
        hits += [
            _hit(store.settings, query, record, candidates, row, e)
            for (row, record), e in zip(records, evidence, strict=True)
            if e is None or e.matches
        ]
        size = min(2 * size, _MAX_REFILL)  # every batch reads the query again, so there should be few
    return hits[:wanted], [*dict.fromkeys(unreadable)]


def _ranked(store: Store, candidates: _Candidates, top: int) -> Iterator[int]:
    """Yield the rows of the candidates, the heaviest first; among equals, those that have little else.

    Sizes are read from the store when they are needed, for about `top` candidates at a time.
    """
    order = np.lexsort((candidates.documents, -candidates.weights))
    lightness = -candidates.weights[order]
    weights, shared = candidates.weights.tolist(), candidates.of_document.tolist()
    first = 0
    while first < len(order):
        end = min(first + top, len(order))
        end = min(int(np.searchsorted(lightness, lightness[end - 1], "right")), end + _MAX_TIES)
        some = order[first:end]
        rows = dict(zip(candidates.documents[some].tolist(), some.tolist(), strict=True))
        keys = [
            (-weights[rows[number]], -shared[rows[number]] / max(postings, 1), name, rows[number])
            for number, (postings, name) in store.sizes(list(rows)).items()
        ]
        yield from (row for *_, row in sorted(keys))
        first = end


def _records(store: Store, candidates: _Candidates, rows: Iterable[int]) -> list[tuple[int, DocumentRecord]]:
    numbers = {int(candidates.documents[row]): row for row in rows}
    records = store.records(list(numbers))
    return [(row, records[number]) for number, row in numbers.items()]


def _evidence(
    store: Store,
    query: Query,
    candidates: _Candidates,
    records: Sequence[tuple[int, DocumentRecord]],
    unreadable: list[str],
) -> list[Evidence | None]:
    """Find the matches of each candidate in its text or its postings, or None where neither shows them.

    Contents that cannot be read are added to `unreadable`.
    """
    settings = store.settings
    names = {int(candidates.documents[row]): record.name for row, record in records}
    owners = np.ones(len(query.hashes), np.int64)
    owners[: query.looked_up] = candidates.owners
    evidence: dict[int, Evidence] = {}
    if settings.content == "text":
        packed = store.contents([*names, *candidates.boilerplate])
        texts = dict(_unpack(names, packed, unreadable))
        base = dict(_unpack({n: f"boilerplate {n}" for n in candidates.boilerplate}, packed, unreadable))
        evidence = matches_in_texts(
            query, settings.recipe, texts, list(base.values()), candidates.postings, owners
        )
    rest = {number: name for number, name in names.items() if number not in evidence}
    if settings.has_positions and rest:
        evidence |= matches_in_postings(query, rest, candidates.postings, owners, settings.recipe.k)
    return [evidence.get(number) for number in names]


def _unpack(
    names: Mapping[int, str], packed: Mapping[int, bytes], unreadable: list[str]
) -> Iterator[tuple[int, Document]]:
    for number, name in names.items():
        try:
            yield number, contents.unpack(name, packed.get(number))
        except Damaged as error:
            unreadable.append(str(error))


def _hit(
    settings: Settings,
    query: Query,
    record: DocumentRecord,
    candidates: _Candidates,
    row: int,
    evidence: Evidence | None,
) -> Hit:
    sizes = query.prints.symbols, record.symbols
    note, is_certain = "", evidence is None or evidence.identical
    if evidence is not None and evidence.covered is not None:
        of_query, of_document = (c / max(n, 1) for c, n in zip(evidence.covered, evidence.sizes, strict=True))
        both = sum(evidence.covered) / 2
        either = sum(evidence.sizes) - both
    else:
        share = query.looked_up / max(query.total, 1)
        total = max(record.postings - float(candidates.uncounted[row]) / share, 1)
        ratio = of_document = min(float(candidates.of_document[row]) / share / total, 1.0)
        of_query = float(candidates.of_query[row]) / max(candidates.counted, 1)
        if settings.stored is not None:  # the few that are stored stand for all
            common = float(candidates.of_document[row])
            of_query, of_document = selection.shares(ratio, common, sizes, settings.recipe)
            note = caution(ratio, sizes)
        is_certain = query.is_whole
        both = (of_query * sizes[0] + of_document * sizes[1]) / 2
        either = sum(sizes) - both
    resemblance = min(both / max(either, 1e-9), 1.0)
    named = relation(of_query, of_document, sizes)
    if named is Relation.IDENTICAL and not is_certain:
        named = Relation.EDITED
    return Hit(
        record,
        Containment(of_query, of_document),
        resemblance,
        named,
        evidence.matches if evidence else (),
        float(candidates.weights[row]),
        note,
    )
