"""All parts together -> pairs of submissions: how surprising each is, and as many scores as are needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chaffinch.comparison import score as rank
from chaffinch.comparison.language_group import Part

EXACT = 2_000_000
"""Of so many pairs all are scored, and so it is in every class of two thousand. Scoring is most of the work,
and in a class where everybody shares something its time grows with the square; but only those listed need a
score, and the scores of so many tell how all are spread."""
_AHEAD = 4
"""So many times as many as are listed are scored at first, for some score too little."""
_BLOCK = 1 << 18
"""So many are looked at in one go: what is worked out on the way takes more memory than they do."""
_POWER = 4
_GOLDEN = 0.6180339887498949
_BARS = 20

Indices = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Pairs of submissions that share something in any language."""

    parts: Sequence[Part]
    submissions: int
    pairs: rank.Pairs
    """In order."""
    amounts: NDArray[np.uint32]
    """How many fingerprints they share."""

    def surprise(self, where: Indices | slice) -> rank.Floats:
        usual = np.zeros(self.submissions)
        for part in self.parts:
            usual[part.owners] += part.candidates.usual
        spreads = [(p.candidates.spread, len(p.units)) for p in self.parts]
        return rank.surprise(self.amounts[where], self.pairs[where], usual, spreads)

    def most_surprising(self, count: int) -> Indices:
        """So many, and all that are as surprising as the last of them."""
        if count >= len(self.pairs):
            return np.arange(len(self.pairs))
        where, surprise = np.empty(0, np.int64), np.empty(0)
        for start in range(0, len(self.pairs), _BLOCK):
            here = self.surprise(slice(start, start + _BLOCK))
            where = np.concatenate([where, np.arange(start, start + len(here))])
            surprise = np.concatenate([surprise, here])
            if len(surprise) > count:
                keep = surprise >= np.partition(surprise, -count)[-count]
                where, surprise = where[keep], surprise[keep]
        return where

    def as_surprising(self, least: float) -> Indices:
        """All that are at least so surprising."""
        starts = range(0, len(self.pairs), _BLOCK)
        found = [
            start + np.flatnonzero(self.surprise(slice(start, start + _BLOCK)) >= least) for start in starts
        ]
        return np.concatenate(found)

    def sample(self) -> Indices:
        """Of each of as many stretches one, at another place in each, so that no order of the pairs matters."""
        number = np.arange(EXACT)
        return ((number + number * _GOLDEN % 1) * (len(self.pairs) / EXACT)).astype(np.int64)

    def scores(self, where: Indices) -> rank.Floats:
        sizes = np.zeros((len(self.parts), self.submissions))
        for row, part in zip(sizes, self.parts, strict=True):
            row[part.owners] = part.sizes()
        pairs = self.pairs[where]
        in_each = np.zeros((len(self.parts), len(pairs)))
        for scores, part in zip(in_each, self.parts, strict=True):
            unit_of = np.zeros(self.submissions, np.uint32)
            unit_of[part.owners] = np.arange(len(part.owners))
            has = slice(None) if len(self.parts) == 1 else np.isin(self._keys(pairs), self._keys_of(part))
            scores[has] = part.scored(unit_of[pairs[has]])
        found = np.zeros(len(pairs))
        for start in range(0, len(pairs), _BLOCK):
            block = slice(start, start + _BLOCK)
            # A mean of powers, by size: what is the same in one language counts though another differs.
            in_both = np.minimum(sizes[:, pairs[block, 0]], sizes[:, pairs[block, 1]])
            powers, total = (in_both * in_each[:, block] ** _POWER).sum(axis=0), in_both.sum(axis=0)
            mean = np.divide(powers, total, out=np.zeros(len(total)), where=total > 0)
            found[block] = (mean ** (1 / _POWER)).clip(0, 1)
        return found

    def _keys(self, pairs: NDArray[np.integer]) -> Indices:
        keys: Indices = pairs @ np.array([self.submissions, 1])
        return keys

    def _keys_of(self, part: Part) -> Indices:
        return self._keys(part.owners[part.candidates.pairs])


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """The pairs that are listed, those of most weight first, and how the scores of all are spread."""

    pairs: rank.Pairs
    scores: rank.Floats
    surprise: rank.Floats
    counts: Indices
    """How many pairs score 0 to .05, .05 to .1 and so on."""
    scored: int
    """So many of the pairs were scored; if not all, the counts are estimated from them."""


