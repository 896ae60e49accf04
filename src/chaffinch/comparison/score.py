"""Pairs of streams in one language -> how much of the smaller one the other has too, in any order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chaffinch.comparison.candidates import Floats, Pairs
from chaffinch.comparison.views import Symbols, Tokens, views
from chaffinch.matching.rarity import ASSUMED_OTHERS, rarity, scarcity
from chaffinch.native.pairs import Corpus, GramCounts
from chaffinch.types import Fingerprints


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
VIEW_POWER = 4
"""The power of the mean over the views of a program: the view that shows the most counts the most."""
LITERALS = 0.5
"""How far the same literals raise a score, as a part of the way that a power of it can."""
FEW_LITERALS = 5
"""Literals in common, by scarcity, that are half as convincing as many."""
BLOCK_PAIRS = 1 << 16
"""Pairs handled at once: intermediate results take more memory than the pairs and scores."""

_NO_PRINTS = Fingerprints(
    np.empty(0, np.uint64), np.empty(0, np.uint32), np.empty(0, np.uint32), np.empty(0, np.uint32), 0
)


class View(NamedTuple):
    """The streams of all members in one view, and how long the grams are."""

    streams: Sequence[Symbols]
    grams: GramLengths


@dataclass(frozen=True, slots=True, eq=False)
class Scorer:
    """Scores pairs of members by their symbols without base code."""

    sizes: NDArray[np.int64]
    """How many symbols each member has."""
    views: Sequence[View]
    literals: Sequence[Symbols]
    """What strings and numbers say; empty for prose and where this is not known."""
    is_prose: bool
    threads: int | None

    @classmethod
    def of_prose(cls, streams: Sequence[Symbols], threads: int | None) -> Scorer:
        grams = GramLengths((PROSE_GRAM,), PROSE_GRAM, 0)
        return cls(_sizes(streams), [View(streams, grams)], [], True, threads)

    @classmethod
    def of_programs(cls, members: Sequence[Tokens], threads: int | None) -> Scorer:
        """Score programs by three views: their structure, its calls of the library, and all names."""
        plain, named = [tokens.plain for tokens in members], [tokens.named for tokens in members]
        outside_names, literals = views(members)
        all_views = [View(plain, PLAIN_GRAMS), View(outside_names, PLAIN_GRAMS), View(named, NAMED_GRAMS)]
        return cls(_sizes(plain), all_views, literals, False, threads)

    @classmethod
    def of_plain_programs(cls, streams: Sequence[Symbols], threads: int | None) -> Scorer:
        """Score programs whose names are not known apart from their structure."""
        return cls(_sizes(streams), [View(streams, PLAIN_GRAMS)], [], False, threads)

    def score(self, pairs: Pairs) -> Floats:
        """Return the overlap of pairs beyond the background."""
        larger = 0 if self.is_prose else LARGER_SHARE
        powers = np.zeros(len(pairs))
        for streams, grams in self.views:
            lengths = gram_length(self.sizes, grams)
            shorter = np.minimum(lengths[pairs[:, 0]], lengths[pairs[:, 1]])
            powers += overlaps(streams, pairs, shorter, larger, self.threads) ** VIEW_POWER
        scores: Floats = (powers / len(self.views)) ** (1 / VIEW_POWER)
        if self.is_prose:
            return scores
        same_literals = self._same_literals(pairs)
        for block in blocks(len(pairs)):
            smaller = np.minimum(self.sizes[pairs[block, 0]], self.sizes[pairs[block, 1]]).clip(1)
            scores[block] **= (1 + SHORT_PROGRAM / smaller) * (1 - LITERALS * same_literals[block])
        return scores

    def _same_literals(self, pairs: Pairs) -> Floats:
        """Return how convincing the literals are that pairs have in common: 0 to 1.

        They raise a score, but different literals do not lower it: they are the first thing that is changed.
        """
        if not self.literals:
            return np.zeros(len(pairs))
        members = len(self.literals)
        weights = scarcity(np.arange(members + 1), members).astype(np.float32)
        grams = GramCounts(Corpus(self.literals, [_NO_PRINTS] * members), 1, weights, self.threads)
        counts = _sizes(self.literals)
        convincing = np.zeros(len(pairs))
        for block in blocks(len(pairs)):
            left, right = pairs[block].T
            left_share, right_share = (s.astype(np.float64) for s in grams.shares(pairs[block], self.threads))
            rest = np.minimum(grams.share_sums[left] - left_share, grams.share_sums[right] - right_share)
            beyond = subtract_background(np.sqrt(left_share * right_share), rest, members - 2)
            common = np.minimum(left_share * counts[left], right_share * counts[right])
            convincing[block] = beyond * (1 - 2 ** (-common / FEW_LITERALS))
        return convincing


def _sizes(streams: Sequence[Symbols]) -> NDArray[np.int64]:
    return np.array([len(stream) for stream in streams], np.int64)


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


def overlaps(
    streams: Sequence[Symbols], pairs: Pairs, lengths: NDArray[np.uint8], larger: float, threads: int | None
) -> Floats:
    """Return the share of the smaller member's grams that the other one has, beyond the background.

    Grams weigh by rarity and count in any order. The share of the larger member counts by the power `larger`,
    less where there are few others. It counts more in programs of a few statements, which are part of any
    other.
    """
    others = len(streams) - 2
    larger *= others / (others + ASSUMED_OTHERS)
    corpus = Corpus(streams, [_NO_PRINTS] * len(streams))
    weights = rarity(np.arange(len(streams) + 1), len(streams)).astype(np.float32)
    sizes = _sizes(streams).clip(1)
    found = np.zeros(len(pairs))
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
            found[rows] = subtract_background(overlap, np.minimum(left_rest, right_rest), others)
    return found


def subtract_background(shares: Floats, shared_with_others: Floats, others: int) -> Floats:
    """Return the shares of what remains without the share that any other member has; 1 remains 1.

    The background is the mean share with all others, which `shared_with_others` sums up.
    """
    # Below 1, so that what all have in full remains 1 and is not divided by 0.
    background = (shared_with_others / max(others, ASSUMED_OTHERS)).clip(0, 1 - 1e-6)
    remaining: Floats = ((shares - background) / (1 - background)).clip(0, 1)
    return remaining
