"""All languages together -> the pairs of submissions that are examined, and what is usual among all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chaffinch.comparison.candidates import Floats, Indices, Pairs
from chaffinch.comparison.chance import Chance
from chaffinch.comparison.language_group import LanguageGroup
from chaffinch.comparison.options import SURE_SCORE, SURPRISING, Options
from chaffinch.comparison.pair_score import Works, telling_groups
from chaffinch.comparison.score import blocks
from chaffinch.comparison.weight import weight

EXACT_PAIRS = 2_000_000
"""Up to this many pairs, all are scored: that covers every class of two thousand. Scoring is most of the work,
and it grows with the square of the class. Above this, only the pairs that share the most are scored, and a
sample shows how the scores of the others are distributed."""
SCORED_PAIRS = 200_000
"""Pairs scored, and pairs in the sample, if there are too many to score all."""
EXAMINED_PER_LISTED = 1.5
"""Pairs examined for each pair to be listed: coverage changes the order a little, and some are not listed."""
LEAST_EXAMINED = 200
LOWER_BEFORE = 0.5
"""A pair is examined from this part of the threshold on, because coverage may raise its score."""
GOLDEN_RATIO = 0.6180339887498949
HISTOGRAM_BARS = 20


@dataclass(frozen=True, slots=True, eq=False)
class CandidatePool:
    """Pairs of submissions that share something in any language."""

    groups: Sequence[LanguageGroup]
    works: Works
    pairs: Pairs
    """In order."""
    shared: NDArray[np.uint32]
    """How many fingerprints each pair shares, except in data beside programs."""
    surprise: Floats
    """Of each pair; 0 where the class is too small to show what is usual."""

    @classmethod
    def build(cls, groups: Sequence[LanguageGroup], submissions: int, new: int) -> CandidatePool:
        """Merge the candidate pairs of all languages."""
        works = Works.of(groups, submissions, new)
        if len(groups) == 1:
            members, candidates = groups[0].members, groups[0].candidates
            has_all = len(members) == submissions  # then the number of a stream is that of its submission
            pairs = candidates.pairs if has_all else members.astype(np.uint32)[candidates.pairs]
            return cls(groups, works, pairs, candidates.shared, candidates.surprise(submissions))
        none = np.empty(0, np.uint32)
        no_pairs = cls(groups, works, none.reshape(-1, 2), none, none.astype(np.float64))
        all_keys = [np.empty(0, np.int64), *(no_pairs._group_keys(group) for group in groups)]
        keys, rows = np.unique(np.concatenate(all_keys), return_inverse=True)
        shared = np.zeros(len(keys), np.uint32)
        telling = telling_groups(groups)
        highest, squares = np.full(len(keys), -np.inf), np.zeros(len(keys))
        for group in groups:
            own, rows = rows[: len(group.candidates.pairs)], rows[len(group.candidates.pairs) :]
            if group in telling:
                surprise = group.candidates.surprise(submissions)
                shared[own] += group.candidates.shared
                squares[own] += surprise.clip(0) ** 2
                highest[own] = np.maximum(highest[own], surprise)
        # Surprises in several languages add up. What is less than usual in one does not excuse the other.
        surprises = np.where(squares > 0, np.sqrt(squares), np.where(np.isfinite(highest), highest, 0))
        both = np.stack([keys // max(submissions, 1), keys % max(submissions, 1)], axis=1)
        return cls(groups, works, both.astype(np.uint32), shared, surprises)

    @property
    def submissions(self) -> int:
        return len(self.works.totals)

    def promising(self, count: int) -> Indices:
        """Return the rows of the pairs that share the most beyond what is usual, by part and by surprise."""
        if count >= len(self.pairs):
            return np.arange(len(self.pairs))
        background, prints = self.works.background, self.works.prints
        promise = np.empty(len(self.pairs), np.float32)
        for block in blocks(len(self.pairs)):
            left, right = self.pairs[block].T
            above = (self.shared[block] - np.minimum(background[left], background[right])).clip(0)
            shares = above / np.minimum(prints[left], prints[right]).clip(1)
            promise[block] = weight(self.surprise[block], shares)
        return np.flatnonzero(promise >= np.partition(promise, -count)[-count])

    def sample(self, count: int) -> Indices:
        """Return one row of each of many equal stretches, at varying places: no order of pairs matters."""
        number = np.arange(count)
        return ((number + number * GOLDEN_RATIO % 1) * (len(self.pairs) / count)).astype(np.int64)

    def language_scores(self, rows: Indices) -> list[Floats]:
        """Return the scores of pairs in each language, before it is known what their matches cover."""
        pairs = self.pairs if len(rows) == len(self.pairs) else self.pairs[rows]
        return [self._group_scores(group, pairs) for group in self.groups]

    def mean_scores(self, rows: Indices, scores: Sequence[Floats]) -> Floats:
        """Return the scores over all languages, as far as they say anything."""
        pairs = self.pairs[rows]
        return self.works.mean_score(pairs, scores) * self.works.convincing(pairs)

    def _group_scores(self, group: LanguageGroup, pairs: Pairs) -> Floats:
        """Return the scores in one language, 0 for pairs that are not candidates there."""
        if len(group.members) == self.submissions and len(self.groups) == 1:
            return group.scores(pairs)
        numbers = np.zeros(self.submissions, np.uint32)
        numbers[group.members] = np.arange(len(group.members))
        has = np.isin(self._keys(pairs), self._group_keys(group))
        scores = np.zeros(len(pairs))
        scores[has] = group.scores(numbers[pairs[has]])
        return scores

    def _keys(self, pairs: NDArray[np.integer]) -> Indices:
        keys: Indices = pairs @ np.array([self.submissions, 1])
        return keys

    def _group_keys(self, group: LanguageGroup) -> Indices:
        return self._keys(group.members[group.candidates.pairs])


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """The pairs to examine, each with a row in these columns, and what is known of all pairs."""

    pairs: Pairs
    language_scores: list[Floats]
    """For each language, before it is known what matches cover."""
    scores: Floats
    """Over all languages, before it is known."""
    surprise: Floats
    shared: NDArray[np.uint32]
    """How many fingerprints each pair shares."""
    languages: Indices
    """The number of the language that contributes most to each score."""
    chances: list[Chance]
    """What is usual in each language."""
    histogram: Indices
    """How many pairs score 0 to 0.05, 0.05 to 0.1 and so on."""
    candidate_pairs: int
    scored_pairs: int
    """If these are not all candidate pairs, the histogram is an estimate."""
    works: Works


def rank(groups: Sequence[LanguageGroup], new: int, old: int, options: Options) -> Ranking:
    """Score the candidate pairs of new submissions and earlier ones, and choose those to examine."""
    pool = CandidatePool.build(groups, new + old, new)
    is_exact = len(pool.pairs) <= EXACT_PAIRS or options.top is None
    rows = pool.promising(len(pool.pairs) if is_exact else max(SCORED_PAIRS, _examined(options.top)))
    language_scores = pool.language_scores(rows)
    scores, surprises = pool.mean_scores(rows, language_scores), pool.surprise[rows]
    weights = weight(surprises, scores)
    sample = np.empty(0, np.int64) if is_exact else _difference(pool.sample(SCORED_PAIRS), rows)
    in_sample = pool.language_scores(sample)
    sample_scores = pool.mean_scores(sample, in_sample)
    each = (len(pool.pairs) - len(rows)) / max(len(sample), 1)
    languages, chances = pool.works.main_language(pool.pairs[rows], language_scores), []
    all_rows, all_scores = np.concatenate([rows, sample]), np.concatenate([scores, sample_scores])
    all_languages = np.concatenate([languages, pool.works.main_language(pool.pairs[sample], in_sample)])
    counts = np.concatenate([np.ones(len(rows)), np.full(len(sample), each)])
    counts[~pool.works.is_usual(pool.pairs[all_rows])] = 0
    for number, group in enumerate(groups):
        here = all_languages == number
        known = all_scores[here], pool.surprise[all_rows[here]], counts[here]
        chances.append(Chance.of_class(*known, len(group.candidates.active)))
    tails = np.array([chance.tail for chance in chances] or [0.0])[languages]
    chosen = _chosen(scores, surprises, weights, tails, options)
    return Ranking(
        pool.pairs[rows[chosen]],
        [of_language[chosen] for of_language in language_scores],
        scores[chosen],
        surprises[chosen],
        pool.shared[rows[chosen]],
        languages[chosen],
        chances,
        histogram(scores) + _scale(histogram(sample_scores), len(pool.pairs) - len(rows)),
        len(pool.pairs),
        len(rows) + len(sample),
        pool.works,
    )


def count_pairs(new: int, old: int) -> int:
    """Return how many pairs there are. Two earlier works are never compared."""
    return new * (new - 1) // 2 + new * old


def _examined(top: int | None) -> int:
    return max(int(EXAMINED_PER_LISTED * (top or 0)), LEAST_EXAMINED)


def _chosen(scores: Floats, surprises: Floats, weights: Floats, tails: Floats, options: Options) -> Indices:
    """Return the rows of the pairs that may be listed; if you chose no order, only the first of them."""
    if options.threshold is None:
        # In a class of two or three, chance is not known, and any long run is listed.
        tail = LOWER_BEFORE * tails if surprises.any() else 0.0
        is_possible = (weights > tail) | (scores > LOWER_BEFORE * SURE_SCORE)
    else:
        is_possible = scores >= LOWER_BEFORE * options.threshold
    possible = np.flatnonzero(is_possible)
    surprising = np.flatnonzero(surprises >= SURPRISING) if options.threshold is None else possible[:0]
    if options.top is not None and (options.sort is None or len(scores) > EXACT_PAIRS):
        possible = possible[np.argsort(-weights[possible], kind="stable")[: _examined(options.top)]]
        surprising = surprising[np.argsort(-surprises[surprising], kind="stable")[: options.top]]
    return np.union1d(possible, surprising)


def _difference(some: Indices, others: Indices) -> Indices:
    """Return what is in `some` only; both are sorted."""
    positions = np.searchsorted(some, others).clip(max=len(some) - 1)
    return np.delete(some, positions[some[positions] == others])


def histogram(scores: Floats) -> Indices:
    """Return how many scores are 0 to 0.05, 0.05 to 0.1 and so on."""
    return np.histogram(scores, HISTOGRAM_BARS, (0, 1))[0]


def _scale(counts: Indices, total: int) -> Indices:
    """Return counts in the same proportions that add up to `total`."""
    summed = np.concatenate([[0], np.cumsum(counts)])
    return np.diff(np.rint(summed * (total / max(int(summed[-1]), 1)))).astype(np.int64)