def pooled(parts: Sequence[Part], submissions: int) -> Pool:
    """The pairs of all languages, with what they share in each."""
    if len(parts) == 1:
        owners, found = parts[0].owners, parts[0].candidates
        everyone = len(owners) == submissions  # and then a unit's number is its submission's
        pairs = found.pairs if everyone else owners.astype(np.uint32)[found.pairs]
        return Pool(parts, submissions, pairs, found.amounts)
    nothing = Pool(parts, submissions, np.empty((0, 2), np.uint32), np.empty(0, np.uint32))
    keys = [np.empty(0, np.int64), *(nothing._keys_of(part) for part in parts)]
    key, where = np.unique(np.concatenate(keys), return_inverse=True)
    amounts = np.zeros(len(key), np.uint32)
    for part in parts:
        np.add.at(amounts, where[: len(part.candidates.pairs)], part.candidates.amounts)
        where = where[len(part.candidates.pairs) :]
    both = np.stack([key // max(submissions, 1), key % max(submissions, 1)], axis=1)
    return Pool(parts, submissions, both.astype(np.uint32), amounts)


def ranked(pool: Pool, least: float, surprising: float, top: int | None) -> Ranking:
    """The first `top` of the pairs that score at least so much or are as surprising as that.

    They are the same as if all had been scored: a pair that was not weighs no more than it surprises, which is
    less than each of them weighs.
    """
    count = len(pool.pairs) if len(pool.pairs) <= EXACT or top is None else _AHEAD * top
    while True:
        found = _scored(pool, pool.most_surprising(count), least, surprising, top)
        if len(found.where) == len(pool.pairs) or len(found.listed) == top:
            break
        count *= 16
    if len(found.where) < len(pool.pairs) and found.lightest < found.surprise.min():
        found = _scored(pool, pool.as_surprising(found.lightest), least, surprising, top)
    others = _without(pool.sample(), found.where) if len(found.where) < len(pool.pairs) else found.where[:0]
    counts = _histogram(found.scores)
    counts += _grown(_histogram(pool.scores(others)), len(pool.pairs) - len(found.where))
    return Ranking(
        pool.pairs[found.where[found.listed]],
        found.scores[found.listed],
        found.surprise[found.listed],
        counts,
        len(found.where) + len(others),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Scored:
    """Some pairs with their scores; those listed among them, in order, and what the last of these weighs."""

    where: Indices
    scores: rank.Floats
    surprise: rank.Floats
    listed: Indices
    lightest: float


def _scored(pool: Pool, where: Indices, least: float, surprising: float, top: int | None) -> _Scored:
    scores, surprise = pool.scores(where), pool.surprise(where)
    weights = rank.weight(surprise, scores)
    chosen = np.flatnonzero((scores >= least) | (surprise >= surprising))
    listed = chosen[np.lexsort((where[chosen], -surprise[chosen], -weights[chosen]))][:top]
    return _Scored(where, scores, surprise, listed, float(weights[listed].min(initial=np.inf)))


def _without(some: Indices, others: Indices) -> Indices:
    """Both are sorted."""
    at = np.searchsorted(some, others).clip(max=len(some) - 1)
    return np.delete(some, at[some[at] == others])


def _histogram(scores: rank.Floats) -> Indices:
    return np.histogram(scores, _BARS, (0, 1))[0]


def _grown(counts: Indices, total: int) -> Indices:
    """In the same proportions, so many together."""
    summed = np.concatenate([[0], np.cumsum(counts)])
    return np.diff(np.rint(summed * (total / max(int(summed[-1]), 1)))).astype(np.int64)
