"""Pairs of streams in one language -> scores: the share of the smaller one that the other has too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chaffinch.comparison.candidates import ASSUMED_OTHERS, Floats, Pairs
from chaffinch.matching.rarity import rarity
from chaffinch.native.pairs import Corpus, GramCounts
from chaffinch.types import Fingerprints

Symbols = NDArray[np.uint32]


class GramLengths(NamedTuple):
    """Which length the grams of a program have: longer programs are compared in longer grams."""

    lengths: tuple[int, ...]
    """Symbols."""
    at_80: float
    """The length for a program of 80 symbols."""
    growth: float
    """The power of the program's size that the length grows with."""


PLAIN_GRAMS = GramLengths((2, 3, 4, 6, 8, 12, 16), 2.5, 1.3)
NAMED_GRAMS = GramLengths((1, 2, 3, 4, 6, 8), 0.35, 2.2)
PROSE_GRAM = 12
"""Symbols."""
SHORT_PROGRAM = 100
"""Symbols of a few lines, most of which every solution has: a share of a program this long counts squared."""
LARGER_SHARE = 0.15
"""The power of the larger program's share in the score: in a class, a long program has much of every short one.
It is 0 for prose, because an essay may be one page of a book."""
SHORTEST_STATEMENT = 5
"""Symbols of a statement that any program may contain."""
BLOCK_PAIRS = 1 << 18
"""Pairs scored at once: intermediate results take more memory than the scores."""

_NO_PRINTS = Fingerprints(
    np.empty(0, np.uint64), np.empty(0, np.uint32), np.empty(0, np.uint32), np.empty(0, np.uint32), 0
)


@dataclass(frozen=True, slots=True, eq=False)
class Scorer:
    """Scores pairs of members by their symbols without base code."""

    streams: Sequence[Symbols]
    named: Sequence[Symbols]
    """The same tokens by what they say; empty for prose and where no names are known."""
    is_prose: bool
    threads: int | None

    def score(self, pairs: Pairs) -> Floats:
        """Return the overlap beyond the background: by structure or by name, whichever is higher."""
        if self.is_prose:
            lengths = np.full(len(pairs), PROSE_GRAM, np.uint8)
            return overlap(self.streams, pairs, lengths, 0, self.threads)
        sizes = np.array([len(stream) for stream in self.streams], np.int64)
        left, right = pairs.T

        def by_grams(streams: Sequence[Symbols], grams: GramLengths) -> Floats:
            lengths = gram_length(sizes, grams)
            shorter = np.minimum(lengths[left], lengths[right])
            return overlap(streams, pairs, shorter, LARGER_SHARE, self.threads)

        scores = by_grams(self.streams, PLAIN_GRAMS)
        if self.named:
            np.maximum(scores, by_grams(self.named, NAMED_GRAMS), out=scores)
        smaller = np.minimum(sizes[left], sizes[right]).clip(1)
        np.power(scores, 1 + SHORT_PROGRAM / smaller, out=scores)
        return scores


def gram_length(sizes: NDArray[np.int64], grams: GramLengths) -> NDArray[np.uint8]:
    """Return the length of the grams to compare programs of these sizes with.

    In a long program short grams occur by chance; in a short one long grams do not survive a change.
    """
    wanted = grams.at_80 * (sizes / 80) ** grams.growth
    lengths = np.array(grams.lengths)
    nearest = lengths[np.searchsorted(np.sqrt(lengths[1:] * lengths[:-1]), wanted)]
    return nearest.astype(np.uint8)


def overlap(
    streams: Sequence[Symbols], pairs: Pairs, lengths: NDArray[np.uint8], larger: float, threads: int | None
) -> Floats:
    """Return the share of the smaller member's grams that the other one has too, beyond the background.

    Grams weigh by rarity and count in any order. The share of the larger member counts by the power `larger`,
    less where there are few others. It counts more in programs of a few statements, which are part of any
    other.
    """
    others = len(streams) - 2
    larger *= others / (others + ASSUMED_OTHERS)
    corpus = Corpus(streams, [_NO_PRINTS] * len(streams))
    weights = rarity(np.arange(len(streams) + 1), len(streams)).astype(np.float32)
    sizes = np.array([len(stream) for stream in streams], np.float64).clip(1)
    scores = np.zeros(len(pairs))
    for length in np.unique(lengths).tolist():
        grams = GramCounts(corpus, length, weights, threads)
        rows = np.flatnonzero(lengths == length)
        for block in (rows[i : i + BLOCK_PAIRS] for i in range(0, len(rows), BLOCK_PAIRS)):
            left, right = pairs[block].T
            left_share, right_share = (
                share.astype(np.float64) for share in grams.shares(pairs[block], threads)
            )
            power = np.maximum(larger, SHORTEST_STATEMENT / np.minimum(sizes[left], sizes[right]))
            overlaps = np.maximum(left_share, right_share) ** (1 - larger)
            overlaps *= np.minimum(left_share, right_share) ** power
            left_rest, right_rest = grams.share_sums[left] - left_share, grams.share_sums[right] - right_share
            scores[block] = subtract_background(overlaps, np.minimum(left_rest, right_rest), others)
    return scores


def subtract_background(shares: Floats, shared_with_others: Floats, others: int) -> Floats:
    """Return the shares of what remains without the share that any other member has; 1 remains 1.

    The background is the mean share with all others, which `shared_with_others` sums up.
    """
    background = shared_with_others.clip(0) / (others + ASSUMED_OTHERS)
    remaining: Floats = ((shares - background) / (1 - background)).clip(0, 1)
    return remaining


def weight(surprise: Floats, scores: Floats) -> Floats:
    """Return what pairs are ranked by; it is never more than the surprise.

    By surprise alone, long works come first, which share much that is a small part of them. By score alone,
    short ones do, which anybody may have written.
    """
    weights: Floats = surprise.clip(0) * scores
    return weights
