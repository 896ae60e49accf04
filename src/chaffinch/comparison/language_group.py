"""All that is in one language -> which submissions share what there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from chaffinch import fingerprinting as api
from chaffinch.comparison import score as rank
from chaffinch.languages import language
from chaffinch.matching import matches as match
from chaffinch.matching.joined_stream import Unit, units
from chaffinch.native import pairs as core_compare
from chaffinch.recipe import FRONTS, Recipe
from chaffinch.types import Document, Passage, Span

_STRUCTURE = (2, 3, 4, 6, 8, 12, 16), 2.5, 1.3
_NAMES = (1, 2, 3, 4, 6, 8), 0.35, 2.2
"""Lengths of the grams by which programs are scored, the length for 80 symbols, and how it grows."""
_LITTLE = 100
"""Tokens of a few lines, much of which every solution has: a share of them counts as its square."""
_LARGER = 0.15
"""What the share of the larger program counts: in a class, a long one has much of every short one. Of prose it
does not count, for an essay may be a page of a book."""
_PROSE = 12
_LETTERS = 5.0
"""So many letters say as much as a token."""


def recipe_for(front: str) -> Recipe:
    """How documents of a kind are compared: more finely than an archive would be kept."""
    return Recipe(front, k=18, w=18) if front in FRONTS else Recipe(front)


def symbol_weight(front: str) -> float:
    """What a symbol says, in tokens."""
    return 1 / _LETTERS if front in FRONTS else 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A unit for each submission that has something in the language."""

    recipe: Recipe
    owners: NDArray[np.int64]
    """The submission of each unit, in order."""
    units: list[Unit]
    masks: list[NDArray[np.bool_]]
    """What is not compared in each: base code, and what too many have."""
    masked: NDArray[np.int64]
    """How many symbols that is."""
    base_symbols: int
    """How many symbols of all these are base code."""
    documents: core_compare.Corpus
    candidates: rank.Candidates
    scored: Callable[[rank.Pairs], rank.Floats]
    """Scores pairs of units."""

    def sizes(self) -> rank.Floats:
        """How much each unit has that is not base code, in tokens."""
        sizes = np.array([u.size for u in self.units], np.float64) - self.masked
        return sizes * symbol_weight(self.recipe.front)

    def frequencies(self, unit: int) -> NDArray[np.uint32]:
        """For each symbol of a unit, how many units have the fingerprint that begins there or last before."""
        _, positions, owners = self._prints(unit)
        size = len(self.units[unit].symbols)
        if not len(positions):
            return np.ones(size, np.uint32)
        order = np.argsort(positions, kind="stable")
        at = np.searchsorted(positions[order], np.arange(size), "right") - 1
        spread: NDArray[np.uint32] = owners[order][at.clip(0)]
        return spread

    def matches(self, pairs: Sequence[tuple[int, int]], threads: int | None) -> Iterator[match.Common]:
        """What pairs of units have in common."""
        sure = self.recipe.guarantee or self.recipe.k
        both = np.array(pairs, np.uint32).reshape(-1, 2)
        runs = core_compare.find_matches(self.documents, both, self.recipe.k, match.GAP, sure, threads)
        is_prose = self.recipe.front in FRONTS
        for number, (i, j) in enumerate(pairs):
            yield match.Common(self.units[i], self.units[j], runs, number, is_prose)

    def common(self) -> Iterator[Passage]:
        """What at least half of all, and more than a handful, have: a template that nobody gave us."""
        least = max(6, len(self.units) / 2)
        explained: set[int] = set()
        for i, unit in enumerate(self.units):
            if not (self._prints(i)[2] >= least).any():
                continue
            owners = self.frequencies(i)
            often = (owners >= least) & ~self.masks[i]
            often[unit.between] = False
            hashes, positions, _ = self._prints(i)
            for start, end in _ranges(often):
                inside = set(hashes[(positions >= start) & (positions < end)].tolist())
                if end - start >= self.recipe.k and len(inside - explained) * 2 > len(inside):
                    explained |= inside
                    have_it = int(np.median(owners[start:end]))
                    yield Passage(unit.spans([start], [end - start], [0])[0], end - start, have_it)

    def empty(self) -> list[str]:
        """Documents without a symbol."""
        return [d.name for u in self.units for d, s in zip(u.documents, u.streams, strict=True) if not len(s)]

    def too_short(self) -> list[tuple[str, str]]:
        """Documents of submissions that have a few symbols and no gram, and how many."""
        k = self.recipe.k
        return [
            (document.name, f"{unit.size} symbols, and nothing shorter than {k} is found")
            for unit in self.units
            if 0 < unit.size < k
            for document in unit.documents
        ]

    def ignored(self, unit: int) -> list[Span]:
        """What of a unit is not compared."""
        if not self.masked[unit]:
            return []
        ranges = _ranges(self.masks[unit])
        return self.units[unit].spans([a for a, _ in ranges], [b - a for a, b in ranges], range(len(ranges)))

    def _prints(self, unit: int) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]]:
        """Hashes, positions, owners."""
        of, (first, last) = self.documents, self.documents.hash_offsets[unit : unit + 2].tolist()
        return of.hashes[first:last], of.positions[first:last], of.owners[first:last]


