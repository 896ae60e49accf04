"""Ranked pairs -> Pairs with their matches, and what of the submissions a report needs to show them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

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
    pairs: list[tuple[int, int]] = [(a, b) for a, b in ranking.pairs.tolist()]
    all_parts: dict[tuple[int, int], list[tuple[float, PairMatches]]] = {pair: [] for pair in pairs}
    sizes = np.zeros(len(submissions))
    for group in groups:
        sizes[group.members] += group.sizes()
        numbers = {member: number for number, member in enumerate(group.members.tolist())}
        in_group = [(a, b) for a, b in pairs if a in numbers and b in numbers]
        group_matches = group.matches([(numbers[a], numbers[b]) for a, b in in_group], threads)
        for pair, part in zip(in_group, group_matches, strict=True):
            all_parts[pair].append((symbol_weight(group.recipe.front), part))
    has_surprise = len(submissions) >= SMALLEST_CLASS
    columns = (ranking.scores.tolist(), ranking.surprise.tolist(), ranking.shared.tolist())
    for pair, score, surprise, fingerprints in zip(pairs, *columns, strict=True):
        parts = all_parts[pair]
        left, right = (
            sum(weight * part.covered[side] for weight, part in parts) / max(float(sizes[member]), 1e-9)
            for side, member in enumerate(pair)
        )
        symbols = min(sum(part.covered[side] for _, part in parts) for side in (0, 1))
        matches, repeats = lazy_matches([part for _, part in parts])
        yield Pair(
            submissions[pair[0]].name,
            submissions[pair[1]].name,
            score,
            Coverage(min(left, 1.0), min(right, 1.0)),
            surprise if has_surprise else None,
            max((part.longest for _, part in parts), default=0),
            symbols,
            fingerprints,
            tuple(matches) if len(pairs) <= BUILT_AT_ONCE else matches,
            tuple(repeats) if len(pairs) <= BUILT_AT_ONCE else repeats,
        )


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
