"""Units of one language -> pairs with scores: how much, how rare, how unusual."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chaffinch.native import pairs as core_compare
from chaffinch.types import Fingerprints

Floats = NDArray[np.float64]
Symbols = NDArray[np.uint32]
Pairs = NDArray[np.uint32]
"""Two columns, left before right."""

_FEW = 5
"""Symbols of the shortest statement, which any program may have."""
_UNKNOWN = 10
"""With so many others, half of what they have counts as usual."""
_SEVERAL = 6
"""With so many others, and two more, the middle one tells what is usual."""
_BLOCK = 1 << 18
"""So many pairs are scored in one go: what is worked out on the way takes more memory than they do."""
_NO_PRINTS = Fingerprints(
    np.empty(0, np.uint64), np.empty(0, np.uint32), np.empty(0, np.uint32), np.empty(0, np.uint32), 0
)


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Pairs of units that share enough fingerprints."""

    pairs: Pairs
    amounts: NDArray[np.uint32]
    """How many fingerprints they share."""
    owners: list[NDArray[np.uint32]]
    """For each unit, how many units have each of its different hashes, in order of the hashes."""
    usual: Floats
    """How many each unit shares with another in the middle of all; less if there are but a few others."""
    spread: float
    """The standard deviation of the amounts, as far as most are concerned."""
    count: int
    """How many pairs share anything."""


def rarity(units: int) -> NDArray[np.float32]:
    """The weight of what n of so many units have, for every n: 1 for what two have, and never nothing."""
    n = np.arange(units + 1, dtype=np.float64).clip(2)
    most = max(units, 2)
    weights: NDArray[np.float32] = ((1 + np.log(most / n)) / (1 + np.log(most / 2))).astype(np.float32)
    return weights


def candidates(
    hashes: Sequence[NDArray[np.uint64]], old: NDArray[np.uint8], least: float, threads: int | None
) -> Candidates:
    """Pairs that share so much of the lighter one by rarity; hashes differ and are sorted within each unit."""
    found = core_compare.candidate_pairs(hashes, old, rarity(len(hashes)), min_share=least, threads=threads)
    new, former = int((old == 0).sum()), int(old.sum())
    amounts = found.histogram.astype(np.int64)
    amounts[0] = new * (new - 1) // 2 + new * former - amounts.sum()  # those that share nothing
    others = max(len(hashes) - 2, 0)
    return Candidates(
        found.pairs,
        found.shared,
        np.split(found.owners, np.cumsum([len(h) for h in hashes])[:-1]),
        found.background.astype(np.float64) * np.clip((others - 2) / _SEVERAL, 0, 1),
        _spread(amounts),
        int(found.histogram.sum()),
    )


def _spread(histogram: NDArray[np.int64]) -> float:
    """A standard deviation by the median of the distances from the median, which a few copies do not move.

    It is not less than that of chance, for few amounts do not spread. A few pairs do not tell what is usual,
    so it counts as if there were some more that share nothing.
    """
    if not histogram.any():
        return 0.0
    histogram = histogram.copy()
    histogram[0] += _UNKNOWN
    values = np.arange(len(histogram))
    median = int(_median(values, histogram))
    mean = float(values @ histogram) / int(histogram.sum())
    return max(1.4826 * _median(np.abs(values - median), histogram), float(np.sqrt(mean)))


def _median(values: NDArray[np.int64], counts: NDArray[np.int64]) -> float:
    order = np.argsort(values, kind="stable")
    summed = np.cumsum(counts[order], dtype=np.int64)
    return float(values[order][np.searchsorted(summed, summed[-1] / 2)])


def telling(sizes: NDArray[np.int64], lengths: Sequence[int], at_80: float, growth: float) -> NDArray[np.uint8]:
    """Which of the lengths a gram should have to tell something in programs of such sizes.

    In a long program short grams are there by chance; in a short one long grams do not outlive a change.
    """
    wanted = at_80 * (sizes / 80) ** growth
    choice = np.array(lengths)
    nearest = choice[np.searchsorted(np.sqrt(choice[1:] * choice[:-1]), wanted)]
    return nearest.astype(np.uint8)


def overlap(
    streams: Sequence[Symbols], pairs: Pairs, lengths: NDArray[np.uint8], larger: float, threads: int | None
) -> Floats:
    """Of each pair the share of the smaller's grams that the other has too, beyond what is usual.

    Grams count by rarity, whatever their order. Among many others the larger's share counts too, for so much
    of a geometric mean: what is long has much of anything. Next to nothing is in everything, so of a few
    symbols it counts for more.
    """
    others = len(streams) - 2
    larger *= others / (others + _UNKNOWN)
    documents = core_compare.Corpus(streams, [_NO_PRINTS] * len(streams))
    weights = rarity(len(streams))
    sizes = np.array([len(s) for s in streams], np.float64)
    found = np.zeros(len(pairs))
    for n in np.unique(lengths).tolist():
        grams = core_compare.GramCounts(documents, n, weights, threads)
        chosen = np.flatnonzero(lengths == n)
        for block in (chosen[i : i + _BLOCK] for i in range(0, len(chosen), _BLOCK)):
            both = np.stack(grams.shares(pairs[block], threads), axis=1).astype(np.float64)
            smaller = sizes[pairs[block]].min(axis=1).clip(1)
            share = both.max(axis=1) ** (1 - larger) * both.min(axis=1) ** np.maximum(larger, _FEW / smaller)
            found[block] = _beyond(share, grams.share_sums[pairs[block]] - both, others)
    return found


def _beyond(shares: Floats, with_others: Floats, others: int) -> Floats:
    """Shares of what is left when that is taken away which one of the others usually has: 1 remains 1.

    What is usual is the smaller of the two's means. A few others do not tell what is usual, so it counts as if
    there were some more that have nothing.
    """
    usual = with_others.min(axis=1).clip(0) / (others + _UNKNOWN)
    more: Floats = ((shares - usual) / (1 - usual)).clip(0, 1)
    return more


def surprise(
    amounts: NDArray[np.uint32], pairs: Pairs, usual: Floats, spreads: Sequence[tuple[float, int]]
) -> Floats:
    """How far each amount lies above what is usual between these two and all others, in standard deviations.

    What is usual is the smaller of the two's, so that a submission made of what everybody has is not held
    against those who share it. The spreads are those of each language, with how many have anything in it.
    """
    above = amounts - np.minimum(usual[pairs[:, 0]], usual[pairs[:, 1]])
    variance = sum(spread**2 * (units / max(len(usual), 1)) ** 2 for spread, units in spreads)
    return above / max(float(np.sqrt(variance)), 1.0)


def weight(surprise: Floats, scores: Floats) -> Floats:
    """By which pairs are ranked, never more than the surprise.

    By surprise alone long works come first, which share much that is little of them; by the score alone short
    ones do, which anybody may have written.
    """
    weights: Floats = surprise.clip(0) * scores
    return weights