def _ranges(mask: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Where it is true, from and to."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def made_of(
    recipe: Recipe,
    owned: Mapping[int, list[Document]],
    base: list[Document],
    new: int,
    threshold: float,
    max_owners: int | None,
    threads: int | None,
) -> Part:
    """Documents of each submission, of which the first `new` are compared with one another."""
    owners = np.array(list(owned), np.int64)
    made = units([*owned.values(), *([base] if base else [])], recipe, threads)
    of_base = made.pop() if base else None
    masks, places = match.given(made, of_base, recipe.k, threads)
    masked = base_masked = _counts(masks)
    if max_owners is not None:
        match.ignore_common(made, masks, recipe.k, max_owners)
        masked = _counts(masks)
    prints = [match.without(u.prints, mask, recipe.k) for u, mask in zip(made, masks, strict=True)]
    # Programs that share few fingerprints share few short grams: only the others are worth counting. A few
    # sentences in a long text are worth a look.
    least = 0.0 if recipe.front in FRONTS else threshold / 4
    old = (owners >= new).astype(np.uint8)
    found = rank.candidates([match.different(p.hashes) for p in prints], old, least, threads)
    symbols = match.unlike(made, masks, places)
    given = match.kinds(made, masks) if places else []
    documents = core_compare.Corpus(symbols, prints, found.owners, given)
    scored = _scored(recipe, made, masks, threads)
    return Part(recipe, owners, made, masks, masked, int(base_masked.sum()), documents, found, scored)


def _counts(masks: list[NDArray[np.bool_]]) -> NDArray[np.int64]:
    return np.array([np.count_nonzero(mask) for mask in masks], np.int64)


def _scored(
    recipe: Recipe, made: list[Unit], masks: list[NDArray[np.bool_]], threads: int | None
) -> Callable[[rank.Pairs], rank.Floats]:
    """The share of the smaller that the other has too beyond what is usual: as structure, or word for word,
    whichever is more."""
    keep = [_own(u, mask) for u, mask in zip(made, masks, strict=True)]
    streams = [u.symbols[own] for u, own in zip(made, keep, strict=True)]
    prose = recipe.front in FRONTS
    nameless = prose or recipe.front.startswith(language.OTHER) or recipe.front.endswith(language.KEEP_NAMES)
    words = [] if nameless else [w[own] for w, own in zip(_with_names(made, recipe), keep, strict=True)]
    sizes = np.array([len(s) for s in streams], np.int64)

    def overlap(symbols: list[rank.Symbols], pairs: rank.Pairs, lengths: NDArray[np.uint8]) -> rank.Floats:
        # The lengths grow with the sizes: the smaller one's is what its size calls for.
        smaller = np.minimum(lengths[pairs[:, 0]], lengths[pairs[:, 1]])
        return rank.overlap(symbols, pairs, smaller, 0 if prose else _LARGER, threads)

    def scored(pairs: rank.Pairs) -> rank.Floats:
        if prose:
            return overlap(streams, pairs, np.full(len(streams), _PROSE, np.uint8))
        shares = overlap(streams, pairs, rank.telling(sizes, *_STRUCTURE))
        if not nameless:
            np.maximum(shares, overlap(words, pairs, rank.telling(sizes, *_NAMES)), out=shares)
        smaller = np.minimum(sizes[pairs[:, 0]], sizes[pairs[:, 1]]).clip(1)
        np.power(shares, 1 + _LITTLE / smaller, out=shares)
        return shares

    return scored


def _own(unit: Unit, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Symbols that are neither base code nor between documents."""
    own = ~mask
    own[unit.between] = False
    return own


def _with_names(made: list[Unit], recipe: Recipe) -> Iterator[rank.Symbols]:
    """The same tokens, each name, number and string by what it says."""
    named = Recipe(recipe.front + language.KEEP_NAMES, k=recipe.k, w=recipe.w)
    streams = iter(api.streams([d for unit in made for d in unit.documents], named))
    between = np.zeros(1, np.uint32)
    for unit in made:
        of_unit = islice(streams, len(unit.documents))
        yield np.concatenate([piece for stream in of_unit for piece in (stream.symbols, between)])
