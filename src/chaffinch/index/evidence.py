"""Where a query and a document have something in common: from the document's content, or from its postings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chaffinch import core_compare, match
from chaffinch.core_index import Found
from chaffinch.recipe import Recipe
from chaffinch.types import Document, Match, Span
from chaffinch.units import Unit, units

if TYPE_CHECKING:
    from chaffinch.index.search import Query

_SLACK = 64
_FEW = 100
"""Of a fingerprint that stands often in both, so many places of each are looked at."""


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
    query: Document,
    recipe: Recipe,
    kept: Mapping[int, Document],
    boilerplate: Sequence[Document],
    frequencies: tuple[NDArray[np.uint32], NDArray[np.int64]],
) -> dict[int, Evidence]:
    """The maximal matches with each of the numbered documents; boilerplate is no match."""
    if not kept:
        return {}
    how = _exact(recipe)
    made = units([[query], *([document] for document in kept.values())], how)
    base = units([[*boilerplate]], how)[0] if boilerplate else None
    masks = match.given(made, base, how.k)
    prints = [match.without(unit.prints, mask, how.k) for unit, mask in zip(made, masks, strict=True)]
    collection = core_compare.Collection(match.unlike(made, masks), prints)
    pairs = np.array([(0, i) for i in range(1, len(made))], np.uint32)
    runs = core_compare.matches(collection, pairs, how.k, match.GAP)
    owners = _spread(len(made[0].symbols), *frequencies)
    found = {}
    sizes = [unit.size - int(mask.sum()) for unit, mask in zip(made, masks, strict=True)]
    for i, (number, unit) in enumerate(zip(kept, made[1:], strict=True), 1):
        common = match.common(made[0], unit, owners, runs, i - 1, how.guarantee or how.k)
        same = np.array_equal(_own(made[0]), _own(unit))
        found[number] = Evidence(common.matches, common.covered, (sizes[0], sizes[i]), same)
    return found


def _exact(recipe: Recipe) -> Recipe:
    """The recipe, or one that finds every run as long as a gram if it promises nothing."""
    return recipe if recipe.guarantee else Recipe(recipe.front, k=recipe.k, scheme="all")


def _own(unit: Unit) -> NDArray[np.uint32]:
    return unit.symbols[:-1]  # without the symbol that stands behind a document


def _spread(size: int, positions: NDArray[np.uint32], owners: NDArray[np.int64]) -> NDArray[np.uint32]:
    """For each symbol, how many documents have the fingerprint that begins there or last before."""
    if not len(positions):
        return np.ones(size, np.uint32)
    at = np.searchsorted(positions, np.arange(size), "right") - 1
    spread: NDArray[np.uint32] = owners[at.clip(0)].astype(np.uint32)
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
        open_chains = [c for c in open_chains if seed.start - c[-1].end <= reach]
        fitting = [c for c in open_chains if _follows(c[-1], seed)]
        if fitting:
            drifts = [_drift(c[-1], seed) for c in fitting]
            fitting[drifts.index(min(drifts))].append(seed)
        else:
            chains.append([seed])
            open_chains.append(chains[-1])
    return Evidence(tuple(_match(query, chain, name, k) for chain in chains))


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
