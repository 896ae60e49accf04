"""Fingerprints -> candidate pairs: who shares how many, and how unusual that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from chaffinch.comparison.options import SMALLEST_CLASS
from chaffinch.matching.rarity import ASSUMED_OTHERS, scarcity
from chaffinch.native.pairs import candidate_pairs

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Pairs = NDArray[np.uint32]
"""Two columns: the number of the left member and of the right one, which is higher."""

FULL_BACKGROUND = 6
"""Members. With this many others, and two more, their median counts in full as the background."""
MAD_TO_DEVIATION = 1.4826
"""The standard deviation of a normal distribution, in median absolute deviations."""
USUAL_PAIRS = 7 / 8
"""The part of all pairs that shows what is usual. If a third of a class copy from each other, they are a ninth
of all pairs."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Pairs of members that share enough fingerprints."""

    pairs: Pairs
    shared: NDArray[np.uint32]
    """How many fingerprints each pair shares."""
    owners: list[NDArray[np.uint32]]
    """For each member, how many members have each of its distinct hashes, in the order of the hashes."""
    background: Floats
    """The median number of fingerprints that each member shares with another; less where there are few."""
    spread: float
    """The standard deviation of the numbers of shared fingerprints, not counting outliers."""
    count: int
    """How many pairs share anything."""
    active: Indices
    """The members that have hashes."""

    @classmethod
    def find(
        cls,
        hashes: Sequence[NDArray[np.uint64]],
        is_old: NDArray[np.uint8],
        *,
        min_share: float,
        enough: float,
        threads: int | None,
    ) -> Candidates:
        """Find the pairs that share at least `min_share` of the lighter member, or a weight of `enough`.

        What everybody has weighs nothing: pairs that have only a template in common are not held. The hashes of
        each member are distinct and sorted. Two old members are never paired. Members without hashes do not
        count, as if they were not there.
        """
        active = np.flatnonzero([len(own) for own in hashes])
        if len(active) < len(hashes):
            found = cls.find(
                [hashes[member] for member in active.tolist()],
                is_old[active],
                min_share=min_share,
                enough=enough,
                threads=threads,
            )
            return found._among(active, len(hashes))
        weights = scarcity(np.arange(len(hashes) + 1), len(hashes)).astype(np.float32) ** 2
        native = candidate_pairs(hashes, is_old, weights, min_share=min_share, enough=enough, threads=threads)
        new, old = int((is_old == 0).sum()), int(is_old.sum())
        histogram = native.histogram.astype(np.int64)
        histogram[0] = new * (new - 1) // 2 + new * old - histogram.sum()  # pairs that share nothing
        others = max(len(hashes) - 2, 0)
        return cls(
            native.pairs,
            native.shared,
            np.split(native.owners, np.cumsum([len(h) for h in hashes])[:-1])[: len(hashes)],
            native.background.astype(np.float64) * np.clip((others - 2) / FULL_BACKGROUND, 0, 1),
            _spread(histogram),
            int(native.histogram.sum()),
            np.arange(len(hashes)),
        )

    def _among(self, active: Indices, members: int) -> Candidates:
        """Return the same for all members, of which these are the active ones."""
        background, owners = np.zeros(members), [np.empty(0, np.uint32)] * members
        background[active] = self.background
        for member, own in zip(active.tolist(), self.owners, strict=True):
            owners[member] = own
        pairs = active.astype(np.uint32)[self.pairs]
        return replace(self, pairs=pairs, owners=owners, background=background, active=active)

    def surprise(self, submissions: int) -> Floats:
        """Return how far each pair lies above the background, in standard deviations.

        The background of a pair is the lower one of its two members: a submission made of common code does not
        excuse others who share something with it. The surprise counts less the fewer members there are, and
        nothing in a class of few submissions, because these do not show what is usual.
        """
        left, right = self.pairs.T
        above = self.shared - np.minimum(self.background[left], self.background[right])
        known = min((len(self.active) - 1) / (ASSUMED_OTHERS - 1), 1) if submissions >= SMALLEST_CLASS else 0
        surprise: Floats = above / max(self.spread, 1.0) * known
        return surprise


def _spread(histogram: NDArray[np.int64]) -> float:
    """Estimate a standard deviation by the median absolute deviation, which copies do not move.

    It is at least that of chance, because small numbers hardly spread: the root of the mean of the usual pairs.
    """
    if not histogram.any():
        return 0.0
    histogram = histogram.copy()
    histogram[0] += ASSUMED_OTHERS
    values = np.arange(len(histogram))
    median = int(_median(values, histogram))
    usual = np.diff(np.minimum(np.cumsum(histogram), USUAL_PAIRS * histogram.sum()), prepend=0.0)
    mean = float(values @ usual) / float(usual.sum())
    return max(MAD_TO_DEVIATION * _median(np.abs(values - median), histogram), float(np.sqrt(mean)))


def _median(values: NDArray[np.int64], counts: NDArray[np.int64]) -> float:
    order = np.argsort(values, kind="stable")
    summed = np.cumsum(counts[order], dtype=np.int64)
    return float(values[order][np.searchsorted(summed, summed[-1] / 2)])
