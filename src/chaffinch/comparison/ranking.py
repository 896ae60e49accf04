"""All languages together -> ranked pairs of submissions, with as many scores as are needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chaffinch.comparison.candidates import Floats, Pairs, surprise
from chaffinch.comparison.language_group import LanguageGroup
from chaffinch.comparison.score import blocks, weight

EXACT_PAIRS = 2_000_000
"""Up to this many pairs, all are scored: that covers every class of two thousand. Scoring is most of the work,
and it grows with the square of the class. Above this, only the pairs that may be listed are scored, and a
sample of this size shows how the scores are distributed."""
SCORED_PER_LISTED = 4
"""Pairs scored at first for each pair to be listed, because some score too low."""
MEAN_POWER = 4
"""The power of the mean of scores in several languages."""
GOLDEN_RATIO = 0.6180339887498949
HISTOGRAM_BARS = 20

Indices = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class CandidatePool:
    """Pairs of submissions that share something in any language."""

    groups: Sequence[LanguageGroup]
    submissions: int
    pairs: Pairs
    """In order."""
    shared: NDArray[np.uint32]
    """How many fingerprints each pair shares."""

    @classmethod
    def build(cls, groups: Sequence[LanguageGroup], submissions: int) -> CandidatePool:
        """Merge the candidate pairs of all languages."""
        if len(groups) == 1:
            members, candidates = groups[0].members, groups[0].candidates
            has_all = len(members) == submissions  # then the number of a stream is that of its submission
            pairs = candidates.pairs if has_all else members.astype(np.uint32)[candidates.pairs]
            return cls(groups, submissions, pairs, candidates.shared)
        no_pairs = cls(groups, submissions, np.empty((0, 2), np.uint32), np.empty(0, np.uint32))
        all_keys = [np.empty(0, np.int64), *(no_pairs._group_keys(group) for group in groups)]
        keys, rows = np.unique(np.concatenate(all_keys), return_inverse=True)
        shared = np.zeros(len(keys), np.uint32)
        for group in groups:
            count = len(group.candidates.pairs)
            np.add.at(shared, rows[:count], group.candidates.shared)
            rows = rows[count:]
        both = np.stack([keys // max(submissions, 1), keys % max(submissions, 1)], axis=1)
        return cls(groups, submissions, both.astype(np.uint32), shared)

    def surprise(self, rows: Indices | slice) -> Floats:
        background = np.zeros(self.submissions)
        for group in self.groups:
            background[group.members] += group.candidates.background
        spreads = [(group.candidates.spread, len(group.streams)) for group in self.groups]
        return surprise(self.shared[rows], self.pairs[rows], background, spreads)

    def most_surprising(self, count: int) -> Indices:
        """Return the rows of the `count` most surprising pairs, and of all that tie with the last of them."""
        if count >= len(self.pairs):
            return np.arange(len(self.pairs))
        rows, surprises = np.empty(0, np.int64), np.empty(0)
        for block in blocks(len(self.pairs)):
            more = self.surprise(block)
            rows = np.concatenate([rows, np.arange(block.start, block.start + len(more))])
            surprises = np.concatenate([surprises, more])
            if len(surprises) > count:
                keep = surprises >= np.partition(surprises, -count)[-count]
                rows, surprises = rows[keep], surprises[keep]
        return rows

    def at_least_as_surprising(self, min_surprise: float) -> Indices:
        return np.concatenate(
            [
                block.start + np.flatnonzero(self.surprise(block) >= min_surprise)
                for block in blocks(len(self.pairs))
            ]
        )

    def sample(self) -> Indices:
        """Return one row of each of many equal stretches, at varying places: no order of pairs matters."""
        number = np.arange(EXACT_PAIRS)
        return ((number + number * GOLDEN_RATIO % 1) * (len(self.pairs) / EXACT_PAIRS)).astype(np.int64)

    def scores(self, rows: Indices) -> Floats:
        """Return the scores of pairs: the power mean over the languages, weighted by size.

        A power mean because copies in one language count even if another language differs.
        """
        pairs = self.pairs if len(rows) == len(self.pairs) else self.pairs[rows]
        sizes, scores = [], []
        for group in self.groups:
            sizes.append(np.zeros(self.submissions))
            sizes[-1][group.members] = group.sizes()
            scores.append(self._group_scores(group, pairs))
        means = np.zeros(len(pairs))
        for block in blocks(len(pairs)):
            left, right = pairs[block].T
            weights = [np.minimum(of_group[left], of_group[right]) for of_group in sizes]
            powers = [w * s[block] ** MEAN_POWER for w, s in zip(weights, scores, strict=True)]
            total = sum(weights, np.zeros(len(left)))
            mean = np.divide(sum(powers), total, out=np.zeros(len(left)), where=total > 0)
            means[block] = (mean ** (1 / MEAN_POWER)).clip(0, 1)
        return means

    def _group_scores(self, group: LanguageGroup, pairs: Pairs) -> Floats:
        """Return the scores in one language, 0 for pairs that are not candidates there."""
        if len(group.members) == self.submissions and len(self.groups) == 1:
            return group.scorer.score(pairs)
        numbers = np.zeros(self.submissions, np.uint32)
        numbers[group.members] = np.arange(len(group.members))
        has = np.isin(self._keys(pairs), self._group_keys(group))
        scores = np.zeros(len(pairs))
        scores[has] = group.scorer.score(numbers[pairs[has]])
        return scores

    def _keys(self, pairs: NDArray[np.integer]) -> Indices:
        keys: Indices = pairs @ np.array([self.submissions, 1])
        return keys

    def _group_keys(self, group: LanguageGroup) -> Indices:
        return self._keys(group.members[group.candidates.pairs])


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """The pairs that are listed, heaviest first, and how the scores of all pairs are distributed."""

    pairs: Pairs
    scores: Floats
    surprise: Floats
    shared: NDArray[np.uint32]
    """How many fingerprints each pair shares."""
    histogram: Indices
    """How many pairs score 0 to 0.05, 0.05 to 0.1 and so on."""
    candidate_pairs: int
    scored_pairs: int
    """If these are not all candidate pairs, the histogram is an estimate."""


def rank(
    groups: Sequence[LanguageGroup],
    submissions: int,
    min_score: float,
    min_surprise: float,
    top: int | None,
) -> Ranking:
    """Rank the pairs that score at least `min_score` or are at least as surprising as `min_surprise`.

    The first `top` are the same as if all pairs had been scored: a pair weighs at most its surprise, so one
    that was not scored weighs less than each that is listed.
    """
    pool = CandidatePool.build(groups, submissions)
    count = len(pool.pairs) if len(pool.pairs) <= EXACT_PAIRS or top is None else SCORED_PER_LISTED * top
    while True:
        scored = _score(pool, pool.most_surprising(count), min_score, min_surprise, top)
        if len(scored.rows) == len(pool.pairs) or len(scored.listed) == top:
            break
        count *= 16
    if len(scored.rows) < len(pool.pairs) and scored.lightest < scored.surprise.min():
        rows = pool.at_least_as_surprising(scored.lightest)
        scored = _score(pool, rows, min_score, min_surprise, top)
    histogram, scored_pairs = _histogram(scored.scores), len(scored.rows)
    if scored_pairs < len(pool.pairs):
        sample = _difference(pool.sample(), scored.rows)
        histogram += _scale(_histogram(pool.scores(sample)), len(pool.pairs) - scored_pairs)
        scored_pairs += len(sample)
    return Ranking(
        pool.pairs[scored.rows[scored.listed]],
        scored.scores[scored.listed],
        scored.surprise[scored.listed],
        pool.shared[scored.rows[scored.listed]],
        histogram,
        len(pool.pairs),
        scored_pairs,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Scored:
    """Pairs with their scores; which of them are listed, in order, and the weight of the last one listed."""

    rows: Indices
    scores: Floats
    surprise: Floats
    listed: Indices
    lightest: float


def _score(
    pool: CandidatePool, rows: Indices, min_score: float, min_surprise: float, top: int | None
) -> _Scored:
    scores, surprises = pool.scores(rows), pool.surprise(rows)
    chosen = np.flatnonzero((scores >= min_score) | (surprises >= min_surprise))
    weights = weight(surprises[chosen], scores[chosen])
    order = np.lexsort((rows[chosen], -surprises[chosen], -weights))[:top]
    return _Scored(rows, scores, surprises, chosen[order], float(weights[order].min(initial=np.inf)))


def _difference(some: Indices, others: Indices) -> Indices:
    """Return what is in `some` only; both are sorted."""
    positions = np.searchsorted(some, others).clip(max=len(some) - 1)
    return np.delete(some, positions[some[positions] == others])


def _histogram(scores: Floats) -> Indices:
    return np.histogram(scores, HISTOGRAM_BARS, (0, 1))[0]


def _scale(counts: Indices, total: int) -> Indices:
    """Return counts in the same proportions that add up to `total`."""
    summed = np.concatenate([[0], np.cumsum(counts)])
    return np.diff(np.rint(summed * (total / max(int(summed[-1]), 1)))).astype(np.int64)
