"""The weights of all pairs -> the line that pairs must reach so that chance does not explain them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chaffinch.comparison.candidates import Floats
from chaffinch.comparison.options import SURPRISING
from chaffinch.comparison.weight import weight
from chaffinch.matching.rarity import ASSUMED_OTHERS

BY_CHANCE = 0.2
"""At most this part of the pairs above the line would be there by chance."""
MIDDLE, HIGH = 0.5, 0.8
"""Quantiles of the weights, which show how fast chance fades. If a third of a class copy from each other, their
pairs are a ninth of all, and above both quantiles."""
PLAIN_COPY = 0.8
"""A pair of this weight that is surprising, too, is not there by chance: a score of 50% if just surprising."""
FASTEST_FADING = 0.04
"""The least difference of weights in which chance falls to a third: a class that shares nothing shows none."""
TAIL = 2
"""The line is at least this many times the fading above the higher quantile."""
LEAST_WEIGHT = 0.15
"""Pairs that weigh less are never above the line: what they share is small or says little."""


@dataclass(frozen=True, slots=True)
class Chance:
    """How many pairs reach which weight without copying, as the bulk of the class shows it.

    Above the higher quantile the numbers are taken to fall exponentially, as fast as between both quantiles.
    """

    pairs: float
    """That show what is usual; in a small class, also others that are assumed and share nothing."""
    start: float
    """The higher quantile."""
    fading: float
    """If a weight is higher by this much, only about a third of the pairs reach it."""

    @classmethod
    def of_class(cls, scores: Floats, surprise: Floats, counts: Floats, submissions: int) -> Chance:
        """Take the scores and surprises of pairs, how many pairs each stands for, and the size of the class.

        Pairs that are plainly copies do not count. Pairs that share nothing tell little, since they may answer
        other questions: as many count as there are submissions.
        """
        weights = weight(surprise, scores)
        is_usual = (weights > 0) & ~((weights >= PLAIN_COPY) & (surprise >= SURPRISING))
        weights, counts = weights[is_usual], counts[is_usual]
        total = max(counts.sum() + submissions, ASSUMED_OTHERS * (ASSUMED_OTHERS - 1) / 2)
        order = np.argsort(weights, kind="stable")
        ranks = np.append(total - counts.sum() + np.cumsum(counts[order]), np.inf)
        without_weight = total - counts.sum()
        ascending = np.append(weights[order], weights.max(initial=0.0))
        middle, high = (
            float(ascending[np.searchsorted(ranks, part * total)]) if part * total > without_weight else 0.0
            for part in (MIDDLE, HIGH)
        )
        return cls(total, high, max((high - middle) / np.log((1 - MIDDLE) / (1 - HIGH)), FASTEST_FADING))

    @property
    def tail(self) -> float:
        """Return what a weight must be above to be above the line."""
        return max(self.start + TAIL * self.fading, LEAST_WEIGHT)

    def line(self, weights: Floats) -> float:
        """Return the lowest of these weights, which descend, that is above the line; infinity if none is."""
        in_tail = weights[weights > self.tail]
        expected = self.pairs * (1 - HIGH) * np.exp((self.start - in_tail) / self.fading)
        is_above = expected <= BY_CHANCE * np.arange(1, len(in_tail) + 1)
        return float(in_tail[is_above].min(initial=np.inf))
