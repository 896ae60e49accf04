"""Ranked pairs -> Pairs with their matches, and what of the submissions a report needs to show them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from chaffinch.comparison.candidates import Pairs
from chaffinch.comparison.language_group import LanguageGroup
from chaffinch.comparison.options import SMALLEST_CLASS, TOP
from chaffinch.comparison.ranking import Ranking
from chaffinch.matching.matches import PairMatches, lazy_matches
from chaffinch.recipe import symbol_weight
from chaffinch.types import Coverage, Document, Pair, Span, Stream, Submission

BUILT_AT_ONCE = TOP
"""Pairs. The matches of up to this many are built at once: building them later keeps all streams in memory."""


def list_pairs(
    groups: Sequence[LanguageGroup],
    submissions: Sequence[Submission],
    ranking: Ranking,
    threads: int | None,
) -> Iterator[Pair]:
    """Yield the ranked pairs with their matches and how much of each side these cover."""
    sizes = np.zeros(len(submissions))
    for group in groups:
        sizes[group.members] += group.sizes()
    count, has_surprise = len(ranking.pairs), len(submissions) >= SMALLEST_CLASS
    columns = (ranking.pairs, ranking.scores, ranking.surprise, ranking.shared)
    rows = zip(
        *(column.tolist() for column in columns), pair_matches(groups, ranking.pairs, threads), strict=True
    )
    for pair, score, surprise, fingerprints, shared in rows:
        left, right = (
            covered / max(float(sizes[member]), 1e-9)
            for covered, member in zip(shared.covered, pair, strict=True)
        )
        matches, repeats = lazy_matches([part for _, part in shared.parts])
        yield Pair(
            submissions[pair[0]].name,
            submissions[pair[1]].name,
            score,
            Coverage(min(left, 1.0), min(right, 1.0)),
            surprise if has_surprise else None,
            shared.longest,
            shared.symbols,
            fingerprints,
            tuple(matches) if count <= BUILT_AT_ONCE else matches,
            tuple(repeats) if count <= BUILT_AT_ONCE else repeats,
        )


@dataclass(frozen=True, slots=True, eq=False)
class SharedParts:
    """What a pair shares in each language, with the weight of a symbol there."""

    parts: list[tuple[float, PairMatches]]

    @property
    def covered(self) -> tuple[float, float]:
        """How much of each side lies in matches, in tokens."""
        left, right = (sum(weight * part.covered[side] for weight, part in self.parts) for side in (0, 1))
        return left, right

    @property
    def symbols(self) -> int:
        """Symbols in matches, on the side where these are fewer."""
        return min(sum(part.covered[side] for _, part in self.parts) for side in (0, 1))

    @property
    def longest(self) -> int:
        """Symbols in the longest run."""
        return max((part.longest for _, part in self.parts), default=0)


def pair_matches(groups: Sequence[LanguageGroup], pairs: Pairs, threads: int | None) -> Iterator[SharedParts]:
    """Yield what each pair of submissions shares."""
    both: list[tuple[int, int]] = [(a, b) for a, b in pairs.tolist()]
    all_parts: dict[tuple[int, int], list[tuple[float, PairMatches]]] = {pair: [] for pair in both}
    for group in groups:
        numbers = {member: number for number, member in enumerate(group.members.tolist())}
        in_group = [(a, b) for a, b in both if a in numbers and b in numbers]
        group_matches = group.matches([(numbers[a], numbers[b]) for a, b in in_group], threads)
        for pair, part in zip(in_group, group_matches, strict=True):
            all_parts[pair].append((symbol_weight(group.recipe.front), part))
    return (SharedParts(all_parts[pair]) for pair in both)


def with_read_documents(groups: Sequence[LanguageGroup], submissions: Sequence[Submission]) -> list[Submission]:
    """Return the submissions with the documents that spans point into."""
    read: dict[int, dict[str, Document]] = {}
    for group in groups:
        for member, stream in zip(group.members.tolist(), group.streams, strict=True):
            read.setdefault(member, {}).update((d.name, d) for d in stream.documents)
    return [
        Submission(s.name, tuple(read.get(i, {}).get(d.name, d) for d in s.documents))
        for i, s in enumerate(submissions)
    ]


def ignored_spans(
    groups: Sequence[LanguageGroup], submissions: Sequence[Submission]
) -> dict[str, tuple[Span, ...]]:
    """Return what was not compared, by submission."""
    ignored: dict[str, tuple[Span, ...]] = {}
    for group in groups:
        for number, member in enumerate(group.members.tolist()):
            if spans := group.ignored(number):
                name = submissions[member].name
                ignored[name] = (*ignored.get(name, ()), *spans)
    return ignored


def listed_streams(
    groups: Sequence[LanguageGroup], submissions: Sequence[Submission], pairs: Sequence[Pair]
) -> Mapping[tuple[str, str], Stream]:
    """Return the streams of the documents of listed pairs, by submission and document."""
    listed = {name for pair in pairs for name in (pair.left, pair.right)}
    return {
        # Copies, so that the streams of all other documents are freed.
        (name, document.name): Stream(stream.symbols.copy(), stream.starts.copy(), stream.ends.copy())
        for group in groups
        for member, joined in zip(group.members.tolist(), group.streams, strict=True)
        if (name := submissions[member].name) in listed
        for document, stream in zip(joined.documents, joined.streams, strict=True)
    }
