"""Scores in each language -> the score of a pair of submissions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from chaffinch.comparison.candidates import Floats, Indices, Pairs
from chaffinch.comparison.language_group import COMMON_OWNERS, LanguageGroup
from chaffinch.comparison.score import blocks
from chaffinch.matching.rarity import scarcity

FEW_TOKENS = 25
"""Tokens. Two works of this size that are the same are half as convincing as long ones."""
ENOUGH_TOKENS = 250
"""Tokens. Two works of this size or more that are the same are fully convincing."""
SKELETON = 150
"""Tokens. What several hand in alike may be what they were given, if it is shorter than this."""
RING = 1 / 3
"""The part of a class that may have copied from each other. If more have the same, they were given it."""
MOSTLY_USUAL = 0.5
"""If any other submission has this part of a work, too, it is what they were given."""
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
    background: Floats
    """How many fingerprints each submission usually shares with another."""
    prints: Floats
    """How many distinct fingerprints each submission has."""
    new: int
    """How many are not earlier work."""

    @classmethod
    def of(cls, groups: Sequence[LanguageGroup], submissions: int, new: int) -> Works:
        sizes, digests = _sizes(groups, submissions), [blake2b(digest_size=16) for _ in range(submissions)]
        for group in groups:
            for member, content in group.contents():
                digests[member].update(group.recipe.front.encode() + b"\0" + content)
        same = [digest.digest() for digest in digests]
        _, contents = np.unique(same, return_inverse=True)
        owners = np.bincount(contents[:new], minlength=submissions)[contents]
        background, prints = np.zeros((2, submissions))
        for group in telling_groups(groups):
            background[group.members] += group.candidates.background
            prints[group.members] += [len(own) for own in group.candidates.owners]
        totals = sum(sizes, np.zeros(submissions))
        return cls(sizes, totals, owners, contents, background, prints, new)

    @property
    def usual(self) -> Floats:
        """The part of each submission that any other has too, by fingerprints."""
        usual: Floats = self.background / self.prints.clip(1)
        return usual

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
            means[block] = sum(self._contributions(pairs[block], [s[block] for s in scores]))
        return (means ** (1 / LANGUAGE_POWER)).clip(0, 1)

    def main_language(self, pairs: Pairs, scores: Sequence[Floats]) -> Indices:
        """Return the number of the language that contributes most to the score of each pair."""
        languages = np.zeros(len(pairs), np.int64)
        for block in blocks(len(pairs)) if len(scores) > 1 else ():
            languages[block] = np.argmax(
                [*self._contributions(pairs[block], [s[block] for s in scores])], axis=0
            )
        return languages

    def _contributions(self, pairs: Pairs, scores: Sequence[Floats]) -> Iterator[Floats]:
        left, right = pairs.T
        total = self.smaller(pairs).clip(1e-9)
        for sizes, of_language in zip(self.sizes, scores, strict=True):
            smaller = np.minimum(sizes[left], sizes[right])
            yield smaller / total * (_evidence(smaller) * of_language) ** LANGUAGE_POWER

    def is_usual(self, pairs: Pairs) -> NDArray[np.bool_]:
        """Return which pairs may show what is usual: neither the same content nor what was given alone."""
        left, right = pairs.T
        is_given = self._is_given()
        usual: NDArray[np.bool_] = (self.contents[left] != self.contents[right]) & ~(
            is_given[left] | is_given[right]
        )
        return usual

    def convincing(self, pairs: Pairs) -> Floats:
        """Return how much a score says: less if many have the very same content as one of the two."""
        scarce = scarcity(self.owners, self.new)
        given = scarce ** (2 * SKELETON / (SKELETON + self.totals)) * (1 - self.usual).clip(0)
        alone = np.where(self._is_given(), given, 1)
        alike = np.minimum(alone, scarce ** (1 - self.totals / SKELETON).clip(0))
        convincing = np.ones(len(pairs))
        for block in blocks(len(pairs)):
            left, right = pairs[block].T
            is_same = self.contents[left] == self.contents[right]
            convincing[block] = np.where(is_same, alike[left], np.minimum(alone[left], alone[right]))
        return convincing

    def _is_given(self) -> NDArray[np.bool_]:
        """Return which submissions have what was given to them and nothing else.

        Several have the very same: more of them than a ring, or it is short, or others have most of it, too.
        """
        is_more = self.owners > RING * self.new
        is_given: NDArray[np.bool_] = is_more | (self.totals < SKELETON) | (self.usual > MOSTLY_USUAL)
        return is_given & (self.owners >= COMMON_OWNERS)


def telling_groups(groups: Sequence[LanguageGroup]) -> list[LanguageGroup]:
    """Return the languages whose fingerprints count: the same data beside programs is no surprise."""
    return [group for group in groups if not group.is_data] or list(groups)


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
