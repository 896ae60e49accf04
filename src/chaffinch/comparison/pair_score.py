"""Scores in each language -> the score of a pair of submissions, and the weight that pairs are ranked by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from chaffinch.comparison.candidates import Floats, Indices, Pairs
from chaffinch.comparison.language_group import COMMON_OWNERS, LanguageGroup
from chaffinch.comparison.score import blocks
from chaffinch.matching.rarity import scarcity
from chaffinch.types import SURPRISE_POWER

FEW_TOKENS = 25
"""Tokens. Two works of this size that are the same are half as convincing as long ones."""
ENOUGH_TOKENS = 250
"""Tokens. Two works of this size or more that are the same are fully convincing."""
SKELETON = 100
"""Tokens. What several hand in alike may be what they were given, if it is shorter than this."""
RING = 1 / 3
"""The part of a class that may have copied from each other. If more have the same, they were given it."""
LANGUAGE_POWER = 2
"""The power of the mean over languages."""
DATA_PART = 0.01
"""Data beside programs counts as this part of the rest at most."""
SHOWN_PART = 0.5
"""The part of a score that follows the coverage, in long works."""
SHOWN_SIZE = 200
"""Tokens. In works of this size it is half that part: a few changes leave short works without long runs."""
ALL_COVERED = 0.8
"""From this coverage of both sides on, a score is raised: the other work is the same in another order."""
RAISED_PART = 0.7
"""How far, in long works with full coverage, as a part of the way to 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Works:
    """What the score of a pair depends on besides what it shares: how much each submission has, and what."""

    sizes: list[Floats]
    """For each language, how much each submission has, in tokens, without base code."""
    totals: Floats
    owners: Indices
    """How many new submissions have the same content as each."""
    contents: Indices
    """The same number for submissions with the same content."""
    new: int
    """How many are not earlier work."""

    @classmethod
    def of(cls, groups: Sequence[LanguageGroup], submissions: int, new: int) -> Works:
        sizes, digests = _sizes(groups, submissions), [blake2b(digest_size=16) for _ in range(submissions)]
        for group in groups:
            for member, content in zip(group.members.tolist(), group.contents(), strict=True):
                digests[member].update(group.recipe.front.encode() + b"\0" + content)
        same = [digest.digest() for digest in digests]
        _, contents = np.unique(same, return_inverse=True)
        owners = np.bincount(contents[:new], minlength=submissions)[contents]
        return cls(sizes, sum(sizes, np.zeros(submissions)), owners, contents, new)

    def smaller(self, pairs: Pairs) -> Floats:
        """Return the size of the smaller work of each pair."""
        smaller: Floats = self.totals[pairs].min(axis=1)
        return smaller

    def mean_score(self, pairs: Pairs, scores: Sequence[Floats]) -> Floats:
        """Return the mean of the scores in all languages, each by its share of the smaller work.

        It is a power mean, because a program that is copied counts even if the essay beside it is not.
        """
        means = np.zeros(len(pairs))
        for block in blocks(len(pairs)):
            left, right = pairs[block].T
            for sizes, of_language in zip(self.sizes, scores, strict=True):
                smaller = np.minimum(sizes[left], sizes[right])
                means[block] += smaller * (_evidence(smaller) * of_language[block]) ** LANGUAGE_POWER
            means[block] /= self.smaller(pairs[block]).clip(1e-9)
        return (means ** (1 / LANGUAGE_POWER)).clip(0, 1)

    def convincing(self, pairs: Pairs) -> Floats:
        """Return how much a score says: less if many have the very same content."""
        convincing = np.ones(len(pairs))
        for block in blocks(len(pairs)):
            left, right = pairs[block].T
            same = np.flatnonzero(self.contents[left] == self.contents[right])
            sizes = self.smaller(pairs[block][same])
            convincing[block][same] = self._scarce(self.owners[left[same]], sizes)
        return convincing

    def _scarce(self, owners: Indices, sizes: Floats) -> Floats:
        """Return how much the content of works of these sizes says that as many submissions have alike.

        A few tokens may be what everybody was given. Long works are copies, unless more than a ring have them.
        """
        is_given = (owners >= COMMON_OWNERS) & (owners > RING * self.new)
        power = np.where(is_given, 2 * SKELETON / (SKELETON + sizes), (1 - sizes / SKELETON).clip(0))
        scarce: Floats = scarcity(owners, self.new) ** power
        return scarce


def _evidence(tokens: Floats) -> Floats:
    """Return how much it says that works of this size are the same."""
    grown = 1 - 2 ** (-tokens.clip(max=ENOUGH_TOKENS) / FEW_TOKENS)
    evidence: Floats = grown / (1 - 2 ** (-ENOUGH_TOKENS / FEW_TOKENS))
    return evidence


def _sizes(groups: Sequence[LanguageGroup], submissions: int) -> list[Floats]:
    """Return for each language how much each submission has, in tokens; data beside programs counts little."""
    sizes = []
    for group in groups:
        sizes.append(np.zeros(submissions))
        sizes[-1][group.members] = group.sizes()
    rest = sum((s for s, group in zip(sizes, groups, strict=True) if not group.is_data), np.zeros(submissions))
    for of_group, group in zip(sizes, groups, strict=True):
        if group.is_data:
            np.minimum(of_group, DATA_PART * rest, out=of_group, where=rest > 0)
    return sizes


def shown_score(scores: Floats, coverages: Floats, usual: Floats, smaller: Floats) -> Floats:
    """Return scores that fit what is shown: lower with little coverage, higher if all of both is covered.

    Short grams in any order may add up to a score without any long run. `coverages` has a column for each side,
    `usual` is the share of a work that any other has too, and `smaller` the size of the smaller work.
    """
    size_part = smaller / (smaller + SHOWN_SIZE)
    shown = scores * (1 - SHOWN_PART * size_part * (1 - coverages.mean(axis=1)))
    beyond = ((coverages.min(axis=1) - usual) / (1 - usual)).clip(0, 1)
    raised = ((beyond - ALL_COVERED) / (1 - ALL_COVERED)).clip(0, 1) * RAISED_PART * size_part
    all_shown: Floats = shown + (1 - shown) * raised
    return all_shown


def weight(surprise: Floats, scores: Floats) -> Floats:
    """Return what pairs are ranked by; `Pair.weight` is the same.

    By surprise alone, long works come first, which share much that is a small part of them. By score alone,
    short ones do, which anybody may have written.
    """
    weights: Floats = scores * (1 + surprise.clip(0)) ** SURPRISE_POWER
    return weights
