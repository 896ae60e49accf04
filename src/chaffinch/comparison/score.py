"""Pairs of streams in one language -> scores: the share of the smaller one that the other has too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
"""Symbols. Every solution shares most of a program this short, so the share counts squared."""
LARGER_SHARE = 0.15
"""The power of the larger program's share in the score: in a class, a long program has much of every short one.
It is 0 for prose, because an essay may be one page of a book."""
SHORTEST_STATEMENT = 5
"""Symbols of a statement that any program may contain."""
BLOCK_PAIRS = 1 << 16
"""Pairs handled at once: intermediate results take more memory than the pairs and scores."""

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
        scores = np.zeros(len(pairs))
        if self.is_prose:
            lengths = np.full(len(pairs), PROSE_GRAM, np.uint8)
            raise_to_overlap(scores, self.streams, pairs, lengths, 0, self.threads)
            return scores
        sizes = np.array([len(stream) for stream in self.streams], np.int64)
        for streams, grams in ((self.streams, PLAIN_GRAMS), (self.named, NAMED_GRAMS)):
            if streams:
                lengths = gram_length(sizes, grams)
                shorter = np.minimum(lengths[pairs[:, 0]], lengths[pairs[:, 1]])
                raise_to_overlap(scores, streams, pairs, shorter, LARGER_SHARE, self.threads)
        for block in blocks(len(pairs)):
            smaller = np.minimum(sizes[pairs[block, 0]], sizes[pairs[block, 1]]).clip(1)
            scores[block] **= 1 + SHORT_PROGRAM / smaller
        return scores


def blocks(count: int) -> Iterator[slice]:
    """Yield the rows of pairs in blocks."""
    return (slice(start, start + BLOCK_PAIRS) for start in range(0, count, BLOCK_PAIRS))


def gram_length(sizes: NDArray[np.int64], grams: GramLengths) -> NDArray[np.uint8]:
    """Return the length of the grams to compare programs of these sizes with.

    In a long program short grams occur by chance; in a short one long grams do not survive a change.
    """
    wanted = grams.at_80 * (sizes / 80) ** grams.growth
    lengths = np.array(grams.lengths)
    nearest = lengths[np.searchsorted(np.sqrt(lengths[1:] * lengths[:-1]), wanted)]
    return nearest.astype(np.uint8)


def raise_to_overlap(
    scores: Floats,
    streams: Sequence[Symbols],
    pairs: Pairs,
    lengths: NDArray[np.uint8],
    larger: float,
    threads: int | None,
) -> None:
    """Raise scores to the share of the smaller member's grams that the other one has, beyond the background.

    Grams weigh by rarity and count in any order. The share of the larger member counts by the power `larger`,
    less where there are few others. It counts more in programs of a few statements, which are part of any
    other.
    """
    others = len(streams) - 2
    larger *= others / (others + ASSUMED_OTHERS)
    corpus = Corpus(streams, [_NO_PRINTS] * len(streams))
    weights = rarity(np.arange(len(streams) + 1), len(streams)).astype(np.float32)
    sizes = np.array([len(stream) for stream in streams], np.float64).clip(1)
    for length in np.flatnonzero(np.bincount(lengths)).tolist():
        grams = GramCounts(corpus, length, weights, threads)
        all_rows = np.flatnonzero(lengths == length)
        for rows in (all_rows[block] for block in blocks(len(all_rows))):
            left, right = pairs[rows].T
            left_share, right_share = (s.astype(np.float64) for s in grams.shares(pairs[rows], threads))
            power = np.maximum(larger, SHORTEST_STATEMENT / np.minimum(sizes[left], sizes[right]))
            overlap = np.maximum(left_share, right_share) ** (1 - larger)
            overlap *= np.minimum(left_share, right_share) ** power
            left_rest, right_rest = grams.share_sums[left] - left_share, grams.share_sums[right] - right_share
            remaining = subtract_background(overlap, np.minimum(left_rest, right_rest), others)
            scores[rows] = np.maximum(scores[rows], remaining)


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
