"""Ranked pairs -> Pairs with their matches, and what of the submissions a report needs to show them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from chaffinch.comparison.candidates import Floats, Indices, Pairs
from chaffinch.comparison.clusters import find_clusters
from chaffinch.comparison.language_group import COMMON_OWNERS, LanguageGroup
from chaffinch.comparison.options import (
    CLUSTER_SCORE,
    LONG_RUN,
    SMALLEST_CLASS,
    SURE_SCORE,
    SURPRISING,
    TOP,
    Options,
)
from chaffinch.comparison.pair_score import Works, shown_score
from chaffinch.comparison.ranking import Ranking, histogram
from chaffinch.comparison.weight import weight
from chaffinch.matching.matches import PairMatches, lazy_matches
from chaffinch.types import Cluster, Coverage, Document, Pair, Span, Stream, Submission

MATCHED_AT_ONCE = 1 << 12
"""Pairs. Matches are found a block at a time and not kept: those of all pairs take too much memory."""
BUILT_AT_ONCE = TOP
"""Pairs. The matches of up to this many are built at once: building them later keeps all streams in memory."""


class Listed(NamedTuple):
    """The pairs of a report, and what they were chosen from."""

    pairs: tuple[Pair, ...]
    clusters: tuple[Cluster, ...]
    lines: dict[str, float | None]
    """For each language, the lowest weight that chance does not explain; None if it may explain all."""
    histogram: Indices
    """How many pairs score 0 to 0.05, 0.05 to 0.1 and so on."""


def list_pairs(
    groups: Sequence[LanguageGroup], submissions: Sequence[Submission], ranking: Ranking, options: Options
) -> Listed:
    """Return the pairs to list, the heaviest first.

    A pair may share fingerprints and yet have no match, where its base code was taken out.
    """
    has_surprise = len(submissions) >= SMALLEST_CLASS
    few = max(2, min(COMMON_OWNERS - 1, len(submissions) // 3)) if has_surprise else len(submissions)
    examined = _Examined.of(groups, ranking.works, ranking.pairs, few, options.threads)
    scores = _shown_scores(groups, ranking, examined.in_languages)
    weights = weight(ranking.surprise, scores)
    order = np.lexsort((-ranking.surprise, -weights))
    lines = [
        chance.line(weights[order][ranking.languages[order] == number])
        for number, chance in enumerate(ranking.chances)
    ]
    is_above = weights >= np.array(lines or [np.inf])[ranking.languages]
    is_above = is_above & (ranking.surprise > (0 if has_surprise else -1)) | (scores >= SURE_SCORE)
    if options.threshold is None:
        is_surprising = ranking.surprise >= (SURPRISING if has_surprise else 0)
        is_long = is_surprising & (examined.longest_rare >= LONG_RUN)
        is_listed = is_above | is_long
    else:
        is_listed = scores >= options.threshold
    figures = {
        "surprise": ranking.surprise,
        "score": scores,
        "size": examined.symbols,
        "longest": examined.longest,
    }
    if options.sort is not None:
        order = order[np.argsort(-figures[options.sort][order], kind="stable")]
    rows = order[(is_listed & (examined.longest > 0))[order]][: options.top]
    all_parts = examined.parts(groups, ranking.pairs, rows, options.threads)
    pairs = []
    for row, parts in zip(rows.tolist(), all_parts, strict=True):
        left, right = ranking.pairs[row].tolist()
        matches, repeats = lazy_matches(parts)
        pairs.append(
            Pair(
                submissions[left].name,
                submissions[right].name,
                float(scores[row]),
                Coverage(*examined.coverages[row].tolist()),
                float(ranking.surprise[row]) if has_surprise else None,
                int(examined.longest[row]),
                int(examined.symbols[row]),
                int(ranking.shared[row]),
                tuple(matches) if len(rows) <= BUILT_AT_ONCE else matches,
                tuple(repeats) if len(rows) <= BUILT_AT_ONCE else repeats,
            )
        )
    moved = histogram(scores) - histogram(ranking.scores)
    links = [
        (submissions[left].name, submissions[right].name, score)
        for (left, right), score in zip(
            ranking.pairs[is_above].tolist(), scores[is_above].tolist(), strict=True
        )
        if score >= (0 if has_surprise else CLUSTER_SCORE)
    ]
    named_lines = {
        group.recipe.front: line if np.isfinite(line) else None
        for group, line in zip(groups, lines, strict=True)
    }
    return Listed(tuple(pairs), find_clusters(links), named_lines, ranking.histogram + moved)


def _shown_scores(groups: Sequence[LanguageGroup], ranking: Ranking, coverages: Sequence[Floats]) -> Floats:
    """Return the scores of pairs, now that it is known what their matches cover in each language."""
    works, pairs = ranking.works, ranking.pairs
    shown = []
    for group, sizes, scores, covered in zip(
        groups, works.sizes, ranking.language_scores, coverages, strict=True
    ):
        usual = np.zeros(len(sizes))
        usual[group.members] = group.usual_parts()
        shown.append(shown_score(scores, covered, usual[pairs].max(axis=1), sizes[pairs].min(axis=1)))
    return works.mean_score(pairs, shown) * works.convincing(pairs)


@dataclass(frozen=True, slots=True, eq=False)
class _Examined:
    """What the matches of pairs amount to; each pair has a row."""

    coverages: Floats
    """The part of the left and of the right work that lies in matches."""
    in_languages: list[Floats]
    """The same in each language."""
    longest: Indices
    """Symbols of the longest run."""
    longest_rare: Indices
    """Of the longest run in a match that few submissions have."""
    symbols: Indices
    """Symbols in matches, on the side that has fewer."""
    kept: list[list[PairMatches]]
    """The matches of each pair, if they are few enough to be kept."""

    @classmethod
    def of(
        cls, groups: Sequence[LanguageGroup], works: Works, pairs: Pairs, few: int, threads: int | None
    ) -> _Examined:
        """Find the matches of pairs of submissions; a match is rare if at most `few` have it."""
        coverages, symbols = np.zeros((2, len(pairs), 2))
        longest, longest_rare = np.zeros((2, len(pairs)), np.int64)
        in_languages = []
        kept: list[list[PairMatches]] = [[] for _ in range(len(pairs))] if len(pairs) <= MATCHED_AT_ONCE else []
        for group, sizes in zip(groups, works.sizes, strict=True):
            covered = np.zeros((len(pairs), 2))
            for start in range(0, len(pairs), MATCHED_AT_ONCE):
                some = pairs[start : start + MATCHED_AT_ONCE]
                for number, part in _parts(group, some, threads):
                    row = start + number
                    covered[row] = part.covered
                    if kept:
                        kept[row].append(part)
                    longest[row] = max(longest[row], part.longest)
                    if not group.is_data or len(groups) == 1:
                        longest_rare[row] = max(longest_rare[row], part.longest_of(few))
            whole = np.zeros(len(sizes))
            whole[group.members] = group.symbols()
            symbols += covered
            in_languages.append((covered / whole[pairs].clip(1)).clip(0, 1))
            coverages += in_languages[-1] * sizes[pairs]
        coverages = (coverages / works.totals[pairs].clip(1e-9)).clip(0, 1)
        return cls(coverages, in_languages, longest, longest_rare, symbols.min(axis=1).astype(np.int64), kept)

    def parts(
        self, groups: Sequence[LanguageGroup], pairs: Pairs, rows: Indices, threads: int | None
    ) -> list[list[PairMatches]]:
        """Return the matches of the pairs in these rows, in each language."""
        if self.kept:
            return [self.kept[row] for row in rows.tolist()]
        found: list[list[PairMatches]] = [[] for _ in range(len(rows))]
        for group in groups:
            for number, part in _parts(group, pairs[rows], threads):
                found[number].append(part)
        return found


def _parts(group: LanguageGroup, pairs: Pairs, threads: int | None) -> Iterator[tuple[int, PairMatches]]:
    """Yield what pairs of submissions share in one language, each with the row of its pair."""
    numbers = np.full(max(int(pairs.max(initial=0)), int(group.members.max(initial=0))) + 1, -1)
    numbers[group.members] = np.arange(len(group.members))
    in_group = numbers[pairs]
    rows = np.flatnonzero((in_group >= 0).all(axis=1))
    both = [(a, b) for a, b in in_group[rows].tolist()]
    return zip(rows.tolist(), group.matches(both, threads), strict=True)


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
